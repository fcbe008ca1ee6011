//! Who comes in: by name, origin, token and role, in this order.

use tether_core::identity::Role;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::super::people::{People, Who};
use super::super::server::Server;
use super::client::{Client, STATELESS, rest};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

async fn client(server: &Server) -> Client {
    Client::new(server, "2025-11-25").await
}

#[tokio::test]
async fn a_request_for_another_name_and_a_page_of_somebody_elses_get_no_further() {
    let server = Server::start().await;
    let client = client(&server).await;
    let own = format!("Origin: http://{}", server.address);
    assert_eq!(client.post(PING, &[&own]).await.status, 200);
    // Whoever is turned away here was not asked for a token.
    for token in ["Authorization: -", "X: y"] {
        client.post(PING, &["Host: rebound.test", token]).await.is_error(421, -32600, "by this name");
        for origin in ["http://rebound.test", "https://127.0.0.1", "null", ""] {
            let origin = format!("Origin: {origin}");
            client.post(PING, &[&origin, token]).await.is_error(403, -32600, "pages of this origin");
            client.bare("GET", &[&origin, token]).await.is_error(403, -32600, "pages of this origin");
        }
        client.post(PING, &[&own, "origin: http://b.test", token]).await.is_error(403, -32600, "pages");
    }
}

#[tokio::test]
async fn everybody_but_an_agent_is_turned_away() {
    let people = People::new().await;
    for who in Who::ALL {
        let header = match people.token(who) {
            Some(token) => format!("Authorization: Bearer {token}"),
            None => "Authorization: -".to_owned(),
        };
        let client =
            Client::with(&people.server, people.token(Who::Agent).unwrap().to_owned(), STATELESS).await;
        for answer in [
            client.ask_as(1, "tools/list", "{}", &[&header]).await,
            client.bare("GET", &[&header]).await,
            client.bare("DELETE", &[&header]).await,
        ] {
            let problem = answer.messages.first().map(|problem| problem["code"].clone()).unwrap_or_default();
            match who.roles_if_known() {
                None => assert_eq!((answer.status, problem), (401, "UNAUTHENTICATED".into()), "{who:?}"),
                Some(roles) if roles.contains(&Role::Agent) => assert!([200, 405].contains(&answer.status)),
                Some(_) => assert_eq!((answer.status, problem), (403, "FORBIDDEN".into()), "{who:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_host_that_starts_says_so() {
    let address = Server::starting().await;
    let server = Server::start().await;
    let mut client = Client::with(&server, super::super::server::TOKEN.to_owned(), STATELESS).await;
    client.address = address;
    let answer = client.ask("tools/list", "{}").await;
    assert_eq!((answer.status, &answer.last()["code"]), (503, &"OVERLOADED".into()), "{}", answer.text);
}

#[tokio::test]
async fn whatever_else_is_asked_of_it_is_answered_with_what_may_be() {
    let server = Server::start().await;
    for revision in ["2025-11-25", STATELESS] {
        let client = Client::new(&server, revision).await;
        for method in ["HEAD", "PUT", "PATCH", "TRACE"] {
            let answer = client.bare(method, &[]).await;
            let allowed = answer.header("allow").map(|allowed| allowed.to_ascii_uppercase());
            assert_eq!(
                (answer.status, allowed.as_deref()),
                (405, Some("DELETE, GET, OPTIONS, POST")),
                "{method}"
            );
        }
    }
}

#[tokio::test]
async fn the_target_of_a_request_says_for_whom_it_is() {
    let server = Server::start().await;
    let token = server.token("acme", "bot", &[Role::Agent]).await;
    let own = server.address.to_string();
    let head = async |target: &str, host: &str| {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let request = format!(
            "POST {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: 0\r\n\
             Authorization: Bearer {token}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        rest(&mut stream).await.lines().next().unwrap_or_default().to_owned()
    };
    for (target, host, expected) in [
        ("/mcp", own.as_str(), 415),
        ("/mcp", "evil.test", 421),
        ("http://evil.test/mcp", &own, 421),
        ("http://evil.test/mcp", "evil.test", 421),
        (&format!("http://{own}/mcp"), &own, 415),
        // The header says nothing where the target does.
        (&format!("http://{own}/mcp"), "evil.test", 415),
    ] {
        let told = head(target, host).await;
        assert!(told.contains(&expected.to_string()), "{target} {host}: {told}");
    }
}
