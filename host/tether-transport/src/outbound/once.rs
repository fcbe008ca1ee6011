//! A request of a confirmed write: noted, then sent, once.

use std::sync::Arc;

use tether_core::fault::{self, Point};
use tether_core::id::StepName;
use tether_core::ledger::{self, Answer};
use tether_core::port::journal::{Departure, Journal};

use super::lane::Lane;
use super::parcel::{Cap, Lost, Parcel, compressed};
use super::passage::Passage;
use super::{Outbound, Response, SendError};

/// How a request is noted.
pub(crate) struct Noting<'a> {
    /// Where.
    pub(crate) journal: &'a dyn Journal,
    /// Under which step.
    pub(crate) step: Option<StepName>,
    /// Knows whether it can have left.
    pub(crate) passage: Arc<Passage>,
}

/// A request that was noted and whose end is not told yet.
struct Noted<'a> {
    journal: &'a dyn Journal,
    departure: Option<Departure>,
    passage: Arc<Passage>,
}

impl Noted<'_> {
    fn went(&mut self, answer: Answer) {
        if let Some(departure) = self.departure.take() {
            self.journal.went(departure, answer);
        }
    }
}

impl Drop for Noted<'_> {
    /// Nobody waits for the answer any more (the attempt ran out of time, say), or it
    /// was lost. What cannot have left is told; anything else stays in doubt, as noted.
    fn drop(&mut self) {
        if !self.passage.is_open() {
            self.went(Answer::NotSent);
        }
    }
}

/// Sends `parcel` and tells the journal how it went.
///
/// Where the time is over while the connection is being made, or that fails, nothing
/// was sent. From then on only a whole answer takes the doubt away.
pub(crate) async fn once(
    outbound: &Outbound,
    lane: &Lane,
    parcel: Parcel,
    cap: Cap,
    Noting { journal, step, passage }: Noting<'_>,
) -> Result<Response, SendError> {
    let origin = parcel.origin();
    let client = lane.write(outbound.way());
    let client = client.map_err(|error| SendError::not_connected(&origin, &error))?;
    let (method, path) = (parcel.method.clone(), parcel.url.path().to_owned());
    let request = ledger::Request { method, origin: origin.clone(), path, step };
    // Whoever waits for a place is not about to leave yet.
    let _place = outbound.place(&origin).await;
    fault::reached(Point::BeforeNote);
    let departure = journal.leaves(request).await.map_err(|why| SendError::not_noted(&why))?;
    let mut noted = Noted { journal, departure: Some(departure), passage: passage.clone() };
    fault::reached(Point::Noted);
    let answer = passage.on_a_fresh_connection(parcel.exchange(client, cap, outbound)).await;
    let status = match &answer {
        Ok(response) => Some(response.status().as_u16()),
        Err(Lost::TooLarge { status } | Lost::Compressed { status }) => Some(*status),
        Err(Lost::Broken(_)) => None,
    };
    if let Some(status) = status {
        fault::reached(Point::Answered);
        noted.went(Answer::Status(status));
        fault::reached(Point::AnswerTold);
    }
    answer.map_err(|lost| match lost {
        Lost::TooLarge { .. } => SendError::TooLarge(cap.bytes as u64),
        // It may have acted, and what it says of that cannot be shown.
        Lost::Compressed { .. } => SendError::OutcomeUnknown(compressed(&origin)),
        Lost::Broken(error) if noted.passage.is_open() => SendError::lost(&origin, &error),
        Lost::Broken(error) => SendError::not_connected(&origin, &error),
    })
}
