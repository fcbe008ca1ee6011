//! Sign-ins that fail are slowed down, and nobody else is.

use std::net::SocketAddr;

use tether_core::identity::Role;
use tokio::task::JoinSet;

use super::server::{Answer, Server, TOKEN, send, send_raw};
use crate::identity::Proxies;

async fn guess(address: SocketAddr, number: usize, headers: &[&str]) -> Answer {
    let token = format!("Authorization: Bearer tether_{number:064}");
    let headers: Vec<_> = headers.iter().copied().chain([&*token]).collect();
    send(address, "GET", "/v1/tools", &headers, b"").await
}

/// The head of what the form answers.
async fn form(address: SocketAddr, token: &str) -> String {
    let own = "Sec-Fetch-Site: same-origin";
    send_raw(address, "POST", "/inbox/sign-in", &[own], &format!("token={token}")).await
}

/// Guesses until guessing is slow.
async fn use_up(address: SocketAddr, headers: &[&str]) {
    for number in 0..5 {
        guess(address, 1_000 + number, headers).await.is(401, "UNAUTHENTICATED");
    }
}

#[tokio::test]
async fn guesses_in_parallel_keep_no_neighbour_out() {
    let server = Server::start().await;
    let newcomer = server.token("acme", "ann", &[Role::Agent]).await;
    assert_eq!(server.get("/v1/tools").await.status, 200);
    use_up(server.address, &[]).await;
    server.clock.hold();
    let mut guesses = JoinSet::new();
    for number in 0..50 {
        let address = server.address;
        guesses.spawn(async move { guess(address, number, &[]).await });
    }
    server.clock.until_slept(50).await;
    // Who got in lately makes no pause; who comes for the first time makes one.
    assert_eq!(server.get("/v1/tools").await.status, 200);
    let coming = server.send_as(&newcomer, "GET", "/v1/tools", &[], "");
    let letting_go = async {
        server.clock.until_slept(51).await;
        (0..51).for_each(|_| server.clock.release());
    };
    let (let_in, ()) = tokio::join!(coming, letting_go);
    assert_eq!(let_in.status, 200, "{}", let_in.text);
    while let Some(answer) = guesses.join_next().await {
        answer.unwrap().is(401, "UNAUTHENTICATED");
    }
    let millis: Vec<_> = server.clock.slept().iter().map(|pause| pause.as_millis()).collect();
    assert_eq!((&millis[..6], millis.last()), (&[100, 200, 400, 800, 1600, 2000][..], Some(&2000)));
}

#[tokio::test]
async fn where_too_many_guess_at_once_the_rest_is_told_when_to_come_again() {
    let server = Server::start().await;
    let _flood = server.flooded().await;
    let answer = guess(server.address, 1, &[]).await;
    answer.is(503, "OVERLOADED");
    assert!(answer.head.contains("retry-after: 2\r\n"), "{}", answer.head);
    let answer = form(server.address, "tether_guess").await;
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("retry-after: 2\r\n"), "{answer}");
}

#[tokio::test]
async fn a_header_that_anybody_can_write_makes_nobody_another() {
    let server = Server::start().await;
    for number in 0..7 {
        let header = format!("X-Forwarded-For: 198.51.100.{number}");
        guess(server.address, number, &[&header]).await.is(401, "UNAUTHENTICATED");
    }
    assert_eq!(server.clock.slept().len(), 2);
}

#[tokio::test]
async fn a_trusted_proxy_says_whom_it_speaks_for() {
    let server = Server::behind(Proxies::new(vec!["127.0.0.0/8".parse().unwrap()])).await;
    use_up(server.address, &["X-Forwarded-For: 198.51.100.1"]).await;
    guess(server.address, 1, &["X-Forwarded-For: 198.51.100.2"]).await.is(401, "UNAUTHENTICATED");
    assert_eq!(server.clock.slept().len(), 0);
    // What the client wrote itself stands before what the proxy added.
    guess(server.address, 2, &["X-Forwarded-For: 198.51.100.3, 198.51.100.1"]).await;
    assert_eq!(server.clock.slept().len(), 1);
}

#[tokio::test]
async fn what_holds_no_token_is_no_guess() {
    let server = Server::start().await;
    for headers in [&[][..], &["Authorization: Basic abc"], &["Authorization: Bearer "]] {
        for _ in 0..5 {
            let answer = send(server.address, "GET", "/v1/tools", headers, b"").await;
            answer.is(401, "UNAUTHENTICATED");
        }
    }
    guess(server.address, 1, &[]).await.is(401, "UNAUTHENTICATED");
    assert!(server.clock.slept().is_empty());
}

#[tokio::test]
async fn the_form_and_the_api_count_the_same_guesses() {
    let server = Server::start().await;
    for number in 0..5 {
        let answer = form(server.address, &format!("tether_{number:064}")).await;
        assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    }
    guess(server.address, 5, &[]).await.is(401, "UNAUTHENTICATED");
    // What never got in makes its pause as well, however good it is; and gets in.
    let answer = form(server.address, TOKEN).await;
    assert!(answer.starts_with("HTTP/1.1 303") && answer.contains("set-cookie: "), "{answer}");
    assert_eq!(server.clock.slept().len(), 2);
}
