//! What happens to actions, handed on to those who look: read once for all of them.

use std::sync::Arc;
use std::time::Duration;

use tether_core::action::Status;
use tether_core::clock::Clock;
use tether_core::id::{ActionId, TenantId};
use tether_core::port::actions::StoreError;
use tether_core::port::announcements::Announcements;
use tokio::sync::{Mutex, broadcast, watch};
use tokio::task::JoinHandle;

/// News that wait for the slowest stream; one that is further behind looks again.
const WAITING: usize = 256;

/// Events that are read at a time.
const TOGETHER: usize = 256;

/// The pause after the store could not be read.
const BREATHER: Duration = Duration::from_secs(1);

/// Something that a stream is to know.
#[derive(Debug, Clone)]
pub(super) enum News {
    /// An action of this tenant stands so now.
    Changed { tenant: TenantId, action: ActionId, status: Status },
    /// Somebody signed out, or a token was revoked: each stream sees whether it was its own.
    Ended,
    /// Something may have been missed.
    Missed,
}

/// See the module.
pub(super) struct Feed {
    shared: Arc<Shared>,
}

struct Shared {
    source: Arc<dyn Announcements>,
    clock: Arc<dyn Clock>,
    news: broadcast::Sender<News>,
    /// The task that reads, while somebody listens.
    reading: Mutex<Option<JoinHandle<()>>>,
}

impl Feed {
    pub(super) fn new(source: Arc<dyn Announcements>, clock: Arc<dyn Clock>) -> Self {
        let (news, _) = broadcast::channel(WAITING);
        Self { shared: Arc::new(Shared { source, clock, news, reading: Mutex::new(None) }) }
    }

    /// Everything that happens from now on, until `closing`.
    pub(super) async fn listen(
        &self,
        closing: watch::Receiver<bool>,
    ) -> Result<broadcast::Receiver<News>, StoreError> {
        let listener = self.shared.news.subscribe();
        let mut reading = self.shared.reading.lock().await;
        if reading.as_ref().is_none_or(JoinHandle::is_finished) {
            // Before the listener looks for itself, so that nothing falls in between.
            let newest = self.shared.source.newest().await?;
            let shared = Arc::clone(&self.shared);
            *reading = Some(tokio::spawn(async move { shared.read(newest, closing).await }));
        }
        Ok(listener)
    }

    /// Tells the streams that a session, or what it was opened with, is over.
    pub(super) fn ended(&self) {
        // Nobody may listen.
        let _ = self.shared.news.send(News::Ended);
    }
}

impl Shared {
    /// Reads on from `number` for as long as somebody listens.
    async fn read(&self, mut number: u64, mut closing: watch::Receiver<bool>) {
        loop {
            tokio::select! {
                () = self.source.written(number) => {}
                () = stops(&mut closing) => return,
            }
            {
                // Whoever begins to listen after this finds nobody reading.
                let mut reading = self.reading.lock().await;
                if self.news.receiver_count() == 0 {
                    *reading = None;
                    return;
                }
            }
            match self.source.after(number, TOGETHER).await {
                Ok(events) => {
                    for told in events {
                        number = number.max(told.number);
                        let (tenant, action, status) = (told.tenant, told.action, told.event.to);
                        let _ = self.news.send(News::Changed { tenant, action, status });
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "the inbox cannot read what happens; it is tried again");
                    let _ = self.news.send(News::Missed);
                    self.clock.sleep(BREATHER).await;
                }
            }
        }
    }
}

/// Until the host is about to stop.
pub(super) async fn stops(closing: &mut watch::Receiver<bool>) {
    // The host that is gone has stopped as well.
    let _ = closing.wait_for(|closing| *closing).await;
}
