//! `tether:tool/transport`.

use http::{HeaderMap, HeaderName, HeaderValue};
use tether_core::id::StepName;
use tether_transport::outbound::{self, SendError};

use crate::bindings::tether::tool::transport::{Error, Host, Request, Response};
use crate::guest::Guest;
use crate::guest::traffic::Hindrance;

impl Host for Guest {
    async fn send(&mut self, request: Request) -> wasmtime::Result<Result<Response, Error>> {
        let call = self.call()?;
        let under_way = match call.traffic.depart() {
            Ok(under_way) => under_way,
            Err(hindrance) => return Ok(Err(hindrance.into())),
        };
        let request = match outbound::Request::try_from(request) {
            Ok(request) => request,
            Err(malformed) => {
                call.trouble.in_send::<()>(&Err(malformed.clone()));
                return Ok(Err(malformed.into()));
            }
        };
        let _parked = call.traffic.parks();
        let answer = under_way.send(request).await;
        Ok(answer.map(Response::from).map_err(Error::from))
    }
}

impl TryFrom<Request> for outbound::Request {
    type Error = SendError;

    fn try_from(request: Request) -> Result<Self, SendError> {
        let Request { method, url, headers, body, step } = request;
        let step = step.map(|step| step.parse::<StepName>()).transpose();
        Ok(Self {
            method,
            url,
            headers: header_map(headers)?,
            body: body.into(),
            step: step.map_err(|error| SendError::Denied(error.to_string()))?,
        })
    }
}

fn header_map(headers: Vec<(String, String)>) -> Result<HeaderMap, SendError> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        // The value is not repeated: it may be a credential.
        let wrong = |what: &str| SendError::Denied(format!("the header {name:?} {what}"));
        let parsed =
            HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong("has a name that none has"))?;
        // Characters beyond ASCII go as UTF-8.
        let value = HeaderValue::from_bytes(value.as_bytes())
            .map_err(|_| wrong("has a value with control characters"))?;
        map.try_append(parsed, value).map_err(|_| wrong("is one too many"))?;
    }
    Ok(map)
}

impl From<outbound::Response> for Response {
    fn from(answer: outbound::Response) -> Self {
        let (head, body) = answer.into_parts();
        // Bytes that are no UTF-8 become U+FFFD: the contract has text there.
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = head.headers.iter().map(|(name, value)| (name.to_string(), text(value)));
        Self { status: head.status.as_u16(), headers: headers.collect(), body: body.to_vec() }
    }
}

impl From<SendError> for Error {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Denied(why) | SendError::Refused(why) => Self::Denied(why),
            SendError::NotSent(why) | SendError::StorageFull(why) => Self::NotSent(why),
            SendError::OutcomeUnknown(why) => Self::OutcomeUnknown(why),
            SendError::TooLarge(limit) => Self::TooLarge(limit),
        }
    }
}

impl From<Hindrance> for Error {
    fn from(hindrance: Hindrance) -> Self {
        match hindrance {
            Hindrance::TransactionOpen => Self::TransactionOpen,
            Hindrance::RequestUnderWay | Hindrance::TooMany | Hindrance::Over => {
                Self::NotSent(hindrance.to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(headers: &[(&str, &str)]) -> Result<HeaderMap, SendError> {
        header_map(headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect())
    }

    #[test]
    fn headers_are_kept_as_they_are_or_denied() {
        let kept = headers(&[("Accept", "a/b"), ("accept", "ü\t "), ("X-Empty", "")]).unwrap();
        let accept: Vec<_> = kept.get_all("ACCEPT").iter().map(HeaderValue::as_bytes).collect();
        assert_eq!(accept, [&b"a/b"[..], "ü\t ".as_bytes()]);
        assert_eq!(kept.len(), 3);
        for (name, value) in
            [("", "a"), ("a b", "a"), ("a:", "a"), ("a", "secret\r\nb: c"), ("a", "secret\0")]
        {
            let denied = headers(&[(name, value)]).unwrap_err().to_string();
            assert!(!denied.contains("secret"), "{denied}");
        }
        let many = (0..40_000).map(|count| (format!("a{count}"), String::new()));
        assert!(header_map(many.collect()).is_err());
    }
}
