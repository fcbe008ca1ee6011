//! Why there is no answer.

use std::error::Error;
use std::io;

use rustls::CertificateError;
use tether_core::port::journal::NotNoted;

use super::names::NotGranted;

/// Why a handler has no answer. The messages are for the handler: they name no secret
/// and no query string.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The operator granted no such destination, method, address or header, or the
    /// request is none. Nothing was sent there; a read may have been redirected there.
    #[error("{0}")]
    Denied(String),
    /// It is against a rule or over a limit of the host: the step is used, the main
    /// record is written, requests are too many or too large, or redirects too many.
    #[error("{0}")]
    Refused(String),
    /// Nothing was sent: the connection could not be made, or the request not noted.
    #[error("{0}")]
    NotSent(String),
    /// Nothing was sent: there is no room for the note of it.
    #[error("{0}")]
    StorageFull(String),
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
    /// The extra roots are something else.
    #[error("the extra root certificates hold none; they are PEM text with BEGIN CERTIFICATE lines")]
    NoRoots,
    /// One of the extra roots is damaged.
    #[error("the extra root certificates cannot be read")]
    Roots(#[source] Box<dyn Error + Send + Sync>),
}

impl SendError {
    /// The connection to `origin` was not made.
    pub(super) fn not_connected(origin: &str, error: &reqwest::Error) -> Self {
        if let Some(refused) = reasons(error).find_map(|reason| reason.downcast_ref::<NotGranted>()) {
            return Self::Denied(format!("{origin}: {refused}; the operator can grant the addresses"));
        }
        let advice = reasons(error).find_map(of_certificate).map(|advice| format!("; {advice}"));
        Self::NotSent(format!(
            "no connection to {origin} could be made: {}{}",
            innermost(error),
            advice.unwrap_or_default()
        ))
    }

    /// The request was not noted, and so not sent.
    pub(super) fn not_noted(why: &NotNoted) -> Self {
        match why {
            NotNoted::StorageFull => Self::StorageFull(why.to_string()),
            NotNoted::Failed(_) => Self::NotSent(why.to_string()),
        }
    }

    /// The connection to `origin` was lost.
    pub(super) fn lost(origin: &str, error: &reqwest::Error) -> Self {
        Self::OutcomeUnknown(format!(
            "the connection to {origin} was lost before the whole answer came: {}",
            innermost(error)
        ))
    }
}

/// What happened, without what it happened to: that could show the URL.
fn innermost(error: &(dyn Error + 'static)) -> String {
    reasons(error).last().map(ToString::to_string).unwrap_or_default()
}

/// What the operator can do about a certificate that was not taken.
fn of_certificate(reason: &(dyn Error + 'static)) -> Option<&'static str> {
    let rustls::Error::InvalidCertificate(wrong) = of_tls(reason)? else { return None };
    match wrong {
        CertificateError::UnknownIssuer => {
            Some("if it is yours, name the root of its certificate in `tool_transport.extra_roots`")
        }
        // The verifier has no other word for it.
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => Some(
            "its certificate is that of an authority (CA:TRUE), which is no server's: issue one for the server with \
             it, and keep the authority's in `tool_transport.extra_roots`",
        ),
        _ => None,
    }
}

/// What TLS says, out of the errors of the stream beneath that hold it: it is not behind
/// them, but in them.
fn of_tls<'a>(reason: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    let within = || of_tls(reason.downcast_ref::<io::Error>()?.get_ref()?);
    reason.downcast_ref().or_else(within)
}

/// The error and what is behind it.
fn reasons<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (**error).source())
}
