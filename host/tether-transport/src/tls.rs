//! The cryptography that every TLS connection uses.

/// Makes *ring* the provider of this process. Whoever was first has done it.
pub(crate) fn install_provider() {
    // An error means that a provider is installed, which is all that is asked.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
