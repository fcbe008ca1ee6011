//! Looking: at tools, actions and their history.

use std::sync::Arc;

use tether_core::action::{Action, State, Status};
use tether_core::id::ActionId;
use tether_core::identity::{Caller, Role};
use tether_core::port::actions::{Filter, HistoryEvent, Page};
use tether_core::problem::{Code, Problem};
use tether_core::tool::Offer;

use crate::Gateway;
use crate::admit::require;
use crate::outcome::store_problem;

const ANYBODY: &[Role] = &[Role::Agent, Role::Approver, Role::Admin];

impl Gateway {
    /// Every tool, ordered by name.
    pub fn offers(&self, caller: &Caller) -> Result<Vec<Arc<Offer>>, Problem> {
        require(caller, &[Role::Agent, Role::Admin])?;
        Ok(self.handlers.offers())
    }

    /// Every tool, whoever asks: they are fixed for the life of the gateway.
    pub fn all_offers(&self) -> Vec<Arc<Offer>> {
        self.handlers.offers()
    }

    /// One action that the caller may see.
    pub async fn action(&self, caller: &Caller, id: ActionId) -> Result<Action, Problem> {
        require(caller, ANYBODY)?;
        self.load(caller, id).await
    }

    /// A page of the actions that the caller may see, newest first.
    pub async fn actions(
        &self,
        caller: &Caller,
        status: Option<Status>,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<Page, Problem> {
        require(caller, ANYBODY)?;
        let proposer = (!caller.sees_tenant()).then(|| caller.user.clone());
        let filter = Filter { status, proposer };
        self.endings.all_written().await;
        self.actions.list(&caller.tenant, filter, limit, cursor).await.map_err(store_problem)
    }

    /// The history of an action that the caller may see, oldest first.
    pub async fn history(&self, caller: &Caller, id: ActionId) -> Result<Vec<HistoryEvent>, Problem> {
        let action = self.action(caller, id).await?;
        self.actions.history(&action.proposal.tenant, id).await.map_err(store_problem)
    }

    /// Whether the caller may confirm or decline this action, by its roles and by the rule
    /// that holds now for its tool.
    pub fn may_decide(&self, caller: &Caller, action: &Action) -> Result<(), Problem> {
        require(caller, &[Role::Approver])?;
        let rule = self.settings.rules.of(&action.proposal.tool);
        rule.may_decide(caller, &action.proposal)
            .map_err(|not_yours| Problem::new(Code::Forbidden, not_yours.to_string()))
    }

    /// The action, expired if its time is over. What the caller may not see does
    /// not exist for it.
    pub(crate) async fn load(&self, caller: &Caller, id: ActionId) -> Result<Action, Problem> {
        let action = self.find(caller, id).await?;
        match action.state {
            State::Pending { expires_at, .. } if self.clock.now() >= expires_at => self.expire(action).await,
            _ => Ok(action),
        }
    }

    /// The action as it is stored, which is not before what was told of it; where that cannot
    /// be written now, as it was told.
    pub(crate) async fn find(&self, caller: &Caller, id: ActionId) -> Result<Action, Problem> {
        let told = self.endings.written(id).await;
        let found = self.actions.load(&caller.tenant, id).await.map_err(store_problem)?;
        found
            .map(|found| match found.state.status() {
                Status::Executing => told.unwrap_or(found),
                _ => found,
            })
            .filter(|action| caller.sees_tenant() || action.proposal.proposer == caller.user)
            .ok_or_else(not_found)
    }
}

pub(crate) fn not_found() -> Problem {
    Problem::new(
        Code::ActionNotFound,
        "there is no such action; `GET /v1/actions` lists those that you may see",
    )
}
