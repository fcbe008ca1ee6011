//! Decisions by a form that the proposer's own client shows: the only ones that take no role,
//! and only where the rule of the tool lets them count.

use std::sync::Arc;

use tether_core::action::Action;
use tether_core::confirm::Seen;
use tether_core::id::ActionId;
use tether_core::identity::{Caller, Role};
use tether_core::problem::{Code, Problem};

use crate::Gateway;
use crate::confirm::Leave;
use crate::outcome::Outcome;

impl Gateway {
    /// Whether a form in the client of `caller` decides about this action, by the rule that
    /// holds now for its tool.
    pub fn may_decide_in_client(&self, caller: &Caller, action: &Action) -> Result<(), Problem> {
        let rule = self.settings.rules.of(&action.proposal.tool);
        rule.may_decide_in_client(caller, &action.proposal)
            .map_err(|not_yours| Problem::new(Code::Forbidden, not_yours.to_string()))
    }

    /// Confirms or declines an action as its form was answered. `attempts_seen` is what the
    /// form was about: an answer that comes twice runs nothing twice.
    pub async fn decide_in_client(
        self: &Arc<Self>,
        caller: &Caller,
        id: ActionId,
        yes: bool,
        attempts_seen: u32,
    ) -> Result<Outcome, Problem> {
        if !yes {
            return self.decline_if(Self::may_decide_in_client, caller, id, None).await;
        }
        // No id and no number is too long for a key.
        let key = format!("mcp:{id}:{attempts_seen}").parse().ok();
        let seen = Seen { attempts: Some(attempts_seen), approvals: None };
        let leave = Leave { may: Self::may_decide_in_client, role: Role::Agent };
        self.confirm_with(leave, caller, id, key, seen).await
    }
}
