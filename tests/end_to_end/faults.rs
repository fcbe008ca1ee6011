//! The faults of `cases/faults.md` that the local path can have, each as a test
//! of the whole kind. F5 and F14's crowd are in `crowd`, F8 is in `crash`.

mod arguments;
mod bound;
mod databases;
mod decisions;
mod numbers;
mod proposals;
mod repeated;
mod results;
