//! Where a client gets a token: metadata, challenges, and what tokens must be for.

use serde_json::{Value, json};

use crate::identities::provider::{Provider, Signer};
use crate::mcp::BOTH;
use crate::mcp::client::Client;
use crate::support::{Answer, Api, Request, Server, Setup};

const PATHS: [&str; 2] =
    ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"];

/// A gateway that takes this provider's tokens, with roles by scope, for `audience`.
fn taking(provider: &Provider, audience: &str, more: &str) -> Setup {
    let issuer = provider.issuer();
    let text = format!(
        "[[identities.providers]]\nissuer = \"{issuer}\"\naudience = {audience}\ntenant = \"acme\"\n\
         roles = {{ claim = \"scope\", agent = [\"tether.agent\"], approver = [\"tether.approver\"] }}\n{more}"
    );
    Setup::of(&["probe"]).config("tether.toml", &text)
}

/// A request of `token`, which asks for the list of tools without a session.
fn list(server: &Server, token: &str) -> Answer {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{meta}}}}}"#);
    let headers = [
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/list"),
    ];
    let token = (!token.is_empty()).then_some(token);
    let request = Request { method: "POST", path: "/mcp", token, headers: &headers, body: body.as_bytes() };
    server.api.ask(&request).expect("it answers")
}

fn bare(server: &Server, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let request = Request { method, path, token: None, headers, body: b"" };
    server.api.ask(&request).expect("it answers")
}

#[test]
fn a_client_finds_out_where_to_get_a_token_and_that_token_lets_it_in() {
    let signer = Signer::new("k");
    let provider = Provider::start(&signer);
    let server = taking(&provider, "[\"tether\", \"https://tether.example.com/mcp\"]", "").start();
    let origin = format!("http://{}", server.api.address);
    let claims = |scope: &str, audience: Value| json!({ "iss": provider.issuer(), "aud": audience, "sub": "ann", "scope": scope, "exp": 4_102_444_800_u64 });

    let challenge = format!(
        "Bearer realm=\"tether\", resource_metadata=\"{origin}{}\", scope=\"tether.agent\"",
        PATHS[1]
    );
    // Whatever is wrong, it is told the same.
    let other_audience = signer.token(&claims("tether.agent", json!(["https://other.example.com/mcp"])));
    let mut told = Vec::new();
    for token in ["", "tether_guess", &other_audience] {
        let answer = list(&server, token);
        assert_eq!(answer.check("401 UNAUTHENTICATED").header("www-authenticate"), Some(&*challenge));
        told.push(answer.text);
    }
    assert!(told.windows(2).all(|pair| pair[0] == pair[1]), "{told:?}");

    for path in PATHS {
        let metadata = bare(&server, "GET", path, &[]);
        assert_eq!(metadata.header("content-type"), Some("application/json"));
        let expected = json!({
            "resource": format!("{origin}/mcp"),
            "authorization_servers": [provider.issuer()],
            "scopes_supported": ["tether.agent"],
            "bearer_methods_supported": ["header"],
            "resource_name": "Tether",
        });
        assert_eq!((metadata.status, &metadata.body), (200, &expected));
    }

    let lacking = list(&server, &signer.token(&claims("tether.approver", json!("tether"))));
    let insufficient =
        challenge.replace("resource_metadata", "error=\"insufficient_scope\", resource_metadata");
    assert_eq!(lacking.check("403 FORBIDDEN").header("www-authenticate"), Some(&*insufficient));

    for audience in [json!("https://tether.example.com/mcp"), json!(["x", "tether"])] {
        let token = signer.token(&claims("openid tether.agent tether.approver", audience));
        assert_eq!(list(&server, &token).status, 200);
        for revision in BOTH {
            let client = Client::with(&server, &token, revision);
            let id = client.call("probe_write", r#"{"note":"x"}"#).action();
            // Over HTTP the same token may decide, though not about its own.
            let api = Api { token: token.clone(), ..server.api.clone() };
            api.confirm(&id, "{}").check("403 FORBIDDEN");
        }
    }
}

#[test]
fn the_resource_is_what_the_host_is_called_and_an_audience_that_lacks_it_is_told_at_the_start() {
    let signer = Signer::new("k");
    let provider = Provider::start(&signer);
    let url = "[inbox]\nurl = \"https://tether.example.com\"\n";
    let server = taking(&provider, "\"tether\"", url).start();
    server.log().wait_for("add it to its `audience`");
    assert!(server.log().text().contains("https://tether.example.com/mcp"), "{}", server.log().text());
    let metadata = bare(&server, "GET", PATHS[1], &[]);
    assert_eq!(metadata.str("resource"), "https://tether.example.com/mcp");
    let challenge = list(&server, "").header("www-authenticate").unwrap_or_default().to_owned();
    assert!(challenge.contains("\"https://tether.example.com/.well-known/"), "{challenge}");

    let mut server = taking(&provider, "\"https://tether.example.com/mcp\"", url).start();
    bare(&server, "GET", PATHS[1], &[]).check("200");
    server.kill();
    assert!(!server.log().whole().contains("add it to its `audience`"));
}

#[test]
fn without_a_provider_nothing_leads_a_client_to_one() {
    let server = Setup::of(&["probe"]).start();
    for path in PATHS {
        bare(&server, "GET", path, &[]).check("404 NOT_FOUND");
    }
    let refused = list(&server, "");
    assert_eq!(
        refused.check("401 UNAUTHENTICATED").header("www-authenticate"),
        Some("Bearer realm=\"tether\"")
    );
}

#[test]
fn a_page_of_somebody_elses_and_another_name_learn_nothing() {
    let provider = Provider::start(&Signer::new("k"));
    let more = "[mcp]\norigins = [\"https://agents.example.com\"]\n";
    let server = taking(&provider, "\"tether\"", more).start();
    let page = ("Origin", "https://agents.example.com");
    let allowed = |answer: &Answer| answer.header("access-control-allow-origin").map(str::to_owned);
    for path in PATHS {
        let told = bare(&server, "GET", path, &[page]);
        assert_eq!((told.status, allowed(&told).as_deref()), (200, Some(page.1)));
        let asked = bare(&server, "OPTIONS", path, &[page]);
        assert_eq!((asked.status, allowed(&asked).as_deref()), (204, Some(page.1)));
        assert_eq!(asked.header("access-control-allow-headers"), Some("mcp-protocol-version"));
        for method in ["GET", "OPTIONS"] {
            let evil = bare(&server, method, path, &[("Origin", "https://evil.test")]);
            assert_eq!((evil.status, allowed(&evil)), (403, None));
        }
    }
    // There are two names then.
    assert_eq!(bare(&server, "GET", PATHS[0], &[("Host", "rebound.test")]).status, 421);
}
