//! Sign-ins that fail are slowed down, and nobody else is.

use std::net::SocketAddr;

use tokio::task::JoinSet;

use super::server::{Answer, Server, TOKEN, send, send_raw};
use crate::identity::Proxies;

async fn guess(address: SocketAddr, number: usize, headers: &[&str]) -> Answer {
    let token = format!("Authorization: Bearer tether_{number:064}");
    let headers: Vec<_> = headers.iter().copied().chain([&*token]).collect();
    send(address, "GET", "/v1/tools", &headers, b"").await
}

/// Guesses until guessing is slow.
async fn use_up(address: SocketAddr, headers: &[&str]) {
    for number in 0..5 {
        guess(address, 1_000 + number, headers).await.is(401, "UNAUTHENTICATED");
    }
}

#[tokio::test]
async fn guesses_in_parallel_wait_for_one_another_while_a_neighbour_gets_in() {
    let server = Server::start().await;
    assert_eq!(server.get("/v1/tools").await.status, 200);
    use_up(server.address, &[]).await;
    server.clock.hold();
    let mut guesses = JoinSet::new();
    for number in 0..20 {
        let address = server.address;
        guesses.spawn(async move { guess(address, number, &[]).await });
    }
    // One pauses and eight wait; the others are told so, their tokens unseen.
    for _ in 0..11 {
        let answer = guesses.join_next().await.unwrap().unwrap();
        answer.is(503, "OVERLOADED");
        assert!(answer.head.contains("retry-after: "), "{}", answer.head);
    }
    assert_eq!(server.get("/v1/tools").await.status, 200);
    for _ in 0..9 {
        server.clock.release();
        guesses.join_next().await.unwrap().unwrap().is(401, "UNAUTHENTICATED");
    }
    assert!(guesses.join_next().await.is_none());
    let millis: Vec<_> = server.clock.slept().iter().map(|pause| pause.as_millis()).collect();
    assert_eq!(millis, [100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
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
    let form = |token: String| {
        let address = server.address;
        async move {
            let own = "Sec-Fetch-Site: same-origin";
            send_raw(address, "POST", "/inbox/sign-in", &[own], &format!("token={token}")).await
        }
    };
    for number in 0..5 {
        let answer = form(format!("tether_{number:064}")).await;
        assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    }
    guess(server.address, 5, &[]).await.is(401, "UNAUTHENTICATED");
    assert_eq!(server.clock.slept().len(), 1);
    server.clock.hold();
    let mut waiting = JoinSet::new();
    for number in 6..20 {
        let address = server.address;
        waiting.spawn(async move { guess(address, number, &[]).await });
    }
    // Once one is refused, nine are before it.
    waiting.join_next().await.unwrap().unwrap().is(503, "OVERLOADED");
    let answer = form("tether_guess".to_owned()).await;
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("retry-after: "), "{answer}");
    // What never got in waits as well, however good it is.
    let answer = form(TOKEN.to_owned()).await;
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
}
