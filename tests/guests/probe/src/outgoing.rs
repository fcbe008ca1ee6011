//! Requests, as arguments name them and answers tell of them.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};

use tether_sdk::prelude::*;
use tether_sdk::{HttpError, Request, Response};
use wasip2::http::outgoing_handler::handle;
use wasip2::http::types::{
    ErrorCode, Fields, FutureIncomingResponse, IncomingResponse, Method, OutgoingBody, OutgoingRequest,
    RequestOptions, Scheme,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outgoing {
    #[serde(default = "get")]
    method: String,
    url: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: String,
    /// Of `tether:tool/transport` only.
    #[serde(default)]
    step: Option<String>,
    /// How long its answer may take to begin; of `wasi:http` only.
    #[serde(default)]
    patience_ms: Option<u64>,
    /// Whether an answer that is not 2xx is a failure of the call.
    #[serde(default)]
    strict: bool,
    /// How the call ends after its answer: `ok`, `trap`, `spin`, `sleep:MS`, `transient`,
    /// `refuse`, `fail`.
    #[serde(default = "ok")]
    pub then: String,
}

fn get() -> String {
    "GET".into()
}

fn ok() -> String {
    "ok".into()
}

/// What came back.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl From<Response> for Answer {
    fn from(response: Response) -> Self {
        let body = String::from_utf8_lossy(response.body()).into_owned();
        Self { status: response.status(), headers: response.headers().to_vec(), body }
    }
}

impl Outgoing {
    /// Sends it through `tether:tool/transport`.
    pub fn send(&self, call: &Read) -> Result<Answer, HttpError> {
        let mut request = Request::new(&self.method, &self.url).body(self.body.as_bytes());
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if let Some(step) = &self.step {
            request = request.step(step);
        }
        let answer = call.send(request)?;
        Ok(if self.strict { answer.error_for_status()? } else { answer }.into())
    }

    /// The same in words: the status, or what the host said.
    pub fn sent(&self, call: &Read) -> String {
        match self.send(call) {
            Ok(answer) => answer.status.to_string(),
            Err(error) => error.to_string(),
        }
    }

    /// Sends it through `wasi:http/outgoing-handler`, as any library would.
    pub fn fetch(&self) -> Result<Answer, ErrorCode> {
        read(self.answered()?)
    }

    /// The same, without reading the answer.
    pub fn answered(&self) -> Result<IncomingResponse, ErrorCode> {
        let answer = self.depart()?;
        answer.subscribe().block();
        answer.get().expect("it is there").expect("it is taken once")
    }

    /// The same, without waiting for the answer.
    pub fn depart(&self) -> Result<FutureIncomingResponse, ErrorCode> {
        let (answer, body) = self.begin()?;
        OutgoingBody::finish(body, None)?;
        Ok(answer)
    }

    /// The same, without the end of the body.
    pub fn begin(&self) -> Result<(FutureIncomingResponse, OutgoingBody), ErrorCode> {
        let headers: Vec<_> =
            self.headers.iter().map(|(name, value)| (name.clone(), value.clone().into_bytes())).collect();
        let headers =
            Fields::from_list(&headers).map_err(|error| ErrorCode::InternalError(Some(error.to_string())))?;
        let request = OutgoingRequest::new(headers);
        self.address(&request).map_err(|()| ErrorCode::HttpRequestUriInvalid)?;
        let body = request.body().expect("it is taken once");
        let options = self.patience_ms.map(|milliseconds| {
            let options = RequestOptions::new();
            let set = options.set_first_byte_timeout(Some(milliseconds * 1_000_000));
            set.expect("the host knows this option");
            options
        });
        let answer = handle(request, options)?;
        let mut stream = body.write().expect("it is taken once");
        // The host may have given up on it; then the answer says why.
        let _ = stream.write_all(self.body.as_bytes());
        drop(stream);
        Ok((answer, body))
    }

    /// The same in words: the status, or what the host said.
    pub fn fetched(&self) -> String {
        match self.fetch() {
            Ok(answer) => answer.status.to_string(),
            Err(error) => format!("{error:?}"),
        }
    }

    fn address(&self, request: &OutgoingRequest) -> Result<(), ()> {
        let (scheme, rest) = self.url.split_once("://").ok_or(())?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let scheme = if scheme == "http" { Scheme::Http } else { Scheme::Https };
        let method = match self.method.as_str() {
            "GET" => Method::Get,
            "POST" => Method::Post,
            other => Method::Other(other.into()),
        };
        request.set_method(&method)?;
        request.set_scheme(Some(&scheme))?;
        request.set_authority(Some(authority))?;
        request.set_path_with_query(Some(path).filter(|path| !path.is_empty()))
    }
}

/// Which parts of a request of `wasi:http` may be that long.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Parts {
    authority: bool,
    method: bool,
    path: bool,
}

impl Parts {
    /// Tries each with so many bytes.
    pub fn of_length(bytes: usize) -> Self {
        let request = OutgoingRequest::new(Fields::new());
        let part = "a".repeat(bytes);
        Self {
            authority: request.set_authority(Some(&part)).is_ok(),
            method: request.set_method(&Method::Other(part.clone())).is_ok(),
            path: request.set_path_with_query(Some(&format!("/{part}"))).is_ok(),
        }
    }
}

fn read(response: IncomingResponse) -> Result<Answer, ErrorCode> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let headers = response.headers().entries();
    let headers = headers.iter().map(|(name, value)| (name.clone(), text(value))).collect();
    let body = response.consume().expect("it is taken once");
    let mut stream = body.stream().expect("it is taken once");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).map_err(|error| ErrorCode::InternalError(Some(error.to_string())))?;
    Ok(Answer { status: response.status(), headers, body: text(&bytes) })
}
