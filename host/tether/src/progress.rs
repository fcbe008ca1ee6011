//! What a person is told while something takes long.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use tokio::time::{Instant, timeout};

/// Shorter waits need no word.
const NOTICEABLE: Duration = Duration::from_secs(1);

/// Does `work`, and says on standard error what it is about if it takes longer
/// than a second.
pub async fn slow<T>(what: &str, work: impl Future<Output = T>) -> T {
    let start = Instant::now();
    let mut work = pin!(work);
    if let Ok(done) = timeout(NOTICEABLE, &mut work).await {
        return done;
    }
    eprintln!("{what} …");
    let done = work.await;
    eprintln!("{what}: took {:.1} s", start.elapsed().as_secs_f64());
    done
}
