//! F7 and F12: proposals with one key, and the fingerprints that tell them apart.

use crate::support::{Setup, crowd};

/// What became of a second proposal with the key of the first.
#[derive(Debug, PartialEq)]
enum Second {
    Same,
    Other,
}
use Second::{Other, Same};

/// Pairs of arguments, and whether they are the same proposal.
const TABLE: [(&str, &str, Second); 14] = [
    (r#"{"a":1,"b":2}"#, r#"{ "b" : 2,"a" : 1 }"#, Same),
    (r#"{"a":{"b":1,"c":[{"d":1,"e":2}]}}"#, r#"{"a":{"c":[{"e":2,"d":1}],"b":1}}"#, Same),
    (r#"{"a":"\u0041\/\u00e9"}"#, r#"{"a":"A/é"}"#, Same),
    (r#"{"\ud83d\ude00":1,"\ufb33":2}"#, "{\"\u{fb33}\":2,\"😀\":1}", Same),
    (r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#, Other),
    (r#"{"a":1}"#, r#"{"a":1.0}"#, Other),
    (r#"{"a":1}"#, r#"{"a":1e0}"#, Other),
    (r#"{"a":0}"#, r#"{"a":-0}"#, Other),
    (r#"{"a":9007199254740992}"#, r#"{"a":9007199254740993}"#, Other),
    ("{\"a\":\"\u{e9}\"}", "{\"a\":\"e\u{301}\"}", Other),
    (r#"{"a":null}"#, "{}", Other),
    (r#"{"a":"1"}"#, r#"{"a":1}"#, Other),
    (r#"{"a":"b","c":"d"}"#, r#"{"a":"bc","":"d"}"#, Other),
    (r#"{"A":1}"#, r#"{"a":1}"#, Other),
];

#[test]
fn f12_the_same_arguments_are_the_same_proposal_and_no_others() {
    let server = Setup::of(&["probe"]).start();
    for (number, (first, second, expected)) in TABLE.iter().enumerate() {
        let key = format!("key-{number}");
        let first_answer = server.api.propose_with(&key, "probe_keep", first);
        first_answer.check("202 Pending");
        let second_answer = server.api.propose_with(&key, "probe_keep", second);
        let got = match second_answer.words().as_str() {
            "202 Pending" => Same,
            "422 IDEMPOTENCY_KEY_REUSED" => Other,
            other => panic!("{first} and {second}: {other}"),
        };
        assert_eq!(got, *expected, "{first} and {second}");
        if got == Same {
            assert_eq!(second_answer.str("actionId"), first_answer.str("actionId"));
            assert_eq!(second_answer.raw("args"), *first, "the first text is the one that counts");
        }
    }
}

#[test]
fn f12_what_two_readers_could_take_differently_is_refused() {
    let server = Setup::of(&["probe"]).start();
    let refused = |arguments: &[u8]| {
        let body = [b"{\"args\":", arguments, b"}"].concat();
        let path = "/v1/tools/probe_keep/calls";
        let answer = server.api.post_with(path, &[("Idempotency-Key", "k")], &body);
        answer.check("400 INVALID_ARGUMENTS").str("detail").to_owned()
    };
    assert!(refused(br#"{"a":1,"a":1}"#).contains("occurs twice"));
    assert!(refused(br#"{"a":{"b":1,"\u0062":2}}"#).contains("occurs twice"));
    for unreadable in [
        &br#"{"a":"\ud800"}"#[..],
        br#"{"a":"\ude00\ud83d"}"#,
        b"{\"a\":\"\xff\"}",
        b"{\"a\":\"\xed\xa0\x80\"}",
    ] {
        refused(unreadable);
    }
    assert_eq!(server.api.get("/v1/actions").body["actions"], serde_json::json!([]), "nothing was kept");
}

#[test]
fn f7_a_key_that_proposed_one_tool_proposes_no_other() {
    let server = Setup::of(&["probe", "tickets"]).start();
    let first = server.api.propose_with("k", "void_ticket", r#"{"ticket_id":42}"#);
    server.api.propose_with("k", "probe_keep", r#"{"ticket_id":42}"#).check("422 IDEMPOTENCY_KEY_REUSED");
    let again = server.api.propose_with("k", "void_ticket", r#"{"ticket_id":42}"#);
    assert_eq!(again.text, first.text, "the first is unchanged");
}

#[test]
fn a_repeated_proposal_finds_its_action_whatever_became_of_it() {
    let server = Setup::of(&["probe"]).start();
    let propose = || server.api.propose_with("k", "probe_write", r#"{"note":"n"}"#);
    let id = propose().str("actionId").to_owned();
    server.api.confirm(&id, "{}").check("200 Succeeded");
    assert_eq!(propose().check("202 Succeeded").str("actionId"), id);
    // A key of a proposal is none of a confirmation.
    let other = server.api.propose("probe_write", r#"{"note":"other"}"#);
    server.api.confirm(&other, r#"{"idempotencyKey":"k"}"#).check("200 Succeeded");
}

#[test]
fn f6_proposals_with_one_key_at_once_make_one_action() {
    let server = Setup::of(&["probe"]).start();
    let answers = crowd(20, |number| {
        let note = format!(r#"{{"note":"{}"}}"#, number % 2);
        server.api.propose_with("k", "probe_write", &note)
    });
    let (made, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 202);
    assert_eq!((made.len(), refused.len()), (10, 10));
    assert!(made.iter().all(|answer| answer.str("actionId") == made[0].str("actionId")));
    for answer in refused {
        answer.check("422 IDEMPOTENCY_KEY_REUSED");
    }
}
