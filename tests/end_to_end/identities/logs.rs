//! F27: no log holds what somebody comes in with, or tries to.

use serde_json::json;

use super::provider::{Provider, Signer};
use crate::support::Request;

/// In no other text of these tests.
const CANARY: &str = "canary-1d7e0c";

#[test]
fn f27_no_log_holds_tokens_claims_cookies_or_forms() {
    let signer = Signer::new(CANARY);
    let provider = Provider::start(&signer);
    let mut server = provider.setup().env("TETHER_LOG", "trace").start();
    let api = server.api.clone();
    let ask = |token: Option<&str>, headers: &[(&str, &str)], method: &str, path: &str, body: &str| {
        api.ask(&Request { method, path, token, headers, body: body.as_bytes() }).expect("it answers")
    };
    let made = api.post("/v1/tokens", &json!({ "user": CANARY, "roles": ["approver"] }).to_string());
    let stored = made.check("201").str("token").to_owned();
    ask(Some(&stored), &[], "GET", "/v1/actions", "").check("200");

    let mut claims = provider.claims("bots");
    claims["sub"] = json!(CANARY);
    let jwt = signer.token(&claims);
    ask(Some(&jwt), &[], "GET", "/v1/tools", "").check("200");
    claims["exp"] = json!(1);
    let expired = signer.token(&claims);
    ask(Some(&expired), &[], "GET", "/v1/tools", "").check("401 UNAUTHENTICATED");
    ask(Some(CANARY), &[], "GET", "/v1/tools", "").check("401 UNAUTHENTICATED");
    ask(Some(&format!("{CANARY}.{CANARY}.{CANARY}")), &[], "GET", "/v1/tools", "")
        .check("401 UNAUTHENTICATED");
    for headers in [
        [("Cookie", "tether=canary-1d7e0c")],
        [("Authorization", "Basic canary-1d7e0c")],
        [("X-Forwarded-For", CANARY)],
    ] {
        ask(None, &headers, "GET", "/v1/tools", "");
        ask(None, &headers, "GET", "/inbox", "");
    }
    let form = [("Content-Type", "application/x-www-form-urlencoded"), ("Sec-Fetch-Site", "same-origin")];
    let sign_in = |token: &str| ask(None, &form, "POST", "/inbox/sign-in", &format!("token={token}"));
    assert_eq!(sign_in(CANARY).status, 401);
    assert_eq!(sign_in(&jwt).status, 403);
    let signed_in = sign_in(&stored);
    let cookie = signed_in.header("set-cookie").expect("somebody is signed in").split(';').next().unwrap();
    assert_eq!(ask(None, &[("Cookie", cookie)], "GET", "/inbox", "").status, 200);
    let (_, session) = cookie.split_once('=').expect("a cookie has a value");
    let session = session.to_owned();
    server.kill();

    let log = server.log().whole();
    assert!(log.contains("TRACE") || log.contains("DEBUG"), "it is a log of everything:\n{log}");
    for secret in [CANARY, &stored, &jwt, &expired, &session, &api.token] {
        assert!(!log.contains(secret), "{secret} is in the log:\n{log}");
        // Nor a part of it.
        for part in secret.split('.').filter(|part| part.len() > 20) {
            assert!(!log.contains(part), "{part} is in the log:\n{log}");
        }
    }
}
