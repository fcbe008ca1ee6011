//! The keys of a provider, and what they sign with.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey};
use serde_json::Value;
use tether_core::json::JsonText;

/// How tokens are signed. What is not here, `none` and shared secrets above all, cannot
/// be named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// RSA, PKCS #1 1.5, SHA-256.
    Rs256,
    /// RSA, PKCS #1 1.5, SHA-384.
    Rs384,
    /// RSA, PKCS #1 1.5, SHA-512.
    Rs512,
    /// RSA, PSS, SHA-256.
    Ps256,
    /// RSA, PSS, SHA-384.
    Ps384,
    /// RSA, PSS, SHA-512.
    Ps512,
    /// ECDSA, P-256, SHA-256.
    Es256,
    /// ECDSA, P-384, SHA-384.
    Es384,
    /// Ed25519.
    EdDsa,
}

impl Algorithm {
    /// Every algorithm.
    pub const ALL: [Self; 9] = [
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
        Self::Es256,
        Self::Es384,
        Self::EdDsa,
    ];

    /// Those that are taken where the operator names none.
    pub const USUAL: [Self; 3] = [Self::Rs256, Self::Es256, Self::EdDsa];

    /// Its name (RFC 7518, RFC 8037).
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
            Self::Ps256 => "PS256",
            Self::Ps384 => "PS384",
            Self::Ps512 => "PS512",
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::EdDsa => "EdDSA",
        }
    }

    fn rsa(self) -> Option<&'static RsaParameters> {
        match self {
            Self::Rs256 => Some(&signature::RSA_PKCS1_2048_8192_SHA256),
            Self::Rs384 => Some(&signature::RSA_PKCS1_2048_8192_SHA384),
            Self::Rs512 => Some(&signature::RSA_PKCS1_2048_8192_SHA512),
            Self::Ps256 => Some(&signature::RSA_PSS_2048_8192_SHA256),
            Self::Ps384 => Some(&signature::RSA_PSS_2048_8192_SHA384),
            Self::Ps512 => Some(&signature::RSA_PSS_2048_8192_SHA512),
            Self::Es256 | Self::Es384 | Self::EdDsa => None,
        }
    }
}

/// The word names no algorithm that is taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct UnknownAlgorithm;

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it must be one of {}", Algorithm::ALL.map(Algorithm::as_str).join(", "))
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|algorithm| algorithm.as_str() == word).ok_or(UnknownAlgorithm)
    }
}

/// Base64url without padding, in the one spelling that a text has.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// A public key.
pub(super) struct Key {
    id: Option<String>,
    /// The provider signs with it in this way only.
    only: Option<Algorithm>,
    material: Material,
}

enum Material {
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// The point, uncompressed.
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

/// An RSA key is at least so long, and at most so long.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;

impl Key {
    /// From a JWK (RFC 7517); none where it is not for checking signatures, or of a kind
    /// that is not taken.
    fn read(jwk: &Value) -> Option<Self> {
        let text = |name: &str| jwk.get(name).map(Value::as_str);
        let bytes = |name: &str| decode(text(name)??);
        if text("use").is_some_and(|word| word != Some("sig")) {
            return None;
        }
        let verifies = |operations: &Value| {
            operations.as_array().is_some_and(|operations| operations.iter().any(|word| word == "verify"))
        };
        if !jwk.get("key_ops").is_none_or(verifies) {
            return None;
        }
        let only = text("alg").map(|word| word?.parse::<Algorithm>().ok());
        // One for something else than signatures that are taken.
        let only = match only {
            Some(None) => return None,
            only => only.flatten(),
        };
        let id = match text("kid") {
            Some(None) => return None,
            id => id.flatten().map(str::to_owned),
        };
        let point = |length: usize| {
            let (x, y) = (bytes("x")?, bytes("y")?);
            (x.len() == length && y.len() == length).then(|| [&[4][..], &x, &y].concat())
        };
        let material = match (text("kty")??, text("crv").flatten()) {
            ("RSA", _) => {
                let [n, e] = [bytes("n")?, bytes("e")?].map(|number| without_zeros(&number).to_vec());
                let bits = 8 * n.len() - n.first()?.leading_zeros() as usize;
                if !RSA_BITS.contains(&bits) {
                    return None;
                }
                Material::Rsa { n, e }
            }
            ("EC", Some("P-256")) => Material::P256(point(32)?),
            ("EC", Some("P-384")) => Material::P384(point(48)?),
            ("OKP", Some("Ed25519")) => Material::Ed25519(bytes("x").filter(|x| x.len() == 32)?),
            _ => return None,
        };
        Some(Self { id, only, material })
    }

    /// Whether tokens that are signed in this way can be checked with it.
    fn fits(&self, algorithm: Algorithm) -> bool {
        let can = match self.material {
            Material::Rsa { .. } => algorithm.rsa().is_some(),
            Material::P256(_) => algorithm == Algorithm::Es256,
            Material::P384(_) => algorithm == Algorithm::Es384,
            Material::Ed25519(_) => algorithm == Algorithm::EdDsa,
        };
        can && self.only.is_none_or(|only| only == algorithm)
    }

    /// Whether `signature` is this key's for `message`.
    pub(super) fn verifies(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        let with = |algorithm: &'static dyn signature::VerificationAlgorithm, key: &[u8]| {
            UnparsedPublicKey::new(algorithm, key).verify(message, signature).is_ok()
        };
        match (&self.material, algorithm.rsa()) {
            _ if !self.fits(algorithm) => false,
            (Material::Rsa { n, e }, Some(parameters)) => {
                RsaPublicKeyComponents { n, e }.verify(parameters, message, signature).is_ok()
            }
            (Material::Rsa { .. }, None) => false,
            (Material::P256(point), _) => with(&signature::ECDSA_P256_SHA256_FIXED, point),
            (Material::P384(point), _) => with(&signature::ECDSA_P384_SHA384_FIXED, point),
            (Material::Ed25519(key), _) => with(&signature::ED25519, key),
        }
    }
}

fn without_zeros(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    &number[zeros..]
}

/// All keys that a provider signs with at a time.
pub(super) struct KeySet(Vec<Key>);

/// A set may hold so many keys.
const MOST_KEYS: usize = 100;

impl KeySet {
    /// From a JWK set. Keys of other kinds, or for other uses, are passed over.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let set = JsonText::parse(text).map_err(|error| error.to_string())?.to_value();
        let keys = set.get("keys").and_then(Value::as_array).ok_or("it has no list of `keys`")?;
        if keys.len() > MOST_KEYS {
            return Err(format!("it has {} keys, and {MOST_KEYS} are the most", keys.len()));
        }
        Ok(Self(keys.iter().filter_map(Key::read).collect()))
    }

    /// The one key of this id, or without an id the one key there is, that fits
    /// `algorithm`.
    pub(super) fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Option<&Key> {
        let mut fitting =
            self.0.iter().filter(|key| key.fits(algorithm) && (id.is_none() || key.id.as_deref() == id));
        let found = fitting.next();
        found.filter(|_| fitting.next().is_none())
    }

    /// How many keys it has.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
