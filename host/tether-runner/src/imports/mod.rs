//! What a guest may ask of the host: one file for each interface of `wit/`, and one
//! for that of WASI which leaves the host.

// The generated bindings re-export its types, so they must be `pub`.
#[expect(unreachable_pub)]
pub(crate) mod database;
pub(crate) mod transport;
pub(crate) mod wasi_http;
