//! Who is let in, and where there is nothing.

use crate::support::{Answer, Request, Server, Setup};

fn ask(server: &Server, method: &str, path: &str, token: Option<&str>, headers: &[(&str, &str)]) -> Answer {
    server.api.ask(&Request { method, path, token, headers, body: b"" }).expect("it answers")
}

#[test]
fn health_and_the_document_need_no_token() {
    let server = Setup::of(&["tickets"]).start();
    for path in ["/healthz", "/readyz"] {
        ask(&server, "GET", path, None, &[]).check("200 ok");
    }
    let document = ask(&server, "GET", "/openapi.json", None, &[]);
    assert!(document.str("openapi").starts_with("3.1"), "{}", document.str("openapi"));
    let paths = document.body["paths"].as_object().unwrap();
    for path in [
        "/healthz",
        "/readyz",
        "/v1/tools",
        "/v1/tools/{name}/calls",
        "/v1/actions",
        "/v1/actions/{actionId}",
        "/v1/actions/{actionId}/history",
        "/v1/actions/{actionId}/confirm",
        "/v1/actions/{actionId}/decline",
    ] {
        assert!(paths.contains_key(path), "{path} is not documented");
    }
}

#[test]
fn everything_else_takes_the_token() {
    let server = Setup::of(&["tickets"]).start();
    let id = server.api.propose("void_ticket", r#"{"ticket_id":42}"#);
    let action = format!("/v1/actions/{id}");
    let [history, confirm, decline] = ["history", "confirm", "decline"].map(|end| format!("{action}/{end}"));
    let routes = [
        ("GET", "/v1/tools"),
        ("POST", "/v1/tools/get_ticket/calls"),
        ("GET", "/v1/actions"),
        ("GET", &action),
        ("GET", &history),
        ("POST", &confirm),
        ("POST", &decline),
    ];
    let upper = server.api.token.to_uppercase();
    for (method, path) in routes {
        for token in [None, Some(""), Some("wrong"), Some(&server.api.token[1..]), Some(upper.as_str())] {
            let answer = ask(&server, method, path, token, &[]);
            answer.check("401 UNAUTHENTICATED");
            assert!(
                answer.header("www-authenticate").is_some_and(|value| value.starts_with("Bearer")),
                "{path}"
            );
        }
        let basic = [("Authorization", "Basic dGV0aGVy")];
        ask(&server, method, path, None, &basic).check("401 UNAUTHENTICATED");
    }
    server.api.action(&id).check("200 Pending");
}

#[test]
fn the_token_survives_a_restart_and_is_its_owners_only() {
    use std::os::unix::fs::PermissionsExt;
    let mut server = Setup::of(&["tickets"]).start();
    let token = server.api.token.clone();
    let mode = server.file("token").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    server.restart();
    assert_eq!(server.api.token, token);
}

#[test]
fn what_is_not_there_is_404_and_a_wrong_method_405() {
    let server = Setup::of(&["tickets"]).start();
    let token = Some(server.api.token.as_str());
    for path in ["/", "/v1", "/v2/tools", "/v1/tools/get_ticket", "/v1/actions/x/y"] {
        assert_eq!(ask(&server, "GET", path, token, &[]).status, 404, "{path}");
    }
    for (method, path, allowed) in [
        ("DELETE", "/v1/tools", "GET"),
        ("PUT", "/v1/actions", "GET"),
        ("GET", "/v1/tools/get_ticket/calls", "POST"),
        ("GET", "/v1/actions/x/confirm", "POST"),
        ("POST", "/healthz", "GET"),
    ] {
        let answer = ask(&server, method, path, token, &[]);
        assert_eq!(answer.status, 405, "{method} {path}");
        assert!(answer.header("allow").is_some_and(|allow| allow.contains(allowed)), "{answer:?}");
        assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    }
}
