//! `wasi:http/outgoing-handler`: the same policy and the same sender as
//! `tether:tool/transport`, for libraries that people already use.
//!
//! A request leaves once its body is whole, and its answer is handed on whole; it is
//! counted until the guest lets go of it. No step
//! can be named here: in one attempt of a write, the sender lets one unsafe request
//! without a step through. The guest may ask for less time than the host gives, never
//! for more.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::CONTENT_LENGTH;
use http_body_util::{BodyExt, Full};
use tether_transport::outbound::{self, SendError};
use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi_http::p2;
use wasmtime_wasi_http::p2::bindings::http::types::{HostOutgoingRequest as _, Method};
use wasmtime_wasi_http::p2::types::HostOutgoingRequest;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks, WasiHttpView};

use crate::guest::traffic::{Hindrance, UnderWay};
use crate::guest::{Errand, Guest};
use crate::imports::instead;

/// Bytes of an authority, and of a method.
const MAX_PART: usize = 4 << 10;

/// Bytes that the host takes into a body at once, and keeps until they are collected.
const MAX_CHUNK: usize = 64 << 10;

/// As wasmtime has it.
const TYPES: &str = "wasi:http/types@0.2.12";

/// Adds `wasi:http` to what guests get.
pub(crate) fn add_to_linker(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    p2::add_only_http_to_linker_async(linker)?;
    // These two keep text of any length, once for each request that a guest holds.
    instead(linker, TYPES, "[method]outgoing-request.set-authority", |types, name| {
        types.func_wrap(name, set_authority)
    })?;
    instead(linker, TYPES, "[method]outgoing-request.set-method", |types, name| {
        types.func_wrap(name, set_method)
    })?;
    // These two write paths, and with them queries, into the log at its finest level.
    instead(linker, TYPES, "[method]outgoing-request.set-path-with-query", |types, name| {
        types.func_wrap(name, set_path)
    })?;
    instead(linker, TYPES, "[method]outgoing-request.path-with-query", |types, name| {
        types.func_wrap(name, path)
    })
}

type Set = wasmtime::Result<(Result<(), ()>,)>;

fn set_path(
    mut store: StoreContextMut<'_, Guest>,
    (request, path): (Resource<HostOutgoingRequest>, Option<String>),
) -> Set {
    Ok((store.data_mut().http().set_path_with_query(request, path)?,))
}

fn path(
    mut store: StoreContextMut<'_, Guest>,
    (request,): (Resource<HostOutgoingRequest>,),
) -> wasmtime::Result<(Option<String>,)> {
    Ok((store.data_mut().http().path_with_query(request)?,))
}

fn set_authority(
    mut store: StoreContextMut<'_, Guest>,
    (request, authority): (Resource<HostOutgoingRequest>, Option<String>),
) -> Set {
    if authority.as_ref().is_some_and(|authority| authority.len() > MAX_PART) {
        return Ok((Err(()),));
    }
    Ok((store.data_mut().http().set_authority(request, authority)?,))
}

fn set_method(
    mut store: StoreContextMut<'_, Guest>,
    (request, method): (Resource<HostOutgoingRequest>, Method),
) -> Set {
    if matches!(&method, Method::Other(name) if name.len() > MAX_PART) {
        return Ok((Err(()),));
    }
    Ok((store.data_mut().http().set_method(request, method)?,))
}

/// What comes of a body that was handed over whole: nothing more.
type Processed = Box<dyn Future<Output = Result<(), Error>> + Send>;

impl WasiHttpHooks for Errand {
    /// The host adds it as the request leaves, and lets nobody else.
    fn set_host_header(&mut self) -> bool {
        false
    }

    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        MAX_CHUNK
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
    let sending = under_way.send_and_keep(request);
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
        SendError::Denied(_) | SendError::Refused(_) => Error::HttpRequestDenied,
        SendError::NotSent(_) | SendError::StorageFull(_) => Error::ConnectionRefused,
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
