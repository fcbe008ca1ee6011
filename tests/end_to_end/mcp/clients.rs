//! Clients that others wrote.

mod installed;

pub(super) use installed::javascript;
