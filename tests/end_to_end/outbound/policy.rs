//! Reads: what is repeated, how often, when, and with which key. F3, F18, F30.

use std::time::Duration;

use serde_json::json;

use super::{gateway, outgoing};
use crate::support::{Answer, Received, Reply, Upstream, eventually};

const BACKOFFS: [Duration; 2] = [Duration::from_millis(150), Duration::from_millis(300)];

/// Calls a read that sends one GET; what its caller gets, and what the upstream got.
fn read(upstream: &Upstream, timeout_seconds: &str, strict: bool) -> (Answer, Vec<Received>) {
    let server = gateway(upstream, timeout_seconds).start();
    let arguments = outgoing("GET", &upstream.url("/x?q=1"), json!({ "strict": strict }));
    let answer = server.api.call("probe_send", &arguments);
    let received = upstream.received();
    let whole = |request: &Received| request.path == "/x?q=1" && request.key() == answer.str("requestId");
    assert!(received.iter().all(whole), "{received:?}");
    (answer, received)
}

/// Every row of the table that is repeated: three requests, in no less time than the
/// pauses take.
#[track_caller]
fn check_repeated(received: &[Received]) {
    assert_eq!(received.len(), 3, "{received:?}");
    for (pair, backoff) in received.windows(2).zip(BACKOFFS) {
        let gap = pair[1].at - pair[0].at;
        assert!(gap >= backoff, "{gap:?} after {:?}", pair[0]);
    }
}

#[test]
fn five_statuses_are_asked_again_and_the_handler_gets_the_last_answer() {
    for status in [408, 429, 502, 503, 504] {
        let upstream = Upstream::always(Reply::status(status));
        let (answer, received) = read(&upstream, "5", false);
        check_repeated(&received);
        assert_eq!(answer.check("200 Succeeded").body["result"]["status"], status);
        assert_eq!(answer.body["attempts"], 3, "{status}");
    }
}

#[test]
fn no_other_status_is() {
    for status in [200, 204, 400, 401, 404, 409, 422, 425, 500, 501, 505, 507] {
        let upstream = Upstream::always(Reply::status(status));
        let (answer, received) = read(&upstream, "5", false);
        assert_eq!(received.len(), 1, "{status}");
        assert_eq!(answer.check("200 Succeeded").body["result"]["status"], status);
        assert_eq!(answer.body["attempts"], 1, "{status}");
    }
}

#[test]
fn a_connection_that_is_cut_and_a_silence_are_asked_again() {
    // Three tries that use up their time use up that of the whole call.
    for (reply, timeout_seconds, words) in
        [(Reply::Cut, "5", "503 UPSTREAM_UNAVAILABLE"), (Reply::Silence, "0.3", "504 TIMED_OUT")]
    {
        let upstream = Upstream::always(reply);
        let (answer, received) = read(&upstream, timeout_seconds, false);
        check_repeated(&received);
        assert_eq!(answer.check(words).body["attempts"], 3);
    }
}

#[test]
fn a_second_answer_that_is_good_is_the_answer() {
    let upstream = Upstream::start(|number, _| match number {
        1 => Reply::Cut,
        _ => Reply::ok("good"),
    });
    let (answer, received) = read(&upstream, "5", true);
    assert_eq!((received.len(), answer.body["attempts"].as_u64()), (2, Some(2)));
    assert_eq!(answer.check("200 Succeeded").body["result"]["body"], "good");
}

#[test]
fn f18_never_sooner_than_the_upstream_asks() {
    let upstream = Upstream::start(|number, _| match number {
        1 => Reply::Answer(429, "Retry-After: 1\r\n", String::new()),
        _ => Reply::ok("good"),
    });
    let (answer, received) = read(&upstream, "5", true);
    answer.check("200 Succeeded");
    assert!(received[1].at - received[0].at >= Duration::from_secs(1), "{received:?}");
}

#[test]
fn f18_what_does_not_fit_into_the_calls_time_is_told_to_the_caller() {
    let upstream = Upstream::always(Reply::Answer(503, "Retry-After: 120\r\n", String::new()));
    let (answer, received) = read(&upstream, "5", true);
    assert_eq!(received.len(), 1, "there is no time for another");
    answer.check("503 UPSTREAM_UNAVAILABLE");
    let told = answer.body["retryAfterMs"].as_u64().expect("it is told when");
    assert!((100_000..=120_000).contains(&told), "{told}");
    assert!(answer.header("retry-after").is_some(), "{answer:?}");
}

#[test]
fn requests_and_runs_spend_one_budget() {
    // The first request is repeated in place; then the handler says `transient`,
    // and is run again, once.
    let upstream = Upstream::start(|number, _| match number {
        1 => Reply::status(503),
        _ => Reply::ok(""),
    });
    let server = gateway(&upstream, "5").start();
    let arguments = outgoing("GET", &upstream.url("/x"), json!({ "then": "transient" }));
    let answer = server.api.call("probe_send", &arguments);
    assert_eq!(answer.check("503 UPSTREAM_UNAVAILABLE").body["attempts"], 3);
    assert_eq!(upstream.received().len(), 3);
}

#[test]
fn f3_wasi_http_repeats_alike_and_carries_the_key() {
    let upstream = Upstream::start(|number, _| match number {
        1 | 2 => Reply::status(502),
        _ => Reply::ok("good"),
    });
    let server = gateway(&upstream, "5").start();
    let answer = server.api.call("probe_fetch", &outgoing("GET", &upstream.url("/x"), json!({})));
    assert_eq!(answer.check("200 Succeeded").body["result"]["body"], "good");
    let received = upstream.received();
    check_repeated(&received);
    assert!(received.iter().all(|request| request.key() == answer.str("requestId")), "{received:?}");
}

#[test]
fn a_read_and_a_preview_send_nothing_that_could_change_something() {
    let upstream = Upstream::always(Reply::ok(""));
    let server = gateway(&upstream, "5").start();
    let post = outgoing("POST", &upstream.url("/x"), json!({}));
    for tool in ["probe_send", "probe_fetch"] {
        server.api.call(tool, &post).check("502 DESTINATION_DENIED");
    }
    let proposed = server.api.call("probe_send_write", &post);
    assert!(proposed.check("202 Pending").str("preview").contains("POST"), "{}", proposed.text);
    assert_eq!(upstream.connections(), 0, "nothing was dialled");
}

#[test]
fn f30_a_reader_who_goes_away_takes_the_request_along() {
    let upstream = Upstream::always(Reply::Silence);
    let server = gateway(&upstream, "20").start();
    for (tool, gone) in [("probe_send", 1), ("probe_fetch", 2)] {
        let body = format!(r#"{{"args":{}}}"#, outgoing("GET", &upstream.url("/x"), json!({})));
        let path = format!("/v1/tools/{tool}/calls");
        let reader = server.api.send(&server.api.post_of(&path, &[], body.as_bytes())).unwrap();
        eventually("the request has come", || (upstream.received().len() == gone).then_some(()));
        drop(reader);
        eventually("the request is given up", || (upstream.gone() == gone).then_some(()));
    }
    assert_eq!(upstream.received().len(), 2, "nothing is asked again for nobody");
}
