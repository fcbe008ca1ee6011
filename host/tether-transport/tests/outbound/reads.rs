//! The left column of the policy table.

use std::time::Duration;

use tether_core::destination::Destination;
use tether_transport::outbound::{Course, Response, SendError};

use crate::setup::*;
use crate::upstream::{Reply, Seen, Upstream, answer, deaf_port, status};

const TIMEOUT: Duration = Duration::from_millis(250);

async fn read(upstream: &Upstream) -> Result<Response, SendError> {
    reader(&[grant(&upstream.origin())]).send(request("GET", upstream.origin() + "/x?q=1")).await
}

/// The pauses between requests, of which none may be shorter.
#[track_caller]
fn assert_gaps(seen: &[Seen], at_least: &[u64]) {
    let gaps: Vec<_> = seen.windows(2).map(|pair| pair[1].at - pair[0].at).collect();
    assert_eq!(gaps.len(), at_least.len(), "{gaps:?}");
    for (gap, at_least) in gaps.iter().zip(at_least) {
        assert!(*gap >= Duration::from_millis(*at_least), "{gaps:?}");
    }
}

#[tokio::test]
async fn five_statuses_are_tried_three_times_after_150_and_300_milliseconds() {
    for code in [408, 429, 502, 503, 504] {
        let upstream = Upstream::always(status(code)).await;
        let response = read(&upstream).await.unwrap();
        assert_eq!(response.status(), code, "the last answer is the answer");
        let seen = upstream.seen();
        assert_gaps(&seen, &[150, 300]);
        assert!(seen.iter().all(|seen| seen.headers["x-tether-idempotency-key"] == KEY), "{seen:?}");
        assert!(seen.iter().all(|seen| seen.path == "/x?q=1"), "{seen:?}");
    }
}

#[tokio::test]
async fn any_other_status_is_an_answer() {
    for code in [200, 201, 204, 304, 400, 401, 404, 409, 418, 425, 500, 501, 505, 520, 599] {
        let upstream = Upstream::always(status(code)).await;
        assert_eq!(read(&upstream).await.unwrap().status(), code);
        assert_eq!(upstream.seen().len(), 1, "{code}");
    }
}

#[tokio::test]
async fn what_goes_better_is_the_answer() {
    let upstream = Upstream::in_turn(vec![Reply::Close, status(503), status(200)]).await;
    assert_eq!(read(&upstream).await.unwrap().status(), 200);
    assert_gaps(&upstream.seen(), &[150, 300]);
}

#[tokio::test]
async fn a_lost_connection_is_tried_three_times() {
    for reply in [
        Reply::Close,
        Reply::Last(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf".to_vec()),
        Reply::Last(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n".to_vec()),
    ] {
        let upstream = Upstream::always(reply).await;
        let error = read(&upstream).await.unwrap_err();
        assert!(matches!(error, SendError::OutcomeUnknown(_)), "{error:?}");
        assert!(!error.to_string().contains("q=1"), "{error}");
        assert_gaps(&upstream.seen(), &[150, 300]);
    }
}

#[tokio::test]
async fn a_refused_connection_is_tried_three_times_and_nothing_is_sent() {
    let origin = format!("http://127.0.0.1:{}", deaf_port().await);
    let allowance = three();
    let sender = outbound().sender(&[grant(&origin)], key(), Course::Read(allowance.clone()));
    let error = sender.send(request("GET", origin)).await.unwrap_err();
    assert!(matches!(error, SendError::NotSent(_)), "{error:?}");
    assert_eq!(allowance.attempts(), 3);
}

#[tokio::test]
async fn each_try_has_a_time_of_its_own() {
    let (upstream, clock) = (Upstream::always(Reply::Stall).await, TestClock::new());
    let course = Course::Read(allowance_on(clock.clone(), 3, TIMEOUT));
    let sender = outbound().sender(&[grant(&upstream.origin())], key(), course);
    let error = sender.send(request("GET", upstream.origin())).await.unwrap_err();
    assert!(matches!(&error, SendError::OutcomeUnknown(why) if why.contains("within")), "{error:?}");
    let slept = clock.slept();
    // The last try ends with the call's time at the latest.
    let [first @ .., last] = &slept[..] else { panic!("{slept:?}") };
    assert_eq!(first, [250, 150, 250, 300], "a try, a pause, a try, a pause, a try");
    assert!(*last <= 250, "{slept:?}");
    assert_gaps(&upstream.seen(), &[150, 300]);
    upstream.until(|log| log.closed == 3).await;
}

#[tokio::test]
async fn a_body_that_stalls_is_a_timeout_as_well() {
    let half = Reply::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf".to_vec());
    let (upstream, clock) = (Upstream::in_turn(vec![half, status(200)]).await, TestClock::new());
    let course = Course::Read(allowance_on(clock.clone(), 3, TIMEOUT));
    let sender = outbound().sender(&[grant(&upstream.origin())], key(), course);
    assert_eq!(sender.send(request("GET", upstream.origin())).await.unwrap().status(), 200);
    assert_eq!(clock.slept(), [250, 150, 250]);
    assert_gaps(&upstream.seen(), &[150]);
}

#[tokio::test]
async fn one_attempt_means_no_repetition() {
    let upstream = Upstream::always(status(503)).await;
    let sender = outbound().sender(&[grant(&upstream.origin())], key(), Course::Read(allowance(1, TIMEOUT)));
    assert_eq!(sender.send(request("GET", upstream.origin())).await.unwrap().status(), 503);
    assert_eq!(upstream.seen().len(), 1);
}

#[tokio::test]
async fn several_requests_of_a_call_share_one_budget() {
    let upstream = Upstream::always(status(503)).await;
    let sender = reader(&[grant(&upstream.origin())]);
    for _ in 0..2 {
        assert_eq!(sender.send(request("GET", upstream.origin())).await.unwrap().status(), 503);
    }
    assert_eq!(upstream.seen().len(), 3 + 1);
}

#[tokio::test]
async fn nobody_is_asked_again_sooner_than_they_wanted() {
    for (name, value, at_least) in
        [("Retry-After", "1", 1000), ("retry-after-ms", "700", 700), ("Retry-After", "0.5", 500)]
    {
        let later = Reply::Bytes(answer(503, &[(name, value)], ""));
        let upstream = Upstream::in_turn(vec![later, status(200)]).await;
        assert_eq!(read(&upstream).await.unwrap().status(), 200);
        assert_gaps(&upstream.seen(), &[at_least]);
    }
}

#[tokio::test]
async fn a_date_is_waited_for() {
    let (later, now) = ("Sun, 06 Nov 1994 08:49:38 GMT", "Sun, 06 Nov 1994 08:49:37 GMT");
    let later = Reply::Bytes(answer(429, &[("Retry-After", later), ("Date", now)], ""));
    let upstream = Upstream::in_turn(vec![later, status(200)]).await;
    assert_eq!(read(&upstream).await.unwrap().status(), 200);
    assert_gaps(&upstream.seen(), &[1000]);
}

#[tokio::test]
async fn a_wait_that_does_not_fit_ends_the_repetition_and_is_told() {
    let upstream = Upstream::always(Reply::Bytes(answer(503, &[("Retry-After", "120")], "later"))).await;
    let sender = reader(&[grant(&upstream.origin())]);
    let response = sender.send(request("GET", upstream.origin())).await.unwrap();
    assert_eq!((response.status().as_u16(), &response.body()[..]), (503, &b"later"[..]));
    assert_eq!(upstream.seen().len(), 1);
    let left = sender.retry_after().unwrap();
    assert!(left > Duration::from_secs(100) && left <= Duration::from_secs(120), "{left:?}");
}

#[tokio::test]
async fn a_wait_that_makes_no_sense_is_no_wait() {
    for value in ["-1", "120junk", "1e10000", "Sun, 06 Nov 1994 08:49:37 GMT"] {
        let upstream =
            Upstream::in_turn(vec![Reply::Bytes(answer(503, &[("Retry-After", value)], "")), status(200)])
                .await;
        assert_eq!(read(&upstream).await.unwrap().status(), 200, "{value}");
        assert_eq!(upstream.seen().len(), 2, "{value}");
    }
}

#[tokio::test]
async fn a_connection_is_kept_for_the_next_read() {
    let upstream = Upstream::always(status(200)).await;
    let (outbound, destinations) = (outbound(), [grant(&upstream.origin())]);
    for _ in 0..3 {
        let sender = outbound.sender(&destinations, key(), Course::Read(three()));
        sender.send(request("GET", upstream.origin())).await.unwrap();
        tokio::task::yield_now().await;
    }
    let log = upstream.log();
    assert!(log.seen.len() == 3 && log.connections < 3, "{log:?}");
}

/// F4, for reads: what repeats a request is the policy, never the client beneath it.
#[tokio::test]
async fn a_kept_connection_that_dies_is_not_resent_behind_the_policy() {
    let upstream = Upstream::in_turn(vec![status(200), Reply::Close]).await;
    let (outbound, destinations) = (outbound(), [grant(&upstream.origin())]);
    let send = |method| {
        let sender =
            outbound.sender(&destinations, key(), Course::Read(allowance(1, Duration::from_secs(30))));
        sender.send(request(method, upstream.origin()))
    };
    send("GET").await.unwrap();
    for method in ["QUERY", "GET"] {
        let before = upstream.seen().len();
        let error = send(method).await.unwrap_err();
        assert!(matches!(error, SendError::OutcomeUnknown(_)), "{error:?}");
        assert_eq!(upstream.seen().len(), before + 1, "{method}");
    }
}

#[tokio::test]
async fn a_kept_connection_that_was_closed_meanwhile_costs_no_retry() {
    let upstream = Upstream::always(Reply::Last(answer(200, &[], "{}"))).await;
    let (outbound, destinations) = (outbound(), [grant(&upstream.origin())]);
    for turn in 1..=3 {
        let sender = outbound.sender(&destinations, key(), Course::Read(three()));
        assert_eq!(sender.send(request("GET", upstream.origin())).await.unwrap().status(), 200);
        assert_eq!(upstream.seen().iter().filter(|seen| seen.method == "GET").count(), turn);
    }
}

#[tokio::test]
async fn a_read_sends_what_is_safe_and_what_it_was_granted() {
    let upstream = Upstream::always(status(200)).await;
    let destinations = [grant(&upstream.origin())];
    for method in ["GET", "HEAD", "OPTIONS", "QUERY"] {
        reader(&destinations)
            .send(request(method, upstream.origin()))
            .await
            .unwrap_or_else(|error| panic!("{method}: {error}"));
    }
    for method in ["POST", "PUT", "DELETE"] {
        assert_denied(reader(&destinations).send(request(method, upstream.origin())).await, "a read");
    }
    let methods: Vec<_> = upstream.seen().into_iter().map(|seen| seen.method).collect();
    assert_eq!(methods, ["GET", "HEAD", "OPTIONS", "QUERY"]);
}

#[tokio::test]
async fn a_peer_may_have_a_header_of_its_own_for_the_key() {
    let upstream = Upstream::in_turn(vec![status(503), status(200)]).await;
    let destination: Destination =
        format!("{}\tGET\t\t\tidempotency-key", upstream.origin()).parse().unwrap();
    reader(&[destination]).send(request("GET", upstream.origin())).await.unwrap();
    assert!(upstream.seen().iter().all(|seen| seen.headers["idempotency-key"] == KEY));
}

/// The test above, once more, in an environment that names a proxy.
#[test]
fn a_proxy_of_the_environment_is_not_used() {
    let mut tests = std::process::Command::new(std::env::current_exe().unwrap());
    tests.args(["--exact", "reads::a_peer_may_have_a_header_of_its_own_for_the_key"]);
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        // Port 1 is nobody's: a request to it would fail.
        tests.env(name, "http://127.0.0.1:1");
    }
    let output = tests.env_remove("NO_PROXY").env_remove("no_proxy").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// What one server asked for is not over because another one answers, or fails.
#[tokio::test]
async fn the_longest_wait_that_was_asked_for_is_kept() {
    let asks = |seconds| Reply::Bytes(answer(503, &[("Retry-After", seconds)], ""));
    let first = Upstream::always(asks("120")).await;
    let second = Upstream::in_turn(vec![status(503), asks("1"), status(200)]).await;
    let sender = reader(&[grant(&first.origin()), grant(&second.origin())]);
    assert_eq!(sender.send(request("GET", first.origin())).await.unwrap().status(), 503);
    assert_eq!(sender.send(request("GET", second.origin())).await.unwrap().status(), 200);
    assert!(sender.retry_after().unwrap() > Duration::from_secs(60));
    assert_eq!((first.seen().len(), second.seen().len()), (1, 3));
}
