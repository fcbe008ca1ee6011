//! After a crash: what was executing is settled before anybody is served.

use std::sync::Arc;

use tether_core::port::actions::StoreError;

use crate::Gateway;

/// What recovery found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recovered {
    /// Interrupted attempts whose end is known and written now.
    pub settled: usize,
    /// Interrupted attempts whose databases cannot be asked yet; they stay
    /// executing, and [`Gateway::sweep`] tries again.
    pub unsettled: usize,
}

impl Gateway {
    /// Settles every executing action, each by its records. To be called once,
    /// before anything else is.
    pub async fn recover(self: &Arc<Self>) -> Result<Recovered, StoreError> {
        let executing = self.actions.executing().await?;
        let (settled, unsettled) = self.settle_left_behind(executing).await;
        if settled + unsettled > 0 {
            tracing::info!(settled, unsettled, "recovered from an interruption");
        }
        Ok(Recovered { settled, unsettled })
    }
}
