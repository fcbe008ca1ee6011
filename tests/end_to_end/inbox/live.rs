//! What happens while somebody looks.

use std::time::{Duration, Instant};

use super::visitor::Visitor;
use crate::support::{PATIENCE, Setup};

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
    // Not only when it is looked at again.
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    let id = server.api.propose("probe_write", r#"{"note":"seen"}"#);
    assert_eq!(staying.next_of(&["data: "]), Some(format!("data: {id} Pending")));
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
