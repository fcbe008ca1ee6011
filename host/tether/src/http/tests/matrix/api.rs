//! The API: everybody with a token, and those without a valid one.

use axum::http::Method;
use tether_core::identity::Role::{Admin, Agent, Approver};

use super::{Answered, Line, Whose, is_as_said, thing, timeless};
use crate::http::tests::people::{People, Who};
use crate::http::tests::server::{Answer, send};
use crate::http::{Needs, ROUTES, Route};
use crate::inbox;

fn agents(who: Who) -> bool {
    who.roles().contains(&Agent)
}

fn approvers(who: Who) -> bool {
    who.roles().contains(&Approver)
}

fn admins(who: Who) -> bool {
    who.roles().contains(&Admin)
}

fn if_let(allowed: bool, status: u16) -> u16 {
    if allowed { status } else { 403 }
}

/// Looking at an action, or at its history.
fn looked_at(who: Who, whose: Whose) -> u16 {
    match whose {
        _ if who.roles().is_empty() => 403,
        Whose::Own => 200,
        Whose::Colleagues if approvers(who) || admins(who) => 200,
        Whose::Colleagues | Whose::OtherTenants | Whose::Nobodys => 404,
    }
}

/// Confirming or declining: what others proposed, within the tenant.
fn decided(who: Who, whose: Whose) -> u16 {
    match whose {
        _ if !approvers(who) => 403,
        Whose::Own => 403,
        Whose::Colleagues => 200,
        Whose::OtherTenants | Whose::Nobodys => 404,
    }
}

/// The matrix: what somebody who is known is answered.
fn line(method: &Method, path: &str) -> Option<Line> {
    Some(match (method.as_str(), path) {
        ("GET", "/healthz" | "/readyz" | "/openapi.json") => |_, _| 200,
        ("GET", "/v1/tools") => |who, _| if_let(agents(who) || admins(who), 200),
        ("POST", "/v1/tools/{name}/calls") => |who, _| if_let(agents(who), 200),
        ("GET", "/v1/actions") => |who, _| if_let(!who.roles().is_empty(), 200),
        ("GET", "/v1/actions/{actionId}" | "/v1/actions/{actionId}/history") => looked_at,
        ("POST", "/v1/actions/{actionId}/confirm" | "/v1/actions/{actionId}/decline") => decided,
        ("GET", "/v1/tokens") => |who, _| if_let(admins(who), 200),
        ("POST", "/v1/tokens") => |who, _| if_let(admins(who), 201),
        ("DELETE", "/v1/tokens/{tokenId}") => |who, whose| match whose {
            _ if !admins(who) => 403,
            Whose::Own | Whose::Colleagues => 200,
            Whose::OtherTenants | Whose::Nobodys => 404,
        },
        _ => return None,
    })
}

#[tokio::test]
async fn every_route_answers_everybody_as_the_matrix_says() {
    let (known, unknown): (Vec<_>, Vec<_>) =
        Who::ALL.into_iter().partition(|who| who.roles_if_known().is_some());
    let of = |route: &Route| line(&route.method, route.path);
    is_as_said(ROUTES, &known, of, told).await;
    let of = |route: &Route| match route.needs {
        Needs::Nobody => of(route),
        _ => Some((|_, _| 401) as Line),
    };
    is_as_said(ROUTES, &unknown, of, told).await;
}

#[tokio::test]
async fn whoever_is_not_known_is_told_the_same_whatever_is_wrong() {
    let people = People::new().await;
    let mut told = Vec::new();
    for who in [Who::Nothing, Who::Invalid, Who::Expired, Who::Revoked] {
        for route in ROUTES.iter().filter(|route| route.needs != Needs::Nobody) {
            let (answer, _) = ask(&people, route, who, Whose::Own).await;
            told.push((timeless(&answer.head), answer.text));
        }
    }
    assert!(told.windows(2).all(|pair| pair[0] == pair[1]), "{told:?}");
}

#[tokio::test]
async fn a_token_that_comes_in_another_way_opens_nothing() {
    let people = People::new().await;
    assert!(ROUTES.iter().all(|route| matches!(route.needs, Needs::Nobody | Needs::Bearer(_))));
    assert!(inbox::ROUTES.iter().all(|route| !matches!(route.needs, Needs::Bearer(_))));
    // The token in a cookie's place, and beside it.
    let token = people.token(Who::Admin).unwrap();
    for name in ["tether", "__Host-tether", "token", "Authorization"] {
        let cookie = format!("Cookie: {name}={token}");
        send(people.server.address, "GET", "/v1/tools", &[&cookie], b"").await.is(401, "UNAUTHENTICATED");
    }
    let query = format!("/v1/tools?access_token={token}");
    send(people.server.address, "GET", &query, &[], b"").await.is(401, "UNAUTHENTICATED");
}

#[tokio::test]
async fn a_key_of_one_tenant_is_free_in_another() {
    let people = People::new().await;
    let key = &["Idempotency-Key: order-7"];
    let propose = |tenant: &'static str| {
        let people = &people;
        async move {
            let token = people.server.token(tenant, "bot", &[Agent]).await;
            people.server.send_as(&token, "POST", "/v1/tools/write/calls", key, "{}").await
        }
    };
    let (acme, globex) = (propose("acme").await, propose("globex").await);
    assert_eq!((acme.status, globex.status), (202, 202));
    assert_ne!(acme.at("/actionId"), globex.at("/actionId"));
    for (tenant, answer) in [("acme", acme), ("globex", globex)] {
        let token = people.server.token(tenant, "ann", &[Approver]).await;
        let confirm = format!("/v1/actions/{}/confirm", answer.at("/actionId").as_str().unwrap());
        let confirmed = people.server.send_as(&token, "POST", &confirm, key, "").await;
        assert_eq!(confirmed.at("/status"), "Succeeded", "{}", confirmed.text);
    }
}

#[tokio::test]
async fn a_list_holds_ones_own_and_no_cursor_leads_into_anothers() {
    let people = People::new().await;
    let (acme, _) = (people.propose("acme", "bot").await, people.propose("globex", "bot").await);
    people.propose("acme", "other").await;
    let list = |tenant: &'static str, user: &'static str, role, query: String| {
        let people = &people;
        async move {
            let token = people.server.token(tenant, user, &[role]).await;
            people.server.send_as(&token, "GET", &format!("/v1/actions{query}"), &[], "").await
        }
    };
    let count = |answer: &Answer| answer.at("/actions").as_array().unwrap().len();
    assert_eq!(count(&list("acme", "bot", Agent, String::new()).await), 1);
    assert_eq!(count(&list("acme", "ann", Approver, String::new()).await), 2);
    assert_eq!(count(&list("globex", "ann", Admin, String::new()).await), 1);
    assert_eq!(count(&list("nobody", "ann", Admin, String::new()).await), 0);
    let cursor = format!("?cursor={acme}");
    assert_eq!(list("acme", "ann", Approver, cursor.clone()).await.status, 200);
    list("globex", "ann", Approver, cursor).await.is(400, "INVALID_ARGUMENTS");
}

async fn told(people: &People, route: &Route, who: Who, whose: Whose) -> Answered {
    let (answer, id) = ask(people, route, who, whose).await;
    let text = if id.is_empty() { answer.text } else { answer.text.replace(&id, "ID") };
    Answered { status: answer.status, told: timeless(&answer.head) + &text }
}

/// What `who` is answered on a fresh thing, and its id.
async fn ask(people: &People, route: &Route, who: Who, whose: Whose) -> (Answer, String) {
    let id = thing(people, route, who.user(), whose).await;
    let path = route.path.replace("{actionId}", &id).replace("{tokenId}", &id).replace("{name}", "echo");
    let body = match (route.method.as_str(), route.path) {
        ("POST", "/v1/tokens") => r#"{"user":"new","roles":["agent"]}"#,
        _ => "",
    };
    let header = people.token(who).map(|token| format!("Authorization: Bearer {token}"));
    let headers: Vec<_> = header.iter().map(String::as_str).collect();
    let answer = send(people.server.address, route.method.as_str(), &path, &headers, body.as_bytes()).await;
    (answer, id)
}
