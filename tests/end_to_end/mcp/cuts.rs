//! Connections that are cut anywhere, while a call is sent and while it is answered: a read
//! ends with what it sends, a proposal that is sent again is made once, and nothing runs
//! without a person.
//!
//! With every test: after every so many bytes. After each byte, which takes some minutes:
//!
//! ```text
//! TETHER_CUTS=all cargo test -p tether --test end_to_end mcp::cuts -- --nocapture
//! ```

use std::collections::BTreeMap;
use std::env;
use std::io::Read;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::mcp::BOTH;
use crate::mcp::client::{Client, Told};
use crate::support::{Answer, Reply, Server, Setup, Upstream, component, eventually};

/// A gateway whose tools reach `upstream`, and never run out of time.
fn reaching(upstream: &Upstream) -> Server {
    let config = format!(
        "[tool_transport]\ntimeout_seconds = 3600\n[[components]]\npath = {:?}\n[components.databases]\nmain = \"sqlite\"\n\
         [[components.outbound]]\norigin = \"{}\"\nmethods = [\"GET\", \"POST\"]\n",
        component("probe"),
        upstream.origin()
    );
    Setup::of(&[]).config("tether.toml", &config).start()
}

/// The places within so many bytes after which is cut: every `stride`, and the last one.
fn places(bytes: usize, stride: usize) -> impl Iterator<Item = usize> {
    let stride = if env::var("TETHER_CUTS").is_ok_and(|cuts| cuts == "all") { 1 } else { stride };
    (0..bytes).step_by(stride).chain([bytes])
}

/// Reads so many bytes of an answer, or all there are, and goes away.
#[track_caller]
fn hear(answer: TcpStream, bytes: usize) {
    answer.take(bytes as u64).read_to_end(&mut Vec::new()).expect("it answers");
}

/// The bytes of a read that tells of its attempts, and never ends by itself.
fn slow_read(client: &Client, upstream: &Upstream) -> Vec<u8> {
    let arguments = json!({"method": "GET", "url": upstream.url("/slow")}).to_string();
    let id = client.fresh_id();
    // Its own: what a read that was cut a moment ago still has is not for this one.
    client.call_bytes(id, "probe_send", &arguments, &format!(r#""progressToken":"{id:05}""#))
}

/// Reads an answer up to the end of the event that tells of the first attempt, after which it
/// waits, or so many bytes of it; how many there were.
fn hear_of_an_attempt(answer: &mut TcpStream, most: usize) -> usize {
    let mut heard = Vec::new();
    let told =
        |heard: &[u8]| heard.ends_with(b"\n\n\r\n") && heard.windows(9).any(|part| part == b"attempt 1");
    while heard.len() < most && !told(&heard) {
        let mut byte = [0];
        answer.read_exact(&mut byte).expect("it tells of its attempts");
        heard.extend(byte);
    }
    heard.len()
}

#[test]
fn f30_a_read_that_is_cut_anywhere_ends_with_what_it_sends() {
    let upstream = Upstream::always(Reply::Silence);
    let server = reaching(&upstream);
    let (mut cuts, mut longest) = (0, Duration::ZERO);
    for revision in BOTH {
        let client = Client::new(&server, revision);
        let request = slow_read(&client, &upstream);
        for sent in places(request.len() - 1, 11) {
            drop(client.api.send_bytes(&request[..sent]));
        }
        assert_eq!(upstream.received().len(), cuts, "half a call is none");

        let send = || client.api.send_bytes(&slow_read(&client, &upstream)).expect("it takes requests");
        let mut cut = |mut answer: TcpStream, bytes: usize| {
            cuts += 1;
            eventually("it sends", || (upstream.received().len() == cuts).then_some(()));
            hear_of_an_attempt(&mut answer, bytes);
            drop(answer);
            let gone = Instant::now();
            eventually("it ends", || (upstream.gone() == cuts).then_some(()));
            longest = longest.max(gone.elapsed());
        };
        let mut first = send();
        let whole = hear_of_an_attempt(&mut first, usize::MAX);
        cut(first, 0);
        for heard in places(whole, 11) {
            cut(send(), heard);
        }
        client.call("probe_echo", "{}").result();
    }
    assert_eq!(upstream.received().len(), cuts, "and no part of one became one later");
    println!("{cuts} reads that were cut; the last request of one ended {longest:?} after that at most");
}

/// A proposal that is cut once, and then sent again by two clients.
struct Proposal {
    key: String,
    id: String,
}

#[test]
fn a_proposal_that_is_cut_anywhere_and_sent_again_is_one_action_and_one_effect() {
    let server = Setup::of(&["probe"]).start();
    let mut proposals = Vec::new();
    for (index, revision) in BOTH.into_iter().enumerate() {
        let client = Client::new(&server, revision);
        let other = Client::new(&server, BOTH[1 - index]);
        let arguments = |key: &str| format!(r#"{{"note":"{key}"}}"#);
        let bytes = |key: &str| {
            let meta = format!(r#""tether/idempotencyKey":"{key}""#);
            client.call_bytes(1_000 + client.fresh_id(), "probe_write", &arguments(key), &meta)
        };
        // Keys of one length, so that all are of one length.
        let key = |place: &str, at: usize| format!("{index}-{place}-{at:05}");
        let whole = bytes(&key("try", 0));
        let answer = Answer::read(client.api.send_bytes(&whole).expect("it takes requests"));
        let answer = answer.expect("it answers").length();
        let mut again = |key: String| {
            let id = client.call_with(&key, "probe_write", &arguments(&key)).action();
            assert_eq!(other.call_with(&key, "probe_write", &arguments(&key)).action(), id, "{key}");
            proposals.push(Proposal { key, id });
        };
        again(key("try", 0));
        for sent in places(whole.len(), 11) {
            let key = key("ask", sent);
            drop(client.api.send_bytes(&bytes(&key)[..sent]));
            again(key);
        }
        for heard in places(answer, 37) {
            let key = key("get", heard);
            hear(client.api.send_bytes(&bytes(&key)).expect("it takes requests"), heard);
            again(key);
        }
    }
    println!("{} proposals that were cut", proposals.len());
    check_each_is_one(&server, &proposals);
}

/// How many actions there are with each note.
fn made(server: &Server) -> BTreeMap<String, usize> {
    let (mut made, mut path) = (BTreeMap::new(), "/v1/actions?limit=200".to_owned());
    loop {
        let page = server.api.get(&path);
        for action in page.body["actions"].as_array().expect("a list") {
            let note = action["args"]["note"].as_str().expect("a note").to_owned();
            *made.entry(note).or_default() += 1;
        }
        let Some(cursor) = page.body["nextCursor"].as_str() else { return made };
        path = format!("/v1/actions?limit=200&cursor={cursor}");
    }
}

/// Each is one action; the half that is confirmed has one effect each, the rest none.
fn check_each_is_one(server: &Server, proposals: &[Proposal]) {
    let expected: BTreeMap<_, _> = proposals.iter().map(|proposal| (proposal.key.clone(), 1)).collect();
    assert_eq!(made(server), expected, "each is one action");
    let confirmed: Vec<_> = proposals.iter().step_by(2).collect();
    for Proposal { id, .. } in &confirmed {
        server.api.confirm(id, "{}").check("200 Succeeded");
        server.api.confirm(id, "{}").check("200 Replayed");
    }
    let mut effects: Vec<_> = server.effects().into_iter().map(|effect| effect.note).collect();
    let mut expected: Vec<_> = confirmed.iter().map(|proposal| proposal.key.clone()).collect();
    effects.sort();
    expected.sort();
    assert_eq!(effects, expected, "one effect for each yes, and no other");
}

#[test]
fn in_a_session_the_same_request_sent_again_is_the_same_proposal() {
    let server = Setup::of(&["probe"]).start();
    let client = Client::new(&server, BOTH[0]);
    let (id, arguments) = (client.fresh_id(), r#"{"note":"again"}"#);
    hear(client.start(id, "probe_write", arguments, ""), 1);
    let first = client.call_as(id, "probe_write", arguments, "").action();
    assert_eq!(client.call_as(id, "probe_write", arguments, "").action(), first);
    let list = server.api.get("/v1/actions");
    assert_eq!(list.body["actions"].as_array().map(Vec::len), Some(1));
}

#[test]
fn in_a_session_a_read_is_called_off_and_a_proposal_is_not() {
    let upstream = Upstream::always(Reply::Silence);
    let server = reaching(&upstream);
    let client = Client::new(&server, BOTH[0]);
    let call_off = |id: u64| {
        let body = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        );
        assert_eq!(client.post("notifications/cancelled", None, &[], &body).status, 202);
    };
    let read = client.fresh_id();
    let arguments = json!({"method": "GET", "url": upstream.url("/slow")}).to_string();
    let stream = client.start(read, "probe_send", &arguments, "");
    eventually("it sends", || (upstream.received().len() == 1).then_some(()));
    call_off(read);
    eventually("it ends", || (upstream.gone() == 1).then_some(()));
    let told = Told::of(Answer::read(stream).expect("its stream ends"));
    assert!(!told.text.contains("\"result\""), "{}", told.text);

    let write = client.fresh_id();
    let _stream = client.start(write, "probe_write", r#"{"note":"stays"}"#, "");
    call_off(write);
    eventually("it is proposed", || server.api.get("/v1/actions").text.contains("stays").then_some(()));
    assert!(server.effects().is_empty());
}
