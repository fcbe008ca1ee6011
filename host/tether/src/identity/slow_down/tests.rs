//! Guesses from here and there, on a clock that the test sets.

use std::future::Future;
use std::task::{Context, Poll, Waker};

use super::*;
use crate::identity::tests::given_clock::GivenClock;

fn peer(last: u8) -> IpAddr {
    IpAddr::from([192, 0, 2, last])
}

fn guess(number: usize) -> Digest {
    Digest::of(format!("guess {number}"))
}

fn given() -> (Arc<GivenClock>, SlowDown) {
    let clock = Arc::new(GivenClock::default());
    (clock.clone(), SlowDown::new(clock))
}

/// Runs what must not have to wait.
#[track_caller]
fn at_once<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => panic!("it waits"),
    }
}

async fn fail(slow_down: &SlowDown, peer: IpAddr, times: usize) {
    for number in 0..times {
        slow_down.enter(peer, guess(1_000 + number)).await.unwrap().failed();
    }
}

#[tokio::test]
async fn five_failures_are_free_and_then_each_look_comes_after_a_longer_pause() {
    let (clock, slow_down) = given();
    fail(&slow_down, peer(1), 14).await;
    let millis: Vec<_> = clock.slept().iter().map(Duration::as_millis).collect();
    assert_eq!(millis, [100, 200, 400, 800, 1600, 2000, 2000, 2000, 2000]);
    // Somebody else's address is somebody else's.
    at_once(slow_down.enter(peer(2), guess(1))).unwrap().failed();
}

#[tokio::test]
async fn an_address_that_fails_no_more_is_forgotten() {
    let (clock, slow_down) = given();
    fail(&slow_down, peer(1), 5).await;
    clock.advance(FORGOTTEN_AFTER);
    at_once(slow_down.enter(peer(1), guess(1))).unwrap().failed();
    assert!(clock.slept().is_empty());
}

/// What each of these came to when it was asked once more.
fn poll<'a, F>(looks: &mut [std::pin::Pin<Box<F>>]) -> Vec<&'static str>
where
    F: Future<Output = Result<Look<'a>, TooMany>>,
{
    let mut context = Context::from_waker(Waker::noop());
    let polled = looks.iter_mut().map(|look| match look.as_mut().poll(&mut context) {
        Poll::Ready(Err(TooMany)) => "refused",
        Poll::Ready(Ok(_)) => "looked at",
        Poll::Pending => "waits",
    });
    polled.collect()
}

#[tokio::test]
async fn whoever_comes_after_any_number_of_guesses_makes_one_pause() {
    let (clock, slow_down) = given();
    fail(&slow_down, peer(1), 5).await;
    clock.hold();
    let mut guesses: Vec<_> =
        (0..1_000).map(|number| Box::pin(slow_down.enter(peer(1), guess(number)))).collect();
    assert_eq!(poll(&mut guesses), ["waits"; 1_000]);
    let mut good = Box::pin(slow_down.enter(peer(1), Digest::of("good")));
    assert_eq!(poll(std::slice::from_mut(&mut good)), ["waits"]);
    let pauses = clock.slept();
    let millis: Vec<_> = pauses.iter().take(6).map(Duration::as_millis).collect();
    assert_eq!(millis, [100, 200, 400, 800, 1600, 2000], "each counts those that pause already");
    assert_eq!((pauses.len(), pauses.last()), (1_001, Some(&LONGEST_PAUSE)));
    // The pauses of the others are not its own: all of them end by then.
    (0..1_001).for_each(|_| clock.release());
    good.await.unwrap().got_in();
}

#[tokio::test]
async fn guesses_that_came_before_the_first_answer_are_slowed_down_as_well() {
    let (clock, slow_down) = given();
    // Five are looked at, and the rest of a flood waits for what comes of these.
    let mut inside = Vec::new();
    for number in 0..5 {
        inside.push(at_once(slow_down.enter(peer(1), guess(number))).unwrap());
    }
    clock.hold();
    let mut waiting: Vec<_> =
        (5..45).map(|number| Box::pin(slow_down.enter(peer(1), guess(number)))).collect();
    assert_eq!(poll(&mut waiting), ["waits"; 40]);
    assert!(clock.slept().is_empty());
    inside.into_iter().for_each(Look::failed);
    assert_eq!(poll(&mut waiting), ["waits"; 40]);
    assert_eq!(clock.slept().len(), 40, "each of them pauses");
}

#[test]
fn a_crowd_that_comes_for_the_first_time_makes_no_pause() {
    let (clock, slow_down) = given();
    let slow_down = &slow_down;
    let mut looks: Vec<_> = (0..5).map(|number| at_once(slow_down.enter(peer(1), guess(number)))).collect();
    let mut crowd: Vec<_> =
        (5..500).map(|number| Box::pin(slow_down.enter(peer(1), guess(number)))).collect();
    assert_eq!(poll(&mut crowd), ["waits"; 495]);
    for next in crowd {
        looks.remove(0).unwrap().got_in();
        looks.push(at_once(next));
    }
    looks.into_iter().for_each(|look| look.unwrap().got_in());
    assert!(clock.slept().is_empty());
    assert!(slow_down.state().addresses.is_empty());
}

#[tokio::test]
async fn pauses_take_no_more_than_half_of_the_connections() {
    let (clock, slow_down) = given();
    for last in [1, 2] {
        fail(&slow_down, peer(last), FREE).await;
    }
    clock.hold();
    let mut flood: Vec<_> =
        (0..PAUSING + 10).map(|number| Box::pin(slow_down.enter(peer(1), guess(number)))).collect();
    let refused = poll(&mut flood).into_iter().filter(|what| *what == "refused").count();
    assert_eq!((refused, slow_down.state().pausing), (10, PAUSING));
    assert_eq!(at_once(slow_down.enter(peer(2), guess(1))).err(), Some(TooMany));
    // Whoever never failed is kept out by no flood from elsewhere.
    at_once(slow_down.enter(peer(3), guess(1))).unwrap().got_in();
    drop(flood);
    assert_eq!(slow_down.state().pausing, 0);
}

#[tokio::test]
async fn who_got_in_lately_passes_by_the_queue() {
    let (clock, slow_down) = given();
    at_once(slow_down.enter(peer(1), guess(1))).unwrap().got_in();
    fail(&slow_down, peer(1), 20).await;
    let slept = clock.slept().len();
    // From wherever it comes.
    at_once(slow_down.enter(peer(1), guess(1))).unwrap().got_in();
    at_once(slow_down.enter(peer(2), guess(1))).unwrap().got_in();
    // Once it is revoked it is a failure like any other, and known no more.
    at_once(slow_down.enter(peer(1), guess(1))).unwrap().failed();
    slow_down.enter(peer(1), guess(1)).await.unwrap().failed();
    assert_eq!(clock.slept().len(), slept + 1);
}

#[test]
fn a_crowd_with_one_credential_is_one_guess() {
    let (_, slow_down) = given();
    let looks: Vec<_> = (0..500).map(|_| at_once(slow_down.enter(peer(1), guess(1))).unwrap()).collect();
    looks.into_iter().for_each(Look::got_in);
    assert!(slow_down.state().addresses.is_empty());
}

#[tokio::test]
async fn who_goes_away_is_not_looked_at_and_leaves_nothing_behind() {
    let (clock, slow_down) = given();
    let inside: Vec<_> = (0..5).map(|number| at_once(slow_down.enter(peer(1), guess(number)))).collect();
    let mut waiting = [Box::pin(slow_down.enter(peer(1), guess(5)))];
    assert_eq!(poll(&mut waiting), ["waits"]);
    drop((waiting, inside));
    assert!(slow_down.state().addresses.is_empty());
    fail(&slow_down, peer(1), 5).await;
    clock.hold();
    let mut pausing = [Box::pin(slow_down.enter(peer(1), guess(5)))];
    assert_eq!(poll(&mut pausing), ["waits"]);
    drop(pausing);
    let address = &slow_down.state().addresses[&peer(1)];
    assert_eq!((address.failures, address.inside, address.pausing), (5, 0, 0));
}

#[test]
fn what_is_remembered_is_bounded() {
    let (clock, slow_down) = given();
    for number in 0..(ADDRESSES + 100) {
        clock.advance(Duration::from_millis(1));
        let peer = IpAddr::from(u32::try_from(number).unwrap().to_be_bytes());
        at_once(slow_down.enter(peer, guess(number))).unwrap().failed();
    }
    assert_eq!(slow_down.state().addresses.len(), ADDRESSES);
    for number in 0..(KNOWN + 100) {
        clock.advance(Duration::from_millis(1));
        at_once(slow_down.enter(peer(1), guess(number))).unwrap().got_in();
    }
    assert_eq!(slow_down.state().known.len(), KNOWN);
    // The oldest went first.
    assert!(!slow_down.state().is_known(&guess(99), clock.monotonic()));
    assert!(slow_down.state().is_known(&guess(100), clock.monotonic()));
}

#[test]
fn an_address_is_what_one_peer_has() {
    let check = |a: &str, b: &str, same: bool| {
        let [a, b] = [a, b].map(|text| network_of(text.parse().unwrap()));
        assert_eq!(a == b, same, "{a} {b}");
    };
    check("2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff", true);
    check("2001:db8::1", "2001:db8:0:1::1", false);
    check("::ffff:192.0.2.1", "192.0.2.1", true);
    check("192.0.2.1", "192.0.2.2", false);
}
