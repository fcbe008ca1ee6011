//! What every backend of the two ports does. The cases know the ports only; a
//! backend lists each of them once (see `../sqlite.rs`), and one that it leaves out
//! is reported as dead code.

pub mod actions;
pub mod databases;
pub mod given;
pub mod guarded_sql;
pub mod interruption;
pub mod records;
