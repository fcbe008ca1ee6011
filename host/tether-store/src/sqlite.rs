//! Both ports on SQLite.

pub(crate) mod actions;
pub(crate) mod databases;
mod failed_commit;
mod full;
mod left;
mod readers;
#[cfg(test)]
mod test_folder;

use tokio::sync::oneshot;
use tokio::task::JoinError;

/// Runs `work`, which may wait for a disk, off the runtime's own threads. Once
/// polled, it runs to its end.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => never(Some(error)).await,
    }
}

/// The same, where the answer comes from whomever `work` hands its sender to: from `work`
/// itself, long before it ends, or from somebody else after that.
async fn answered<T: Send + 'static>(work: impl FnOnce(oneshot::Sender<T>) + Send + 'static) -> T {
    let (sender, answer) = oneshot::channel();
    let working = tokio::task::spawn_blocking(move || work(sender));
    match answer.await {
        Ok(value) => value,
        Err(_) => never(working.await.err()).await,
    }
}

/// What becomes of who waits for an answer that does not come.
async fn never<T>(why: Option<JoinError>) -> T {
    match why.map(JoinError::try_into_panic) {
        Some(Ok(panic)) => std::panic::resume_unwind(panic),
        // The runtime is going away, and whoever waits with it.
        _ => std::future::pending().await,
    }
}
