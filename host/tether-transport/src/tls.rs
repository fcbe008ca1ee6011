//! The cryptography that every TLS connection uses, and whom it trusts.

use std::error::Error;
use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

/// Makes *ring* the provider of this process. Whoever was first has done it.
pub(crate) fn install_provider() {
    // An error means that a provider is installed, which is all that is asked.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// The root certificates in a PEM text. Other things in it are passed over.
pub(crate) fn roots(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Box<dyn Error + Send + Sync>> {
    let roots: Vec<_> = CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>()?;
    let mut store = RootCertStore::empty();
    for root in &roots {
        store.add(root.clone())?;
    }
    Ok(roots)
}

/// Trusts the system's roots and `extra` ones; speaks HTTP/2 and HTTP/1.1.
pub(crate) fn config(extra: Vec<CertificateDer<'static>>) -> ClientConfig {
    install_provider();
    let verifier = CryptoProvider::get_default()
        .ok_or_else(|| rustls::Error::General("no provider is installed".to_owned()))
        .and_then(|provider| Verifier::new_with_extra_roots(extra, provider.clone()));
    let mut config = match verifier {
        Ok(verifier) => ClientConfig::builder()
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth(),
        // Plain HTTP works without; a host may need no more.
        Err(error) => {
            tracing::warn!(%error, "no root certificates are found: no https destination can be reached");
            ClientConfig::builder().with_root_certificates(RootCertStore::empty()).with_no_client_auth()
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}
