//! The inbox: as a client of HTTP sees it, and in a browser.

mod decisions;
mod in_browser;
mod live;
mod people;
mod sign_in;
mod visitor;
mod webdriver;
