//! The right column of the policy table.

use std::time::Duration;

use tether_core::ledger::Answer;
use tether_transport::outbound::{Course, SendError};

use crate::setup::*;
use crate::upstream::{Reply, Upstream, answer, deaf_port, status};

/// What is noted, the outcome, and that the upstream saw exactly one request.
async fn once(reply: Reply) -> (Answer, Result<u16, SendError>) {
    let upstream = Upstream::always(reply).await;
    let (sender, journal) = writer(&[grant(&upstream.origin())]);
    let outcome = sender.send(request("POST", upstream.origin() + "/refunds?q=1")).await;
    let seen = upstream.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].headers["x-tether-idempotency-key"], KEY);
    assert_eq!(seen[0].body, "{\"n\":1}");
    let [(noted, answer)] = &journal.entries()[..] else { panic!("{:?}", journal.entries()) };
    assert_eq!(
        (noted.method.as_str(), &*noted.origin, &*noted.path),
        ("POST", &*upstream.origin(), "/refunds")
    );
    (*answer, outcome.map(|response| response.status().as_u16()))
}

#[tokio::test]
async fn every_status_is_an_answer_and_is_noted() {
    for code in [200, 201, 204, 301, 302, 303, 307, 308, 400, 408, 409, 429, 500, 502, 503, 504] {
        assert_eq!(once(status(code)).await, (Answer::Status(code), Ok(code)));
    }
}

#[tokio::test]
async fn what_is_lost_after_it_left_stays_in_doubt() {
    for reply in [
        Reply::Close,
        Reply::Last(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf".to_vec()),
        Reply::Last(b"nonsense\r\n\r\n".to_vec()),
    ] {
        let (noted, outcome) = once(reply).await;
        assert_eq!(noted, Answer::InDoubt);
        assert!(
            matches!(&outcome, Err(SendError::OutcomeUnknown(why)) if !why.contains("q=1")),
            "{outcome:?}"
        );
    }
}

#[tokio::test]
async fn an_answer_over_the_limit_was_an_answer() {
    let (noted, outcome) = once(Reply::Endless).await;
    assert_eq!((noted, outcome), (Answer::Status(200), Err(SendError::TooLarge(MOST as u64))));
}

#[tokio::test]
async fn a_refused_connection_sent_nothing() {
    let origin = format!("http://127.0.0.1:{}", deaf_port().await);
    let (sender, journal) = writer(&[grant(&origin)]);
    let error = sender.send(request("POST", origin)).await.unwrap_err();
    assert!(matches!(error, SendError::NotSent(_)), "{error:?}");
    assert_eq!(journal.answers(), [Answer::NotSent]);
}

#[tokio::test]
async fn a_name_that_is_unknown_sent_nothing() {
    let (sender, journal) = writer(&[grant("http://api.test")]);
    let error = sender.send(request("POST", "http://api.test/x")).await.unwrap_err();
    assert!(matches!(error, SendError::NotSent(_)), "{error:?}");
    assert_eq!(journal.answers(), [Answer::NotSent]);
}

#[tokio::test]
async fn what_cannot_be_noted_is_not_sent() {
    let upstream = Upstream::always(status(200)).await;
    let (sender, journal) = writer(&[grant(&upstream.origin())]);
    journal.fill();
    let error = sender.send(request("POST", upstream.origin())).await.unwrap_err();
    assert!(matches!(&error, SendError::StorageFull(why) if why.contains("is full")), "{error:?}");
    assert_eq!(upstream.log().connections, 0);
}

#[tokio::test]
async fn what_a_read_could_send_is_noted_and_sent_once_as_well() {
    let upstream = Upstream::always(status(503)).await;
    let (sender, journal) = writer(&[grant(&upstream.origin())]);
    assert_eq!(sender.send(request("GET", upstream.origin())).await.unwrap().status(), 503);
    assert_eq!(upstream.seen().len(), 1);
    assert_eq!(journal.answers(), [Answer::Status(503)]);
}

/// F4: no kept connection, whatever reads have kept, so nothing to resend on.
#[tokio::test]
async fn each_request_has_a_connection_of_its_own() {
    let upstream = Upstream::in_turn(vec![status(200), status(200), Reply::Close]).await;
    let (outbound, destinations) = (outbound(), [grant(&upstream.origin())]);
    let reader = outbound.sender(&destinations, key(), Course::Read(three()));
    reader.send(request("GET", upstream.origin())).await.unwrap();
    let journal = crate::journal::TestJournal::new();
    let writer = outbound.sender(&destinations, key(), Course::Write(journal.clone()));
    for step in ["a", "b"] {
        let mut request = request("POST", upstream.origin());
        request.step = Some(step.parse().unwrap());
        let _ = writer.send(request).await;
    }
    let connections: Vec<_> = upstream.seen().iter().map(|seen| seen.connection).collect();
    assert_eq!(connections, [1, 2, 3]);
    assert_eq!(journal.answers(), [Answer::Status(200), Answer::InDoubt]);
    // Nor does a write leave its connection behind.
    upstream.until(|log| log.closed >= 1).await;
}

#[tokio::test]
async fn a_wait_that_was_asked_for_is_told() {
    let upstream = Upstream::always(Reply::Bytes(answer(429, &[("Retry-After", "120")], ""))).await;
    let (sender, _) = writer(&[grant(&upstream.origin())]);
    assert_eq!(sender.retry_after(), None);
    sender.send(request("POST", upstream.origin())).await.unwrap();
    assert!(sender.retry_after().unwrap() > Duration::from_secs(100));
    assert_eq!(upstream.seen().len(), 1);
}

/// By the host's clock, where the answer has no date of its own.
#[tokio::test]
async fn a_date_that_was_asked_for_is_told() {
    // The test's clock begins at 1,000,000,000 s: Sun, 09 Sep 2001 01:46:40 GMT.
    let later = [("Retry-After", "Sun, 09 Sep 2001 01:48:40 GMT")];
    let upstream = Upstream::always(Reply::Bytes(answer(503, &later, ""))).await;
    let (sender, _) = writer(&[grant(&upstream.origin())]);
    sender.send(request("POST", upstream.origin())).await.unwrap();
    let wait = sender.retry_after().unwrap();
    assert!(wait > Duration::from_secs(60) && wait <= Duration::from_secs(120), "{wait:?}");
}
