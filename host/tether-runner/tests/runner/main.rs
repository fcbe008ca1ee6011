//! The runner with real components: those of `tests/guests/probe`, which
//! misbehave on demand, and small ones written as text.

mod ending;
mod foreign_input;
mod isolation;
mod journal;
mod kept;
mod limits;
mod loading;
mod logging;
mod scripted;
mod sending;
mod text;
mod upstream;
mod world;
mod writing;
