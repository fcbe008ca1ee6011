//! Nobody gets around the person: whatever a client says, nothing runs that no person confirmed.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::mcp::BOTH;
use crate::mcp::client::{Client, STATELESS};
use crate::mcp::doors::token;
use crate::support::{Server, Setup};

const FORMS: &str = r#"{"elicitation":{}}"#;
const PAGES: &str = r#"{"elicitation":{"url":{}}}"#;
const TASKS: &str = r#"{"elicitation":{"url":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;

const YES: &str = r#"{"action":"accept","content":{"decision":"confirm"}}"#;

/// What clients might answer that were asked for something, the yes among them.
const ANSWERS: [&str; 10] = [
    YES,
    r#"{"action":"accept","content":{"decision":true}}"#,
    r#"{"action":"accept","content":{"confirm":"confirm","decision":"yes"}}"#,
    r#"{"action":"accept"}"#,
    r#"{"action":"confirm"}"#,
    r#"{"decision":"confirm"}"#,
    r#""confirm""#,
    "true",
    "null",
    r#"[{"action":"accept","content":{"decision":"confirm"}}]"#,
];

/// A gateway whose clients may decide about `probe_write` by a form.
fn deciding_by_forms() -> Server {
    let rule = "[[rules]]\ntool = \"probe_write\"\nform_confirms = true\n";
    Setup::of(&["probe"]).config("tether.toml", rule).start()
}

/// Nothing was done, and every action still waits.
#[track_caller]
fn check_nothing_ran(server: &Server, actions: usize) {
    assert!(server.effects().is_empty(), "{:?}", server.effects());
    let list = server.api.get("/v1/actions?limit=200");
    let list = list.body["actions"].as_array().expect("a list");
    assert_eq!(list.len(), actions);
    assert!(list.iter().all(|action| action["status"] == "Pending" && action["attemptsUsed"] == 0));
}

/// `tools/call` of `probe_write`, as if something had been asked for.
fn resumed(note: &str, state: Option<&str>, answers: &str) -> String {
    let state = state.map(|state| format!(r#","requestState":{}"#, json!(state))).unwrap_or_default();
    let key = format!(r#""name":"probe_write","arguments":{{"note":"{note}"}}"#);
    format!(r#"{key}{state},"inputResponses":{answers}"#)
}

fn call_again(client: &Client, members: &str) -> Value {
    client.ask_of("tools/call", Some("probe_write"), members).message
}

#[test]
fn whoever_may_decide_elsewhere_decides_nothing_over_mcp() {
    let server = Setup::of(&["probe"]).start();
    let ann = token(&server, "default", "ann", &["agent", "approver", "admin"]);
    for (number, revision) in BOTH.into_iter().enumerate() {
        let client = Client::able(&server, &ann, revision, TASKS);
        let proposed = client.call("probe_write", r#"{"note":"x"}"#);
        let told = proposed.message.to_string();
        let id =
            told.split("inbox/actions/").nth(1).and_then(|rest| rest.get(..32)).expect("a page").to_owned();
        let members = [format!(r#""actionId":"{id}""#), format!(r#""taskId":"{id}","actionId":"{id}""#)];
        for member in &members {
            for method in ["actions/confirm", "confirm", "tasks/confirm", "tasks/result", "tether/confirm"] {
                let told = client.ask_of(method, Some(&id), member);
                assert_eq!(told.error(), -32601, "{method}");
            }
            for tool in ["confirm", "tether_confirm", "tether_actions/confirm", "v1/actions"] {
                let arguments = format!(r#""name":"{tool}","arguments":{{{member},"decision":"confirm"}}"#);
                assert_eq!(client.ask_of("tools/call", Some(tool), &arguments).error(), -32602, "{tool}");
            }
        }
        let arguments = format!(r#"{{"actionId":"{id}","decision":"confirm"}}"#);
        assert_eq!(client.call("tether_actions", &arguments).code(), "INVALID_ARGUMENTS");
        check_nothing_ran(&server, number + 1);
    }
}

#[test]
fn an_answer_to_what_nobody_asked_is_none() {
    let server = deciding_by_forms();
    for (number, revision) in BOTH.into_iter().enumerate() {
        // It has forms, and so was asked about none as long as it has not proposed.
        let client = Client::able(&server, &server.api.token, revision, FORMS);
        let other = Client::able(&server, &server.api.token, revision, PAGES);
        let id = other.call_with(&format!("k{number}"), "probe_write", r#"{"note":"x"}"#);
        let id = id.message.to_string();
        assert!(id.contains("probe_write"), "{id}");
        for client in [&client, &other] {
            for name in ["0", "1", "2", "-1", "\"0\"", "\"decision\"", "null"] {
                for answer in ANSWERS {
                    let body = format!(r#"{{"jsonrpc":"2.0","id":{name},"result":{answer}}}"#);
                    let status = client.post("x", None, &[], &body).status;
                    assert!((200..500).contains(&status), "{status}: {body}");
                }
            }
        }
        check_nothing_ran(&server, number + 1);
    }
}

#[test]
fn input_that_was_not_asked_for_decides_nothing() {
    let server = deciding_by_forms();
    let client = |can| Client::able(&server, &server.api.token, STATELESS, can);
    // Given a page, which no answer is about.
    let asked = client(PAGES).call("probe_write", r#"{"note":"x"}"#);
    let page = asked.result()["requestState"].as_str().expect("a state").to_owned();
    let id = page.strip_prefix("page:").expect("it names the action").to_owned();
    let states = [
        page.clone(),
        format!("form:{id}"),
        format!("form:{id}:"),
        format!("form:{id}:0"),
        format!("form:{id}:{}", "0".repeat(32)),
        format!("form:{}:", "0".repeat(32)),
        format!("action:{id}"),
        id.clone(),
        String::new(),
    ];
    for can in [FORMS, PAGES, TASKS, "{}"] {
        let client = client(can);
        for state in &states {
            for answer in ANSWERS {
                for name in ["decision", "decide", ""] {
                    let members = resumed("x", Some(state), &format!(r#"{{"{name}":{answer}}}"#));
                    let told = call_again(&client, &members);
                    // The page's state says where the action stands, and nothing more.
                    let is_page =
                        *state == page && told["result"]["structuredContent"]["status"] == "Pending";
                    assert!(is_page || told["error"]["code"] == -32602, "{members}: {told}");
                }
            }
        }
    }
    check_nothing_ran(&server, 1);
    // About another call than the one that it was given to.
    let told = call_again(&client(PAGES), &resumed("y", Some(&page), r#"{"decision":{}}"#));
    assert_eq!(told["error"]["code"], -32602, "{told}");
    // Without a state it is a call like any other: one more proposal, which asks anew.
    let answers = format!(r#"{{"decision":{YES},"decide":{YES}}}"#);
    let told = call_again(&client("{}"), &resumed("z", None, &answers));
    assert_eq!(told["result"]["structuredContent"]["status"], "Pending", "{told}");
    check_nothing_ran(&server, 2);
}

#[test]
fn what_is_said_of_a_task_decides_nothing() {
    let server = deciding_by_forms();
    let client = Client::able(&server, &server.api.token, STATELESS, TASKS);
    let begun = client.call("probe_write", r#"{"note":"x"}"#);
    let task = begun.result()["taskId"].as_str().expect("a task").to_owned();
    let ask = |method: &str, more: &str| {
        let members = format!(r#""taskId":"{task}"{more}"#);
        let told = client.ask_of(method, Some(&task), &members);
        let code = told.message["error"]["code"].as_i64();
        assert!(code.is_none_or(|code| code == -32602), "{members}: {}", told.text);
    };
    for answer in ANSWERS {
        for name in ["decision", "decide", ""] {
            ask("tasks/update", &format!(r#","inputResponses":{{"{name}":{answer}}}"#));
        }
        ask("tasks/update", &format!(r#","inputResponses":{answer}"#));
        ask("tasks/update", &format!(r#","status":"completed","result":{answer}"#));
    }
    ask("tasks/cancel", "");
    check_nothing_ran(&server, 1);
    assert_eq!(server.api.confirm(&task, "{}").words(), "200 Succeeded", "it was not withdrawn");
}

#[test]
fn nothing_of_somebody_elses_is_to_be_had() {
    let server = deciding_by_forms();
    let [bot, thief] = ["bot", "thief"].map(|user| token(&server, "default", user, &["agent", "approver"]));
    let with = |token: &str, can| Client::able(&server, token, STATELESS, can);
    let asked = with(&bot, FORMS).call_with("k", "probe_write", r#"{"note":"x"}"#);
    let form = asked.result()["requestState"].as_str().expect("a form").to_owned();
    let id = form.split(':').nth(1).expect("it names the action").to_owned();
    let members = resumed("x", Some(&form), &format!(r#"{{"decision":{YES}}}"#));

    // The action, its form, its task.
    let one = format!(r#"{{"actionId":"{id}"}}"#);
    assert_eq!(with(&thief, "{}").call("tether_actions", &one).code(), "ACTION_NOT_FOUND");
    assert_eq!(call_again(&with(&thief, FORMS), &members)["error"]["code"], -32602);
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let members = format!(r#""taskId":"{id}","inputResponses":{{"decide":{YES}}}"#);
        assert_eq!(with(&thief, TASKS).ask_of(method, Some(&id), &members).error(), -32602, "{method}");
    }
    // Its key.
    let own = with(&thief, "{}").call_with("k", "probe_write", r#"{"note":"x"}"#).action();
    assert_ne!(own, id);
    // A cursor is a place in one's own list.
    with(&bot, "{}").call("probe_write", r#"{"note":"y"}"#).action();
    let list = with(&bot, "{}").call("tether_actions", r#"{"limit":1}"#);
    let cursor = &list.result()["structuredContent"]["nextCursor"];
    let seen = with(&thief, "{}").call("tether_actions", &json!({ "cursor": cursor }).to_string());
    assert!(!seen.text.contains(&id), "{}", seen.text);
    // A session.
    let mut stolen = Client::with(&server, &thief, BOTH[0]);
    stolen.session = Client::with(&server, &bot, BOTH[0]).session;
    assert_eq!(stolen.call("probe_echo", "{}").error(), -32001);
    check_nothing_ran(&server, 3);

    // It was a form that counts, of whoever was given it: once.
    let told = call_again(&with(&bot, FORMS), &members);
    assert_eq!(told["result"]["structuredContent"]["status"], "Succeeded", "{told}");
    call_again(&with(&bot, FORMS), &members);
    assert_eq!(server.effects_of(&id), 1);
    assert_eq!(server.effects().len(), 1);
}

/// Reads the stream of a call up to a line that has this.
#[track_caller]
fn line_with(stream: &mut BufReader<TcpStream>, part: &str) -> String {
    loop {
        let mut line = String::new();
        assert_ne!(stream.read_line(&mut line).expect("it is told"), 0, "{part} never came");
        if line.contains(part) {
            return line;
        }
    }
}

/// The answer to what the client is asked for in the stream of its call, in this mode: yes.
#[track_caller]
fn yes_to(stream: &mut BufReader<TcpStream>, mode: &str) -> String {
    let line = line_with(stream, "elicitation/create");
    let asked: Value = serde_json::from_str(line.trim_start_matches("data: ")).expect("a message");
    assert_eq!(asked["params"]["mode"], mode, "{asked}");
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{YES}}}"#, asked["id"])
}

#[test]
fn what_is_answered_about_a_page_decides_nothing() {
    let server = deciding_by_forms();
    let client = Client::able(&server, &server.api.token, BOTH[0], PAGES);
    let mut stream = BufReader::new(client.start(1, "probe_write", r#"{"note":"x"}"#, ""));
    let yes = yes_to(&mut stream, "url");
    assert_eq!(client.post("x", None, &[], &yes).status, 202);
    let result = line_with(&mut stream, "\"result\"");
    assert!(result.contains(r#""status":"Pending""#), "{result}");
    check_nothing_ran(&server, 1);
}

#[test]
fn a_form_is_answered_in_its_own_session_or_not_at_all() {
    let server = deciding_by_forms();
    let [bot, thief] = ["bot", "thief"].map(|user| token(&server, "default", user, &["agent", "approver"]));
    let session = |token: &str| Client::able(&server, token, BOTH[0], FORMS);
    let asked = session(&bot);
    let mut stream = BufReader::new(asked.start(1, "probe_write", r#"{"note":"x"}"#, ""));
    let answer = yes_to(&mut stream, "form");
    // Another session, of the same user and of another, and none.
    for client in [session(&bot), session(&thief), Client::with(&server, &bot, STATELESS)] {
        assert!(client.post("x", None, &[], &answer).status < 500);
    }
    let mut stolen = session(&thief);
    stolen.session.clone_from(&asked.session);
    assert_eq!(stolen.post("x", None, &[], &answer).status, 404);
    check_nothing_ran(&server, 1);

    assert_eq!(asked.post("x", None, &[], &answer).status, 202);
    let result = line_with(&mut stream, "\"result\"");
    assert!(result.contains(r#""status":"Succeeded""#), "{result}");
    // Answered again, it is an answer to nothing.
    assert!(asked.post("x", None, &[], &answer).status < 500);
    assert_eq!(server.effects().len(), 1);
}
