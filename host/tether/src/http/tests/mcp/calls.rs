//! Calls of reads and of writes.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use tether_core::identity::Role;

use super::super::server::{Server, TOKEN};
use super::client::{Client, STATELESS, comes_to, rest, until};

const BOTH: [&str; 2] = ["2025-11-25", STATELESS];

#[tokio::test]
async fn f24_a_read_answers_to_the_letter() {
    let server = Server::start().await;
    for revision in BOTH {
        let client = Client::new(&server, revision).await;
        for arguments in [
            r#"{"n":9007199254740993,"z" : 1.0,"a":[-0,1e2,0.10,18446744073709551616]}"#,
            r#"{"n":1,"text":"👩‍🚀 \u0041\/"}"#,
            "{}",
        ] {
            let answer = client.call("echo", arguments).await;
            assert_eq!(answer.said(), arguments);
            assert!(answer.text.contains(&format!(r#""structuredContent":{arguments}"#)), "{}", answer.text);
            assert_eq!(answer.result()["isError"], false);
            assert_eq!(answer.result()["_meta"]["tether/attempts"], 1);
        }
        let left_out = client.ask("tools/call", r#"{"name":"echo"}"#).await;
        assert_eq!(left_out.said(), "{}");
    }
}

#[tokio::test]
async fn a_line_break_between_members_is_a_blank_on_the_way() {
    let server = Server::start().await;
    for revision in BOTH {
        let client = Client::new(&server, revision).await;
        let answer = client.call("echo", "{\r\n\"n\":\n1}").await;
        assert_eq!(answer.said(), "{\r\n\"n\":\n1}");
        assert!(answer.text.contains(r#""structuredContent":{  "n": 1}"#), "{}", answer.text);
    }
}

#[tokio::test]
async fn a_result_of_250_kb_is_whole() {
    let server = Server::start().await;
    // As much as a body may hold, nearly: once as text, once as structured content.
    let arguments = format!(r#"{{"text":"{}"}}"#, "ä👩‍🚀".repeat(1 << 16));
    assert!(arguments.len() > 800_000);
    for revision in BOTH {
        let client = Client::new(&server, revision).await;
        let answer = client.call("echo", &arguments).await;
        assert!(
            answer.said() == arguments
                && answer.text.contains(&format!(r#""structuredContent":{arguments}"#))
        );
    }
}

#[tokio::test]
async fn f25_arguments_that_are_no_object_do_not_fit() {
    let server = Server::start().await;
    for revision in BOTH {
        let client = Client::new(&server, revision).await;
        for arguments in ["null", "[]", "5", "\"x\"", r#"{"n":"x"}"#] {
            let answer = client.call("echo", arguments).await;
            answer.has_failed("INVALID_ARGUMENTS");
            assert!(answer.said().ends_with("Calling again with the same arguments will not help."));
        }
    }
}

#[tokio::test]
async fn a_refusal_is_a_result_that_says_so() {
    let server = Server::start().await;
    for revision in BOTH {
        let client = Client::new(&server, revision).await;
        let answer = client.call("refuse", "{}").await;
        answer.has_failed("REFUSED");
        assert_eq!(answer.result()["_meta"]["tether/problem"]["handlerCode"], "NOT_TODAY");
        assert_eq!(answer.result()["_meta"]["tether/problem"]["status"], 422);
    }
}

#[tokio::test]
async fn f30_whoever_goes_away_ends_its_read() {
    let server = Server::start().await;
    for (number, revision) in BOTH.into_iter().enumerate() {
        let client = Client::new(&server, revision).await;
        let stream = client.started(client.fresh_id(), "wait", "{}").await;
        comes_to(|| server.handlers.waiting.load(Ordering::SeqCst), number + 1).await;
        drop(stream);
        comes_to(|| server.handlers.cancelled.load(Ordering::SeqCst), number + 1).await;
    }
}

#[tokio::test]
async fn a_read_that_is_called_off_ends_and_its_stream_with_it() {
    let server = Server::start().await;
    let client = Client::new(&server, BOTH[0]).await;
    let mut stream = client.started(77, "wait", "{}").await;
    comes_to(|| server.handlers.waiting.load(Ordering::SeqCst), 1).await;
    let off = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}"#;
    assert_eq!(client.post(off, &[]).await.status, 202);
    comes_to(|| server.handlers.cancelled.load(Ordering::SeqCst), 1).await;
    let ended = tokio::time::timeout(Duration::from_secs(10), rest(&mut stream)).await.expect("it ends");
    assert!(!ended.contains("\"result\""), "nobody is told: {ended}");
}

#[tokio::test]
async fn without_sessions_a_stream_is_closed_to_call_a_read_off() {
    let server = Server::start().await;
    let client = Client::new(&server, STATELESS).await;
    let stream = client.started(77, "wait", "{}").await;
    comes_to(|| server.handlers.waiting.load(Ordering::SeqCst), 1).await;
    // Ids are used again there: it could be anybody's.
    let off = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}"#;
    assert_eq!(client.post(off, &["Mcp-Method: notifications/cancelled"]).await.status, 202);
    assert_eq!(client.call("echo", "{}").await.said(), "{}");
    assert_eq!(server.handlers.cancelled.load(Ordering::SeqCst), 0);
    drop(stream);
    comes_to(|| server.handlers.cancelled.load(Ordering::SeqCst), 1).await;
}

#[tokio::test]
async fn a_write_is_proposed_and_a_person_decides() {
    let server = Server::start().await;
    for revision in BOTH {
        let client = Client::new(&server, revision).await;
        let proposed = client.call("write", r#"{"n":9007199254740993}"#).await;
        assert_eq!(proposed.result()["isError"], false);
        let action = &proposed.result()["structuredContent"];
        assert_eq!((&action["status"], &action["proposedBy"]), (&json!("Pending"), &json!("bot")));
        assert!(proposed.text.contains(r#""args":{"n":9007199254740993}"#), "{}", proposed.text);
        let id = action["actionId"].as_str().unwrap().to_owned();
        let page = format!("http://127.0.0.1:0/inbox/actions/{id}");
        assert_eq!(proposed.result()["_meta"]["tether/inboxUrl"], page);
        let said = proposed.said();
        assert!(
            said.starts_with("Nothing is done yet. A person has been asked to decide about write, action ")
        );
        assert!(said.contains("It would: \"Write it\"\nDo not call write again for this;"), "{said}");
        assert!(
            said.contains(&page) && said.contains(&format!(r#"tether_actions {{"actionId":"{id}"}}"#)),
            "{said}"
        );

        let one = format!(r#"{{"actionId":"{id}"}}"#);
        assert!(client.call("tether_actions", &one).await.said().starts_with("Nothing is done yet."));
        let ann = server.token("acme", "ann", &[Role::Approver]).await;
        let confirm = format!("/v1/actions/{id}/confirm");
        assert_eq!(server.send_as(&ann, "POST", &confirm, &[], "").await.at("/status"), "Succeeded");
        let done = client.call("tether_actions", &one).await;
        assert_eq!(
            done.said(),
            format!(r#"Done. Action {id} of write ran once, and gave: {{"n":9007199254740993}}"#)
        );
        let told = &done.result()["structuredContent"]["actions"][0];
        assert_eq!((&told["status"], &told["decidedBy"]), (&json!("Succeeded"), &json!("ann")));
        assert!(done.text.contains(r#""result":{"n":9007199254740993}"#), "{}", done.text);
    }
}

#[tokio::test]
async fn the_object_of_a_proposal_is_that_of_http() {
    let server = Server::start().await;
    let client = Client::new(&server, STATELESS).await;
    let proposed = client.call_with("write", r#"{"n":1.0}"#, "a key").await;
    let token = &client.token;
    let same = server
        .send_as(token, "POST", "/v1/tools/write/calls", &["Idempotency-Key: a key"], r#"{"args":{"n":1.0}}"#)
        .await;
    assert_eq!(same.status, 202);
    assert!(proposed.text.contains(&format!(r#""structuredContent":{}"#, same.text)), "{}", proposed.text);
}

/// Arguments of so many bytes.
fn arguments_of(bytes: usize) -> String {
    let text = "x".repeat(bytes - r#"{"text":""}"#.len());
    format!(r#"{{"text":"{text}"}}"#)
}

#[tokio::test]
async fn long_arguments_are_not_sent_back() {
    let server = Server::start().await;
    for revision in BOTH {
        let client = Client::new(&server, revision).await;
        for (bytes, are_told) in [(64 << 10, true), ((64 << 10) + 1, false), (1 << 20, false)] {
            let arguments = arguments_of(bytes);
            let proposed = client.call("write", &arguments).await;
            let action = &proposed.result()["structuredContent"];
            assert_eq!(
                (action["args"].is_object(), &action["argsErased"]),
                (are_told, &json!(false)),
                "{bytes}"
            );
            assert!(proposed.text.len() < 128 << 10, "{}", proposed.text.len());
            let id = action["actionId"].as_str().unwrap();
            let one = client.call("tether_actions", &format!(r#"{{"actionId":"{id}"}}"#)).await;
            assert_eq!(one.result()["structuredContent"]["actions"][0]["args"].is_object(), are_told);
            let http = server.send_as(&client.token, "GET", &format!("/v1/actions/{id}"), &[], "").await;
            assert!(http.text.contains(&arguments), "the API has them");
        }
    }
}

#[tokio::test]
async fn a_page_of_actions_ends_where_it_would_be_too_long_and_the_next_goes_on_there() {
    let server = Server::start().await;
    let client = Client::new(&server, STATELESS).await;
    let mut ids = Vec::new();
    for _ in 0..20 {
        let proposed = client.call("write", &arguments_of(64 << 10)).await;
        ids.push(proposed.result()["structuredContent"]["actionId"].clone());
    }
    ids.reverse();
    for limit in [20, 7] {
        let (mut told, mut pages, mut cursor) = (Vec::new(), Vec::new(), json!(null));
        loop {
            let mut wanted = json!({"limit": limit});
            if !cursor.is_null() {
                wanted["cursor"] = cursor;
            }
            let list = client.call("tether_actions", &wanted.to_string()).await;
            assert!(list.text.len() < 1_200_000, "{}", list.text.len());
            let page = &list.result()["structuredContent"];
            let actions = page["actions"].as_array().unwrap();
            pages.push(actions.len());
            told.extend(actions.iter().map(|action| action["actionId"].clone()));
            cursor = page["nextCursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(told, ids, "each once, in order");
        assert_eq!(pages, if limit == 20 { vec![15, 5] } else { vec![7, 7, 6] });
    }
}

#[tokio::test]
async fn a_key_makes_a_proposal_repeatable() {
    let server = Server::start().await;
    let id = |answer: &super::client::Got| answer.result()["structuredContent"]["actionId"].clone();
    for revision in BOTH {
        let client = Client::new(&server, revision).await;
        let first = id(&client.call_with("write", "{}", revision).await);
        assert_eq!(id(&client.call_with("write", "{}", revision).await), first);
        let header = format!("Idempotency-Key: {revision}");
        let params = r#"{"name":"write","arguments":{}}"#;
        assert_eq!(id(&client.ask_as(client.fresh_id(), "tools/call", params, &[&header]).await), first);
        client.call_with("write", r#"{"n":2}"#, revision).await.has_failed("IDEMPOTENCY_KEY_REUSED");
        assert_ne!(id(&client.call("write", "{}").await), first, "without a key it is another one");
    }
}

#[tokio::test]
async fn an_id_is_used_once_in_a_session_and_so_is_a_key_there() {
    let server = Server::start().await;
    let client = Client::new(&server, BOTH[0]).await;
    let params = r#"{"name":"write","arguments":{"n":1}}"#;
    let id = |answer: &super::client::Got| answer.result()["structuredContent"]["actionId"].clone();
    let first = id(&client.ask_as(50, "tools/call", params, &[]).await);
    assert_eq!(id(&client.ask_as(50, "tools/call", params, &[]).await), first);
    let other = r#"{"name":"write","arguments":{"n":2}}"#;
    client.ask_as(50, "tools/call", other, &[]).await.has_failed("IDEMPOTENCY_KEY_REUSED");
    let another = Client::with(&server, client.token.clone(), BOTH[0]).await;
    assert_ne!(id(&another.ask_as(50, "tools/call", params, &[]).await), first, "another session");
    let stateless = Client::with(&server, client.token.clone(), STATELESS).await;
    let [one, two] = [
        stateless.ask_as(50, "tools/call", params, &[]).await,
        stateless.ask_as(50, "tools/call", params, &[]).await,
    ];
    assert_ne!(id(&one), id(&two), "there an id is none");
}

#[tokio::test]
async fn two_requests_with_one_id_at_once_get_their_own_answers() {
    let server = Server::start().await;
    let client = Client::new(&server, BOTH[0]).await;
    let asked =
        (0..8).map(|_| client.ask_as(60, "tools/call", r#"{"name":"echo","arguments":{"n":1}}"#, &[]));
    let answers = tokio::time::timeout(Duration::from_secs(10), futures_all(asked));
    let answers = answers.await.expect("each is answered in its own stream");
    for answer in answers {
        assert_eq!(answer.said(), r#"{"n":1}"#, "{answer:?}");
    }
}

#[tokio::test]
async fn a_key_of_another_type_and_two_keys_are_errors_of_the_protocol() {
    let server = Server::start().await;
    for revision in BOTH {
        let client = Client::new(&server, revision).await;
        let call = |meta: &str| format!(r#"{{"name":"write","arguments":{{}},"_meta":{meta}}}"#);
        let wrong = call(r#"{"tether/idempotencyKey":5}"#);
        client.ask("tools/call", &wrong).await.is_error(200, -32602, "must be a text");
        let empty = call(r#"{"tether/idempotencyKey":""}"#);
        client.ask("tools/call", &empty).await.is_error(200, -32602, "an idempotency key is");
        let one = call(r#"{"tether/idempotencyKey":"a"}"#);
        let two = client.ask_as(client.fresh_id(), "tools/call", &one, &["Idempotency-Key: b"]).await;
        two.is_error(200, -32602, "two different keys");
    }
    let token = server.token("acme", "ann", &[Role::Approver]).await;
    let list = server.send_as(&token, "GET", "/v1/actions", &[], "").await;
    assert_eq!(list.at("/actions"), &json!([]), "nothing was proposed");
}

#[tokio::test]
async fn one_sees_ones_own_actions_and_no_others() {
    let server = Server::start().await;
    // Everything that a token can be allowed: over MCP it is an agent's all the same.
    let all = server.token("acme", "boss", &Role::ALL).await;
    let id = server.propose().await;
    let colleague = server.token("acme", "colleague", &[Role::Agent]).await;
    let theirs = server.send_as(&colleague, "POST", "/v1/tools/write/calls", &[], "{}").await;
    let theirs = theirs.at("/actionId").as_str().unwrap();
    assert_eq!(server.send_as(&all, "GET", &format!("/v1/actions/{theirs}"), &[], "").await.status, 200);
    for revision in BOTH {
        let client = Client::with(&server, all.clone(), revision).await;
        client
            .call("tether_actions", &format!(r#"{{"actionId":"{theirs}"}}"#))
            .await
            .has_failed("ACTION_NOT_FOUND");
        let list = client.call("tether_actions", "{}").await;
        assert_eq!(list.result()["structuredContent"], json!({"actions": [], "nextCursor": null}));
        client
            .call("tether_actions", &format!(r#"{{"actionId":"{id}"}}"#))
            .await
            .has_failed("ACTION_NOT_FOUND");
        let none = format!(r#"{{"actionId":"{}"}}"#, "0".repeat(32));
        client.call("tether_actions", &none).await.has_failed("ACTION_NOT_FOUND");
        client.call("tether_actions", r#"{"limit":0}"#).await.has_failed("INVALID_ARGUMENTS");
        client.call("tether_actions", r#"{"cursor":"x"}"#).await.has_failed("INVALID_ARGUMENTS");
    }
    let own = Client::with(&server, TOKEN.to_owned(), STATELESS).await;
    let list = own.call("tether_actions", r#"{"limit":2e0,"status":"Pending"}"#).await;
    assert_eq!(list.said(), format!("{id} write: Pending"));
}

#[tokio::test]
async fn a_proposal_whose_client_goes_away_is_kept() {
    let server = Server::start().await;
    for revision in BOTH {
        let client = Client::new(&server, revision).await;
        let mut stream = client.started(90, "write", r#"{"n":90}"#).await;
        // The head is there, so that the request was read.
        until(&mut stream, "HTTP/1.0 200").await;
        drop(stream);
        let ann = server.token("acme", "ann", &[Role::Approver]).await;
        let count = async || {
            let list = server.send_as(&ann, "GET", "/v1/actions", &[], "").await;
            list.at("/actions").as_array().unwrap().len()
        };
        let kept = async { while count().await == 0 {} };
        tokio::time::timeout(Duration::from_secs(10), kept).await.expect("it is kept");
    }
}

async fn futures_all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        let mut all = true;
        for (future, output) in &mut waiting {
            if output.is_none() {
                match future.as_mut().poll(context) {
                    std::task::Poll::Ready(done) => *output = Some(done),
                    std::task::Poll::Pending => all = false,
                }
            }
        }
        if all { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    waiting.into_iter().filter_map(|(_, output)| output).collect()
}
