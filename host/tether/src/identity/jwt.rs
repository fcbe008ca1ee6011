//! JSON Web Tokens (RFC 7519), as far as they are taken here: signed, in one piece, for
//! us, and now.

use std::time::Duration;

use serde_json::{Map, Value};
use tether_core::clock::Timestamp;
use tether_core::json::JsonText;

use super::key::{Algorithm, KeySet, decode};

/// The longest token, in bytes.
pub(super) const LONGEST: usize = 16 << 10;

/// Why a token opens nothing: for the log, which names nothing of the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refused(pub(super) &'static str);

/// What a provider's tokens must be.
#[derive(Debug, Clone)]
pub struct Expected {
    /// `iss`, to the letter.
    pub issuer: String,
    /// One of these is among `aud`.
    pub audiences: Vec<String>,
    /// How they may be signed.
    pub algorithms: Vec<Algorithm>,
    /// How far the provider's clock may be from ours.
    pub leeway: Duration,
}

/// A token that was taken apart. Nothing in it is true before its signature was checked.
pub(super) struct Jwt<'t> {
    signed: &'t str,
    signature: Vec<u8>,
    algorithm: Algorithm,
    key: Option<String>,
    claims: Map<String, Value>,
}

impl<'t> Jwt<'t> {
    /// Takes `token` apart.
    pub(super) fn parse(token: &'t str) -> Result<Self, Refused> {
        if token.len() > LONGEST {
            return Err(Refused("it is too long"));
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(Refused("it has no parts"))?;
        let (header, claims) = signed.split_once('.').ok_or(Refused("it has no three parts"))?;
        let signature = decode(signature).ok_or(Refused("its signature is no base64url"))?;
        let header = object(header).ok_or(Refused("its header cannot be read"))?;
        let claims = object(claims).ok_or(Refused("its claims cannot be read"))?;
        let text = |name: &str| header.get(name).map(|value| value.as_str());

        let algorithm = text("alg").flatten().and_then(|word| word.parse().ok());
        let algorithm = algorithm.ok_or(Refused("it is not signed in a way that is taken"))?;
        // Whatever is critical is something that we do not know.
        if header.contains_key("crit") {
            return Err(Refused("it has critical headers"));
        }
        // A token of another kind may be meant for something else.
        let kind = text("typ").map(|kind| kind.unwrap_or("none").to_ascii_lowercase());
        if kind.is_some_and(|kind| !matches!(kind.as_str(), "jwt" | "at+jwt" | "application/at+jwt")) {
            return Err(Refused("it is of another type"));
        }
        let key = match text("kid") {
            Some(None) => return Err(Refused("its key id is no text")),
            key => key.flatten().map(str::to_owned),
        };
        Ok(Self { signed, signature, algorithm, key, claims })
    }

    /// Who says that it is who issued it.
    pub(super) fn issuer(&self) -> Option<&str> {
        self.text("iss")
    }

    /// How it says that it is signed, and with which key.
    pub(super) fn signed_with(&self) -> (Option<&str>, Algorithm) {
        (self.key.as_deref(), self.algorithm)
    }

    /// Whether it would be for us, now, if its signature were right; until when.
    pub(super) fn check(&self, expected: &Expected, now: Timestamp) -> Result<Timestamp, Refused> {
        let Expected { issuer, audiences, algorithms, leeway } = expected;
        let later = now.after(*leeway);
        if !algorithms.contains(&self.algorithm) {
            return Err(Refused("its algorithm is not taken from this issuer"));
        }
        if self.issuer() != Some(issuer) {
            return Err(Refused("it is of another issuer"));
        }
        if !self.audiences().any(|audience| audiences.iter().any(|ours| ours == audience)) {
            return Err(Refused("it is for another audience"));
        }
        let ends = self.moment("exp")?.ok_or(Refused("it never expires"))?.after(*leeway);
        if ends <= now {
            return Err(Refused("it is expired"));
        }
        for name in ["nbf", "iat"] {
            if self.moment(name)?.is_some_and(|begins| begins > later) {
                return Err(Refused("it is not valid yet"));
            }
        }
        Ok(ends)
    }

    /// Whether one of `keys` signed it; then its claims are true.
    pub(super) fn verify(&self, keys: &KeySet) -> Result<&Map<String, Value>, Refused> {
        let key = keys.find(self.key.as_deref(), self.algorithm).ok_or(Refused("its key is unknown"))?;
        match key.verifies(self.algorithm, self.signed.as_bytes(), &self.signature) {
            true => Ok(&self.claims),
            false => Err(Refused("its signature is wrong")),
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.claims.get(name)?.as_str()
    }

    fn audiences(&self) -> impl Iterator<Item = &str> {
        let audiences = match self.claims.get("aud") {
            Some(Value::Array(audiences)) => audiences.as_slice(),
            Some(one) => std::slice::from_ref(one),
            None => &[],
        };
        audiences.iter().filter_map(Value::as_str)
    }

    /// A claim that is a moment, in seconds since 1970.
    fn moment(&self, name: &str) -> Result<Option<Timestamp>, Refused> {
        let Some(value) = self.claims.get(name) else { return Ok(None) };
        let seconds = value.as_f64().ok_or(Refused("one of its moments is no number"))?;
        // What is out of range becomes the nearest end of it.
        Ok(Some(Timestamp::from_millis((seconds * 1000.0) as i64)))
    }
}

/// The object that a part holds. A name that occurs twice could be read in two ways.
fn object(part: &str) -> Option<Map<String, Value>> {
    let text = String::from_utf8(decode(part)?).ok()?;
    match JsonText::parse(text).ok()?.to_value() {
        Value::Object(members) => Some(members),
        _ => None,
    }
}
