//! What a guest may ask of the host: one file for each interface of `wit/`.

// The generated bindings re-export its types, so they must be `pub`.
#[expect(unreachable_pub)]
pub(crate) mod database;
pub(crate) mod transport;
