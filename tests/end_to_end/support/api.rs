//! A client of the HTTP API that can send anything, and reads everything.

use std::io::{self, Write};
use std::net::{SocketAddr, TcpStream};

use super::Answer;
use super::log::PATIENCE;

/// One server's API, with its token.
#[derive(Debug, Clone)]
pub(crate) struct Api {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
}

/// A request, as it is put on the wire.
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) token: Option<&'a str>,
    pub(crate) headers: &'a [(&'a str, &'a str)],
    pub(crate) body: &'a [u8],
}

impl Api {
    /// A request as it goes over the wire.
    pub(crate) fn bytes(&self, request: &Request<'_>) -> Vec<u8> {
        let Request { method, path, token, headers, body } = request;
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.address);
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        if let Some(token) = token {
            head.push_str(&format!("Authorization: Bearer {token}\r\n"));
        }
        for (name, value) in *headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        [head.as_bytes(), body].concat()
    }

    /// Sends a request and leaves its answer to come. Dropped, the client has
    /// gone away.
    pub(crate) fn send(&self, request: &Request<'_>) -> io::Result<TcpStream> {
        self.send_bytes(&self.bytes(request))
    }

    /// Sends these bytes, of a request or of a part of one.
    pub(crate) fn send_bytes(&self, bytes: &[u8]) -> io::Result<TcpStream> {
        let mut connection = TcpStream::connect(self.address)?;
        connection.set_read_timeout(Some(PATIENCE))?;
        connection.write_all(bytes)?;
        Ok(connection)
    }

    /// Sends a request and reads its answer.
    pub(crate) fn ask(&self, request: &Request<'_>) -> io::Result<Answer> {
        Answer::read(self.send(request)?)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.try_get(path).expect("it answers")
    }

    /// A GET to a server that may not be there.
    pub(crate) fn try_get(&self, path: &str) -> io::Result<Answer> {
        self.ask(&Request { method: "GET", ..self.post_of(path, &[], b"") })
    }

    /// A POST with the token, not yet sent.
    pub(crate) fn post_of<'a>(
        &'a self,
        path: &'a str,
        headers: &'a [(&'a str, &'a str)],
        body: &'a [u8],
    ) -> Request<'a> {
        Request { method: "POST", path, token: Some(&self.token), headers, body }
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> Answer {
        self.post_with(path, &[], body.as_bytes())
    }

    pub(crate) fn post_with(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.ask(&self.post_of(path, headers, body)).expect("it answers")
    }

    /// Calls a tool with these arguments.
    pub(crate) fn call(&self, tool: &str, arguments: &str) -> Answer {
        self.post(&format!("/v1/tools/{tool}/calls"), &format!("{{\"args\":{arguments}}}"))
    }

    /// Proposes a write with an idempotency key.
    pub(crate) fn propose_with(&self, key: &str, tool: &str, arguments: &str) -> Answer {
        let body = format!("{{\"args\":{arguments}}}");
        self.post_with(&format!("/v1/tools/{tool}/calls"), &[("Idempotency-Key", key)], body.as_bytes())
    }

    /// Proposes a write; the action's id.
    #[track_caller]
    pub(crate) fn propose(&self, tool: &str, arguments: &str) -> String {
        self.call(tool, arguments).check("202 Pending").str("actionId").to_owned()
    }

    /// Confirms with this body, `{}` or more.
    pub(crate) fn confirm(&self, id: &str, body: &str) -> Answer {
        self.post(&confirm_path(id), body)
    }

    /// Confirms, and does not wait for the answer.
    pub(crate) fn begin_confirm(&self, id: &str, body: &str) -> TcpStream {
        let path = confirm_path(id);
        self.send(&self.post_of(&path, &[], body.as_bytes())).expect("it takes requests")
    }

    pub(crate) fn decline(&self, id: &str, body: &str) -> Answer {
        self.post(&format!("/v1/actions/{id}/decline"), body)
    }

    pub(crate) fn action(&self, id: &str) -> Answer {
        self.get(&format!("/v1/actions/{id}"))
    }
}

fn confirm_path(id: &str) -> String {
    format!("/v1/actions/{id}/confirm")
}
