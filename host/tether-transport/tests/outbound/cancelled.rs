//! Whoever goes away takes the request along.

use std::time::Duration;

use tether_core::ledger::Answer;
use tether_transport::outbound::Course;

use crate::journal::TestJournal;
use crate::names::Held;
use crate::setup::*;
use crate::upstream::{Reply, Upstream};

#[tokio::test]
async fn a_dropped_read_closes_its_connection() {
    let upstream = Upstream::always(Reply::Stall).await;
    let sender = reader(&[grant(&upstream.origin())]);
    let sending = tokio::spawn(sender.send(request("GET", upstream.origin())));
    upstream.until(|log| log.seen.len() == 1).await;
    sending.abort();
    tokio::time::timeout(Duration::from_secs(1), upstream.until(|log| log.closed == 1)).await.unwrap();
    assert_eq!(upstream.seen().len(), 1);
}

#[tokio::test]
async fn a_dropped_write_closes_its_connection_and_stays_in_doubt() {
    let upstream = Upstream::always(Reply::Stall).await;
    let (sender, journal) = writer(&[grant(&upstream.origin())]);
    let sending = tokio::spawn(sender.send(request("POST", upstream.origin())));
    upstream.until(|log| log.seen.len() == 1).await;
    sending.abort();
    tokio::time::timeout(Duration::from_secs(1), upstream.until(|log| log.closed == 1)).await.unwrap();
    assert_eq!(journal.answers(), [Answer::InDoubt]);
}

#[tokio::test]
async fn a_write_that_is_dropped_while_it_connects_sent_nothing() {
    let names = Held::new("127.0.0.1");
    let outbound = outbound_with(names.clone());
    let journal = TestJournal::new();
    let sender = outbound.sender(&[grant("http://slow.test")], key(), Course::Write(journal.clone()));
    let sending = tokio::spawn(sender.send(request("POST", "http://slow.test/")));
    names.asked().await;
    assert_eq!(journal.answers(), [Answer::InDoubt], "it is noted before anything else");
    sending.abort();
    assert!(sending.await.unwrap_err().is_cancelled());
    assert_eq!(journal.answers(), [Answer::NotSent]);
}

#[tokio::test]
async fn a_read_that_waits_for_its_next_try_sends_nothing_more() {
    let upstream = Upstream::always(Reply::Close).await;
    let clock = TestClock::new();
    let course = Course::Read(allowance_on(clock.clone(), 3, Duration::from_secs(30)));
    let sender = outbound().sender(&[grant(&upstream.origin())], key(), course);
    let sending = tokio::spawn(sender.send(request("GET", upstream.origin())));
    let pausing = async {
        while !clock.slept().contains(&150) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), pausing).await.unwrap();
    sending.abort();
    assert!(sending.await.unwrap_err().is_cancelled());
    assert_eq!((clock.waiting(), upstream.seen().len()), (0, 1), "nobody waits for the next try");
}
