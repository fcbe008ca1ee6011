//! Where tasks meet, under the model checker. Mutexes are the checker's own; what
//! futures wait for are tokio's, before each use of which another task may go first.

use std::cell::Cell;
use std::convert::Infallible;
use std::fmt;
use std::future::{Future, pending, poll_fn};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;

use shuttle::sync::atomic::AtomicBool;
pub(crate) use shuttle::sync::{Mutex, MutexGuard};
pub(crate) use tokio::sync::AcquireError;
use tokio::sync::futures::Notified;
pub(crate) use tokio::sync::oneshot;

/// Here the checker decides who goes on.
pub fn meet() {
    AtomicBool::new(false).load(Ordering::SeqCst);
}

/// See [`tokio::sync::Notify`].
#[derive(Default)]
pub(crate) struct Notify(tokio::sync::Notify);

impl Notify {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn notified(&self) -> Notified<'_> {
        meet();
        self.0.notified()
    }

    pub(crate) fn notify_waiters(&self) {
        meet();
        self.0.notify_waiters();
    }
}

/// See [`tokio::sync::Semaphore`].
pub(crate) struct Semaphore(Arc<tokio::sync::Semaphore>);

/// See [`tokio::sync::OwnedSemaphorePermit`].
pub(crate) struct OwnedSemaphorePermit {
    permit: Option<tokio::sync::OwnedSemaphorePermit>,
    _of: Arc<Semaphore>,
}

impl Semaphore {
    pub(crate) const MAX_PERMITS: usize = tokio::sync::Semaphore::MAX_PERMITS;

    pub(crate) fn new(permits: usize) -> Self {
        Self(Arc::new(tokio::sync::Semaphore::new(permits)))
    }

    pub(crate) async fn acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        meet();
        let permit = Arc::clone(&self.0).acquire_owned().await?;
        Ok(OwnedSemaphorePermit { permit: Some(permit), _of: self })
    }
}

impl Drop for OwnedSemaphorePermit {
    fn drop(&mut self) {
        meet();
        self.permit = None;
    }
}

/// A task that [`die`]d.
#[derive(Debug)]
pub(crate) struct Died;

impl fmt::Display for Died {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("it panicked")
    }
}

std::thread_local! {
    /// Whether the task that is polled now dies. All of an execution's tasks are on one
    /// thread, and none goes on between the question and its answer.
    static DIES: Cell<bool> = const { Cell::new(false) };
}

/// The task ends here, as by a panic: what it holds is dropped, and who waits for it is
/// told so.
pub async fn die() -> Infallible {
    DIES.set(true);
    pending().await
}

/// See [`tokio::spawn`].
pub(crate) fn spawn<F>(future: F) -> impl Future<Output = Result<F::Output, Died>>
where
    F: Future<Output: Send> + Send + 'static,
{
    let mut future = Some(Box::pin(future));
    let task = shuttle::future::spawn(poll_fn(move |context| {
        let Some(alive) = &mut future else { return Poll::Ready(Err(Died)) };
        let polled = alive.as_mut().poll(context);
        if DIES.take() {
            future = None;
            return Poll::Ready(Err(Died));
        }
        polled.map(Ok)
    }));
    async move { task.await.expect("nobody aborts it") }
}
