//! Propose, confirm, call and recover
