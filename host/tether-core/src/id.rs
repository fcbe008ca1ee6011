//! Ids and names, parsed at the edge: inside, none of them is a `String`.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::digest::Digest;
use crate::hex::{self, Hex};

/// Why a text is not the id or name that it was taken for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} is {rule}")]
pub struct InvalidId {
    what: &'static str,
    rule: &'static str,
}

macro_rules! hex_id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name([u8; 16]);

        impl $name {
            /// From 16 random bytes; the caller vouches that they are random.
            pub fn from_random(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&Hex(&self.0), f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let invalid = InvalidId { what: $what, rule: "32 lower-case hex digits" };
                hex::parse(text).map(Self).ok_or(invalid)
            }
        }
    };
}

hex_id! {
    /// Names an action for good, and is the idempotency key of its write.
    ActionId, "an action id"
}

hex_id! {
    /// Names one call, the same in all its attempts: its idempotency key.
    RequestId, "a request id"
}

hex_id! {
    /// Names a stored token, and opens nothing.
    TokenId, "a token's id"
}

impl RequestId {
    /// The key of one step of this call: the first 32 hex digits of
    /// SHA-256(key ":" step). Two effects at one peer are two keys, the same in
    /// every attempt.
    pub fn of_step(self, step: &StepName) -> Self {
        Self(Digest::of(format!("{self}:{step}")).first_half())
    }
}

impl From<ActionId> for RequestId {
    /// A confirmed write is called with the id of its action, however often a
    /// person confirms it.
    fn from(action: ActionId) -> Self {
        Self(action.0)
    }
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal, $rule:literal, $valid:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let valid: fn(&str) -> bool = $valid;
                if valid(text) {
                    Ok(Self(text.into()))
                } else {
                    Err(InvalidId { what: $what, rule: $rule })
                }
            }
        }
    };
}

fn plain(text: &str, longest: usize) -> bool {
    !text.is_empty()
        && text.chars().count() <= longest
        && !text.chars().any(char::is_control)
        && text.trim() == text
}

fn word(text: &str, longest: usize, extra: &[u8]) -> bool {
    (1..=longest).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || extra.contains(&byte))
}

name! {
    /// Whose data it is. Nothing of one tenant is visible to another.
    TenantId, "a tenant", "1 to 128 characters, no control characters, no blanks at its ends",
    |text| plain(text, 128)
}

name! {
    /// A person or an agent of a tenant.
    UserId, "a user", "1 to 128 characters, no control characters, no blanks at its ends",
    |text| plain(text, 128)
}

name! {
    /// A tool, as a model calls it; unique within a host.
    ToolName, "a tool's name", "1 to 128 characters of A-Z a-z 0-9 _ - .",
    |text| word(text, 128, b"_-.")
}

name! {
    /// A component, as the operator names it; by default its file's name
    /// without the ending.
    ComponentName, "a component's name", "1 to 64 characters of A-Z a-z 0-9 _ - .",
    |text| word(text, 64, b"_-.")
}

name! {
    /// A database, as the component names it.
    DatabaseName, "a database's name", "1 to 64 characters of A-Z a-z 0-9 _ -",
    |text| word(text, 64, b"_-")
}

name! {
    /// One of several effects within a write.
    StepName, "a step's name", "1 to 128 characters, no control characters, no blanks at its ends",
    |text| plain(text, 128)
}

name! {
    /// What a client sends so that its own repetition is recognised.
    IdempotencyKey, "an idempotency key",
    "1 to 255 characters, no control characters, no blanks at its ends",
    |text| plain(text, 255)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_id_is_the_key_of_its_write() {
        let id: ActionId = "9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918".parse().unwrap();
        assert_eq!(RequestId::from(id).to_string(), "9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918");
    }

    #[test]
    fn a_step_has_a_key_of_its_own() {
        let key: RequestId = "9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918".parse().unwrap();
        // printf '%s' 9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918:refund | sha256sum
        assert_eq!(key.of_step(&"refund".parse().unwrap()).to_string(), "4a422214af215b678889dc04803d21c9");
    }

    #[test]
    fn what_is_no_id_is_refused_at_the_edge() {
        for text in ["", "9C1E7B6A0F5D4C3B8A7E6D5C4B3A2918", "9c1e", "+c1e7b6a0f5d4c3b8a7e6d5c4b3a2918"] {
            assert!(text.parse::<ActionId>().is_err(), "{text:?} is no action id");
        }
        for text in ["", "a b", "a/b", "ä", &"x".repeat(129)] {
            assert!(text.parse::<ToolName>().is_err(), "{text:?} is no tool name");
        }
        for text in ["", " a", "a\n", &"x".repeat(256)] {
            assert!(text.parse::<IdempotencyKey>().is_err(), "{text:?} is no key");
        }
    }
}
