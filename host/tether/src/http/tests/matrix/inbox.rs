//! The inbox: everybody with a session, and those without one.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::http::Method;
use tether_core::clock::Clock as _;
use tether_core::digest::Digest;
use tether_core::identity::Role::{Admin, Approver};
use tether_core::port::sessions::{Credential, Session, Sessions as _};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{Answered, Line, Whose, is_as_said, thing, timeless};
use crate::http::tests::people::{People, Who};
use crate::http::tests::server::{Server, TOKEN};
use crate::http::{Needs, Route};
use crate::inbox::ROUTES;

fn approves(who: Who) -> bool {
    who.roles().contains(&Approver)
}

fn looks(who: Who) -> bool {
    approves(who) || who.roles().contains(&Admin)
}

/// The matrix: what is answered to somebody with a session.
fn line(method: &Method, path: &str) -> Option<Line> {
    Some(match (method.as_str(), path) {
        ("GET", "/inbox/style.css" | "/inbox/live.js") => |_, _| 200,
        // Who is signed in is led to what waits; and the form holds no token here.
        ("GET", "/inbox/sign-in") => |_, _| 303,
        ("POST", "/inbox/sign-in") => |_, _| 401,
        ("GET", "/inbox" | "/inbox/events") => |who, _| if looks(who) { 200 } else { 403 },
        ("POST", "/inbox/sign-out") => |who, _| if looks(who) { 303 } else { 403 },
        ("GET", "/inbox/actions/{actionId}") => |who, whose| match whose {
            _ if !looks(who) => 403,
            Whose::Own | Whose::Colleagues => 200,
            Whose::OtherTenants | Whose::Nobodys => 404,
        },
        // Done, and back to the action; nobody decides about an own proposal.
        ("POST", "/inbox/actions/{actionId}/confirm" | "/inbox/actions/{actionId}/decline") => {
            |who, whose| match whose {
                _ if !approves(who) => 403,
                Whose::Own => 403,
                Whose::Colleagues => 303,
                Whose::OtherTenants | Whose::Nobodys => 404,
            }
        }
        _ => return None,
    })
}

#[tokio::test]
async fn every_route_of_the_inbox_answers_everybody_as_the_matrix_says() {
    let known: Vec<_> = Who::ALL.into_iter().filter(|who| who.roles_if_known().is_some()).collect();
    let told = async |people: &People, route: &Route, who, whose| {
        let (page, id) = ask(people, route, Some(who), whose).await;
        let text = if id.is_empty() { page.text } else { page.text.replace(&id, "ID") };
        Answered { status: page.status, told: timeless(&page.head) + &without_proof(text) }
    };
    is_as_said(ROUTES, &known, |route| line(&route.method, route.path), told).await;
}

#[tokio::test]
async fn nobody_without_a_session_gets_further_than_to_the_form() {
    let people = People::new().await;
    for route in ROUTES {
        let (answer, id) = ask(&people, route, None, Whose::Colleagues).await;
        let place = format!("{} {}: {}", route.method, route.path, answer.text);
        match route.needs {
            Needs::Session(_) => {
                let action = if route.path.contains("Id}") { format!("?action={id}") } else { String::new() };
                assert_eq!(answer.status, 303, "{place}");
                assert!(answer.head.contains(&format!("location: /inbox/sign-in{action}\r\n")), "{place}");
            }
            Needs::SignIn => assert!([200, 401].contains(&answer.status), "{place}"),
            Needs::Nobody => assert_eq!(answer.status, 200, "{place}"),
            _ => panic!("{place} takes a token"),
        }
    }
}

#[tokio::test]
async fn the_form_says_so_where_a_token_was_not_looked_at() {
    let server = Server::start().await;
    let _flood = server.flooded().await;
    let page = send(server.address, &Method::POST, "/inbox/sign-in", None, "token=tether_guess").await;
    assert_eq!(page.status, 503, "{}", page.text);
    assert!(page.text.contains("This one was not looked at"), "{}", page.text);
}

/// Each session has its own.
fn without_proof(page: String) -> String {
    match page.split_once("name=\"csrf\" value=\"") {
        Some((before, rest)) => before.to_owned() + &rest[64..],
        None => page,
    }
}

struct Page {
    status: u16,
    /// With the blank line at its end.
    head: String,
    text: String,
}

/// What `who` is answered about a fresh action, and its id.
async fn ask(people: &People, route: &Route, who: Option<Who>, whose: Whose) -> (Page, String) {
    let user = who.map_or("nobody", Who::user);
    let id = thing(people, route, user, whose).await;
    let cookie = match who {
        Some(who) => Some(session(people, who).await),
        None => None,
    };
    let proof = cookie.as_ref().map(|cookie| Digest::of(format!("csrf{cookie}")).hex());
    let body = format!("attemptsUsed=0&approvals=0&csrf={}", proof.unwrap_or_default());
    let path = route.path.replace("{actionId}", &id);
    let page = send(people.server.address, &route.method, &path, cookie.as_deref(), &body).await;
    (page, id)
}

/// A fresh session of `who`, also of one whom the form would not let in; its cookie.
async fn session(people: &People, who: Who) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let cookie = Digest::of(COUNT.fetch_add(1, Ordering::Relaxed).to_string()).hex();
    let now = people.server.clock.now();
    let session = Session {
        tenant: "acme".parse().unwrap(),
        user: who.user().parse().unwrap(),
        roles: who.roles().to_vec(),
        credential: Credential::Host(Digest::of(TOKEN)),
        created_at: now,
        expires_at: now.after(Duration::from_secs(60)),
    };
    people.server.store.open(Digest::of(&cookie), session).await.unwrap();
    cookie
}

/// One request as a page of the inbox sends it. Of a stream only the head is read.
async fn send(address: SocketAddr, method: &Method, path: &str, cookie: Option<&str>, body: &str) -> Page {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let cookie = cookie.map(|cookie| format!("Cookie: tether={cookie}\r\n")).unwrap_or_default();
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\nConnection: close\r\n\
         {cookie}Content-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        bytes.push(stream.read_u8().await.expect("it answers"));
    }
    let head = String::from_utf8(bytes).unwrap().to_ascii_lowercase();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let mut text = String::new();
    if !head.contains("text/event-stream") {
        stream.read_to_string(&mut text).await.unwrap();
    }
    Page { status, head, text }
}
