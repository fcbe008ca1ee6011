//! Several effects in one attempt of a write, and its end.

use std::sync::Arc;

use tether_core::ledger::Answer;
use tether_transport::outbound::{Response, SendError, Sender};

use crate::setup::*;
use crate::upstream::{Reply, Upstream, status};

async fn post(sender: &Arc<Sender>, url: &str, step: Option<&str>) -> Result<Response, SendError> {
    let mut request = request("POST", url);
    request.step = step.map(|step| step.parse().unwrap());
    sender.send(request).await
}

#[tokio::test]
async fn each_step_has_a_key_of_its_own_and_is_sent_once() {
    let upstream = Upstream::always(status(200)).await;
    let (sender, journal) = writer(&[grant(&upstream.origin())]);
    let url = upstream.origin();
    post(&sender, &url, None).await.unwrap();
    post(&sender, &url, Some("refund")).await.unwrap();
    post(&sender, &url, Some("mail")).await.unwrap();
    assert_denied(post(&sender, &url, Some("refund")).await, "step");
    assert_denied(post(&sender, &url, None).await, "give each effect a step");
    let keys: Vec<_> =
        upstream.seen().iter().map(|seen| seen.headers["x-tether-idempotency-key"].clone()).collect();
    // printf '%s' KEY:refund | sha256sum
    assert_eq!(keys[..2], [KEY, "4a422214af215b678889dc04803d21c9"]);
    assert_eq!((keys.len(), journal.entries().len()), (3, 3));
    assert_eq!(journal.entries()[1].0.step, Some("refund".parse().unwrap()));
}

#[tokio::test]
async fn a_step_that_failed_is_not_sent_again_in_the_same_attempt() {
    let upstream = Upstream::always(Reply::Close).await;
    let (sender, _) = writer(&[grant(&upstream.origin())]);
    post(&sender, &upstream.origin(), Some("refund")).await.unwrap_err();
    assert_denied(post(&sender, &upstream.origin(), Some("refund")).await, "step");
    assert_eq!(upstream.seen().len(), 1);
}

#[tokio::test]
async fn what_changes_nothing_may_share_a_step() {
    let upstream = Upstream::always(status(200)).await;
    let (sender, _) = writer(&[grant(&upstream.origin())]);
    for _ in 0..2 {
        sender.send(request("GET", upstream.origin())).await.unwrap();
    }
    assert_eq!(upstream.seen().len(), 2);
}

#[tokio::test]
async fn after_the_main_record_nothing_unsafe_leaves() {
    let upstream = Upstream::always(status(200)).await;
    let (sender, journal) = writer(&[grant(&upstream.origin())]);
    sender.settled();
    assert_denied(post(&sender, &upstream.origin(), None).await, "the main record is written");
    assert!(journal.entries().is_empty());
    sender.send(request("GET", upstream.origin())).await.unwrap();
    assert_eq!(upstream.seen().len(), 1);
    assert_eq!(journal.answers(), [Answer::Status(200)]);
}

#[tokio::test]
async fn the_main_record_also_stops_what_is_about_to_leave() {
    let upstream = Upstream::always(status(200)).await;
    let destination = format!("http://slow.test:{}\tPOST\t\t127.0.0.1\t", upstream.port()).parse().unwrap();
    let names = crate::names::Held::new("127.0.0.1");
    let outbound = tether_transport::outbound::Outbound::with_names(settings(), names.clone()).unwrap();
    let journal = crate::journal::TestJournal::new();
    let course = tether_transport::outbound::Course::Write(journal.clone());
    let sender = outbound.sender(&[destination], key(), course);
    let sending =
        tokio::spawn(sender.send(request("POST", format!("http://slow.test:{}/", upstream.port()))));
    names.asked().await;
    sender.settled();
    names.answer();
    assert_denied(sending.await.unwrap(), "the main record is written");
    assert_eq!(journal.answers(), [Answer::NotSent]);
    assert!(upstream.seen().is_empty());
}
