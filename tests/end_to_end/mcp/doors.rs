//! Who is let in, and what one tenant sees of another: nothing.

use crate::mcp::BOTH;
use crate::mcp::client::Client;
use crate::support::{Request, Server, Setup, tether};

pub(super) fn token(server: &Server, tenant: &str, user: &str, roles: &[&str]) -> String {
    let url = format!("http://{}", server.api.address);
    let data = server.setup.data().to_string_lossy();
    let arguments =
        ["token", "create", "--tenant", tenant, "--user", user, "--url", &url, "--data-dir", &data];
    let roles = roles.iter().flat_map(|role| ["--role", role]);
    let arguments: Vec<_> = arguments.into_iter().chain(roles).collect();
    let made = tether(server.setup.folder().path(), &arguments);
    made.check(0, &[]);
    made.stdout.trim().to_owned()
}

#[test]
fn another_tenant_sees_nothing_and_its_key_is_its_own() {
    let server = Setup::of(&["probe"]).start();
    let [acme, globex] = ["acme", "globex"].map(|tenant| token(&server, tenant, "bot", &["agent"]));
    for revision in BOTH {
        let [mine, theirs] = [&acme, &globex].map(|token| Client::with(&server, token, revision));
        let id = mine.call_with(revision, "probe_write", r#"{"note":"x"}"#).action();
        assert_ne!(theirs.call_with(revision, "probe_write", r#"{"note":"x"}"#).action(), id);
        let one = format!(r#"{{"actionId":"{id}"}}"#);
        assert_eq!(theirs.call("tether_actions", &one).code(), "ACTION_NOT_FOUND");
        let list = theirs.call("tether_actions", "{}");
        assert!(!list.text.contains(&id), "{}", list.text);
    }
    let mut thief = Client::with(&server, &globex, BOTH[0]);
    thief.session = Client::with(&server, &acme, BOTH[0]).session;
    assert_eq!(thief.ask("tools/list", "").error(), -32001);
}

#[test]
fn a_page_of_somebody_elses_and_another_name_get_no_further() {
    let config = "[mcp]\norigins = [\"https://agents.example.com\"]\n";
    let server = Setup::of(&["tickets"]).config("tether.toml", config).start();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let ask = |token: Option<&str>, origin: &str| {
        let headers = [("Content-Type", "application/json"), ("Origin", origin)];
        let request =
            Request { method: "POST", path: "/mcp", token, headers: &headers, body: body.as_bytes() };
        server.api.ask(&request).expect("it answers")
    };
    let own = format!("http://{}", server.api.address);
    for token in [None, Some(server.api.token.as_str())] {
        for origin in
            ["https://evil.test", "null", "http://agents.example.com", "https://agents.example.com.evil.test"]
        {
            assert_eq!(ask(token, origin).status, 403, "{origin}");
        }
        for origin in ["https://agents.example.com", own.as_str()] {
            assert_ne!(ask(token, origin).status, 403, "{origin}");
        }
    }
    assert_eq!(ask(None, &own).status, 401);
}

#[test]
fn a_token_without_the_role_of_an_agent_opens_nothing() {
    let server = Setup::of(&["tickets"]).start();
    for role in ["approver", "admin"] {
        let token = token(&server, "acme", "ann", &[role]);
        for method in ["POST", "GET", "DELETE"] {
            let request = Request { method, path: "/mcp", token: Some(&token), headers: &[], body: b"" };
            server.api.ask(&request).expect("it answers").check("403 FORBIDDEN");
        }
    }
}

#[test]
fn a_page_that_may_call_is_let_through_by_its_browser() {
    let config = "[mcp]\norigins = [\"https://agents.example.com\"]\n";
    let server = Setup::of(&["tickets"]).config("tether.toml", config).start();
    let ask = |method: &str, headers: &[(&str, &str)]| {
        let request = Request { method, path: "/mcp", token: None, headers, body: b"" };
        server.api.ask(&request).expect("it answers")
    };
    let page = ("Origin", "https://agents.example.com");
    let wanted = ("Access-Control-Request-Headers", "authorization, mcp-param-x, x-other");
    let asked = ask("OPTIONS", &[page, wanted]);
    assert_eq!(asked.status, 204);
    assert_eq!(asked.header("access-control-allow-origin"), Some(page.1));
    assert_eq!(asked.header("access-control-allow-headers"), Some("authorization, mcp-param-x"));
    assert_eq!(asked.header("access-control-allow-methods"), Some("DELETE, GET, POST"));
    // What is refused is readable as well.
    let refused = ask("POST", &[page]);
    assert_eq!(refused.check("401 UNAUTHENTICATED").header("access-control-allow-origin"), Some(page.1));
    assert!(
        refused
            .header("access-control-expose-headers")
            .is_some_and(|names| names.contains("WWW-Authenticate"))
    );
    for origin in ["https://evil.test", "null"] {
        let turned_away = ask("OPTIONS", &[("Origin", origin), wanted]);
        assert_eq!((turned_away.status, turned_away.header("access-control-allow-origin")), (403, None));
    }
    assert_eq!(ask("OPTIONS", &[]).header("access-control-allow-origin"), None);
}
