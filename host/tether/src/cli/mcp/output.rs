//! Standard output: messages, one a line, and nothing else.

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Messages that wait for a client that does not read.
const WAITING: usize = 64;

/// Where messages to the client go.
#[derive(Clone)]
pub(super) struct Output(mpsc::Sender<String>);

/// Writes to `target` until every [`Output`] is dropped, or nobody reads any more; the task
/// ends then.
pub(super) fn start(mut target: impl AsyncWrite + Unpin + Send + 'static) -> (Output, JoinHandle<()>) {
    let (sender, mut messages) = mpsc::channel::<String>(WAITING);
    let written = tokio::spawn(async move {
        while let Some(message) = messages.recv().await {
            let written = target.write_all(message.as_bytes()).await;
            if written.is_err() || target.flush().await.is_err() {
                return;
            }
        }
    });
    (Output(sender), written)
}

impl Output {
    /// Sends a message. Whoever reads no more misses it.
    pub(super) async fn message(&self, message: &str) {
        // Between the tokens of JSON a line break is a blank, and within them there is none.
        let line = message.replace(['\n', '\r'], " ");
        let _ = self.0.send(line + "\n").await;
    }

    /// Answers the request with this id, a JSON text, with an error; without an id what has
    /// none that can be read, as the gateway does.
    pub(super) async fn error(&self, id: Option<&str>, code: i64, message: &str) {
        let id = id.map(|id| format!(r#""id":{id},"#)).unwrap_or_default();
        let error = serde_json::json!({ "code": code, "message": message });
        self.message(&format!(r#"{{"jsonrpc":"2.0",{id}"error":{error}}}"#)).await;
    }
}
