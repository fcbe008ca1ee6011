//! Who calls.

use std::str::FromStr;

use crate::id::{TenantId, UserId};

/// What a caller may do. Roles do not include one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// List tools, run reads, propose writes, see one's own actions.
    Agent,
    /// See the tenant's actions, confirm and decline.
    Approver,
    /// Everything that an approver sees, and the host itself.
    Admin,
}

/// The word is no role.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no role; there are agent, approver and admin")]
pub struct UnknownRole(String);

impl Role {
    /// Every role.
    pub const ALL: [Self; 3] = [Self::Agent, Self::Approver, Self::Admin];

    /// The role's name in the configuration and in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Approver => "approver",
            Self::Admin => "admin",
        }
    }
}

impl FromStr for Role {
    type Err = UnknownRole;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|role| role.as_str() == word).ok_or_else(|| UnknownRole(word.to_owned()))
    }
}

/// By which door somebody came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Channel {
    /// The HTTP API; the command line uses it as well.
    Api,
    /// The inbox.
    Inbox,
    /// The Model Context Protocol.
    Mcp,
}

impl Channel {
    /// Every channel.
    pub const ALL: [Self; 3] = [Self::Api, Self::Inbox, Self::Mcp];

    /// The channel on the wire and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Api => "api",
            Self::Inbox => "inbox",
            Self::Mcp => "mcp",
        }
    }

    /// The channel that [`Channel::as_str`] gave this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|channel| channel.as_str() == word)
    }
}

/// An authenticated caller.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The tenant that the caller belongs to.
    pub tenant: TenantId,
    /// Who it is.
    pub user: UserId,
    /// What it may do.
    pub roles: Vec<Role>,
    /// By which door it came in.
    pub channel: Channel,
    /// There is no other identity on this host: the proposer may then confirm, unless a
    /// rule says otherwise.
    pub alone: bool,
    /// It came with the host's own token, and manages the tokens of every tenant. No role;
    /// never so for a session or a stored token.
    pub operator: bool,
}

impl Caller {
    /// Whether the caller has `role`.
    pub fn is(&self, role: Role) -> bool {
        self.roles.contains(&role)
    }

    /// Whether the caller sees the actions of others in its tenant.
    pub fn sees_tenant(&self) -> bool {
        self.is(Role::Approver) || self.is(Role::Admin)
    }

    /// The caller, as the history names it.
    pub fn actor(&self) -> Actor {
        Actor { user: self.user.clone(), channel: Some(self.channel) }
    }
}

/// Who did something, as the history names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// Who.
    pub user: UserId,
    /// By which door; none for what happened before doors were kept.
    pub channel: Option<Channel>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_again() {
        for role in Role::ALL {
            assert_eq!(role.as_str().parse(), Ok(role));
        }
        for channel in Channel::ALL {
            assert_eq!(Channel::from_word(channel.as_str()), Some(channel));
        }
        assert!("Admin".parse::<Role>().is_err());
        assert_eq!(Channel::from_word("API"), None);
    }
}
