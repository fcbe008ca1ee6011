//! What every backend of the two ports does. The cases know the ports only; a
//! backend lists each of them once (see `../sqlite.rs`), and one that it leaves out
//! is reported as dead code.

pub(crate) mod actions;
pub(crate) mod cancelled;
pub(crate) mod databases;
pub(crate) mod given;
pub(crate) mod guarded_sql;
pub(crate) mod interruption;
pub(crate) mod kept;
pub(crate) mod keys;
pub(crate) mod records;
pub(crate) mod retention;
