//! What happens while somebody looks.

use std::time::{Duration, Instant};

use super::sign_in::end_sessions;
use super::visitor::Visitor;
use crate::support::{PATIENCE, Request, Server, Setup};

#[test]
fn a_stream_says_look_first_and_then_whatever_changes() {
    let server = Setup::of(&["probe"]).start();
    let person = Visitor::signed_in(&server);
    let mut stream = person.listen();
    assert_eq!(stream.next_of(&["event:", "HTTP/"]).as_deref(), Some("HTTP/1.1 200 OK"));
    assert_eq!(stream.next_of(&["event:"]).as_deref(), Some("event: look"));
    let id = server.api.propose("probe_write", r#"{"note":"seen"}"#);
    assert_eq!(stream.next_of(&["data: "]).as_deref(), Some("data: again"));
    assert_eq!(stream.next_of(&["data: "]), Some(format!("data: {id} Pending")));
    server.api.confirm(&id, "{}").check("200 Succeeded");
    assert_eq!(stream.next_of(&["data: "]), Some(format!("data: {id} Executing")));
    assert_eq!(stream.next_of(&["data: ", "id:"]), Some(format!("data: {id} Succeeded")));
}

#[test]
fn a_stream_ends_when_its_person_signs_out_and_others_go_on() {
    let server = Setup::of(&["probe"]).start();
    let [one, other] = [0, 1].map(|_| Visitor::signed_in(&server));
    let (mut ending, mut staying) = (one.listen(), other.listen());
    for stream in [&mut ending, &mut staying] {
        stream.next_of(&["data: again"]).expect("it begins");
    }
    let begin = Instant::now();
    assert_eq!(one.post_proven("/inbox/sign-out", &[]).status, 303);
    ending.wait_for_the_end();
    // Not only with the next beat.
    assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
    let id = server.api.propose("probe_write", r#"{"note":"seen"}"#);
    assert_eq!(staying.next_of(&["data: "]), Some(format!("data: {id} Pending")));
}

/// Signed in as `user` with a token of its own; the token's id.
fn with_own_token(server: &Server, user: &str, expires: &str) -> (Visitor, String) {
    let body = format!(r#"{{"user":"{user}","roles":["approver"],"expiresAfter":"{expires}"}}"#);
    let made = server.api.post("/v1/tokens", &body);
    assert_eq!(made.status, 201, "{}", made.text);
    (Visitor::with_token(server, made.str("token")), made.str("tokenId").to_owned())
}

#[test]
fn a_stream_ends_when_its_token_is_revoked_and_others_go_on() {
    let server = Setup::of(&["probe"]).start();
    let (ann, anns) = with_own_token(&server, "ann", "2h");
    let (ben, _) = with_own_token(&server, "ben", "2h");
    let (mut ending, mut staying) = (ann.listen(), ben.listen());
    for stream in [&mut ending, &mut staying] {
        stream.next_of(&["data: again"]).expect("it begins");
    }
    let begin = Instant::now();
    let path = format!("/v1/tokens/{anns}");
    let request = Request { method: "DELETE", ..server.api.post_of(&path, &[], b"") };
    assert_eq!(server.api.ask(&request).expect("it answers").status, 200);
    // At once, not with the next beat, and with no word more.
    assert_eq!(ending.next_of(&["data: ", ": alive"]), None);
    assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
    let id = server.api.propose("probe_write", r#"{"note":"after"}"#);
    assert_eq!(staying.next_of(&["data: "]), Some(format!("data: {id} Pending")));
}

#[test]
fn a_session_that_is_over_without_a_word_is_told_nothing_more() {
    let server = Setup::of(&["probe"]).start();
    let mut stream = Visitor::signed_in(&server).listen();
    stream.next_of(&["data: again"]).expect("it begins");
    end_sessions(&server);
    server.api.propose("probe_write", r#"{"note":"after"}"#);
    assert_eq!(stream.next_of(&["data: ", ": alive"]), None);

    // Where nothing happens it is seen as well, within seconds.
    let mut stream = Visitor::signed_in(&server).listen();
    stream.next_of(&["data: again"]).expect("it begins");
    let begin = Instant::now();
    end_sessions(&server);
    stream.wait_for_the_end();
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
}

#[test]
fn a_host_that_stops_waits_for_no_stream() {
    let mut server = Setup::of(&["probe"]).env("TETHER_TOOL_TRANSPORT__TIMEOUT_SECONDS", "600").start();
    let person = Visitor::signed_in(&server);
    let mut stream = person.listen();
    stream.next_of(&["data: again"]).expect("it begins");
    let begin = Instant::now();
    assert_eq!(server.stop(), Some(0));
    // A request may take ten minutes here; a stream is not waited for.
    assert!(begin.elapsed() < PATIENCE, "{:?}", begin.elapsed());
    stream.wait_for_the_end();
}

#[test]
fn one_session_has_eight_streams_and_no_more() {
    let server = Setup::of(&["probe"]).start();
    let person = Visitor::signed_in(&server);
    let mut streams: Vec<_> = (0..8).map(|_| person.listen()).collect();
    for stream in &mut streams {
        stream.next_of(&["data: again"]).expect("it begins");
    }
    let answer = person.get("/inbox/events");
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("5")));
    assert_eq!(person.get("/inbox").status, 200);
}
