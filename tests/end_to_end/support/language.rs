//! Components in other languages, whose own libraries speak `wasi:http`: what each of
//! them gets without a line of code.

use std::path::Path;
use std::sync::Mutex;

use super::{Reply, Server, Setup, Upstream};

/// A component in some language.
pub(crate) struct Language {
    /// None where it cannot be built, which is then said.
    pub(crate) component: fn() -> Option<&'static Path>,
    /// A read that gets `url`, and a write that posts `hello` to it.
    pub(crate) get: &'static str,
    pub(crate) post: &'static str,
    /// The result for a status and a text, as the language writes JSON.
    pub(crate) spelled: fn(u16, &str) -> String,
    /// The first server compiles it, which takes long; the others are lent what it compiled.
    pub(crate) starting: Mutex<()>,
}

impl Language {
    /// Serves the component, which may reach `upstream`.
    fn serve(&self, upstream: &Upstream) -> Option<Server> {
        let config = format!(
            "[[components]]\npath = {:?}\n[[components.outbound]]\norigin = \"{}\"\nmethods = [\"GET\", \"POST\"]\n",
            (self.component)()?,
            upstream.origin()
        );
        let _turn = self.starting.lock();
        Some(Setup::of(&[]).config("tether.toml", &config).start())
    }

    pub(crate) fn check_that_a_read_is_repeated_with_one_key(&self) {
        let upstream = Upstream::start(|number, _| match number {
            1 | 2 => Reply::status(503),
            _ => Reply::ok("third time"),
        });
        let Some(server) = self.serve(&upstream) else { return };
        let answer = server.api.call(self.get, &format!(r#"{{"url":"{}"}}"#, upstream.url("/x")));
        assert_eq!(answer.check("200 Succeeded").raw("result"), (self.spelled)(200, "third time"));
        assert_eq!(answer.body["attempts"], 3);
        let received = upstream.received();
        assert_eq!(received.len(), 3);
        assert!(received.iter().all(|request| request.key() == answer.str("requestId")), "{received:?}");
    }

    pub(crate) fn check_that_a_write_sends_once_with_the_key_of_the_action(&self) {
        let upstream = Upstream::always(Reply::Answer(503, "", "busy".into()));
        let Some(server) = self.serve(&upstream) else { return };
        let id = server.api.propose(self.post, &format!(r#"{{"url":"{}"}}"#, upstream.url("/x")));
        let done = server.api.confirm(&id, "{}");
        // The handler saw the answer, and made a result of it.
        assert_eq!(done.check("200 Succeeded").raw("result"), (self.spelled)(503, "busy"));
        let received = upstream.received();
        let [request] = &received[..] else { panic!("one request: {received:?}") };
        assert_eq!(
            (request.method.as_str(), request.key(), &request.body[..]),
            ("POST", &*id, &b"hello"[..])
        );
    }

    pub(crate) fn check_that_nothing_else_is_reached(&self) {
        let (granted, other) = (Upstream::always(Reply::ok("")), Upstream::always(Reply::ok("")));
        let Some(server) = self.serve(&granted) else { return };
        let answer = server.api.call(self.get, &format!(r#"{{"url":"{}"}}"#, other.url("/x")));
        answer.check("502 DESTINATION_DENIED");
        assert_eq!(other.connections(), 0, "nothing was dialled");
    }
}
