//! The journal of one attempt: what a write sends is noted before it leaves.

use std::sync::{Arc, PoisonError};

use tether_core::action::Action;
use tether_core::clock::Clock;
use tether_core::id::{ActionId, TenantId};
use tether_core::ledger::{Answer, Entry, Fact, Ledger, Request};
use tether_core::port::BoxFuture;
use tether_core::port::actions::{ActionStore, StoreError};
use tether_core::port::journal::{Departure, Journal, NotNoted};

use crate::sync::{Mutex, MutexGuard};

/// Bytes of a request's path that are kept.
const LONGEST_PATH: usize = 512;

/// See [`Journal`]. Every note writes the whole ledger, so that one that is written
/// later never forgets one that was written before.
pub(crate) struct AttemptJournal {
    actions: Arc<dyn ActionStore>,
    clock: Arc<dyn Clock>,
    tenant: TenantId,
    id: ActionId,
    attempt: u32,
    /// What was seen before this attempt.
    before: Vec<Entry>,
    sent: Mutex<Sent>,
    /// How many requests of `sent` are noted durably. Held while a note is written:
    /// notes are written one after the other, in the order in which they grow.
    noted: tokio::sync::Mutex<usize>,
}

/// The requests of the attempt, in the order in which they asked to leave.
#[derive(Default)]
struct Sent {
    entries: Vec<Entry>,
    /// The attempt has ended: whatever asks to leave now would be in no ledger.
    closed: bool,
}

impl AttemptJournal {
    /// The journal of the attempt that `claimed` executes.
    pub(crate) fn new(claimed: &Action, actions: Arc<dyn ActionStore>, clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self {
            actions,
            clock,
            tenant: claimed.proposal.tenant.clone(),
            id: claimed.id,
            attempt: claimed.state.attempts_used(),
            before: claimed.ledger.entries().to_vec(),
            sent: Mutex::default(),
            noted: tokio::sync::Mutex::default(),
        })
    }

    /// The attempt has ended: nothing leaves any more. Everything that was noted, with
    /// the answers that are known by now.
    pub(crate) fn close(&self) -> Ledger {
        let mut sent = self.sent();
        sent.closed = true;
        self.ledger(&sent)
    }

    fn sent(&self) -> MutexGuard<'_, Sent> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ledger(&self, sent: &Sent) -> Ledger {
        Ledger::new(self.before.iter().chain(&sent.entries).cloned().collect())
    }

    /// Adds a request, in doubt from now on.
    fn add(&self, mut request: Request) -> Result<usize, NotNoted> {
        let mut sent = self.sent();
        if sent.closed {
            return Err(ended());
        }
        shorten(&mut request.path);
        let fact = Fact::Sent { request, answer: Answer::InDoubt };
        sent.entries.push(Entry { at: self.clock.now(), attempt: self.attempt, fact });
        Ok(sent.entries.len() - 1)
    }

    /// Writes everything that was added so far, unless a later note has done so.
    async fn note(&self, index: usize) -> Result<(), NotNoted> {
        let mut noted = self.noted.lock().await;
        if *noted > index {
            return Ok(());
        }
        let (ledger, count) = {
            let sent = self.sent();
            (self.ledger(&sent), sent.entries.len())
        };
        match self.actions.note(&self.tenant, self.id, self.attempt, ledger).await {
            Ok(true) => {
                *noted = count;
                Ok(())
            }
            Ok(false) => Err(NotNoted::Failed("the attempt does not execute any more".to_owned())),
            Err(error) => {
                tracing::warn!(action = %self.id, %error, "a request is not noted, and not sent");
                Err(match error {
                    StoreError::Full => NotNoted::StorageFull,
                    other => NotNoted::Failed(other.to_string()),
                })
            }
        }
    }

    fn answered(&self, index: usize, told: Answer) {
        if let Some(Entry { fact: Fact::Sent { answer, .. }, .. }) = self.sent().entries.get_mut(index) {
            *answer = told;
        }
    }
}

impl Journal for AttemptJournal {
    fn leaves(&self, request: Request) -> BoxFuture<'_, Result<Departure, NotNoted>> {
        Box::pin(async move {
            let kept_back = KeptBack { journal: self, index: self.add(request)?, departed: false };
            self.note(kept_back.index).await?;
            kept_back.depart()
        })
    }

    fn went(&self, departure: Departure, answer: Answer) {
        self.answered(departure.0, answer);
    }
}

/// A request that was added and may not leave yet. It never does where this is
/// dropped: whoever sends it was told so, or is gone.
struct KeptBack<'a> {
    journal: &'a AttemptJournal,
    index: usize,
    departed: bool,
}

impl KeptBack<'_> {
    /// Lets it go, unless the attempt ended while it was noted: whoever settles the
    /// attempt may not have seen the note.
    fn depart(mut self) -> Result<Departure, NotNoted> {
        if self.journal.sent().closed {
            return Err(ended());
        }
        self.departed = true;
        Ok(Departure(self.index))
    }
}

impl Drop for KeptBack<'_> {
    fn drop(&mut self) {
        if !self.departed {
            self.journal.answered(self.index, Answer::NotSent);
        }
    }
}

/// Closes the journal of an attempt whose task ends before the attempt does.
pub(crate) struct CloseOnDrop(pub(crate) Arc<AttemptJournal>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.sent().closed = true;
    }
}

/// Cuts a path to what a person needs to find the request; it ends in `…` then. Every
/// note writes all requests of the action again.
fn shorten(path: &mut String) {
    if path.len() > LONGEST_PATH {
        path.truncate(path.floor_char_boundary(LONGEST_PATH));
        path.push('…');
    }
}

fn ended() -> NotNoted {
    NotNoted::Failed("the attempt has ended".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: &str) {
        let mut path = path.to_owned();
        shorten(&mut path);
        assert_eq!(path, expected);
    }

    #[test]
    fn a_long_path_is_cut_between_characters_and_says_so() {
        check("/refunds", "/refunds");
        check(&"x".repeat(512), &"x".repeat(512));
        check(&format!("x{}", "ä".repeat(300)), &format!("x{}…", "ä".repeat(255)));
    }
}
