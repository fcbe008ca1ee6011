//! A journal that keeps what it is told.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tether_core::ledger::{Answer, Request};
use tether_core::port::BoxFuture;
use tether_core::port::journal::{Departure, Journal, NotNoted};

#[derive(Default)]
pub(crate) struct TestJournal {
    entries: Mutex<Vec<(Request, Answer)>>,
    is_full: AtomicBool,
}

impl TestJournal {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// From now on nothing can be noted.
    pub(crate) fn fill(&self) {
        self.is_full.store(true, Ordering::SeqCst);
    }

    pub(crate) fn entries(&self) -> Vec<(Request, Answer)> {
        self.entries.lock().unwrap().clone()
    }

    pub(crate) fn answers(&self) -> Vec<Answer> {
        self.entries().into_iter().map(|(_, answer)| answer).collect()
    }
}

impl Journal for TestJournal {
    fn leaves(&self, request: Request) -> BoxFuture<'_, Result<Departure, NotNoted>> {
        Box::pin(async move {
            if self.is_full.load(Ordering::SeqCst) {
                return Err(NotNoted::StorageFull);
            }
            let mut entries = self.entries.lock().unwrap();
            entries.push((request, Answer::InDoubt));
            Ok(Departure(entries.len() - 1))
        })
    }

    fn went(&self, Departure(index): Departure, answer: Answer) {
        self.entries.lock().unwrap()[index].1 = answer;
    }
}
