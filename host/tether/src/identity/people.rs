//! Whether people whom stored tokens let in were turned away since.

use std::sync::Arc;
use std::time::Duration;

use tether_core::clock::{Clock, Timestamp};
use tether_core::id::{TenantId, UserId};
use tether_core::identity::Role;
use tether_core::port::BoxFuture;
use tether_core::port::actions::StoreError;
use tether_core::port::people::People;
use tether_core::port::tokens::Tokens;

use super::{operator, tokens};

/// What was said until so long after a revocation is taken for said before it: a revocation is
/// dated before it is written, a request that was let in has 30 seconds to arrive as a whole,
/// and clocks are corrected.
const MEANWHILE: Duration = Duration::from_secs(60);

/// See [`People`].
pub struct KnownPeople {
    /// Where tokens are kept.
    pub tokens: Arc<dyn Tokens>,
    /// Since when, for all that is known, the host's own token lets nobody in; none while it
    /// lets its user in.
    pub operator_left_at: Option<Timestamp>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl People for KnownPeople {
    fn is_turned_away<'a>(
        &'a self,
        tenant: &'a TenantId,
        user: &'a UserId,
        role: Role,
        since: Timestamp,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let operator = operator();
            let is_operator = (tenant, user) == (&operator.tenant, &operator.user);
            if is_operator && self.operator_left_at.is_none() {
                return Ok(false);
            }
            let now = self.clock.now();
            let mut theirs = self.tokens.of(tenant.clone(), user.clone()).await?;
            theirs.retain(|token| token.roles.contains(&role));
            if theirs.iter().any(|token| tokens::is_valid(token, now)) {
                return Ok(false);
            }
            // There is no row of the host's own token: it is one that was revoked when it left.
            let left = self.operator_left_at.filter(|_| is_operator);
            let mut revoked = theirs.iter().filter_map(|token| token.revoked_at).chain(left);
            Ok(revoked.any(|at| since <= at.after(MEANWHILE)))
        })
    }
}
