//! Several effects in one attempt of a write, and its end.

use std::sync::Arc;

use tether_core::ledger::Answer;
use tether_transport::outbound::{Course, Response, SendError, Sender};

use crate::journal::TestJournal;
use crate::names::Held;
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
    assert_refused(post(&sender, &url, Some("refund")).await, "step");
    assert_refused(post(&sender, &url, None).await, "give each effect a step");
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
    assert_refused(post(&sender, &upstream.origin(), Some("refund")).await, "step");
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
    assert_refused(post(&sender, &upstream.origin(), None).await, "the main record is written");
    assert!(journal.entries().is_empty());
    sender.send(request("GET", upstream.origin())).await.unwrap();
    assert_eq!(upstream.seen().len(), 1);
    assert_eq!(journal.answers(), [Answer::Status(200)]);
}

#[tokio::test]
async fn a_step_whose_request_did_not_leave_is_free_again() {
    let names = Held::new("127.0.0.1");
    let upstream = Upstream::always(status(200)).await;
    let url = format!("http://slow.test:{}/", upstream.port());
    let destination = format!("http://slow.test:{}\tPOST\t\t127.0.0.1\t", upstream.port());
    let journal = TestJournal::new();
    let course = Course::Write(journal.clone());
    let sender = outbound_with(names.clone()).sender(&[destination.parse().unwrap()], key(), course);
    let (by, to) = (sender.clone(), url.clone());
    let given_up = tokio::spawn(async move { post(&by, &to, Some("refund")).await });
    names.asked().await;
    assert_refused(post(&sender, &url, Some("refund")).await, "step");
    given_up.abort();
    assert!(given_up.await.unwrap_err().is_cancelled());
    names.answer();
    post(&sender, &url, Some("refund")).await.unwrap();
    assert_refused(post(&sender, &url, Some("refund")).await, "step");
    assert_eq!(journal.answers(), [Answer::NotSent, Answer::Status(200)]);
    assert_eq!(upstream.seen().len(), 1);
}

#[tokio::test]
async fn after_a_refused_connection_a_library_may_try_again() {
    let (sender, journal) = writer(&[grant("http://127.0.0.1:1")]);
    for _ in 0..2 {
        let error = post(&sender, "http://127.0.0.1:1/", None).await.unwrap_err();
        assert!(matches!(error, SendError::NotSent(_)), "{error:?}");
    }
    assert_eq!(journal.answers(), [Answer::NotSent, Answer::NotSent]);
}
