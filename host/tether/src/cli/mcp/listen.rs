//! What the gateway tells without being asked, for as long as the client is there.

use std::sync::Arc;
use std::time::Duration;

use super::bridge::Bridge;
use super::failure::Failure;

/// The first pause before the gateway is listened to again, which doubles.
const FIRST: Duration = Duration::from_secs(1);

/// The longest.
const LONGEST: Duration = Duration::from_secs(30);

/// Listens, and listens again where the stream ends. The first thing that is told of each is
/// that the list of tools may be another: also after a restart of the gateway.
pub(super) async fn listen(bridge: Arc<Bridge>) {
    let mut pause = FIRST;
    while let Some(session) = bridge.session().await {
        match bridge.listened(&session).await {
            Ok(mut messages) => {
                while let Ok(Some(message)) = messages.next().await {
                    bridge.out.message(&message).await;
                    pause = FIRST;
                }
            }
            Err(Failure::NoSession) => {
                if bridge.renew(&session).await.is_ok() {
                    continue;
                }
            }
            Err(_) => {}
        }
        tokio::time::sleep(pause).await;
        pause = LONGEST.min(pause * 2);
    }
}
