//! Whether people whom stored tokens let in were turned away since.

use std::sync::Arc;

use tether_core::clock::{Clock, Timestamp};
use tether_core::id::{TenantId, UserId};
use tether_core::identity::Role;
use tether_core::port::BoxFuture;
use tether_core::port::actions::StoreError;
use tether_core::port::people::People;
use tether_core::port::tokens::{Token, Tokens};

use super::{operator, tokens};

/// See [`People`].
pub struct KnownPeople {
    /// Where tokens are kept.
    pub tokens: Arc<dyn Tokens>,
    /// Whether the host's own token lets its user in.
    pub operator_comes_in: bool,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl People for KnownPeople {
    fn is_turned_away<'a>(
        &'a self,
        tenant: &'a TenantId,
        user: &'a UserId,
        since: Timestamp,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let operator = operator();
            if self.operator_comes_in && (tenant, user) == (&operator.tenant, &operator.user) {
                return Ok(false);
            }
            let now = self.clock.now();
            let mut theirs = self.tokens.of(tenant.clone(), user.clone()).await?;
            theirs.retain(|token| token.roles.contains(&Role::Approver));
            let revoked = |token: &Token| token.revoked_at.is_some_and(|at| since <= at);
            let valid = |token: &Token| tokens::is_valid(token, now);
            Ok(theirs.iter().any(revoked) && !theirs.iter().any(valid))
        })
    }
}
