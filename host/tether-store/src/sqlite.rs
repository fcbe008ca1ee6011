//! Both ports on SQLite.

pub(crate) mod actions;
pub(crate) mod databases;
mod full;
mod left;
mod readers;
#[cfg(test)]
mod test_folder;

/// Runs `work`, which may wait for a disk, off the runtime's own threads. Once
/// polled, it runs to its end.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is going away, and whoever waits with it.
            Err(_) => std::future::pending().await,
        },
    }
}
