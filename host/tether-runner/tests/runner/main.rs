//! The runner with real components: those of `tests/guests/probe`, which
//! misbehave on demand, and small ones written as text.

mod ending;
mod isolation;
mod kept;
mod loading;
mod logging;
mod scripted;
mod text;
mod world;
mod writing;
