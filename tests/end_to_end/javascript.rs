//! A component in JavaScript: its `fetch` gets the transport policy without a line
//! of code.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use crate::support::{NodeProject, Reply, Server, Setup, Upstream};

/// The component, built once. None where Node.js is missing.
fn component() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let project = NodeProject::install("guests/javascript")?;
        let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit");
        let wit = fs::canonicalize(wit).expect("the contract is there");
        let component = project.path("javascript.wasm");
        project.run("build.mjs", &[Path::new("tool.js"), &wit, &component]);
        Some(component)
    });
    built.as_deref()
}

/// Serves the component, which may reach `upstream`.
fn serve(upstream: &Upstream) -> Option<Server> {
    let config = format!(
        "[[components]]\npath = {:?}\n[[components.outbound]]\norigin = \"{}\"\nmethods = [\"GET\", \"POST\"]\n",
        component()?,
        upstream.origin()
    );
    // The first one compiles it, which takes long; the others are lent what it compiled.
    static STARTING: Mutex<()> = Mutex::new(());
    let _turn = STARTING.lock();
    Some(Setup::of(&[]).config("tether.toml", &config).start())
}

#[test]
fn fetch_in_a_read_is_repeated_and_carries_one_key() {
    let upstream = Upstream::start(|number, _| match number {
        1 | 2 => Reply::status(503),
        _ => Reply::ok("third time"),
    });
    let Some(server) = serve(&upstream) else { return };
    let answer = server.api.call("js_get", &format!(r#"{{"url":"{}"}}"#, upstream.url("/x")));
    assert_eq!(answer.check("200 Succeeded").raw("result"), r#"{"status":200,"text":"third time"}"#);
    assert_eq!(answer.body["attempts"], 3);
    let received = upstream.received();
    assert_eq!(received.len(), 3);
    assert!(received.iter().all(|request| request.key() == answer.str("requestId")), "{received:?}");
}

#[test]
fn fetch_in_a_write_is_sent_once_with_the_key_of_the_action() {
    let upstream = Upstream::always(Reply::Answer(503, "", "busy".into()));
    let Some(server) = serve(&upstream) else { return };
    let id = server.api.propose("js_post", &format!(r#"{{"url":"{}"}}"#, upstream.url("/x")));
    let done = server.api.confirm(&id, "{}");
    // The handler saw the answer, and made a result of it.
    assert_eq!(done.check("200 Succeeded").raw("result"), r#"{"status":503,"text":"busy"}"#);
    let received = upstream.received();
    let [request] = &received[..] else { panic!("one request: {received:?}") };
    assert_eq!((request.method.as_str(), request.key(), &request.body[..]), ("POST", &*id, &b"hello"[..]));
}

#[test]
fn fetch_reaches_nothing_that_was_not_granted() {
    let (granted, other) = (Upstream::always(Reply::ok("")), Upstream::always(Reply::ok("")));
    let Some(server) = serve(&granted) else { return };
    let answer = server.api.call("js_get", &format!(r#"{{"url":"{}"}}"#, other.url("/x")));
    answer.check("502 DESTINATION_DENIED");
    assert_eq!(other.connections(), 0, "nothing was dialled");
}
