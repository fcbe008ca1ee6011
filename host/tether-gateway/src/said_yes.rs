//! Whether those who said yes may still say it: who decides is the rule of now, also for the
//! yes of somebody who gave it before, or who waited since for a place.

use std::time::Duration;

use tether_core::action::{Action, Approval, Proposal, State};
use tether_core::clock::{Clock, Timestamp};
use tether_core::confirm::Confirmation;
use tether_core::id::{TenantId, UserId};
use tether_core::identity::{Actor, Role};
use tether_core::problem::{Code, Problem};

use crate::Gateway;
use crate::outcome::store_problem;

/// A yes that is being said.
#[derive(Debug, Clone)]
pub(crate) struct Yes {
    /// Who says it, and to what.
    pub(crate) confirmation: Confirmation,
    /// The same person, for the history.
    pub(crate) actor: Actor,
    /// The role that it takes.
    pub(crate) role: Role,
    /// When it was said, on [`Clock::monotonic`]: before whatever it had to wait for.
    pub(crate) said: Duration,
}

impl Yes {
    /// When it was said, by what is the time of day now: what was revoked while it waited was
    /// revoked after that, also where the time of day was set meanwhile.
    pub(crate) fn at(&self, clock: &dyn Clock) -> Timestamp {
        let waited = clock.monotonic().saturating_sub(self.said).as_millis();
        let waited = i64::try_from(waited).unwrap_or(i64::MAX);
        Timestamp::from_millis(clock.now().as_millis().saturating_sub(waited))
    }
}

impl Gateway {
    /// Who said yes to the next attempt of this action and may no longer decide about it, as
    /// far as that is known. As long as there is anybody, it is neither approved nor claimed.
    pub async fn whose_yes_fell(&self, action: &Action) -> Result<Vec<UserId>, Problem> {
        let State::Pending { approvals, .. } = &action.state else { return Ok(Vec::new()) };
        let Proposal { tenant, tool, .. } = &action.proposal;
        let rule = self.settings.rules.of(tool);
        let mut fell = Vec::new();
        for Approval { claim, at } in approvals {
            let by = &claim.by;
            if rule.counts(by, &action.proposal).is_err()
                || self.is_turned_away(tenant, by, Role::Approver, *at).await?
            {
                fell.push(by.clone());
            }
        }
        Ok(fell)
    }

    /// Whether a yes counts that was said `at` and is about to be taken: whoever says it was
    /// let in then, and may have been turned away since. The rule was asked then, and is the
    /// same.
    pub(crate) async fn still_counts(
        &self,
        tenant: &TenantId,
        yes: &Yes,
        at: Timestamp,
    ) -> Result<(), Problem> {
        if self.is_turned_away(tenant, &yes.confirmation.claim.by, yes.role, at).await? {
            return Err(Problem::new(
                Code::Forbidden,
                "what let you in was revoked, so you may not decide about it any more; your yes was not taken, \
                 and nothing ran",
            ));
        }
        Ok(())
    }

    async fn is_turned_away(
        &self,
        tenant: &TenantId,
        user: &UserId,
        role: Role,
        since: Timestamp,
    ) -> Result<bool, Problem> {
        self.people.is_turned_away(tenant, user, role, since).await.map_err(store_problem)
    }
}
