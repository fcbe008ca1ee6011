//! `tether mcp`: the protocol on standard input and output, as a client sees it.

mod calls;
mod driver;
mod ends;
mod forms;
mod lines;
mod lost;
mod proxy;

use driver::Bridge;
