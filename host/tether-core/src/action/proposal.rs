//! What was proposed, and what is kept of it.

use crate::clock::Timestamp;
use crate::digest::Digest;
use crate::grant::Binding;
use crate::id::{TenantId, ToolName, UserId};
use crate::json::JsonText;

/// What was proposed. It never changes: what was shown is what runs.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// Whose data it is about.
    pub tenant: TenantId,
    /// Who proposed it; the `user` of every attempt.
    pub proposer: UserId,
    /// The tool.
    pub tool: ToolName,
    /// The arguments.
    pub arguments: Arguments,
    /// The handler and what it may touch.
    pub binding: Binding,
    /// What the handler says it would do.
    pub preview: Preview,
    /// When it was proposed.
    pub created_at: Timestamp,
    /// Attempts that it may use in all, 1 or more.
    pub max_attempts: u32,
    /// How many persons each attempt takes, 1 or more.
    pub people: u32,
}

/// Arguments, while they are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arguments {
    /// As they were received.
    Kept(JsonText),
    /// Their retention is over; their fingerprint.
    Erased(Digest),
}

impl Arguments {
    /// See [`JsonText::fingerprint`].
    pub fn fingerprint(&self) -> Digest {
        match self {
            Self::Kept(text) => text.fingerprint(),
            Self::Erased(fingerprint) => *fingerprint,
        }
    }

    /// The text, while it is kept.
    pub fn kept(&self) -> Option<&JsonText> {
        match self {
            Self::Kept(text) => Some(text),
            Self::Erased(_) => None,
        }
    }
}

/// The handler's own sentence about the write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Preview {
    /// The sentence, plain text.
    Text(String),
    /// The arguments speak for themselves.
    None,
    /// The handler could not make one; why.
    Unavailable(String),
    /// Its retention is over: it repeats the arguments, and goes with them.
    Erased,
}

impl Preview {
    /// Characters of a sentence, at most; a longer one is cut, and ends with `…`.
    pub const LONGEST: usize = 1_000;
}
