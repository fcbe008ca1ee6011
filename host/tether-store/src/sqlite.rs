//! Both ports on SQLite.

pub(crate) mod actions;
pub(crate) mod databases;
mod failed_commit;
mod full;
mod left;
mod meet;
mod readers;
#[cfg(test)]
mod test_folder;

use rusqlite::Connection;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::oneshot;

/// Runs `work`, which may wait for a disk, off the runtime's own threads. Once
/// polled, it runs to its end.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => never().await,
        },
    }
}

/// The same, on this very thread; what else it had to do, another thread of the runtime
/// does meanwhile. For what is over, most times, before another thread would have begun.
async fn in_place<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::MultiThread => tokio::task::block_in_place(work),
        _ => blocking(work).await,
    }
}

/// The same, where the answer comes from whomever `work` hands its sender to.
async fn answered<T: Send + 'static>(work: impl FnOnce(oneshot::Sender<T>) + Send + 'static) -> T {
    let (sender, answer) = oneshot::channel();
    in_place(move || work(sender)).await;
    match answer.await {
        Ok(value) => value,
        Err(_) => never().await,
    }
}

/// An answer that does not come: the runtime is going away, and whoever waits with it.
async fn never<T>() -> T {
    std::future::pending().await
}

/// Runs a statement without parameters and rows, prepared once.
fn execute(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}
