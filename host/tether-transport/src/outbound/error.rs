//! Why there is no answer.

/// Why a handler has no answer. The messages are for the handler: they name no secret
/// and no query string.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// Nothing was sent: the operator granted no such thing, or the request is none.
    #[error("{0}")]
    Denied(String),
    /// Nothing was sent: the connection could not be made, or the request not noted.
    #[error("{0}")]
    NotSent(String),
    /// The request left, and no whole answer came back: it may have acted.
    #[error("{0}")]
    OutcomeUnknown(String),
    /// The answer is over this many bytes.
    #[error("the answer is over {0} bytes")]
    TooLarge(u64),
}

/// Nothing can be sent at all.
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {
    /// The extra roots are no certificates.
    #[error("the extra root certificates hold no certificate; a PEM file with `BEGIN CERTIFICATE` is needed")]
    NoRoots,
    /// One of the extra roots is damaged.
    #[error("the extra root certificates cannot be read")]
    Roots(#[source] rustls::pki_types::pem::Error),
}
