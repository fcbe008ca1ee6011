//! Gates: whoever comes to one waits until the test lets it through, so that the test
//! decides what happens next.

use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard};
use std::task::{Poll, Waker};

#[derive(Default)]
pub(crate) struct Gates(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    /// Who waits, in the order of arrival.
    waiting: Vec<(u64, Waker)>,
    /// How many came in all.
    came: u64,
}

/// Somebody's place at a gate, until it is dropped.
struct Place<'a> {
    gates: &'a Gates,
    ticket: u64,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.gates.queue().waiting.retain(|(ticket, _)| *ticket != self.ticket);
    }
}

impl Gates {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap()
    }

    /// Waits to be let through.
    pub(crate) async fn pass(&self) {
        let mut place = None;
        poll_fn(|context| {
            let mut queue = self.queue();
            let Some(Place { ticket, .. }) = place else {
                queue.came += 1;
                let ticket = queue.came;
                queue.waiting.push((ticket, context.waker().clone()));
                place = Some(Place { gates: self, ticket });
                return Poll::Pending;
            };
            match queue.waiting.iter_mut().find(|(waiting, _)| *waiting == ticket) {
                Some((_, waker)) => {
                    waker.clone_from(context.waker());
                    Poll::Pending
                }
                None => Poll::Ready(()),
            }
        })
        .await;
    }

    pub(crate) fn waiting(&self) -> usize {
        self.queue().waiting.len()
    }

    pub(crate) fn came(&self) -> u64 {
        self.queue().came
    }

    /// Lets the one through that came as `index`-th of those who wait.
    pub(crate) fn release(&self, index: usize) {
        let (_, waker) = self.queue().waiting.remove(index);
        waker.wake();
    }
}
