//! Tokens: made, listed and revoked.

use std::time::Duration;

use serde_json::{Value, json};
use tether_core::identity::Role::{Admin, Agent, Approver};

use super::server::Server;

const TOKENS: &str = "/v1/tokens";

#[tokio::test]
async fn a_token_is_told_once_and_lets_in_until_it_is_revoked() {
    let server = Server::start().await;
    let made = server.post(TOKENS, r#"{"user":"bot","roles":["agent"],"expiresAfter":"2h"}"#).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let token = made.at("/token").as_str().unwrap().to_owned();
    assert!(token.starts_with("tether_") && token.len() == 7 + 64, "{token}");
    let known = json!({
        "tokenId": made.at("/tokenId"), "tenant": "default", "user": "bot", "roles": ["agent"],
        "createdAt": "2026-01-31T12:00:00.000Z", "createdBy": "operator",
        "expiresAt": "2026-01-31T14:00:00.000Z", "revokedAt": null, "revokedBy": null,
    });
    assert_eq!(server.get(TOKENS).await.at("/tokens"), &json!([known]));
    assert_eq!(server.send_as(&token, "GET", "/v1/tools", &[], "").await.status, 200);

    let path = format!("{TOKENS}/{}", made.at("/tokenId").as_str().unwrap());
    let revoked = server.send("DELETE", &path, &[], "").await;
    assert_eq!((revoked.status, revoked.at("/revokedBy")), (200, &json!("operator")));
    server.send_as(&token, "GET", "/v1/tools", &[], "").await.is(401, "UNAUTHENTICATED");
    // Once more it is as it was.
    server.clock.advance(Duration::from_secs(5));
    assert_eq!(server.send("DELETE", &path, &[], "").await.json, revoked.json);
    assert_eq!(server.get(TOKENS).await.at("/tokens/0"), &revoked.json);
}

#[tokio::test]
async fn a_token_ends_when_its_time_is_over() {
    let server = Server::start().await;
    let made = server.post(TOKENS, r#"{"user":"bot","roles":["agent"],"expiresAfter":"1m"}"#).await;
    let token = made.at("/token").as_str().unwrap();
    server.clock.advance(Duration::from_millis(59_999));
    assert_eq!(server.send_as(token, "GET", "/v1/tools", &[], "").await.status, 200);
    server.clock.advance(Duration::from_millis(1));
    server.send_as(token, "GET", "/v1/tools", &[], "").await.is(401, "UNAUTHENTICATED");
}

#[tokio::test]
async fn tokens_are_listed_newest_first() {
    let server = Server::start().await;
    for user in ["a", "b", "c"] {
        server.clock.advance(Duration::from_secs(1));
        server.token("acme", user, &[Agent]).await;
    }
    let answer = server.get("/v1/tokens?tenant=acme").await;
    let users: Vec<_> = answer.at("/tokens").as_array().unwrap().iter().map(|token| &token["user"]).collect();
    assert_eq!(users, ["c", "b", "a"]);
}

#[tokio::test]
async fn an_admin_manages_the_tokens_of_its_tenant_and_the_operator_all() {
    let server = Server::start().await;
    let admin = server.token("acme", "root", &[Admin]).await;
    let theirs = server.token_id("globex", "ann").await;
    let ask = |method, path: String, body: &str| {
        let (server, admin, body) = (&server, &admin, body.to_owned());
        async move { server.send_as(admin, method, &path, &[], &body).await }
    };
    // Whether there is such a tenant or not.
    for tenant in ["globex", "nobody"] {
        let list = ask("GET", format!("{TOKENS}?tenant={tenant}"), "").await;
        list.is(403, "FORBIDDEN");
        let body = format!(r#"{{"user":"x","roles":["agent"],"tenant":"{tenant}"}}"#);
        let made = ask("POST", TOKENS.to_owned(), &body).await;
        made.is(403, "FORBIDDEN");
        assert_eq!(list.text, made.text);
    }
    ask("DELETE", format!("{TOKENS}/{theirs}"), "").await.is(404, "NOT_FOUND");
    let tenants = |list: &Value| -> Vec<String> {
        let tokens = list.as_array().unwrap().iter();
        tokens.map(|token| token["tenant"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(tenants(ask("GET", TOKENS.to_owned(), "").await.at("/tokens")), ["acme"]);
    let made = ask("POST", TOKENS.to_owned(), r#"{"user":"x","roles":["agent"],"tenant":"acme"}"#).await;
    assert_eq!((made.status, made.at("/createdBy")), (201, &json!("root")));

    assert_eq!(server.get(TOKENS).await.at("/tokens").as_array().unwrap().len(), 3);
    assert_eq!(tenants(server.get("/v1/tokens?tenant=globex").await.at("/tokens")), ["globex"]);
    assert_eq!(server.send("DELETE", &format!("{TOKENS}/{theirs}"), &[], "").await.status, 200);
}

#[tokio::test]
async fn what_cannot_be_a_token_is_refused() {
    let server = Server::start().await;
    for body in [
        "",
        r#"{"user":"a","roles":[]}"#,
        r#"{"user":"a","roles":["owner"]}"#,
        r#"{"user":"a","roles":["agent"],"expiresAfter":"10y"}"#,
        r#"{"user":"a","roles":["agent"],"token":"tether_mine"}"#,
        r#"{"user":"a","roles":["agent"],"createdBy":"boss"}"#,
    ] {
        server.post(TOKENS, body).await.is(400, "INVALID_ARGUMENTS");
    }
    let good = r#"{"user":"a","roles":["agent"]}"#;
    server.send("POST", TOKENS, &["Idempotency-Key: k"], good).await.is(400, "INVALID_ARGUMENTS");
    for query in ["?tenat=acme", "?tenant=", "?tenant=a&tenant=b"] {
        server.get(&format!("{TOKENS}{query}")).await.is(400, "INVALID_ARGUMENTS");
    }
    for id in ["nonsense", "00000000000000000000000000000000"] {
        server.send("DELETE", &format!("{TOKENS}/{id}"), &[], "").await.is(404, "NOT_FOUND");
    }
    assert_eq!(server.get(TOKENS).await.at("/tokens"), &json!([]));
}

#[tokio::test]
async fn the_operator_decides_on_its_own_proposals_while_it_is_alone() {
    let server = Server::start().await;
    let confirm = |id: String| format!("/v1/actions/{id}/confirm");
    let confirmed = server.post(&confirm(server.propose().await), "").await;
    assert_eq!(confirmed.at("/status"), "Succeeded");

    let approver = server.token("default", "ann", &[Approver]).await;
    let path = confirm(server.propose().await);
    server.post(&path, "").await.is(403, "FORBIDDEN");
    let confirmed = server.send_as(&approver, "POST", &path, &[], "").await;
    assert_eq!(confirmed.at("/status"), "Succeeded");
    // To revoke the last one gives nothing back.
    let list = server.get(TOKENS).await;
    let id = list.at("/tokens/0/tokenId").as_str().unwrap();
    server.send("DELETE", &format!("{TOKENS}/{id}"), &[], "").await;
    server.post(&confirm(server.propose().await), "").await.is(403, "FORBIDDEN");
}
