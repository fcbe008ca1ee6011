//! A journal in memory.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use tether_core::ledger::{Answer, Request};
use tether_core::port::BoxFuture;
use tether_core::port::journal::{Departure, Journal, NotNoted};

/// What left, and how it went, where that was told.
#[derive(Default)]
pub(crate) struct Notes {
    noted: Mutex<Vec<(Request, Option<Answer>)>>,
    full: AtomicBool,
}

impl Notes {
    /// Method and path of each request, and its answer; in doubt, where none was told.
    pub(crate) fn all(&self) -> Vec<(String, Answer)> {
        let notes = self.noted.lock().unwrap();
        let note = |(request, answer): &(Request, Option<Answer>)| {
            (format!("{} {}", request.method, request.path), answer.unwrap_or(Answer::InDoubt))
        };
        notes.iter().map(note).collect()
    }

    /// From now on there is no room for any note.
    pub(crate) fn fill(&self) {
        self.full.store(true, Ordering::SeqCst);
    }
}

impl Journal for Notes {
    fn leaves(&self, request: Request) -> BoxFuture<'_, Result<Departure, NotNoted>> {
        Box::pin(async move {
            if self.full.load(Ordering::SeqCst) {
                return Err(NotNoted::StorageFull);
            }
            let mut notes = self.noted.lock().unwrap();
            notes.push((request, None));
            Ok(Departure(notes.len() - 1))
        })
    }

    fn went(&self, departure: Departure, answer: Answer) {
        self.noted.lock().unwrap()[departure.0].1 = Some(answer);
    }
}
