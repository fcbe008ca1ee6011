//! Who calls.

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

impl Role {
    /// The role's name in the configuration and in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Approver => "approver",
            Self::Admin => "admin",
        }
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
}
