//! The HTTP API and MCP give the same answer to the same call: one table of calls, and one of
//! the states of an action, each run every way.

mod calls;
mod check;
mod codes;
mod states;
mod world;

use self::calls::{Call, OverMcp, calls};
use self::check::{Check, is_problem, on_one_line, only_action, structured};
use self::states::states;
use self::world::{World, upstream};
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
