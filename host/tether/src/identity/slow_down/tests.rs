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
    assert_eq!(millis, [100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
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

#[tokio::test]
async fn guesses_in_parallel_are_looked_at_one_after_the_other() {
    let (clock, slow_down) = given();
    fail(&slow_down, peer(1), 5).await;
    clock.hold();
    let slow_down = Arc::new(slow_down);
    let looks: Vec<_> = (0..50)
        .map(|number| {
            let slow_down = Arc::clone(&slow_down);
            tokio::spawn(async move {
                let look = slow_down.enter(peer(1), guess(number)).await;
                look.map(|look| {
                    let inside = slow_down.state().address(network_of(peer(1)), Duration::ZERO).inside;
                    look.failed();
                    inside
                })
            })
        })
        .collect();
    // One pauses, eight wait, and nothing of the others is looked at.
    clock.until_slept(1).await;
    for _ in 0..9 {
        clock.release();
    }
    let mut seen = Vec::new();
    let mut refused = 0;
    for look in looks {
        match look.await.unwrap() {
            Ok(inside) => seen.push(inside),
            Err(TooMany { retry_after }) => {
                assert!(retry_after >= Duration::from_secs(1) / 2, "{retry_after:?}");
                refused += 1;
            }
        }
    }
    assert_eq!((seen, refused), (vec![1; 9], 41));
    assert_eq!(clock.slept().len(), 9);
}

#[tokio::test]
async fn guesses_that_came_before_the_first_answer_are_slowed_down_as_well() {
    let (clock, slow_down) = given();
    // Five are inside, and the rest of a flood waits.
    let mut inside = Vec::new();
    for number in 0..5 {
        inside.push(at_once(slow_down.enter(peer(1), guess(number))).unwrap());
    }
    clock.hold();
    let slow_down = &slow_down;
    let mut waiting: Vec<_> =
        (5..45).map(|number| Box::pin(slow_down.enter(peer(1), guess(number)))).collect();
    let mut context = Context::from_waker(Waker::noop());
    let mut poll = || {
        let polled = waiting.iter_mut().map(|look| match look.as_mut().poll(&mut context) {
            Poll::Ready(Err(TooMany { .. })) => "refused",
            Poll::Ready(Ok(_)) => "looked at",
            Poll::Pending => "waits",
        });
        polled.collect::<Vec<_>>()
    };
    assert_eq!(poll(), ["waits"; 40]);
    inside.into_iter().for_each(Look::failed);
    let after = poll();
    assert_eq!(after.iter().filter(|what| **what == "looked at").count(), 0);
    assert_eq!(after.iter().filter(|what| **what == "waits").count(), WAITING_EACH + 1, "{after:?}");
}

#[tokio::test]
async fn whoever_never_failed_is_kept_out_by_no_flood_from_elsewhere() {
    let (clock, slow_down) = given();
    let guessers = 1..=9;
    for last in guessers.clone() {
        fail(&slow_down, peer(last), FREE as usize).await;
    }
    clock.hold();
    let all = guessers.flat_map(|last| (0..20).map(move |number| (peer(last), guess(number))));
    let mut flood: Vec<_> = all.map(|(peer, guess)| Box::pin(slow_down.enter(peer, guess))).collect();
    let mut context = Context::from_waker(Waker::noop());
    let polled = flood.iter_mut().map(|look| look.as_mut().poll(&mut context));
    let refused = polled.filter(|polled| matches!(polled, Poll::Ready(Err(TooMany { .. }))));
    // Eight pause, each before eight who wait; for the ninth address there is no place.
    assert_eq!(refused.count(), 9 * 20 - 8 - WAITING);
    assert_eq!(slow_down.state().waiting, WAITING, "no place is left");
    at_once(slow_down.enter(peer(100), guess(1))).unwrap().got_in();
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
async fn who_goes_away_gives_its_place_back() {
    let (clock, slow_down) = given();
    fail(&slow_down, peer(1), 5).await;
    clock.hold();
    {
        let mut context = Context::from_waker(Waker::noop());
        let mut all: Vec<_> =
            (0..9).map(|number| Box::pin(slow_down.enter(peer(1), guess(number)))).collect();
        for look in &mut all {
            assert!(look.as_mut().poll(&mut context).is_pending());
        }
        assert!(slow_down.enter(peer(1), guess(9)).await.is_err());
    }
    assert_eq!(slow_down.state().waiting, 0);
    // The first of them had gone to sleep.
    clock.release();
    clock.release();
    slow_down.enter(peer(1), guess(10)).await.unwrap().got_in();
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
