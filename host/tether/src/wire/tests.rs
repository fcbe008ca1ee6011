//! The exact texts that go over the wire.

use std::time::Duration;

use tether_core::action::{self, Approval, Arguments, Claim, Output, Preview, Proposal, Revision, State};
use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::failure::{Cause, Failure};
use tether_core::grant::{Binding, BoundComponent, BoundEndpoint};
use tether_core::json::JsonText;
use tether_core::ledger::{Answer, Entry, Fact, Ledger, Request};
use tether_gateway::failure_of;

use super::{Action, Status, Viewed};

const NOON: Timestamp = Timestamp::EPOCH;

fn pending(attempts_used: u32, last_failure: Option<Failure>) -> State {
    State::Pending {
        attempts_used,
        expires_at: NOON.after(Duration::from_secs(86_400)),
        last_failure,
        approvals: Vec::new(),
    }
}

fn action(state: State) -> action::Action {
    action::Action {
        id: "9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918".parse().unwrap(),
        revision: Revision(1),
        proposal: Proposal {
            tenant: "acme".parse().unwrap(),
            proposer: "agent-7".parse().unwrap(),
            tool: "void_ticket".parse().unwrap(),
            arguments: Arguments::Kept(JsonText::parse(r#"{"ticket_id": 9007199254740993}"#).unwrap()),
            binding: Binding::Component(BoundComponent {
                component: "tickets".parse().unwrap(),
                digest: Digest::of("x"),
                grants: "database main sqlite\n".parse().unwrap(),
            }),
            preview: Preview::Text("Void ticket 42 (open, 45.00 EUR)".into()),
            created_at: NOON,
            max_attempts: 3,
            people: 1,
        },
        state,
        ledger: Ledger::default(),
    }
}

fn seen(action: &action::Action, status: Status) -> String {
    let wire = Action::from(Viewed { action, status, error: failure_of(action) });
    serde_json::to_string_pretty(&wire).unwrap()
}

#[test]
fn a_pending_action() {
    let digest = Digest::of("x");
    assert_eq!(
        seen(&action(pending(0, None)), Status::Pending),
        format!(
            r#"{{
  "status": "Pending",
  "actionId": "9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918",
  "commandType": "void_ticket",
  "tenant": "acme",
  "proposedBy": "agent-7",
  "args": {{"ticket_id": 9007199254740993}},
  "argsErased": false,
  "preview": "Void ticket 42 (open, 45.00 EUR)",
  "previewError": null,
  "attemptsUsed": 0,
  "maxAttempts": 3,
  "createdAt": "1970-01-01T00:00:00.000Z",
  "expiresAt": "1970-01-02T00:00:00.000Z",
  "result": null,
  "errorCode": null,
  "errorMessage": null,
  "cause": null,
  "handlerCode": null,
  "effect": null,
  "check": null,
  "ledger": [],
  "approvals": [],
  "approvalsNeeded": 1,
  "decidedBy": null,
  "declineReason": null,
  "component": {{
    "name": "tickets",
    "digest": "{digest}"
  }}
}}"#
        )
    );
}

#[test]
fn what_was_erased_is_null_and_said_to_be() {
    let mut erased = action(State::Expired { attempts_used: 0, at: NOON });
    erased.proposal.arguments = Arguments::Erased(Digest::of("{}"));
    erased.proposal.preview = Preview::Erased;
    let text = seen(&erased, Status::Expired);
    for line in
        [r#""args": null,"#, r#""argsErased": true,"#, r#""preview": null,"#, r#""previewError": null,"#]
    {
        assert!(text.contains(line), "{line} is missing in {text}");
    }
    let read: super::seen::SeenAction = serde_json::from_str(&text).unwrap();
    assert!(read.args.is_none());
}

#[test]
fn who_said_yes_is_named() {
    let State::Pending { attempts_used, expires_at, last_failure, .. } = pending(0, None) else { panic!() };
    let claim = Claim { by: "ann".parse().unwrap(), key: Some("secret key".parse().unwrap()) };
    let approvals = vec![Approval { claim, at: NOON }];
    let mut approved = action(State::Pending { attempts_used, expires_at, last_failure, approvals });
    approved.proposal.people = 2;
    let text = seen(&approved, Status::Pending);
    assert!(text.contains(r#""by": "ann""#) && text.contains(r#""approvalsNeeded": 2"#), "{text}");
    assert!(!text.contains("secret key"), "keys are their persons' own");
}

#[test]
fn the_answer_of_the_tool_endpoint_page_word_for_word() {
    let failure = Failure {
        handler_code: Some("CRM_AWAY".into()),
        ..Failure::new(Cause::Transient, "the CRM is away")
    };
    let text = seen(&action(pending(1, Some(failure))), Status::FailedRetryable);
    for line in [
        r#""status": "FailedRetryable","#,
        r#""commandType": "void_ticket","#,
        r#""errorCode": "EXECUTION_FAILED_RETRYABLE","#,
        r#""errorMessage": "Execution failed transiently; the action remains confirmable (1/3 attempts used).","#,
        r#""handlerCode": "CRM_AWAY","#,
        r#""code": "UPSTREAM_UNAVAILABLE","#,
        r#""message": "the CRM is away""#,
        r#""effect": "None","#,
    ] {
        assert!(text.contains(line), "{line} is missing in:\n{text}");
    }
}

#[test]
fn a_result_and_what_was_seen() {
    let claim = Claim { by: "bo".parse().unwrap(), key: None };
    let output = Output::Kept(JsonText::parse(r#"{"b":1.0,"a":9007199254740993}"#).unwrap());
    let mut action =
        action(State::Succeeded { attempts_used: 1, claim, at: NOON, output, approvals: vec![] });
    let statements = vec!["UPDATE tickets SET state = 'void' WHERE id = $1".to_owned()];
    let fact = Fact::Committed { database: "main".parse().unwrap(), step: None, statements };
    action.ledger = Ledger::new(vec![Entry { at: NOON, attempt: 1, fact }]);
    let wire = Action::from(Viewed { action: &action, status: Status::Replayed, error: None });
    let text = serde_json::to_string(&wire).unwrap();
    for part in [
        r#""status":"Replayed""#,
        r#""result":{"b":1.0,"a":9007199254740993}"#,
        r#""expiresAt":null"#,
        r#""effect":"Applied""#,
        r#""decidedBy":"bo""#,
        r#""ledger":[{"at":"1970-01-01T00:00:00.000Z","attempt":1,"kind":"committed","database":"main","step":null,"statements":["UPDATE tickets SET state = 'void' WHERE id = $1"]}]"#,
    ] {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
}

fn request(method: &str, step: Option<&str>, answer: Answer) -> Entry {
    let request = Request {
        method: method.parse().unwrap(),
        origin: "https://api.example.com".into(),
        path: "/refunds".into(),
        step: step.map(|step| step.parse().unwrap()),
    };
    Entry { at: NOON, attempt: 1, fact: Fact::Sent { request, answer } }
}

#[test]
fn what_was_sent_and_what_is_in_doubt() {
    let failure = Failure::new(Cause::TimedOut, "no answer came in time");
    let mut action = action(pending(1, Some(failure)));
    action.ledger = Ledger::new(vec![
        request("POST", Some("refund"), Answer::InDoubt),
        request("POST", None, Answer::NotSent),
        request("GET", None, Answer::Status(200)),
    ]);
    let wire = Action::from(Viewed { action: &action, status: Status::FailedRetryable, error: None });
    let text = serde_json::to_string(&wire).unwrap();
    for part in [
        r#""effect":"Unknown","check":"POST https://api.example.com/refunds left at 00:00:00Z, no answer."#,
        r#"{"at":"1970-01-01T00:00:00.000Z","attempt":1,"kind":"sent","method":"POST","origin":"https://api.example.com","path":"/refunds","step":"refund","answer":"in_doubt"}"#,
        r#""path":"/refunds","answer":"not_sent"}"#,
        r#""method":"GET","origin":"https://api.example.com","path":"/refunds","answer":"answered","status":200}"#,
    ] {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
}

#[test]
fn an_action_of_an_endpoint_names_its_url_and_no_component() {
    let mut action = action(pending(0, None));
    let url = "https://tools.example.com/tether".to_owned();
    action.proposal.binding = Binding::Endpoint(BoundEndpoint { url, definition: Digest::of("x") });
    let wire = Action::from(Viewed { action: &action, status: Status::Pending, error: None });
    let value = serde_json::to_value(&wire).unwrap();
    assert_eq!(value["endpoint"], serde_json::json!({ "url": "https://tools.example.com/tether" }));
    assert!(value.get("component").is_none(), "{value}");
}

#[test]
fn our_own_client_reads_what_is_written() {
    let wire = seen(&action(pending(0, None)), Status::Pending);
    let read: super::seen::SeenAction = serde_json::from_str(&wire).unwrap();
    assert_eq!(read.args.unwrap().get(), r#"{"ticket_id": 9007199254740993}"#);
    assert_eq!(super::seen::call_body("{\"n\": 1.0}"), "{\"args\":{\"n\": 1.0}}");
}
