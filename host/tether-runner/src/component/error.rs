//! Why a component is not loaded, and what to do about it.

use std::io;
use std::path::PathBuf;

use tether_core::id::{ComponentName, ToolName};

/// A component could not be loaded.
#[derive(Debug, thiserror::Error)]
#[error("component `{component}`: {problem}")]
pub struct LoadError {
    /// Which one, by its name in the configuration.
    pub component: ComponentName,
    /// Why.
    pub problem: LoadProblem,
}

/// What is wrong with a component. Each text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum LoadProblem {
    /// The file cannot be read.
    #[error("cannot read {}: {error}; check the path and its permissions", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// The bytes are no WebAssembly.
    #[error("it is no WebAssembly; give the `.wasm` file that `tether build` made")]
    NotWasm,
    /// It is a core module.
    #[error(
        "it is a core WebAssembly module, not a component; build it with `tether build`, \
         or with `--target wasm32-wasip2`"
    )]
    CoreModule,
    /// It is cut off, or not valid.
    #[error(
        "it is damaged, incomplete, or uses what this host does not support ({0}); build or copy it again"
    )]
    Invalid(String),
    /// It does not export the handler interface.
    #[error(
        "it does not export `tether:tool/handler` as this host knows it{0}; \
         write it with tether-sdk, or against wit/ of this version"
    )]
    NoHandler(String),
    /// It imports something that the host does not offer.
    #[error(
        "it imports `{0}`, which this host does not offer; a component gets `tether:tool`, `wasi:http`, \
         WASI clocks, random numbers and standard output: build it without the library that needs more"
    )]
    MissingImport(String),
    /// It did not say what it offers.
    #[error("it could not be asked what it offers: {0}; `describe` must return without asking the host")]
    Describe(String),
    /// What it says of itself cannot be.
    #[error("what it says of itself is wrong: {0}; correct the component and build it again")]
    Manifest(String),
    /// Another component offers a tool of this name.
    #[error("its tool `{tool}` is offered by the component `{other}` as well; rename one, or load only one")]
    ToolTaken {
        /// The tool.
        tool: ToolName,
        /// The component that was first.
        other: ComponentName,
    },
    /// A component of this name is loaded.
    #[error("another component has the same name; give each a name of its own in the configuration")]
    NameTaken,
    /// The data folder does not take its copy.
    #[error("its copy cannot be kept in {}: {error}; make room there, or make it writable", folder.display())]
    NotKept {
        /// The folder.
        folder: PathBuf,
        /// Why not.
        error: io::Error,
    },
}
