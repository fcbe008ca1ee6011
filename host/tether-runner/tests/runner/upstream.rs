//! A system elsewhere, which counts what reaches it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Answers by the path: `/echo` with what it was sent, `/flaky` the same, from the
/// second time on, `/busy` with 503 and a `Retry-After` of 7 s, `/held` once the test lets
/// it, `/full` with 100,000 bytes, `/large` with 200,000, `/broken` by closing, any other
/// with 404.
pub(crate) struct Upstream {
    address: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// Each request: head and body.
    seen: Mutex<Vec<String>>,
    /// Connections that were closed before their answer.
    given_up: watch::Sender<usize>,
    /// Whether `/held` answers.
    released: watch::Sender<bool>,
    /// Requests of `/held` that were answered or given up.
    ended: watch::Sender<usize>,
}

impl Upstream {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, state) = (listener.local_addr().unwrap(), Arc::<State>::default());
        let serving = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                tokio::spawn(serve(connection, Arc::clone(&serving)));
            }
        });
        Self { address, state }
    }

    /// `http://127.0.0.1:PORT`.
    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Arguments that send a request of this method to `path`; `more` are further
    /// members of the JSON object.
    pub(crate) fn request(&self, method: &str, path: &str, more: &str) -> String {
        format!(r#"{{"method":"{method}","url":"{}{path}"{more}}}"#, self.origin())
    }

    pub(crate) fn seen(&self) -> Vec<String> {
        self.state.seen.lock().unwrap().clone()
    }

    /// Waits until a request came.
    pub(crate) async fn reached(&self) {
        while self.seen().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }

    /// Waits until `count` connections were closed before their answer.
    pub(crate) async fn given_up(&self, count: usize) {
        let mut given_up = self.state.given_up.subscribe();
        given_up.wait_for(|given_up| *given_up >= count).await.unwrap();
    }

    /// From now on `/held` answers at once.
    pub(crate) fn release(&self) {
        self.state.released.send_replace(true);
    }

    /// Waits until all of `/held` that came are answered or given up.
    pub(crate) async fn ended(&self) {
        let mut ended = self.state.ended.subscribe();
        ended.wait_for(|ended| *ended >= self.seen().len()).await.unwrap();
    }
}

async fn serve(mut connection: TcpStream, state: Arc<State>) {
    while let Some(request) = read(&mut connection).await {
        let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
        let first = {
            let mut seen = state.seen.lock().unwrap();
            seen.push(request.clone());
            seen.len() == 1
        };
        let answer = match path.split('?').next().unwrap_or_default() {
            "/flaky" if first => answer("503 Service Unavailable", "", "once more"),
            "/echo" | "/flaky" => answer("200 OK", "x-bytes: \u{e9}\r\n", &request),
            "/busy" => answer("503 Service Unavailable", "retry-after: 7\r\n", "busy"),
            "/held" => {
                let (mut released, mut byte) = (state.released.subscribe(), [0]);
                tokio::select! {
                    biased;
                    _ = connection.read(&mut byte) => {
                        // The other side closed it.
                        state.given_up.send_modify(|given_up| *given_up += 1);
                        state.ended.send_modify(|ended| *ended += 1);
                        return;
                    }
                    _ = released.wait_for(|released| *released) => {}
                }
                let _ = connection.write_all(answer("200 OK", "", "held").as_bytes()).await;
                state.ended.send_modify(|ended| *ended += 1);
                continue;
            }
            "/full" => answer("200 OK", "", &"x".repeat(100_000)),
            "/large" => answer("200 OK", "", &"x".repeat(200_000)),
            "/broken" => return,
            _ => answer("404 Not Found", "", "nothing here"),
        };
        if connection.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
}

/// One request; none where the connection ends.
async fn read(connection: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return Some(text);
            }
        }
        if connection.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}
