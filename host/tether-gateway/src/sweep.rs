//! Sweeping: what happens to actions without anybody asking.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tether_core::action::{Action, Proposal};
use tether_core::clock::Timestamp;
use tether_core::fault::{self, Point};
use tether_core::port::actions::{Left, Part, StoreError};

use crate::Gateway;
use crate::away::Away;
use crate::tour::{BATCH, Tour};

/// How long a database that is away is left alone, before its records are to be
/// emptied again.
const LEFT_ALONE: Duration = Duration::from_secs(3600);

/// How often kept components are looked through where no action ended.
const COMPONENTS: Duration = Duration::from_secs(60);

/// When the kept components are looked through next, on the monotonic clock.
#[derive(Default)]
pub(crate) struct Due(Mutex<Duration>);

impl Due {
    /// In the next round.
    pub(crate) fn at_once(&self) {
        *self.next() = Duration::ZERO;
    }

    /// Whether it is time; then not again before [`COMPONENTS`] have gone by.
    fn is_over(&self, now: Duration) -> bool {
        let mut next = self.next();
        let over = now >= *next;
        if over {
            *next = now + COMPONENTS;
        }
        over
    }

    fn next(&self) -> MutexGuard<'_, Duration> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How far each list was gone through.
#[derive(Default)]
pub(crate) struct Tours {
    overdue: Tour,
    results: Tour,
    records: Tour,
    arguments: Tour,
}

impl Gateway {
    /// One round: settles what was left behind, expires what is overdue, erases
    /// results and arguments whose retention is over, and lets go of components that nobody
    /// needs. To be called every second or so.
    pub async fn sweep(self: &Arc<Self>) -> Result<(), StoreError> {
        let executing = self.actions.executing().await?;
        self.settle_left_behind(executing).await;
        self.expire_overdue().await?;
        self.erase_results().await?;
        self.erase_arguments().await?;
        if self.components_due.is_over(self.clock.monotonic()) {
            self.handlers.retain(&self.actions.needed_components().await?);
        }
        Ok(())
    }

    async fn expire_overdue(&self) -> Result<(), StoreError> {
        let now = self.clock.now();
        let mut round = self.tours.overdue.round(self.clock.monotonic());
        while round.goes_on() {
            let Part { actions, mut seen } = self.actions.overdue(now, round.after, BATCH).await?;
            for action in actions {
                let id = action.id.to_string();
                match self.try_expire(action).await {
                    Ok(_) => {}
                    // That is of no action: nothing can be written.
                    Err(error @ (StoreError::Full | StoreError::Busy)) => return Err(error),
                    Err(error) => seen.left.push(Left { id, why: error.to_string() }),
                }
            }
            round.saw(seen);
        }
        round.tell("expired");
        Ok(())
    }

    /// Two steps, each of which is done again after a crash: the result is erased here,
    /// and then the records, in databases that may be away, are emptied.
    async fn erase_results(&self) -> Result<(), StoreError> {
        let now = self.clock.now();
        let before = before(now, self.settings.keep_results);
        let mut round = self.tours.results.round(self.clock.monotonic());
        while round.goes_on() {
            round.saw(self.actions.erase_outputs(before, now, round.after, BATCH).await?);
        }
        round.tell("erased, its result");
        self.empty_all_records(now).await
    }

    async fn empty_all_records(&self, now: Timestamp) -> Result<(), StoreError> {
        let mut away = Away::default();
        let mut round = self.tours.records.round(self.clock.monotonic());
        while round.goes_on() {
            let Part { actions, seen } = self.actions.with_records(now, round.after, BATCH).await?;
            self.empty_each(actions, now, &mut away).await?;
            round.saw(seen);
        }
        round.tell("emptied, its records");
        Ok(())
    }

    async fn empty_each(
        &self,
        actions: Vec<Action>,
        now: Timestamp,
        away: &mut Away,
    ) -> Result<(), StoreError> {
        for action in actions {
            let is_away = away.holds(&action);
            let emptied = !is_away && self.empty_records(&action).await;
            fault::reached(Point::Emptied);
            if !emptied && !is_away {
                away.add(&action);
            }
            let due = (!emptied).then(|| now.after(LEFT_ALONE));
            self.actions.set_records_due(&action.proposal.tenant, action.id, due).await?;
            fault::reached(Point::EmptyNoted);
        }
        Ok(())
    }

    async fn erase_arguments(&self) -> Result<(), StoreError> {
        let now = self.clock.now();
        let before = before(now, self.settings.keep_arguments);
        let mut round = self.tours.arguments.round(self.clock.monotonic());
        while round.goes_on() {
            round.saw(self.actions.erase_arguments(before, now, round.after, BATCH).await?);
        }
        round.tell("erased, its arguments");
        Ok(())
    }

    /// Whether that could be done now.
    async fn empty_records(&self, action: &Action) -> bool {
        let Proposal { tenant, binding, .. } = &action.proposal;
        let emptied = self.handlers.empty_records(tenant, binding, action.id.into()).await;
        if let Err(unreachable) = &emptied {
            tracing::warn!(action = %action.id, error = %unreachable, "its records are not emptied yet");
        }
        emptied.is_ok()
    }
}

/// What ended before this has been kept for `span` by `now`.
fn before(now: Timestamp, span: Duration) -> Timestamp {
    let millis = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(now.as_millis().saturating_sub(millis))
}
