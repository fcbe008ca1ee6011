//! The requests of one attempt.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tether_core::allowance::Allowance;
use tether_core::failure::is_transient_status;
use tether_core::id::{RequestId, StepName};
use tether_core::port::journal::Journal;

use super::check::{self, Checked, denied, refused};
use super::follow::{Hop, follow};
use super::lane::Lane;
use super::once::{Noting, once};
use super::parcel::{Parcel, host_headers};
use super::passage::Passage;
use super::repeat::repeat;
use super::{Course, Outbound, Request, Response, SendError, headers};
use crate::retry_after;

/// What one attempt of one call sends.
pub struct Sender {
    outbound: Outbound,
    lanes: Vec<Arc<Lane>>,
    key: RequestId,
    course: Course,
    /// Requests that were asked for, whatever became of them.
    asked: AtomicUsize,
    /// Of the unsafe requests that left, or are about to.
    steps: Mutex<BTreeSet<Option<StepName>>>,
    settled: AtomicBool,
    /// Until when servers asked to be left alone, the latest of them; on the clock's
    /// monotonic time.
    alone_until: Mutex<Duration>,
}

impl Sender {
    pub(super) fn new(
        outbound: Outbound,
        lanes: Vec<Arc<Lane>>,
        key: RequestId,
        course: Course,
    ) -> Arc<Self> {
        Arc::new(Self {
            outbound,
            lanes,
            key,
            course,
            asked: AtomicUsize::new(0),
            steps: Mutex::default(),
            settled: AtomicBool::new(false),
            alone_until: Mutex::default(),
        })
    }

    /// Sends `request` and answers with what came back last: in a read after
    /// repetitions and redirects, in a write of the one time that it was sent.
    ///
    /// Dropping the future cancels the request: its connection is closed, or under
    /// HTTP/2 its stream. A write has no limit on time here: whoever runs the attempt
    /// drops it.
    pub fn send(
        self: &Arc<Self>,
        request: Request,
    ) -> impl Future<Output = Result<Response, SendError>> + Send + 'static + use<> {
        let sender = self.clone();
        async move { sender.checked(request).await }
    }

    /// The main record is written: nothing unsafe leaves any more. No request is under
    /// way by then: a database is never held across the network.
    pub fn settled(&self) {
        self.settled.store(true, Ordering::SeqCst);
    }

    /// How long answers that failed asked to be left alone, from now; the longest, since
    /// whoever runs again may ask all of them again. Nothing once that is over.
    pub fn retry_after(&self) -> Option<Duration> {
        let until = *self.alone_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.checked_sub(self.outbound.0.clock.monotonic()).filter(|left| !left.is_zero())
    }

    async fn checked(&self, request: Request) -> Result<Response, SendError> {
        let settings = &self.outbound.0.settings;
        if self.asked.fetch_add(1, Ordering::Relaxed) >= settings.max_requests {
            return Err(refused(format!("an attempt may send {} requests", settings.max_requests)));
        }
        let step = request.step.clone();
        let key = step.as_ref().map_or(self.key, |step| self.key.of_step(step));
        let reading = matches!(self.course, Course::Read(_));
        let checked = check::check(request, &self.lanes, reading, settings)?;
        match &self.course {
            Course::Read(allowance) => self.read(checked, key, allowance).await,
            Course::Write(journal) => self.write(checked, key, step, journal.as_ref()).await,
        }
    }

    async fn read(
        &self,
        checked: Checked,
        key: RequestId,
        allowance: &Allowance,
    ) -> Result<Response, SendError> {
        let origin = check::origin(&checked.url);
        let one_try = |passage: Arc<Passage>| {
            let hop = move |hop: &Hop| self.hop(hop.checked.clone(), hop.crossed, key, passage.clone());
            follow(checked.clone(), &self.lanes, hop)
        };
        repeat(allowance, &origin, one_try, |wait| self.failed(wait)).await
    }

    /// One request of a read.
    async fn hop(
        &self,
        checked: Checked,
        crossed: bool,
        key: RequestId,
        passage: Arc<Passage>,
    ) -> Result<Response, SendError> {
        let lane = checked.lane.clone();
        let parcel = self.parcel(checked, (!crossed).then_some(key))?;
        self.outbound.read(&lane, parcel, self.outbound.cap(), passage).await
    }

    async fn write(
        &self,
        checked: Checked,
        key: RequestId,
        step: Option<StepName>,
        journal: &dyn Journal,
    ) -> Result<Response, SendError> {
        let is_safe = checked.method.is_safe();
        let passage = Arc::<Passage>::default();
        let _taken = if is_safe { None } else { Some(self.take_step(&step, passage.clone())?) };
        let lane = checked.lane.clone();
        let parcel = self.parcel(checked, Some(key))?;
        let response =
            once(&self.outbound, &lane, parcel, self.outbound.cap(), Noting { journal, step, passage })
                .await?;
        if is_transient_status(response.status().as_u16()) {
            self.failed(retry_after::of(&response, self.outbound.now()));
        }
        Ok(response)
    }

    /// An unsafe request of this step leaves: the first and only one of this attempt,
    /// unless `passage` was never open to it.
    fn take_step(&self, step: &Option<StepName>, passage: Arc<Passage>) -> Result<Taken<'_>, SendError> {
        if self.settled.load(Ordering::SeqCst) {
            return Err(refused("the main record is written: nothing unsafe leaves any more"));
        }
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        if steps.insert(step.clone()) {
            return Ok(Taken { steps: &self.steps, step: step.clone(), passage });
        }
        Err(refused(match step {
            Some(step) => {
                format!("a request of the step {step:?} was sent in this attempt; it has the same key")
            }
            None => {
                "a request without a step was sent in this attempt; give each effect a step, and so a key, \
                     of its own"
                    .to_owned()
            }
        }))
    }

    /// The request with everything that the host puts into it; without a key, nothing.
    fn parcel(&self, checked: Checked, key: Option<RequestId>) -> Result<Parcel, SendError> {
        let Checked { lane, method, url, mut headers, body } = checked;
        if let Some(key) = key {
            headers.extend(host_headers(&lane.destination, key, self.outbound.secrets()).map_err(denied)?);
        }
        // What has left its origin carries nothing of the operator's.
        let has_secrets = key.is_some() && headers::carry_secrets(&lane.destination);
        Ok(Parcel { method, url, headers, body, has_secrets })
    }

    fn failed(&self, wait: Option<Duration>) {
        let until = self.outbound.0.clock.monotonic() + wait.unwrap_or_default();
        let mut alone_until = self.alone_until.lock().unwrap_or_else(PoisonError::into_inner);
        *alone_until = until.max(*alone_until);
    }
}

/// A step whose request is on its way. What cannot have left gives it back.
struct Taken<'a> {
    steps: &'a Mutex<BTreeSet<Option<StepName>>>,
    step: Option<StepName>,
    passage: Arc<Passage>,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if !self.passage.is_open() {
            self.steps.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.step);
        }
    }
}
