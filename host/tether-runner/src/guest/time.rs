//! How long an attempt may take.

use std::sync::Arc;
use std::time::Duration;

use tether_core::allowance::Allowance;
use tether_core::failure::{Cause, Failure};

use super::ending;
use super::stopwatch::Stopwatch;
use crate::machine::Machine;

/// The clocks of one attempt.
///
/// A write has one: its time is for everything. A read has two: one for the guest by
/// itself, which stands still while it waits for what it sent (each of those requests
/// has a time of its own), and one for the whole call.
pub(crate) struct Time {
    own: Duration,
    watch: Stopwatch,
    whole: Option<Arc<Allowance>>,
}

impl Time {
    /// `time` for everything, from now on.
    pub(crate) fn for_everything(time: Duration) -> Self {
        Self { own: time, watch: Stopwatch::start(), whole: None }
    }

    /// `own` for the guest by itself, from now on, and what the call has left for all.
    pub(crate) fn for_itself(own: Duration, whole: Arc<Allowance>) -> Self {
        Self { own, watch: Stopwatch::start(), whole: Some(whole) }
    }

    /// What stands still while the guest waits for a request, where that does not count.
    pub(crate) fn own_time(&self) -> Option<Stopwatch> {
        self.whole.is_some().then(|| self.watch.clone())
    }

    /// Runs `attempt` while there is time. Whatever its end, nothing of it is left.
    pub(crate) async fn within<T>(
        self,
        machine: &Machine,
        attempt: impl Future<Output = wasmtime::Result<T>>,
    ) -> Result<T, Failure> {
        let timed_out = |message| Err(Failure::new(Cause::TimedOut, message));
        tokio::select! {
            biased;
            ended = attempt => ended.map_err(|error| ending::failure(&error, &machine.settings)),
            () = self.watch.shows(self.own) => {
                timed_out(format!("the handler was not done after {} ms", self.own.as_millis()))
            }
            () = self.call_ends() => {
                timed_out("the handler was not done when the time of the whole call was over".into())
            }
        }
    }

    async fn call_ends(&self) {
        match &self.whole {
            Some(allowance) => allowance.sleep(allowance.remaining()).await,
            None => std::future::pending().await,
        }
    }
}
