//! Signatures that libraries for "Standard Webhooks" verify.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_PAD_INDIFFERENT};
use ring::hmac;

/// What stands in front of a secret that is written in base64.
const PREFIX: &str = "whsec_";

/// Bytes of a secret. Fewer could be guessed.
const FEWEST: usize = 24;

/// What notices to one hook are signed with. It does not print itself.
#[derive(Clone)]
pub struct SigningKey(hmac::Key);

/// A text that is no secret to sign with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it must be `whsec_` and at least 24 bytes in base64, or a text of at least 24 characters")]
pub struct InvalidKey;

impl FromStr for SigningKey {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        let secret = match text.strip_prefix(PREFIX) {
            Some(encoded) => STANDARD_PAD_INDIFFERENT.decode(encoded).map_err(|_| InvalidKey)?,
            None => text.as_bytes().to_vec(),
        };
        if secret.len() < FEWEST {
            return Err(InvalidKey);
        }
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, &secret)))
    }
}

impl SigningKey {
    /// The value of `webhook-signature` for a notice that is sent with this
    /// `webhook-id`, `webhook-timestamp` (seconds since 1970) and body.
    pub(super) fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        let mut signed = hmac::Context::with_key(&self.0);
        signed.update(format!("{id}.{timestamp}.").as_bytes());
        signed.update(body);
        format!("v1,{}", STANDARD.encode(signed.sign()))
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Result<SigningKey, InvalidKey> {
        text.parse()
    }

    /// The example that libraries for Standard Webhooks are tested with.
    #[test]
    fn a_signature_is_as_others_make_it() {
        let signature = key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap().sign(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            br#"{"test": 2432232314}"#,
        );
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn everything_that_is_signed_counts() {
        let key = key("a text of twenty-four characters").unwrap();
        let signed = key.sign("id", 1, b"body");
        for other in [key.sign("di", 1, b"body"), key.sign("id", 2, b"body"), key.sign("id", 1, b"bodY")] {
            assert_ne!(signed, other);
        }
    }

    #[test]
    fn a_secret_is_long_enough() {
        for short in ["", "whsec_", "a text of twenty-three.", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa=="] {
            assert_eq!(key(short).err(), Some(InvalidKey), "{short}");
        }
        assert_eq!(key("whsec_not base64, whatever it is").err(), Some(InvalidKey));
        key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwQUI").unwrap();
    }

    #[test]
    fn a_secret_is_not_printed() {
        let printed = format!("{:?} {}", key("s3cr3t s3cr3t s3cr3t s3cr3t").unwrap(), InvalidKey);
        assert!(!printed.contains("s3cr3t"), "{printed}");
    }
}
