//! A journal in memory.

use std::sync::Mutex;

use tether_core::ledger::{Answer, Request};
use tether_core::port::BoxFuture;
use tether_core::port::journal::{Departure, Journal, NotNoted};

/// What left, and how it went, where that was told.
#[derive(Default)]
pub(crate) struct Notes(Mutex<Vec<(Request, Option<Answer>)>>);

impl Notes {
    /// Method and path of each request, and its answer; in doubt, where none was told.
    pub(crate) fn all(&self) -> Vec<(String, Answer)> {
        let notes = self.0.lock().unwrap();
        let note = |(request, answer): &(Request, Option<Answer>)| {
            (format!("{} {}", request.method, request.path), answer.unwrap_or(Answer::InDoubt))
        };
        notes.iter().map(note).collect()
    }
}

impl Journal for Notes {
    fn leaves(&self, request: Request) -> BoxFuture<'_, Result<Departure, NotNoted>> {
        Box::pin(async move {
            let mut notes = self.0.lock().unwrap();
            notes.push((request, None));
            Ok(Departure(notes.len() - 1))
        })
    }

    fn went(&self, departure: Departure, answer: Answer) {
        self.0.lock().unwrap()[departure.0].1 = Some(answer);
    }
}
