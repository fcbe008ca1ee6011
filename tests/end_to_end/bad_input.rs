//! Input that cannot be taken: each a clear error that says what to do, and
//! nothing lost.

mod full_disk;
mod requests;
mod starts;
