//! Progress of a read: its attempts, for whoever asked to be told.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext, RoleServer};
use tether_core::allowance::Watcher;
use tokio::sync::mpsc;

/// What may still be told once the read has ended; the result waits for it.
const LAST_WORD: Duration = Duration::from_secs(1);

/// Tells of the attempts of one read.
pub(super) struct Progress {
    token: ProgressToken,
    peer: Peer<RoleServer>,
    most: u32,
    attempts: mpsc::UnboundedReceiver<u32>,
}

impl Progress {
    /// For a request that has a token for it: with whom the attempts are told to. A read uses
    /// at most `most`; the first begins now.
    pub(super) fn of(context: &RequestContext<RoleServer>, most: u32) -> Option<(Self, Watcher)> {
        let token = context.meta.get_progress_token()?;
        let (told, attempts) = mpsc::unbounded_channel();
        let watcher: Watcher = Arc::new(move |attempt| {
            // Whoever listens is there as long as the read is.
            let _ = told.send(attempt);
        });
        watcher(1);
        Some((Self { token, peer: context.peer.clone(), most, attempts }, watcher))
    }

    /// Until nobody tells of attempts any more.
    async fn tell(mut self) {
        while let Some(attempt) = self.attempts.recv().await {
            let progress = ProgressNotificationParam::new(self.token.clone(), attempt.into())
                .with_total(self.most.into())
                .with_message(format!("attempt {attempt} of {}", self.most));
            // Whoever is gone needs no progress.
            let _ = self.peer.notify_progress(progress).await;
        }
    }
}

/// What `read` comes to, telling of its attempts meanwhile. Nothing is told after that: no
/// progress may follow a result.
pub(super) async fn telling<T>(progress: Option<Progress>, read: impl Future<Output = T>) -> T {
    let Some(progress) = progress else { return read.await };
    let mut telling = std::pin::pin!(progress.tell());
    let mut read = std::pin::pin!(read);
    tokio::select! {
        biased;
        result = &mut read => {
            let _ = tokio::time::timeout(LAST_WORD, telling).await;
            result
        }
        () = &mut telling => read.await,
    }
}
