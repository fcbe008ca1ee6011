//! A provider's keys, for tests.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    self, EcdsaKeyPair, EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair as _, RsaEncoding, RsaKeyPair,
};
use serde_json::{Value, json};

use crate::identity::key::Algorithm;

/// Signs tokens.
pub(crate) struct Signer {
    id: String,
    algorithm: Algorithm,
    pair: Pair,
}

enum Pair {
    Ed25519(Ed25519KeyPair),
    Ecdsa(EcdsaKeyPair),
    Rsa(RsaKeyPair),
}

/// Base64url without padding.
pub(crate) fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Signer {
    /// A fresh key.
    pub(crate) fn ed25519(id: &str) -> Self {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let pair = Pair::Ed25519(Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap());
        Self { id: id.to_owned(), algorithm: Algorithm::EdDsa, pair }
    }

    /// A fresh key on P-256, or on P-384.
    pub(crate) fn ecdsa(id: &str, algorithm: Algorithm) -> Self {
        let with: &'static EcdsaSigningAlgorithm = match algorithm {
            Algorithm::Es384 => &signature::ECDSA_P384_SHA384_FIXED_SIGNING,
            _ => &signature::ECDSA_P256_SHA256_FIXED_SIGNING,
        };
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(with, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(with, document.as_ref(), &random).unwrap();
        Self { id: id.to_owned(), algorithm, pair: Pair::Ecdsa(pair) }
    }

    /// Always the same key of 2048 bits, which is used for nothing else: ring makes none.
    pub(crate) fn rsa(id: &str, algorithm: Algorithm) -> Self {
        let pair = RsaKeyPair::from_pkcs8(include_bytes!("rsa.p8")).unwrap();
        Self { id: id.to_owned(), algorithm, pair: Pair::Rsa(pair) }
    }

    /// The public half, as a JWK.
    pub(crate) fn jwk(&self) -> Value {
        let mut jwk = match &self.pair {
            Pair::Ed25519(pair) => json!({ "kty": "OKP", "crv": "Ed25519", "x": encode(pair.public_key()) }),
            Pair::Ecdsa(pair) => {
                // The point without its mark, in two halves.
                let point = &pair.public_key().as_ref()[1..];
                let (x, y) = point.split_at(point.len() / 2);
                let curve = if self.algorithm == Algorithm::Es384 { "P-384" } else { "P-256" };
                json!({ "kty": "EC", "crv": curve, "x": encode(x), "y": encode(y) })
            }
            Pair::Rsa(pair) => {
                let PublicKeyComponents { n, e } = PublicKeyComponents::<Vec<u8>>::from(pair.public());
                json!({ "kty": "RSA", "n": encode(n), "e": encode(e) })
            }
        };
        jwk["kid"] = json!(self.id);
        jwk
    }

    /// The header that goes with it.
    pub(crate) fn header(&self) -> Value {
        json!({ "alg": self.algorithm.as_str(), "kid": self.id, "typ": "JWT" })
    }

    /// A token of these claims.
    pub(crate) fn token(&self, claims: &Value) -> String {
        self.sign(&self.header().to_string(), &claims.to_string())
    }

    /// A token of these texts.
    pub(crate) fn sign(&self, header: &str, claims: &str) -> String {
        let signed = format!("{}.{}", encode(header), encode(claims));
        let signature = self.signature(signed.as_bytes());
        format!("{signed}.{}", encode(signature))
    }

    fn signature(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::Ed25519(pair) => pair.sign(message).as_ref().to_vec(),
            Pair::Ecdsa(pair) => pair.sign(&random, message).unwrap().as_ref().to_vec(),
            Pair::Rsa(pair) => {
                let encoding: &'static dyn RsaEncoding = match self.algorithm {
                    Algorithm::Rs384 => &signature::RSA_PKCS1_SHA384,
                    Algorithm::Rs512 => &signature::RSA_PKCS1_SHA512,
                    Algorithm::Ps256 => &signature::RSA_PSS_SHA256,
                    Algorithm::Ps384 => &signature::RSA_PSS_SHA384,
                    Algorithm::Ps512 => &signature::RSA_PSS_SHA512,
                    _ => &signature::RSA_PKCS1_SHA256,
                };
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(encoding, &random, message, &mut signature).unwrap();
                signature
            }
        }
    }
}
