//! Sweeping: what happens to actions without anybody asking.

use std::sync::Arc;

use tether_core::clock::Timestamp;
use tether_core::port::actions::StoreError;

use crate::Gateway;

/// Actions handled in one go; the rest waits for the next round.
const BATCH: usize = 200;

impl Gateway {
    /// One round: settles what was left behind, expires what is overdue, erases
    /// results whose retention is over, and lets go of components that nobody
    /// needs. To be called every second or so.
    pub async fn sweep(self: &Arc<Self>) -> Result<(), StoreError> {
        let executing = self.actions.executing().await?;
        self.settle_left_behind(executing).await;

        let now = self.clock.now();
        for action in self.actions.overdue(now, BATCH).await? {
            let id = action.id;
            if let Err(problem) = self.expire(action).await {
                tracing::warn!(action = %id, error = %problem, "not expired");
            }
        }

        let kept_since = now.as_millis().saturating_sub(millis(self.settings.keep_results));
        for action in self.actions.erase_outputs(Timestamp::from_millis(kept_since), BATCH).await? {
            let proposal = &action.proposal;
            let emptied =
                self.handlers.empty_records(&proposal.tenant, &proposal.binding, action.id.into()).await;
            if let Err(unreachable) = emptied {
                tracing::warn!(action = %action.id, error = %unreachable, "its records are not emptied");
            }
        }

        self.handlers.retain(&self.actions.needed_components().await?);
        Ok(())
    }
}

fn millis(span: std::time::Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}
