//! Secrets leave the host and do not come back.

use tether_core::destination::Destination;
use tether_transport::outbound::Response;

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
