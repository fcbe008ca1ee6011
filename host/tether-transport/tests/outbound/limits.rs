//! What is refused or cut off for its size or its number.

use bytes::Bytes;
use tether_core::destination::Destination;
use tether_transport::outbound::{Outbound, Response, SendError, SetUpError};

use crate::setup::*;
use crate::upstream::{Reply, Upstream, answer, status};

async fn read(upstream: &Upstream) -> Result<Response, SendError> {
    reader(&[grant(&upstream.origin())]).send(request("GET", upstream.origin())).await
}

#[tokio::test]
async fn an_answer_may_be_as_long_as_the_limit_and_no_longer() {
    let upstream = Upstream::always(Reply::Bytes(answer(200, &[], &"x".repeat(MOST)))).await;
    assert_eq!(read(&upstream).await.unwrap().body().len(), MOST);
    let upstream = Upstream::always(Reply::Bytes(answer(200, &[], &"x".repeat(MOST + 1)))).await;
    assert_eq!(read(&upstream).await.unwrap_err(), SendError::TooLarge(MOST as u64));
    assert_eq!(upstream.seen().len(), 1, "nor is it asked for again");
    upstream.until(|log| log.closed == 1).await;
}

#[tokio::test]
async fn an_answer_without_an_end_is_cut_off() {
    let upstream = Upstream::always(Reply::Endless).await;
    assert_eq!(read(&upstream).await.unwrap_err(), SendError::TooLarge(MOST as u64));
    upstream.until(|log| log.closed == 1).await;
}

#[tokio::test]
async fn a_length_that_is_only_said_is_no_body() {
    let upstream =
        Upstream::always(Reply::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 999999999\r\n\r\n".to_vec()))
            .await;
    let head = reader(&[grant(&upstream.origin())]).send(request("HEAD", upstream.origin())).await.unwrap();
    assert_eq!((head.body().len(), head.headers()["content-length"].as_bytes()), (0, &b"999999999"[..]));
}

#[tokio::test]
async fn chunks_are_put_together() {
    let chunks = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nkeep-alive: timeout=5\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    let response = read(&Upstream::always(Reply::Bytes(chunks.to_vec())).await).await.unwrap();
    assert_eq!(&response.body()[..], b"abcde");
    assert!(
        !response.headers().contains_key("transfer-encoding")
            && !response.headers().contains_key("keep-alive")
    );
}

#[tokio::test]
async fn nothing_is_decompressed() {
    let upstream =
        Upstream::always(Reply::Bytes(answer(200, &[("content-encoding", "gzip")], "\u{1f}not gzip"))).await;
    let response = read(&upstream).await.unwrap();
    assert_eq!(&response.body()[..], "\u{1f}not gzip".as_bytes());
    assert_eq!(response.headers()["content-encoding"], "gzip");
    let seen = &upstream.seen()[0].headers;
    assert_eq!(seen["accept-encoding"], "identity");
    assert!(seen["user-agent"].starts_with("tether/"));
    let own = with(request("GET", upstream.origin()), &[("accept-encoding", "gzip"), ("user-agent", "mine")]);
    reader(&[grant(&upstream.origin())]).send(own).await.unwrap();
    let seen = &upstream.seen()[1].headers;
    assert_eq!((&*seen["accept-encoding"], &*seen["user-agent"]), ("gzip", "mine"));
}

#[tokio::test]
async fn a_request_over_its_limit_is_refused() {
    let upstream = Upstream::always(status(200)).await;
    let mut large = request("POST", upstream.origin());
    large.body = Bytes::from(vec![b'x'; 10_001]);
    assert_refused(writer(&[grant(&upstream.origin())]).0.send(large).await, "10000 may be sent");
    assert_eq!(upstream.log().connections, 0);
}

#[tokio::test]
async fn an_attempt_asks_for_so_many_requests_and_no_more() {
    let upstream = Upstream::always(status(200)).await;
    let sender = reader(&[grant(&upstream.origin())]);
    for _ in 0..20 {
        sender.send(request("GET", upstream.origin())).await.unwrap();
    }
    assert_refused(sender.send(request("GET", upstream.origin())).await, "20 requests");
    assert_eq!(upstream.seen().len(), 20);
}

#[tokio::test]
async fn what_is_no_request_is_denied_and_nothing_is_dialled() {
    let upstream = Upstream::always(status(200)).await;
    let origin = upstream.origin();
    let sender = || reader(&[grant(&origin)]);
    for method in ["CONNECT", "TRACE", "get", "", "G ET", "GET\r\n"] {
        assert!(
            matches!(sender().send(request(method, &*origin)).await, Err(SendError::Denied(_))),
            "{method:?}"
        );
    }
    for name in ["host", "connection", "te", "upgrade", "x-tether-idempotency-key", "x-http-method-override"]
    {
        let with = with(request("GET", &*origin), &[(name, "x")]);
        assert_denied(sender().send(with).await, name);
    }
    let with = with(request("GET", &*origin), &[("content-length", "7")]);
    assert_denied(sender().send(with).await, "content-length");
    assert_denied(reader(&[]).send(request("GET", &*origin)).await, "is not granted");
    assert_eq!(upstream.log().connections, 0);
}

#[tokio::test]
async fn a_header_that_says_the_length_right_is_no_harm() {
    let upstream = Upstream::always(status(200)).await;
    let sender = writer(&[grant(&upstream.origin())]).0;
    sender.send(with(request("POST", upstream.origin()), &[("content-length", "7")])).await.unwrap();
    assert_eq!(upstream.seen()[0].headers["content-length"], "7");
}

#[test]
fn extra_roots_that_are_none_are_told() {
    let with = |pem: &str| {
        let settings = tether_transport::outbound::Settings { extra_roots: pem.into(), ..settings() };
        Outbound::new(settings, TestClock::new()).map(drop)
    };
    assert!(with("").is_ok());
    assert!(matches!(with("not PEM"), Err(SetUpError::NoRoots)));
    let damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    assert!(matches!(with(damaged), Err(SetUpError::Roots(_))));
}

#[test]
fn what_cannot_be_filled_in_is_told_at_the_start() {
    let check = |rest: &str| {
        let destination: Destination = format!("https://a.test\tGET\t\t\t{rest}").parse().unwrap();
        outbound().check(&destination)
    };
    assert_eq!(check("idempotency-key\tauthorization: Bearer ${TOKEN}"), Ok(()));
    assert!(check("\tauthorization: Bearer ${OTHER}").unwrap_err().contains("OTHER"));
    assert!(check("\thost: a").unwrap_err().contains("host"));
    assert!(check("x-tether-key").is_err());
}
