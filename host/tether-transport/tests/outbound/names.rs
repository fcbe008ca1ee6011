//! Names that lead where they should not.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tether_core::ledger::Answer;
use tether_core::port::BoxFuture;
use tether_transport::outbound::{Course, Names, Outbound, SendError};
use tokio::sync::Notify;

use crate::journal::TestJournal;
use crate::setup::*;
use crate::upstream::{Upstream, status};

/// A look-up that answers when it is told to.
pub(crate) struct Held {
    address: IpAddr,
    asked: Arc<Notify>,
    answer: Arc<Notify>,
}

impl Held {
    pub(crate) fn new(address: &str) -> Arc<Self> {
        let address = address.parse().unwrap();
        Arc::new(Self { address, asked: Arc::default(), answer: Arc::default() })
    }

    /// Until the look-up has begun.
    pub(crate) async fn asked(&self) {
        tokio::time::timeout(Duration::from_secs(10), self.asked.notified()).await.unwrap();
    }

    pub(crate) fn answer(&self) {
        self.answer.notify_one();
    }
}

impl Names for Held {
    fn look_up(&self, _: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let (address, asked, answer) = (self.address, self.asked.clone(), self.answer.clone());
        Box::pin(async move {
            asked.notify_one();
            answer.notified().await;
            Ok(vec![address])
        })
    }
}

/// A listener at 127.0.0.1, and a name that is granted on its port, with `networks`.
struct Place {
    upstream: Upstream,
    names: Arc<ChangingNames>,
    outbound: Outbound,
    destination: String,
    url: String,
}

impl Place {
    async fn new(answers: &[&[&str]], networks: &str) -> Self {
        let upstream = Upstream::always(status(200)).await;
        let names = ChangingNames::new(answers);
        let outbound = outbound_with(names.clone());
        let origin = format!("http://api.test:{}", upstream.port());
        let destination = format!("{origin}\tGET,POST\t\t{networks}\t");
        Self { upstream, names, outbound, destination, url: origin + "/?secret" }
    }

    async fn read(&self) -> Result<u16, SendError> {
        let course = Course::Read(allowance(1, Duration::from_secs(5)));
        let sender = self.outbound.sender(&[self.destination.parse().unwrap()], key(), course);
        sender.send(request("GET", self.url.clone())).await.map(|response| response.status().as_u16())
    }

    async fn write(&self) -> (Result<u16, SendError>, Vec<Answer>) {
        let journal = TestJournal::new();
        let course = Course::Write(journal.clone());
        let sender = self.outbound.sender(&[self.destination.parse().unwrap()], key(), course);
        let outcome = sender.send(request("POST", self.url.clone())).await;
        (outcome.map(|response| response.status().as_u16()), journal.answers())
    }
}

#[tokio::test]
async fn a_name_that_leads_to_what_is_not_public_is_denied_and_nothing_is_dialled() {
    for address in [
        "127.0.0.1",
        "::ffff:127.0.0.1",
        "10.0.0.1",
        "169.254.169.254",
        "::1",
        "fe80::1",
        "64:ff9b::7f00:1",
        "0.0.0.0",
    ] {
        let place = Place::new(&[&[address]], "").await;
        assert_denied(place.read().await, "not public");
        let (outcome, noted) = place.write().await;
        assert_denied(outcome, "not public");
        assert_eq!(noted, [Answer::NotSent]);
        assert_eq!(place.upstream.log().connections, 0, "{address}");
    }
}

#[tokio::test]
async fn an_address_in_the_url_takes_a_grant_of_just_this_address() {
    let upstream = Upstream::always(status(200)).await;
    for host in
        ["127.0.0.1", "0x7f.1", "2130706433", "017700000001", "127.1", "[::ffff:127.0.0.1]", "[::1]", "0"]
    {
        let url = format!("http://{host}:{}/", upstream.port());
        let anywhere = format!("http://127.0.0.2:{}\tGET,POST\t\t\t", upstream.port()).parse().unwrap();
        let (sender, journal) = writer(&[anywhere]);
        assert_denied(sender.send(request("POST", url.clone())).await, "not granted");
        assert!(journal.entries().is_empty(), "{host}");
    }
    assert_eq!(upstream.log().connections, 0);
}

#[tokio::test]
async fn what_is_granted_by_its_network_is_dialled() {
    for networks in ["127.0.0.1", "127.0.0.0/8", "10.0.0.0/8,127.0.0.1"] {
        let place = Place::new(&[&["127.0.0.1"]], networks).await;
        assert_eq!(place.read().await.unwrap(), 200);
    }
    let place = Place::new(&[&["127.0.0.1"]], "10.0.0.0/8").await;
    assert_denied(place.read().await, "not public");
}

#[tokio::test]
async fn of_several_addresses_only_the_granted_one_is_dialled() {
    let place = Place::new(&[&["127.0.0.2", "169.254.169.254", "127.0.0.1"]], "127.0.0.1").await;
    let other = Upstream::at(("127.0.0.2", place.upstream.port()), |_| status(500)).await;
    assert_eq!(place.read().await.unwrap(), 200);
    assert_eq!((place.names.asked.load(Ordering::SeqCst), other.log().connections), (1, 0));
}

/// The name is harmless when it is looked at and not when it is dialled: there is one
/// look-up, so there is no "when it is dialled".
#[tokio::test]
async fn a_name_that_changes_its_answer_gains_nothing() {
    let place = Place::new(&[&["192.0.2.1"], &["127.0.0.1"]], "").await;
    for _ in 0..3 {
        assert_denied(place.read().await, "not public");
    }
    assert_denied(place.write().await.0, "not public");
    assert_eq!(place.names.asked.load(Ordering::SeqCst), 4, "one for each request");
    assert_eq!(place.upstream.log().connections, 0);
}

#[tokio::test]
async fn two_grants_of_one_origin_share_no_connection() {
    let place = Place::new(&[&["127.0.0.1"]], "127.0.0.1").await;
    assert_eq!(place.read().await.unwrap(), 200);
    let without = Place { destination: place.destination.replace("127.0.0.1", ""), ..place };
    assert_denied(without.read().await, "not public");
    assert_eq!(without.upstream.seen().len(), 1);
}

#[tokio::test]
async fn a_name_without_an_address_is_no_connection() {
    let place = Place::new(&[&[]], "").await;
    assert!(matches!(place.read().await, Err(SendError::NotSent(_))));
}
