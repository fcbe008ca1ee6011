//! Requests that are not as they should be.

use super::server::{Server, TOKEN, send};

#[tokio::test]
async fn without_a_valid_token_nothing_is_told() {
    let server = Server::start().await;
    let tokens: [&[&str]; 5] = [
        &[],
        &["Authorization: Bearer wrong"],
        &["Authorization: Bearer"],
        &["Authorization: Basic dGhlLXRva2Vu"],
        &["X-Token: the-token"],
    ];
    for headers in tokens {
        for path in ["/v1/tools", "/v1/actions", "/v1/actions/nonsense"] {
            let answer = send(server.address, "GET", path, headers, b"").await;
            answer.is(401, "UNAUTHENTICATED");
            assert!(answer.head.contains("www-authenticate: bearer"), "{}", answer.head);
        }
    }
}

#[tokio::test]
async fn unknown_things_are_not_found() {
    let server = Server::start().await;
    server.get("/v2/tools").await.is(404, "NOT_FOUND");
    server.get("/").await.is(404, "NOT_FOUND");
    server.post("/v1/tools/nothing/calls", "").await.is(404, "TOOL_NOT_FOUND");
    server.post("/v1/tools/a%20b/calls", "").await.is(404, "TOOL_NOT_FOUND");
    server.post("/v1/tools/%ff/calls", "").await.is(404, "TOOL_NOT_FOUND");
    for id in ["42", "9C1E7B6A0F5D4C3B8A7E6D5C4B3A2918", "9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918", "%ff"] {
        server.get(&format!("/v1/actions/{id}")).await.is(404, "ACTION_NOT_FOUND");
        server.get(&format!("/v1/actions/{id}/history")).await.is(404, "ACTION_NOT_FOUND");
        server.post(&format!("/v1/actions/{id}/confirm"), "").await.is(404, "ACTION_NOT_FOUND");
        server.post(&format!("/v1/actions/{id}/decline"), "").await.is(404, "ACTION_NOT_FOUND");
    }
}

#[tokio::test]
async fn a_wrong_method_is_told_the_right_one() {
    let server = Server::start().await;
    for (method, path, allowed) in [
        ("DELETE", "/v1/actions", "allow: get"),
        ("GET", "/v1/tools/echo/calls", "allow: post"),
        ("PUT", "/healthz", "allow: get"),
    ] {
        let answer = server.send(method, path, &[], "").await;
        answer.is(405, "METHOD_NOT_ALLOWED");
        assert!(answer.head.contains(allowed), "{}", answer.head);
    }
}

#[tokio::test]
async fn a_malformed_body_is_told_where() {
    let server = Server::start().await;
    let call = "/v1/tools/echo/calls";
    for (body, part) in [
        ("{\"args\":", "line 1 column"),
        ("{\"args\":{}} x", "line 1 column"),
        ("[]", "must be a JSON object"),
        ("\"text\"", "must be a JSON object"),
        (r#"{"arguments":{}}"#, "unknown field `arguments`"),
        (r#"{"args":{"a":[{"b":1,"b":1}]}}"#, "\"b\" occurs twice"),
        (r#"{"args":{"n":1e400}}"#, "1e400"),
        (r#"{"args":"\ud800"}"#, "line 1 column"),
    ] {
        let answer = server.post(call, body).await;
        answer.is(400, "INVALID_ARGUMENTS");
        assert!(answer.at("/detail").as_str().unwrap().contains(part), "{body}: {}", answer.text);
    }
    let token = format!("Authorization: Bearer {TOKEN}");
    let no_text = b"{\"args\":{\"a\":\"\xff\"}}";
    send(server.address, "POST", call, &[&token], no_text).await.is(400, "INVALID_ARGUMENTS");
}

#[tokio::test]
async fn arguments_are_an_object_that_fits_the_schema() {
    let server = Server::start().await;
    let call = "/v1/tools/echo/calls";
    for body in ["", "{}", r#"{"args":{}}"#, r#" {"args":{"n":1}} "#] {
        assert_eq!(server.post(call, body).await.status, 200, "{body}");
    }
    for body in [r#"{"args":null}"#, r#"{"args":[]}"#, r#"{"args":1}"#, r#"{"args":"{}"}"#] {
        server.post(call, body).await.is(422, "INVALID_ARGUMENTS");
    }
    let answer = server.post(call, r#"{"args":{"n":"one"}}"#).await;
    answer.is(422, "INVALID_ARGUMENTS");
    assert_eq!(answer.at("/errors/0/pointer"), "/n");
}

#[tokio::test]
async fn the_content_type_does_not_matter() {
    let server = Server::start().await;
    for kind in ["text/plain", "application/x-www-form-urlencoded", "nonsense"] {
        let header = format!("Content-Type: {kind}");
        let answer = server.send("POST", "/v1/tools/echo/calls", &[&header], r#"{"args":{"n":1}}"#).await;
        assert_eq!(answer.status, 200, "{kind}");
    }
}

#[tokio::test]
async fn a_mebibyte_of_arguments_is_taken_and_not_a_byte_more() {
    let server = Server::start().await;
    let body = |length: usize, envelope: usize| {
        let (text, blanks) = ("x".repeat(length - 8), " ".repeat(envelope - 9));
        format!(r#"{{"args":{blanks}{{"a":"{text}"}}}}"#)
    };
    for tool in ["echo", "write"] {
        let call = format!("/v1/tools/{tool}/calls");
        for envelope in [9, 64 << 10] {
            let answer = server.post(&call, &body(1 << 20, envelope)).await;
            assert!(answer.status < 300, "{tool}, {envelope}: {}", answer.status);
            let answer = server.post(&call, &body((1 << 20) + 1, envelope.min(60 << 10))).await;
            answer.is(422, "INVALID_ARGUMENTS");
            let detail = answer.at("/detail").to_string();
            assert!(detail.contains("1048577 bytes long, and 1048576"), "{detail}");
        }
    }
}

#[tokio::test]
async fn a_body_that_is_too_long_gets_an_answer() {
    let server = Server::start().await;
    let body = |length: usize| format!(r#"{{"args":{{"a":"{}"}}}}"#, "x".repeat(length - 17));
    let call = "/v1/tools/echo/calls";
    let most = (1 << 20) + (64 << 10);
    server.post(call, &body(most)).await.is(422, "INVALID_ARGUMENTS");
    for length in [most + 1, 2 << 20, 8 << 20] {
        server.post(call, &body(length)).await.is(413, "BODY_TOO_LARGE");
    }
    // This client would wait for a word before it sends 2 MiB.
    let head = format!("Authorization: Bearer {TOKEN}");
    let headers = [&*head, "Expect: 100-continue"];
    let answer = send(server.address, "POST", call, &headers, body(2 << 20).as_bytes()).await;
    answer.is(413, "BODY_TOO_LARGE");
}

#[tokio::test]
async fn keys_are_read_from_header_and_body() {
    let server = Server::start().await;
    let propose = "/v1/tools/write/calls";
    let key = &["Idempotency-Key: order-7"];
    let first = server.send("POST", propose, key, r#"{"args":{"n":7}}"#).await;
    let again = server.send("POST", propose, key, r#"{"args":{"n":7}}"#).await;
    assert_eq!(first.at("/actionId"), again.at("/actionId"));
    server.send("POST", propose, key, r#"{"args":{"n":8}}"#).await.is(422, "IDEMPOTENCY_KEY_REUSED");

    let two = &["Idempotency-Key: a", "Idempotency-Key: b"];
    server.send("POST", propose, two, "").await.is(400, "INVALID_ARGUMENTS");
    let long = format!("Idempotency-Key: {}", "k".repeat(256));
    server.send("POST", propose, &[&long], "").await.is(400, "INVALID_ARGUMENTS");

    let confirm = format!("/v1/actions/{}/confirm", server.propose().await);
    let differ = server.send("POST", &confirm, &["Idempotency-Key: a"], r#"{"idempotencyKey":"b"}"#).await;
    differ.is(400, "INVALID_ARGUMENTS");
    server.post(&confirm, r#"{"idempotencyKey":""}"#).await.is(400, "INVALID_ARGUMENTS");
    server.post(&confirm, r#"{"attemptsUsed":"0"}"#).await.is(400, "INVALID_ARGUMENTS");
    server.post(&confirm, r#"{"attemptUsed":0}"#).await.is(400, "INVALID_ARGUMENTS");
    let same = server.send("POST", &confirm, &["Idempotency-Key: a"], r#"{"idempotencyKey":"a"}"#).await;
    assert_eq!(same.at("/status"), "Succeeded");
}

#[tokio::test]
async fn a_list_is_asked_for_in_known_words() {
    let server = Server::start().await;
    for query in
        ["status=pending", "limit=0", "limit=201", "limit=x", "page=2", "limit=1&limit=2", "cursor=nonsense"]
    {
        server.get(&format!("/v1/actions?{query}")).await.is(400, "INVALID_ARGUMENTS");
    }
}
