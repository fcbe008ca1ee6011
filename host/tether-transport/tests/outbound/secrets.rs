//! Secrets leave the host and do not come back.

use tether_core::destination::Destination;
use tether_core::ledger::Answer;
use tether_transport::outbound::{Response, SendError};

use crate::setup::*;
use crate::upstream::{Reply, Upstream, answer};

async fn echoed(reply: Vec<u8>) -> (Upstream, Response) {
    let upstream = Upstream::always(Reply::Bytes(reply)).await;
    let destination = format!("{}\tGET\t\t\t\tauthorization: Bearer ${{TOKEN}}", upstream.origin());
    let destination: Destination = destination.parse().unwrap();
    let response = reader(&[destination]).send(request("GET", upstream.origin())).await.unwrap();
    (upstream, response)
}

#[tokio::test]
async fn a_secret_is_filled_in_as_the_request_leaves() {
    let (upstream, _) = echoed(answer(200, &[], "")).await;
    assert_eq!(upstream.seen()[0].headers["authorization"], "Bearer s3cr3t");
}

#[tokio::test]
async fn an_echo_of_a_secret_is_masked() {
    let (_, response) =
        echoed(answer(200, &[("x-echo", "Bearer s3cr3t")], "{\"authorization\":\"Bearer s3cr3t\"}")).await;
    assert_eq!(&response.body()[..], b"{\"authorization\":\"Bearer ***\"}");
    assert_eq!(response.headers()["x-echo"], "Bearer ***");
    assert_eq!(response.headers()["content-length"].as_bytes(), response.body().len().to_string().as_bytes());
}

#[tokio::test]
async fn a_handler_cannot_set_what_the_operator_set() {
    let upstream = Upstream::always(Reply::Close).await;
    let destination = format!("{}\tGET\t\t\t\tauthorization: Bearer ${{TOKEN}}", upstream.origin());
    let own = with(request("GET", upstream.origin()), &[("authorization", "mine")]);
    assert_denied(reader(&[destination.parse().unwrap()]).send(own).await, "the operator sets it");
    assert_eq!(upstream.log().connections, 0);
}

fn carrying(upstream: &Upstream) -> Destination {
    let origin = upstream.origin();
    format!("{origin}\tGET,POST\t\t\t\tauthorization: Bearer ${{TOKEN}}").parse().unwrap()
}

#[tokio::test]
async fn where_secrets_go_nothing_is_asked_for_compressed_or_in_parts() {
    let upstream = Upstream::always(Reply::Bytes(answer(200, &[], "{}"))).await;
    let sender = reader(&[carrying(&upstream)]);
    let compressed = with(request("GET", upstream.origin()), &[("accept-encoding", "gzip, br")]);
    sender.send(compressed).await.unwrap();
    assert_eq!(upstream.seen()[0].headers["accept-encoding"], "identity");
    for name in ["range", "request-range"] {
        let part = with(request("GET", upstream.origin()), &[(name, "bytes=0-3")]);
        assert_denied(sender.send(part.clone()).await, "carry secrets");
        // Where none go, this is nobody's business.
        reader(&[grant(&upstream.origin())]).send(part).await.unwrap();
    }
    assert_eq!(upstream.seen().len(), 3);
}

#[tokio::test]
async fn where_secrets_go_no_compressed_answer_is_handed_on() {
    for header in [("content-encoding", "gzip"), ("content-encoding", "identity, br")] {
        let upstream = Upstream::always(Reply::Bytes(answer(200, &[header], "{}"))).await;
        let outcome = reader(&[carrying(&upstream)]).send(request("GET", upstream.origin())).await;
        assert_refused(outcome, "compressed");
        let (sender, journal) = writer(&[carrying(&upstream)]);
        let error = sender.send(request("POST", upstream.origin())).await.unwrap_err();
        assert!(matches!(&error, SendError::OutcomeUnknown(why) if why.contains("compressed")), "{error:?}");
        assert_eq!((journal.answers(), upstream.seen().len()), (vec![Answer::Status(200)], 2));
    }
    let plain = Reply::Bytes(answer(200, &[("content-encoding", "identity")], "{}"));
    let upstream = Upstream::always(plain).await;
    reader(&[carrying(&upstream)]).send(request("GET", upstream.origin())).await.unwrap();
}
