//! Runs tool handlers that are WebAssembly components.
//!
//! A [`Runner`] is the `Handlers` port on wasmtime. Loading a component checks
//! it, compiles it (once: see `component/kept.rs`), and asks it what it offers.
//! Each attempt of a call gets an instance of its own, with bounds on memory,
//! stack, time, output, handles and log lines (`guest/`), and may ask the host
//! for what `imports/` gives it, file by file as in `wit/`, and through `wasi:http`.
//! After an attempt, however it ended, nothing of it is left but its record, its log
//! lines, and the notes of what it sent.
//!
//! No other crate names wasmtime.

#[allow(missing_docs, unreachable_pub)]
mod bindings;
mod component;
mod guest;
mod imports;
mod machine;
mod runner;
mod settings;

pub use component::error::{LoadError, LoadProblem};
pub use component::{LoadRequest, Loaded, Source};
pub use runner::Runner;
pub use settings::Settings;
