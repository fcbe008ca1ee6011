//! The requests of one attempt.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tether_core::allowance::Allowance;
use tether_core::failure::is_transient_status;
use tether_core::id::{RequestId, StepName};
use tether_core::port::journal::Journal;
use tokio::time::Instant;

use super::check::{self, Checked, denied};
use super::follow::follow;
use super::lane::Lane;
use super::once::{Noting, once};
use super::parcel::{Parcel, host_headers};
use super::passage::Passage;
use super::repeat::repeat;
use super::{Course, Outbound, Request, Response, SendError};
use crate::retry_after;

/// What one attempt of one call sends.
pub struct Sender {
    outbound: Outbound,
    lanes: Vec<Arc<Lane>>,
    key: RequestId,
    course: Course,
    /// Requests that were asked for, whatever became of them.
    asked: AtomicUsize,
    /// Of the unsafe requests that left.
    steps: Mutex<BTreeSet<Option<StepName>>>,
    settled: Arc<AtomicBool>,
    wait: Mutex<Option<(Instant, Duration)>>,
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
            settled: Arc::default(),
            wait: Mutex::default(),
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

    /// The main record is written: nothing unsafe leaves any more, even if it was
    /// asked for already.
    pub fn settled(&self) {
        self.settled.store(true, Ordering::SeqCst);
    }

    /// How long the last answer that failed asked to be left alone, from now; nothing
    /// once that is over.
    pub fn retry_after(&self) -> Option<Duration> {
        let (since, wait) = (*self.wait.lock().unwrap_or_else(PoisonError::into_inner))?;
        wait.checked_sub(since.elapsed()).filter(|left| !left.is_zero())
    }

    async fn checked(&self, request: Request) -> Result<Response, SendError> {
        let settings = &self.outbound.0.settings;
        if self.asked.fetch_add(1, Ordering::Relaxed) >= settings.max_requests {
            return Err(denied(format!("an attempt may send {} requests", settings.max_requests)));
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
        let one_try =
            || follow(checked.clone(), &self.lanes, |hop| self.hop(hop.checked.clone(), hop.crossed, key));
        repeat(allowance, &origin, one_try, |wait| self.failed(wait)).await
    }

    /// One request of a read.
    async fn hop(&self, checked: Checked, crossed: bool, key: RequestId) -> Result<Response, SendError> {
        let lane = checked.lane.clone();
        let parcel = self.parcel(checked, (!crossed).then_some(key))?;
        self.outbound.read(&lane, parcel, self.outbound.cap()).await
    }

    async fn write(
        &self,
        checked: Checked,
        key: RequestId,
        step: Option<StepName>,
        journal: &dyn Journal,
    ) -> Result<Response, SendError> {
        let is_safe = checked.method.is_safe();
        if !is_safe {
            self.take_step(&step)?;
        }
        let settled = self.settled.clone();
        let passage = Passage::new(move || is_safe || !settled.load(Ordering::SeqCst));
        let lane = checked.lane.clone();
        let parcel = self.parcel(checked, Some(key))?;
        let response =
            once(&self.outbound, &lane, parcel, self.outbound.cap(), Noting { journal, step, passage })
                .await?;
        if is_transient_status(response.status().as_u16()) {
            self.failed(retry_after::of(&response, None));
        }
        Ok(response)
    }

    /// An unsafe request of this step leaves: the first and only one of this attempt.
    fn take_step(&self, step: &Option<StepName>) -> Result<(), SendError> {
        if self.settled.load(Ordering::SeqCst) {
            return Err(denied("the main record is written: nothing unsafe leaves any more"));
        }
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        if steps.insert(step.clone()) {
            return Ok(());
        }
        Err(denied(match step {
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
        Ok(Parcel { method, url, headers, body })
    }

    fn failed(&self, wait: Option<Duration>) {
        let wait = wait.map(|wait| (Instant::now(), wait));
        *self.wait.lock().unwrap_or_else(PoisonError::into_inner) = wait;
    }
}
