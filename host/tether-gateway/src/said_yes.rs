//! Whether those who said yes may still say it: who decides is the rule of now, also for the
//! yes of somebody who gave it before.

use tether_core::action::{Action, Approval, Proposal, State};
use tether_core::id::UserId;
use tether_core::problem::Problem;

use crate::Gateway;
use crate::outcome::store_problem;

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
            let turned_away = rule.counts(by, &action.proposal).is_err()
                || self.people.is_turned_away(tenant, by, *at).await.map_err(store_problem)?;
            if turned_away {
                fell.push(by.clone());
            }
        }
        Ok(fell)
    }
}
