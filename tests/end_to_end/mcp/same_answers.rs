//! The HTTP API and MCP give the same answer to the same call: one table of calls, and one of
//! the states of an action, each run every way.

mod calls;
mod states;
mod world;

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tether_core::problem::Code;

use self::calls::{Call, OverMcp, calls};
use self::states::states;
use self::world::{Way, World, upstream};
use super::client::Told;
use crate::support::{Answer, Request};

/// Rules by which states come about that would not otherwise.
const RULES: &str = r#"
[tool_transport]
max_attempts = 2
[[rules]]
tool = "probe_hold"
max_open = 1
[[rules]]
tool = "probe_look_first"
people = 2
[[rules]]
tool = "probe_big_write"
expires_after = "1s"
"#;

/// What MCP must say to a call, by what HTTP said.
struct Check<'a> {
    call: &'a Call,
    http: &'a Answer,
    way: &'a Way,
    told: Told,
}

impl Check<'_> {
    #[track_caller]
    fn run(&self) {
        match (self.call.over_mcp, self.http.status) {
            (OverMcp::Error(code), _) => self.is_an_error(code),
            (OverMcp::Blocks(content, structured), _) => self.is_content(content, structured),
            (OverMcp::Same, 200) => self.is_the_output(self.http.raw("result")),
            (OverMcp::Same, 202) => {
                let told = structured(&self.told).expect("an action");
                assert_eq!(blank(&told), blank(&on_one_line(&self.http.text)), "{}", self.about());
            }
            (OverMcp::Same, _) => is_problem(&self.http.body, &self.told, &self.about()),
            (OverMcp::SameButTime, _) => {
                let mut http = self.http.body.clone();
                http["detail"] = self.told.result()["_meta"]["tether/problem"]["detail"].clone();
                is_problem(&http, &self.told, &self.about());
            }
        }
    }

    fn about(&self) -> String {
        let Call { tool, arguments, .. } = self.call;
        let arguments = arguments.as_deref().unwrap_or("nothing");
        let arguments: String = arguments.chars().take(200).collect();
        format!("{tool} with {arguments}, {}: {} {}", self.way.name, self.told.status, self.told.text)
    }

    /// An output is text and structured content, to the letter.
    #[track_caller]
    fn is_the_output(&self, output: &str) {
        // What comes in on one line goes out on one.
        let line = on_one_line(output);
        let output = if self.way.is_over_http() { output } else { &line };
        let is_structured = self.way.is_stateless() || output.starts_with('{');
        assert_eq!(structured(&self.told), is_structured.then(|| on_one_line(output)), "{}", self.about());
        let characters = serde_json::from_str::<String>(output).unwrap_or_else(|_| output.to_owned());
        assert_eq!(self.told.said(), characters, "{}", self.about());
        self.has_attempts();
    }

    /// Blocks are as the output has them.
    #[track_caller]
    fn is_content(&self, content: &str, expected: Option<&str>) {
        let content: Value = serde_json::from_str(content).expect("a list");
        assert_eq!(self.told.result()["content"], content, "{}", self.about());
        assert_eq!(structured(&self.told).as_deref(), expected, "{}", self.about());
        self.has_attempts();
    }

    #[track_caller]
    fn has_attempts(&self) {
        let result = self.told.result();
        assert_eq!(result["isError"], false, "{}", self.about());
        assert_eq!(result["_meta"]["tether/attempts"], self.http.body["attempts"], "{}", self.about());
    }

    #[track_caller]
    fn is_an_error(&self, code: i64) {
        assert_eq!(self.told.error(), code, "{}", self.about());
        if self.http.str("code") == "TOOL_NOT_FOUND" {
            assert_eq!(self.told.message["error"]["data"]["code"], "TOOL_NOT_FOUND");
        }
    }
}

/// A problem is HTTP's but for the id of the request.
#[track_caller]
fn is_problem(http: &Value, told: &Told, about: &str) {
    let without_id = |problem: &Value| {
        let mut problem = problem.clone();
        let id = problem.as_object_mut().and_then(|problem| problem.remove("requestId"));
        (problem, id.is_some_and(|id| id.is_string()))
    };
    let problem = &told.result()["_meta"]["tether/problem"];
    assert_eq!(without_id(problem), without_id(http), "{about}");
    let code = told.code();
    assert!(told.said().starts_with(&format!("{code}: ")), "{about}");
    assert_eq!(structured(told), None, "{about}");
}

/// The structured content, to the letter.
fn structured(told: &Told) -> Option<String> {
    #[derive(Deserialize)]
    struct Message {
        result: Contents,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Contents {
        structured_content: Option<Box<RawValue>>,
    }
    // `null` is content, where it is there.
    let is_there = told.result().get("structuredContent").is_some();
    let message: Message = serde_json::from_str(told.last()).expect("a message with a result");
    let text = message.result.structured_content.map(|text| text.get().to_owned());
    is_there.then(|| text.unwrap_or_else(|| "null".to_owned()))
}

/// The only action of a list, to the letter.
fn only_action(told: &Told) -> String {
    #[derive(Deserialize)]
    struct List {
        actions: Vec<Box<RawValue>>,
    }
    let list: List = serde_json::from_str(&structured(told).expect("a list")).expect("a list");
    assert_eq!(list.actions.len(), 1, "{}", told.text);
    list.actions[0].get().to_owned()
}

/// In a stream, blanks stand for line breaks.
fn on_one_line(json: &str) -> String {
    json.replace(['\n', '\r'], " ")
}

/// An action without what no two have alike.
fn blank(action: &str) -> String {
    let object: Value = serde_json::from_str(action).expect("an action");
    let own = ["actionId", "createdAt", "expiresAt"].map(|name| object[name].as_str().unwrap_or("none"));
    own.iter().fold(action.to_owned(), |text, own| text.replace(own, "…"))
}

fn over_http(world: &World, call: &Call) -> Answer {
    let body = call.arguments.as_ref().map_or("{}".into(), |arguments| format!(r#"{{"args":{arguments}}}"#));
    world.server.api.post(&format!("/v1/tools/{}/calls", call.tool), &body)
}

fn run_all(world: &World, calls: &[Call]) {
    for call in calls {
        let http = over_http(world, call);
        let about = || format!("{} with {:?}", call.tool, call.arguments);
        assert_eq!(http.words(), call.words, "{}: {}", about(), http.text);
        for way in &world.ways {
            let told = way.call(call.tool, call.arguments.as_deref(), None);
            Check { call, http: &http, way, told }.run();
        }
    }
}

#[test]
fn every_call_is_answered_alike() {
    let upstream = upstream();
    let world = World::start(&upstream, RULES);
    // The one that may be open.
    world.server.api.propose("probe_hold", r#"{"ms":1}"#);
    run_all(&world, &calls(&upstream));
}

#[test]
fn a_call_that_takes_too_long_is_told_alike() {
    let upstream = upstream();
    let world = World::start(&upstream, "[tool_transport]\ntimeout_seconds = 0.5\nmax_attempts = 1\n");
    let call = |tool, arguments: &str| Call {
        tool,
        arguments: Some(arguments.to_owned()),
        words: TIMED_OUT,
        over_mcp: OverMcp::SameButTime,
    };
    run_all(&world, &[call("probe_sleep", r#"{"ms":60000}"#), call("probe_spin", "{}")]);
}

const TIMED_OUT: &str = "504 TIMED_OUT";

#[test]
fn an_action_is_told_alike_in_every_state_and_by_its_key() {
    let upstream = upstream();
    let world = World::start(&upstream, RULES);
    let api = &world.server.api;
    for (number, state) in states(&upstream).into_iter().enumerate() {
        let key = format!("key-{number}");
        let id = api.propose_with(&key, state.tool, &state.arguments).str("actionId").to_owned();
        state.then.happen(api, &id);
        let http = api.action(&id);
        assert_eq!(http.words(), state.words, "{}", http.text);
        let again = api.propose_with(&key, state.tool, &state.arguments);
        assert_eq!((again.status, &again.text), (202, &http.text));
        for way in &world.ways {
            let looked = way.call("tether_actions", Some(&format!(r#"{{"actionId":"{id}"}}"#)), None);
            assert_eq!(only_action(&looked), on_one_line(&http.text), "{}", way.name);
            let again = way.call(state.tool, Some(&state.arguments), Some(&key));
            assert_eq!(structured(&again).as_ref(), Some(&on_one_line(&http.text)), "{}", way.name);
            assert_eq!(again.said(), looked.said(), "{}", way.name);
        }
    }
    lists_are_alike(&world);
}

/// Lists, and where each part of them ends.
fn lists_are_alike(world: &World) {
    for (query, arguments) in [
        ("limit=20", "{}".to_owned()),
        ("limit=3", r#"{"limit":3}"#.to_owned()),
        ("limit=20&status=Succeeded", r#"{"status":"Succeeded"}"#.to_owned()),
    ] {
        let http = world.server.api.get(&format!("/v1/actions?{query}"));
        for way in &world.ways {
            let told = way.call("tether_actions", Some(&arguments), None);
            assert_eq!(structured(&told), Some(on_one_line(&http.text)), "{} {arguments}", way.name);
        }
    }
    // The cursor of the one is one of the other.
    let first = world.server.api.get("/v1/actions?limit=3");
    let cursor = first.str("nextCursor");
    let second = world.server.api.get(&format!("/v1/actions?limit=3&cursor={cursor}"));
    for way in &world.ways {
        let told = way.call("tether_actions", Some(&format!(r#"{{"limit":3,"cursor":"{cursor}"}}"#)), None);
        assert_eq!(structured(&told), Some(on_one_line(&second.text)), "{}", way.name);
    }
}

#[test]
fn what_cannot_be_told_of_an_action_is_told_alike() {
    let upstream = upstream();
    let world = World::start(&upstream, RULES);
    let api = &world.server.api;
    // Nobody's: whoever asks over MCP knows tools and no routes, so that the advice is another.
    let nobodys = "0".repeat(32);
    api.action(&nobodys).check("404 ACTION_NOT_FOUND");
    // Somebody changed what is stored of it.
    let changed = api.propose("probe_nothing", "{}");
    let actions = rusqlite::Connection::open(world.server.file("actions.db")).expect("it is there");
    actions.execute("UPDATE actions SET max_attempts = 9 WHERE id = ?", [&changed]).expect("it is changed");
    let http = api.action(&changed);
    http.check("500 INTERNAL");
    // Longer arguments than anybody wants to read again.
    let arguments = format!(r#"{{"note":"{}"}}"#, "x".repeat(64 << 10));
    let long = api.propose("probe_keep", &arguments);
    let whole = api.action(&long);
    for way in &world.ways {
        let look = |id: &str| way.call("tether_actions", Some(&format!(r#"{{"actionId":"{id}"}}"#)), None);
        assert_eq!(look(&nobodys).code(), "ACTION_NOT_FOUND", "{}", way.name);
        is_problem(&http.body, &look(&changed), &way.name);
        assert_eq!(only_action(&look(&long)), whole.text.replace(&arguments, "null"), "{}", way.name);
    }
}

/// Pairs of arguments, and whether they are the same proposal.
const PAIRS: [(&str, &str, bool); 10] = [
    (r#"{"a":1,"b":{"c":1,"d":2}}"#, r#"{ "b":{"d":2,"c":1},"a":1 }"#, true),
    (r#"{"a":"\u0041\/\u00e9"}"#, r#"{"a":"A/é"}"#, true),
    (r#"{"\ud83d\ude00":1,"\ufb33":2}"#, "{\"\u{fb33}\":2,\"😀\":1}", true),
    (r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#, false),
    (r#"{"a":1}"#, r#"{"a":1.0}"#, false),
    (r#"{"a":100}"#, r#"{"a":1e2}"#, false),
    (r#"{"a":0}"#, r#"{"a":-0}"#, false),
    (r#"{"a":9007199254740992}"#, r#"{"a":9007199254740993}"#, false),
    ("{\"a\":\"\u{e9}\"}", "{\"a\":\"e\u{301}\"}", false),
    (r#"{"a":null}"#, "{}", false),
];

#[test]
fn f12_the_same_arguments_are_the_same_proposal_whichever_way_they_come() {
    let upstream = upstream();
    let world = World::start(&upstream, RULES);
    let api = &world.server.api;
    for (number, (first, second, is_same)) in PAIRS.into_iter().enumerate() {
        let over_http = |key: &str, arguments: &str| api.propose_with(key, "probe_keep", arguments);
        let key = format!("http-{number}");
        let proposed = over_http(&key, first);
        let again = over_http(&key, second);
        assert_eq!(again.status == 202, is_same, "{first} and {second}");
        for way in &world.ways {
            let told = way.call("probe_keep", Some(second), Some(&key));
            match is_same {
                true => assert_eq!(structured(&told).as_ref(), Some(&proposed.text), "{}", way.name),
                false => is_problem(&again.body, &told, &way.name),
            }
            // And the other way round.
            let key = format!("{} {number}", way.name);
            let action = way.call("probe_keep", Some(first), Some(&key)).action();
            let again = over_http(&key, second);
            match is_same {
                true => assert_eq!(again.check("202 Pending").str("actionId"), action, "{}", way.name),
                false => drop(again.check("422 IDEMPOTENCY_KEY_REUSED")),
            }
        }
    }
}

#[test]
fn a_key_and_a_door_are_the_same_over_both() {
    let upstream = upstream();
    let world = World::start(&upstream, RULES);
    let api = &world.server.api;
    // Another tool under the key of a proposal.
    api.propose_with("k", "probe_nothing", "{}").check("202 Pending");
    let reused = api.propose_with("k", "probe_keep", "{}");
    reused.check("422 IDEMPOTENCY_KEY_REUSED");
    let too_long = "x".repeat(256);
    for way in &world.ways {
        is_problem(&reused.body, &way.call("probe_keep", Some("{}"), Some("k")), &way.name);
        // What is no key is an error of the protocol.
        for key in ["", &too_long] {
            api.propose_with(key, "probe_keep", "{}").check("400 INVALID_ARGUMENTS");
            assert_eq!(way.call("probe_keep", Some("{}"), Some(key)).error(), -32602, "{}", way.name);
        }
    }
    // Whoever is not let in.
    let made = super::doors::token(&world.server, "acme", "ann", &["approver"]);
    for token in [None, Some("wrong"), Some(made.as_str())] {
        let ask = |path| {
            let headers = [("Content-Type", "application/json")];
            let request = Request { method: "POST", path, token, headers: &headers, body: b"{}" };
            api.ask(&request).expect("it answers")
        };
        let (http, mcp) = (ask("/v1/tools/probe_echo/calls"), ask("/mcp"));
        assert_eq!(mcp.words(), http.words(), "{token:?}");
        assert_eq!(mcp.header("www-authenticate").is_some(), http.header("www-authenticate").is_some());
    }
}

/// Codes that are told over both, and in no table here.
const ELSEWHERE: [(Code, &str); 11] = [
    (Code::ActionExecuting, "said to whoever decides, which nobody does over MCP but by a form"),
    (Code::ActionChanged, "the same"),
    (Code::ActionDecided, "the same"),
    (Code::ActionDeclined, "the same"),
    (Code::ActionExpired, "the same"),
    (Code::ActionOutdated, "the same"),
    (Code::KeyExpired, "it takes an hour at least"),
    (Code::StorageFull, "it takes a file system of its own"),
    (Code::Unauthenticated, "at the door, before the protocol begins"),
    (Code::Forbidden, "the same"),
    (Code::IdempotencyKeyReused, "it takes two calls"),
];

#[test]
fn no_code_is_forgotten() {
    let upstream = upstream();
    let calls = calls(&upstream);
    let states = states(&upstream);
    let words = calls.iter().map(|call| call.words).chain(states.iter().map(|state| state.words));
    let looked_at = [TIMED_OUT, "404 ACTION_NOT_FOUND", "500 INTERNAL"];
    let told: BTreeSet<_> = words.chain(looked_at).flat_map(|words| words.split(' ')).collect();
    for code in Code::ALL {
        let elsewhere = ELSEWHERE.iter().find(|(known, _)| known == code);
        assert_ne!(told.contains(code.as_str()), elsewhere.is_some(), "{code}: {elsewhere:?}");
    }
}
