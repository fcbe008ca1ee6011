//! Confirmed writes: each request leaves once, noted first. F4, F9, F30.

use std::sync::{Mutex, mpsc};

use serde_json::json;

use super::{confirmed, gateway, outgoing};
use crate::support::{Answer, Reply, Upstream, eventually};

/// Confirms a write that sends one POST and then ends so.
#[track_caller]
fn check(reply: Reply, more: serde_json::Value, words: &str, effect: &str, answer: &str) -> Answer {
    let upstream = Upstream::always(reply);
    let server = gateway(&upstream, "1").start();
    let arguments = outgoing("POST", &upstream.url("/refunds?card=4711"), more);
    let (id, told) = confirmed(&server, "probe_send_write", &arguments);
    assert_eq!(told.check(words).str("effect"), effect, "{}", told.text);
    let received = upstream.received();
    let [request] = &received[..] else { panic!("it leaves once: {received:?}") };
    assert_eq!((request.key(), request.method.as_str()), (&*id, "POST"));
    let ledger = told.body["ledger"].as_array().expect("a list");
    let [sent] = &ledger[..] else { panic!("it is noted once: {ledger:?}") };
    assert_eq!((sent["method"].as_str(), sent["path"].as_str()), (Some("POST"), Some("/refunds")));
    assert_eq!(sent["answer"], answer, "{sent}");
    assert!(!told.raw("ledger").contains("4711"), "no query is kept: {sent}");
    told
}

#[test]
fn no_status_makes_a_write_leave_twice() {
    for status in [200, 408, 429, 502, 503, 504, 500, 404] {
        let told = check(Reply::status(status), json!({}), "200 Succeeded", "Applied", "answered");
        assert_eq!(told.body["result"]["status"], status);
    }
}

#[test]
fn f4_a_connection_that_is_cut_and_a_silence_leave_it_unknown() {
    let words = "200 FailedRetryable EXECUTION_FAILED_RETRYABLE";
    check(Reply::Cut, json!({}), words, "Unknown", "in_doubt");
    check(Reply::Silence, json!({}), words, "Unknown", "in_doubt");
}

#[test]
fn f9_what_was_sent_before_a_trap_is_not_sent_again_by_itself() {
    let words = "200 FailedRetryable EXECUTION_FAILED_RETRYABLE";
    check(Reply::ok(""), json!({ "then": "trap" }), words, "Unknown", "answered");
    check(Reply::ok(""), json!({ "then": "spin" }), words, "Unknown", "answered");
}

#[test]
fn nobody_there_means_that_nothing_left() {
    let upstream = Upstream::always(Reply::ok(""));
    let setup = gateway(&upstream, "1");
    let server = setup.start();
    // A port that is granted and that nobody listens on: the upstream's own is taken.
    let arguments = outgoing("POST", "http://127.0.0.1:9/x", json!({}));
    let (_, told) = confirmed(&server, "probe_send_write", &arguments);
    assert_eq!(told.check("200 Failed EXECUTION_FAILED").body["cause"]["code"], "DESTINATION_DENIED");
    assert_eq!((told.str("effect"), told.raw("ledger")), ("None", "[]"));
    assert_eq!(upstream.connections(), 0);
}

#[test]
fn a_second_request_of_the_same_step_is_denied_and_of_another_has_another_key() {
    let upstream = Upstream::always(Reply::ok(""));
    let server = gateway(&upstream, "5").start();
    for tool in ["probe_send_twice", "probe_fetch_twice"] {
        let before = upstream.received().len();
        let (id, told) = confirmed(&server, tool, &outgoing("POST", &upstream.url("/x"), json!({})));
        assert_eq!(told.check("200 Succeeded").body["result"][0], "200", "{tool}");
        assert_ne!(told.body["result"][1], "200", "{tool}");
        let received = upstream.received().split_off(before);
        let keys: Vec<_> = received.iter().map(|request| request.key()).collect();
        assert_eq!(keys, [id.as_str()], "{tool}");
    }
    let before = upstream.received().len();
    let arguments = outgoing("POST", &upstream.url("/x"), json!({ "step": "refund" }));
    let (id, told) = confirmed(&server, "probe_send_write", &arguments);
    told.check("200 Succeeded");
    let key = upstream.received()[before].key().to_owned();
    assert!(key.len() == 32 && key != id, "{key} of {id}");
}

#[test]
fn nothing_leaves_beside_an_open_transaction_or_after_the_main_record() {
    let upstream = Upstream::always(Reply::ok(""));
    let server = gateway(&upstream, "5").start();
    let arguments = outgoing("POST", &upstream.url("/x"), json!({}));
    for tool in ["probe_send_inside", "probe_fetch_inside", "probe_send_after", "probe_fetch_after"] {
        let (_, told) = confirmed(&server, tool, &arguments);
        told.check("200 Succeeded");
    }
    assert_eq!(upstream.connections(), 0);
}

#[test]
fn f30_a_person_who_goes_away_leaves_the_write_to_its_end() {
    let (let_it_answer, told) = mpsc::channel();
    let told = Mutex::new(told);
    let upstream = Upstream::start(move |_, _| {
        told.lock().unwrap().recv().expect("the test lives");
        Reply::ok("")
    });
    let server = gateway(&upstream, "10").start();
    let arguments = outgoing("POST", &upstream.url("/x"), json!({}));
    let id = server.api.propose("probe_send_then_write", &arguments);
    let person = server.api.begin_confirm(&id, "{}");
    eventually("the request has left", || (upstream.received().len() == 1).then_some(()));
    drop(person);
    let_it_answer.send(()).unwrap();
    eventually("it has ended", || (server.api.action(&id).str("status") == "Succeeded").then_some(()));
    assert_eq!(server.api.confirm(&id, "{}").check("200 Replayed").raw("result"), "\"200\"");
    assert_eq!((upstream.received().len(), server.effects_of(&id)), (1, 1));
}
