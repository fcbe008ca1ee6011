//! The body of a request as text.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, EXPECT};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tether_gateway::MAX_ARGUMENTS;

use super::problem::Rejection;

/// The longest body that is taken: the longest arguments, and what they are sent in.
pub(crate) const LIMIT: usize = MAX_ARGUMENTS + ENVELOPE;

/// Room for whatever stands around the arguments.
const ENVELOPE: usize = 64 << 10;

/// So much of a body that is too long is read and thrown away: a client that
/// still writes when the connection closes may never see the answer.
const DISCARDED: usize = 16 << 20;

/// Takes in the whole body, within `time`, before anybody looks at the request: one
/// that is refused early, for its token say, is answered as whole as any other.
pub(super) async fn arrive(State(time): State<Duration>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    match whole(&parts.headers, body, time).await {
        Ok(bytes) => next.run(Request::from_parts(parts, Body::from(bytes))).await,
        Err(rejection) => rejection.into_response(),
    }
}

async fn whole(headers: &HeaderMap, body: Body, time: Duration) -> Result<Vec<u8>, Rejection> {
    let announced: Option<usize> =
        headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    // This client waits for a word before it sends anything, or sends more than is
    // worth reading.
    let waits = headers.contains_key(EXPECT);
    if announced.is_some_and(|length| length > DISCARDED || (waits && length > LIMIT)) {
        return Err(Rejection::body_too_large(LIMIT, true));
    }
    tokio::time::timeout(time, read(body)).await.map_err(|_| {
        Rejection::body_missing(format!("the body did not arrive within {} s", time.as_secs_f64()))
    })?
}

/// The body, which has arrived, as text. Its content type does not matter: it is
/// read as JSON.
pub(super) async fn text(body: Body) -> Result<String, Rejection> {
    let bytes = read(body).await?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Rejection::malformed(format!("the body is not UTF-8 at byte {at}"))
    })
}

async fn read(mut body: Body) -> Result<Vec<u8>, Rejection> {
    let mut bytes = Vec::new();
    let mut length = 0_usize;
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|_| Rejection::body_missing("the body broke off; send it again"))?;
        let Ok(data) = frame.into_data() else { continue };
        length = length.saturating_add(data.len());
        if length > DISCARDED {
            return Err(Rejection::body_too_large(LIMIT, true));
        }
        if length > LIMIT {
            bytes = Vec::new();
        } else {
            bytes.extend_from_slice(&data);
        }
    }
    if length > LIMIT { Err(Rejection::body_too_large(LIMIT, false)) } else { Ok(bytes) }
}
