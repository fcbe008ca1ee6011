//! A browser without a script, as far as forms and cookies go.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::json;

use crate::support::{Answer, PATIENCE, Request, Server};

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Visitor {
    pub(super) address: SocketAddr,
    /// `name=value`, while somebody is signed in.
    pub(super) cookie: Option<String>,
}

impl Visitor {
    pub(super) fn of(server: &Server) -> Self {
        Self { address: server.api.address, cookie: None }
    }

    /// Signed in with the host's own token.
    #[track_caller]
    pub(super) fn signed_in(server: &Server) -> Self {
        Self::with_token(server, &server.api.token)
    }

    #[track_caller]
    pub(super) fn with_token(server: &Server, token: &str) -> Self {
        let mut visitor = Self::of(server);
        let answer = visitor.sign_in(token);
        assert_eq!((answer.status, answer.header("location")), (303, Some("/inbox")), "{}", answer.text);
        visitor
    }

    /// Signed in as `user` of the host's own tenant, with a token made for it.
    #[track_caller]
    pub(super) fn person(server: &Server, user: &str, roles: &[&str]) -> Self {
        Self::with_token(server, &token(server, user, roles))
    }

    /// Fills the form in, and keeps the cookie.
    pub(super) fn sign_in(&mut self, token: &str) -> Answer {
        let answer = self.post("/inbox/sign-in", &[("token", token)]);
        if let Some(cookie) = answer.header("set-cookie") {
            self.cookie = cookie.split(';').next().map(str::to_owned);
        }
        answer
    }

    pub(super) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "")
    }

    /// Sends a form as a page of the inbox sends it.
    pub(super) fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.send("POST", path, &[("Origin", &self.origin())], &encoded(fields))
    }

    /// The same with the proof of a page of this session.
    pub(super) fn post_proven(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let proof = self.proof();
        let fields: Vec<_> = fields.iter().copied().chain([("csrf", &*proof)]).collect();
        self.post(path, &fields)
    }

    /// What the forms of this session hold.
    #[track_caller]
    pub(super) fn proof(&self) -> String {
        field(&self.get("/inbox").text, "csrf")
    }

    /// Confirms what nobody else has said yes to.
    #[track_caller]
    pub(super) fn confirm(&self, id: &str, attempts_used: &str) -> Answer {
        self.confirm_seen(id, attempts_used, "0")
    }

    /// The same after so many have said yes.
    #[track_caller]
    pub(super) fn confirm_seen(&self, id: &str, attempts_used: &str, approvals: &str) -> Answer {
        let fields = [("attemptsUsed", attempts_used), ("approvals", approvals)];
        self.post_proven(&format!("/inbox/actions/{id}/confirm"), &fields)
    }

    #[track_caller]
    pub(super) fn decline(&self, id: &str, reason: &str) -> Answer {
        self.post_proven(&format!("/inbox/actions/{id}/decline"), &[("reason", reason)])
    }

    /// The action's page, which must be there.
    #[track_caller]
    pub(super) fn action(&self, id: &str) -> String {
        let answer = self.get(&format!("/inbox/actions/{id}"));
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.text
    }

    /// Any request; the headers come before its own.
    pub(super) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        Answer::read(self.begin(method, path, headers, body)).expect("it answers")
    }

    /// Sends a request and leaves its answer to come.
    pub(super) fn begin(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head.push_str(&format!("Host: {}\r\n", self.address));
        }
        if let Some(cookie) = &self.cookie {
            head.push_str(&format!("Cookie: {cookie}\r\n"));
        }
        head.push_str("Content-Type: application/x-www-form-urlencoded\r\n");
        head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        let mut connection = TcpStream::connect(self.address).expect("it listens");
        connection.set_read_timeout(Some(PATIENCE)).expect("a time is a time");
        connection.write_all(head.as_bytes()).expect("it takes requests");
        connection.write_all(body.as_bytes()).expect("it takes requests");
        connection
    }

    /// The stream of what happens.
    pub(super) fn listen(&self) -> Listener {
        Listener(BufReader::new(self.begin("GET", "/inbox/events", &[], "")))
    }
}

/// A stream of what happens, as it comes in.
pub(super) struct Listener(BufReader<TcpStream>);

impl Listener {
    /// The next line that holds one of `parts`; none where the stream ends before.
    pub(super) fn next_of(&mut self, parts: &[&str]) -> Option<String> {
        loop {
            let mut line = String::new();
            match self.0.read_line(&mut line) {
                Ok(length) if length > 0 => {}
                _ => return None,
            }
            if parts.iter().any(|part| line.contains(part)) {
                return Some(line.trim_end().to_owned());
            }
        }
    }

    /// Reads until the other side closes.
    pub(super) fn wait_for_the_end(mut self) {
        let ended = self.next_of(&["no line of a stream holds this"]);
        assert_eq!(ended, None);
    }
}

/// Revokes the one token of `user`.
pub(super) fn revoke(server: &Server, user: &str) {
    let tokens = server.api.get("/v1/tokens");
    let theirs =
        tokens.body["tokens"].as_array().expect("a list").iter().filter(|token| token["user"] == user);
    let [token] = theirs.collect::<Vec<_>>()[..] else { panic!("there is one of {user}: {}", tokens.text) };
    let path = format!("/v1/tokens/{}", token["tokenId"].as_str().expect("it has an id"));
    let request = Request { method: "DELETE", ..server.api.post_of(&path, &[], b"") };
    assert_eq!(server.api.ask(&request).expect("it answers").status, 200);
}

/// A fresh token of a user of the host's own tenant.
#[track_caller]
pub(super) fn token(server: &Server, user: &str, roles: &[&str]) -> String {
    let made = server.api.post("/v1/tokens", &json!({"user": user, "roles": roles}).to_string());
    assert_eq!(made.status, 201, "{}", made.text);
    made.str("token").to_owned()
}

/// The value of the first hidden field of this name.
#[track_caller]
pub(super) fn field(page: &str, name: &str) -> String {
    let start = format!("name=\"{name}\" value=\"");
    let (_, rest) = page.split_once(&start).unwrap_or_else(|| panic!("no field {name} in {page}"));
    rest.split('"').next().unwrap_or_default().to_owned()
}

fn encoded(fields: &[(&str, &str)]) -> String {
    let encode = |text: &str| {
        text.bytes().fold(String::new(), |mut out, byte| {
            if byte.is_ascii_alphanumeric() {
                out.push(byte.into());
            } else {
                out.push_str(&format!("%{byte:02X}"));
            }
            out
        })
    };
    let pairs: Vec<_> =
        fields.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
    pairs.join("&")
}
