//! SHA-256 digests: of components, arguments and migrations.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use crate::hex::{self, Hex};

/// A SHA-256 digest, written `sha256:` and 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// From its 32 bytes, as [`Digest::as_bytes`] gave them.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Its first 16 bytes.
    pub(crate) fn first_half(&self) -> [u8; 16] {
        std::array::from_fn(|index| self.0[index])
    }

    /// The 64 hex digits without the `sha256:` in front, for names of files.
    pub fn hex(&self) -> String {
        Hex(&self.0).to_string()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", Hex(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is no `sha256:` digest.
#[derive(Debug, thiserror::Error)]
#[error("a digest is `sha256:` and 64 hex digits, not {0:?}")]
pub struct InvalidDigest(String);

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_prefix("sha256:")
            .and_then(hex::parse)
            .map(Self)
            .ok_or_else(|| InvalidDigest(text.to_owned()))
    }
}
