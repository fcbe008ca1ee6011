//! How many requests are under way at once, and whose.

use std::time::Duration;

use tether_transport::outbound::Course;

use crate::journal::TestJournal;
use crate::names::Held;
use crate::setup::*;
use crate::upstream::{Reply, Upstream, status};

/// Its place comes before its note: whoever is dropped or settled meanwhile left nothing
/// in doubt.
#[tokio::test]
async fn one_origin_has_half_of_the_places_and_its_next_request_waits() {
    let (outbound, journal) = (outbound_with(Held::new("127.0.0.1")), TestJournal::new());
    let send = || {
        let course = Course::Write(journal.clone());
        let sender = outbound.sender(&[grant("http://slow.test")], key(), course);
        tokio::spawn(sender.send(request("POST", "http://slow.test/")))
    };
    let noted = async |count| {
        let reached = async {
            while journal.entries().len() < count {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), reached).await.unwrap();
    };
    let first = send();
    noted(1).await;
    let _others: Vec<_> = (1..128).map(|_| send()).collect();
    noted(128).await;
    let _waits = send();
    // In this thread, whoever can go on does so meanwhile.
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(journal.entries().len(), 128);
    first.abort();
    noted(129).await;
}

#[tokio::test]
async fn peers_that_never_answer_leave_places_to_their_neighbour() {
    let stalling = [Upstream::always(Reply::Stall).await, Upstream::always(Reply::Stall).await];
    let neighbour = Upstream::always(status(200)).await;
    let outbound = outbound();
    let send = |upstream: &Upstream| {
        let course = Course::Read(three());
        let sender = outbound.sender(&[grant(&upstream.origin())], key(), course);
        sender.send(request("GET", upstream.origin()))
    };
    let mut stalled = Vec::new();
    for (upstream, share) in stalling.iter().zip([128, 64]) {
        stalled.extend((0..300).map(|_| tokio::spawn(send(upstream))));
        upstream.until(|log| log.seen.len() == share).await;
    }
    for _ in 0..100 {
        let answered = tokio::time::timeout(Duration::from_secs(10), send(&neighbour)).await;
        assert_eq!(answered.expect("it does not wait for the others").unwrap().status(), 200);
    }
    assert_eq!(stalling.map(|upstream| upstream.seen().len()), [128, 64]);
    stalled.iter().for_each(|request| request.abort());
}
