//! No token stands for a session, and no session for a token.

use std::time::Duration;

use tether_core::clock::Clock as _;
use tether_core::digest::Digest;
use tether_core::identity::Role;
use tether_core::port::sessions::{Credential, Session, Sessions as _};

use super::people::{People, Who, id_of};
use super::server::send_raw;
use crate::http::{Needs, ROUTES, Route};
use crate::inbox;

#[tokio::test]
async fn a_token_opens_no_page() {
    let people = People::new().await;
    let token = people.token(Who::AgentAndApprover).unwrap();
    for route in inbox::ROUTES.iter().filter(|route| matches!(route.needs, Needs::Session(_))) {
        for header in [format!("Authorization: Bearer {token}"), format!("Cookie: tether={token}")] {
            let answer = ask(&people, route, &header).await;
            assert!(answer.starts_with("HTTP/1.1 303"), "{} {}: {answer}", route.method, route.path);
            assert!(answer.contains("location: /inbox/sign-in"), "{answer}");
        }
    }
}

#[tokio::test]
async fn a_session_opens_nothing_of_the_api() {
    let people = People::new().await;
    let cookie = "5e55".repeat(16);
    let now = people.server.clock.now();
    let session = Session {
        tenant: "acme".parse().unwrap(),
        user: Who::Admin.user().parse().unwrap(),
        roles: Role::ALL.to_vec(),
        credential: Credential::Token(id_of(Who::Admin)),
        created_at: now,
        expires_at: now.after(Duration::from_secs(60)),
    };
    people.server.store.open(Digest::of(&cookie), session).await.unwrap();
    let header = format!("Cookie: tether={cookie}");
    let [inbox] = inbox::ROUTES.iter().filter(|route| route.path == "/inbox").collect::<Vec<_>>()[..] else {
        panic!("there is one inbox");
    };
    let answer = ask(&people, inbox, &header).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "it is a session: {answer}");
    for route in ROUTES.iter().filter(|route| matches!(route.needs, Needs::Bearer(_))) {
        for header in [&header, &format!("Authorization: Bearer {cookie}")] {
            let answer = ask(&people, route, header).await;
            assert!(answer.starts_with("HTTP/1.1 401"), "{} {}: {answer}", route.method, route.path);
        }
    }
}

#[tokio::test]
async fn of_too_many_sessions_the_one_ends_that_was_not_used_for_the_longest() {
    let people = People::new().await;
    let store = &people.server.store;
    let open = async |who: Who, number: u64| {
        let created_at = people.server.clock.now();
        let session = Session {
            tenant: "acme".parse().unwrap(),
            user: who.user().parse().unwrap(),
            roles: vec![Role::Approver],
            credential: Credential::Token(id_of(who)),
            created_at,
            expires_at: created_at.after(Duration::from_secs(60)),
        };
        store.open(Digest::of(cookie(who, number)), session).await.unwrap();
    };
    for number in 0..256 {
        open(Who::Approver, number).await;
    }
    open(Who::AgentAndApprover, 0).await;
    let is_there = async |who: Who, number: u64| {
        let header = format!("Cookie: tether={}", cookie(who, number));
        let answer = send_raw(people.server.address, "GET", "/inbox", &[&header], "").await;
        answer.starts_with("HTTP/1.1 200")
    };
    // All but one are used.
    for number in (0..256).filter(|number| *number != 100) {
        assert!(is_there(Who::Approver, number).await, "{number}");
    }
    let form = format!("token={}", people.token(Who::Approver).unwrap());
    let own = "Sec-Fetch-Site: same-origin";
    let answer = send_raw(people.server.address, "POST", "/inbox/sign-in", &[own], &form).await;
    assert!(answer.starts_with("HTTP/1.1 303") && answer.contains("set-cookie: tether="), "{answer}");
    assert!(!is_there(Who::Approver, 100).await);
    assert!(is_there(Who::Approver, 0).await && is_there(Who::Approver, 255).await);
    assert!(is_there(Who::AgentAndApprover, 0).await, "another's");
    let found = store.of("acme".parse().unwrap(), Who::Approver.user().parse().unwrap()).await.unwrap();
    assert_eq!(found.len(), 256);
}

#[tokio::test]
async fn cookies_that_others_set_before_ours_sign_nobody_out() {
    let people = People::new().await;
    let now = people.server.clock.now();
    let session = Session {
        tenant: "acme".parse().unwrap(),
        user: Who::Approver.user().parse().unwrap(),
        roles: vec![Role::Approver],
        credential: Credential::Token(id_of(Who::Approver)),
        created_at: now,
        expires_at: now.after(Duration::from_secs(60)),
    };
    let ours = cookie(Who::Approver, 0);
    people.server.store.open(Digest::of(&ours), session).await.unwrap();
    let others = |number: u64| (1..=number).map(|number| cookie(Who::Nothing, number));
    let opens = async |before: Vec<String>| {
        let all: Vec<_> = before.iter().chain([&ours]).map(|value| format!("tether={value}")).collect();
        let header = format!("Cookie: {}", all.join("; "));
        let answer = send_raw(people.server.address, "GET", "/inbox", &[&header], "").await;
        answer.starts_with("HTTP/1.1 200")
    };
    assert!(opens(others(179).collect()).await);
    assert!(opens(vec!["junk".to_owned(); 1_000]).await, "what has not the form of ours does not count");
    assert!(!opens(others(180).collect()).await, "there is a bound");
    // Signing in ends what came along and is there.
    let line = others(179).chain([ours.clone()]).map(|value| format!("tether={value}"));
    let header = format!("Cookie: {}", line.collect::<Vec<_>>().join("; "));
    let form = format!("token={}", people.token(Who::Approver).unwrap());
    let own = "Sec-Fetch-Site: same-origin";
    let answer = send_raw(people.server.address, "POST", "/inbox/sign-in", &[own, &header], &form).await;
    assert!(answer.starts_with("HTTP/1.1 303") && answer.contains("set-cookie: tether="), "{answer}");
    assert!(people.server.store.find(Digest::of(&ours)).await.unwrap().is_none());
}

/// What a browser would send.
fn cookie(who: Who, number: u64) -> String {
    Digest::of(format!("{who:?} {number}")).hex()
}

/// The head of the answer.
async fn ask(people: &People, route: &Route, header: &str) -> String {
    let path = route.path.replace("{actionId}", &"0".repeat(32)).replace("{tokenId}", &"0".repeat(32));
    let own = "Sec-Fetch-Site: same-origin";
    send_raw(people.server.address, route.method.as_str(), &path, &[own, header], "").await
}
