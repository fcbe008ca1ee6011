//! `wasi:http/outgoing-handler`: the same policy and the same sender as
//! `tether:tool/transport`, for libraries that people already use.
//!
//! A request leaves once its body is whole, and its answer is handed on whole. No step
//! can be named here: in one attempt of a write, the sender lets one unsafe request
//! without a step through. The guest may ask for less time than the host gives, never
//! for more.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::CONTENT_LENGTH;
use http_body_util::{BodyExt, Full};
use tether_transport::outbound::{self, SendError};
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};

use crate::guest::Errand;
use crate::guest::traffic::{Hindrance, UnderWay};

/// What comes of a body that was handed over whole: nothing more.
type Processed = Box<dyn Future<Output = Result<(), Error>> + Send>;

impl WasiHttpHooks for Errand {
    /// The host adds it as the request leaves, and lets nobody else.
    fn set_host_header(&mut self) -> bool {
        false
    }

    fn send_request(
        &mut self,
        request: http::Request<WasiBody>,
        options: Option<RequestOptions>,
        _: Processed,
    ) -> Box<dyn Future<Output = Result<(http::Response<WasiBody>, Processed), Error>> + Send> {
        // Under way from now on, so that no transaction begins before its answer.
        let under_way = match self {
            Self::Describe => Err(Error::HttpRequestDenied),
            Self::Call(call) => call.traffic.depart().map_err(hindered),
        };
        let time = options.and_then(|options| options.first_byte_timeout);
        // The task that runs this is aborted when the guest lets go of its answer.
        Box::new(async move {
            let answer = send(under_way?, request, time).await?;
            let whole = |body| Full::new(body).map_err(|never| match never {}).boxed_unsync();
            Ok((answer.map(whole), Box::new(async { Ok(()) }) as Processed))
        })
    }
}

async fn send(
    mut under_way: UnderWay,
    request: http::Request<WasiBody>,
    time: Option<Duration>,
) -> Result<outbound::Response, Error> {
    let (head, body) = request.into_parts();
    let body = whole(body, &mut under_way).await?;
    let mut headers = head.headers;
    // Checked against the body already, and set by the client.
    headers.remove(CONTENT_LENGTH);
    let request = outbound::Request {
        method: head.method.to_string(),
        url: head.uri.to_string(),
        headers,
        body,
        step: None,
    };
    let sending = under_way.send(request);
    let answer = match time {
        Some(time) => tokio::time::timeout(time, sending).await.map_err(|_| Error::HttpResponseTimeout)?,
        None => sending.await,
    };
    answer.map_err(|error| {
        // Its reason has no place in what the guest is told.
        tracing::debug!(target: "tether::guest", "a request has no answer: {error}");
        code(error)
    })
}

async fn whole(mut body: WasiBody, under_way: &mut UnderWay) -> Result<Bytes, Error> {
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame?.into_data() {
            if !under_way.takes(data.len()) {
                return Err(Error::HttpRequestBodySize(None));
            }
            whole.extend_from_slice(&data);
        }
    }
    Ok(whole.freeze())
}

fn code(error: SendError) -> Error {
    match error {
        SendError::Denied(_) => Error::HttpRequestDenied,
        SendError::NotSent(_) => Error::ConnectionRefused,
        SendError::OutcomeUnknown(_) => Error::ConnectionTerminated,
        SendError::TooLarge(limit) => Error::HttpResponseBodySize(Some(limit)),
    }
}

fn hindered(hindrance: Hindrance) -> Error {
    match hindrance {
        Hindrance::TooMany => Error::ConnectionLimitReached,
        Hindrance::TransactionOpen | Hindrance::RequestUnderWay | Hindrance::Over => Error::HttpRequestDenied,
    }
}
