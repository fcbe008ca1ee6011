//! Requests of the host itself: once, to the place that was named, and no further.

use std::time::Duration;

use tether_transport::errand::{Errands, Reach};
use tether_transport::outbound::SendError;

use crate::setup::*;
use crate::upstream::{Reply, Upstream, answer, deaf_port, status};

const TIME: Duration = Duration::from_secs(10);

fn to(url: &str) -> Errands {
    outbound().errands(url, Reach::Operators).unwrap()
}

async fn posted(upstream: &Upstream) -> Result<u16, SendError> {
    let url = format!("{}/hook?token=1", upstream.origin());
    let answered = to(&url).post(key(), &[("webhook-id", "9c1e.1")], b"{}".to_vec(), TIME).await;
    answered.map(|response| response.status().as_u16())
}

#[tokio::test]
async fn a_post_carries_its_key_its_headers_and_its_body() {
    let upstream = Upstream::always(status(204)).await;
    assert_eq!(posted(&upstream).await.unwrap(), 204);
    let seen = &upstream.seen()[0];
    assert_eq!(
        (seen.method.as_str(), seen.path.as_str(), seen.body.as_str()),
        ("POST", "/hook?token=1", "{}")
    );
    let header = |name: &str| seen.headers[name].as_str();
    assert_eq!(header("x-tether-idempotency-key"), KEY);
    assert_eq!(header("webhook-id"), "9c1e.1");
    assert_eq!(header("content-type"), "application/json");
    assert!(header("user-agent").starts_with("tether/"));
}

#[tokio::test]
async fn what_fails_is_told_and_not_sent_again() {
    for code in [429, 500, 503] {
        let upstream = Upstream::always(status(code)).await;
        assert_eq!(posted(&upstream).await.unwrap(), code);
        assert_eq!(upstream.seen().len(), 1);
    }
    let upstream = Upstream::always(Reply::Close).await;
    assert!(matches!(posted(&upstream).await, Err(SendError::OutcomeUnknown(_))));
    assert_eq!(upstream.seen().len(), 1);
    let nobody = to(&format!("http://127.0.0.1:{}", deaf_port().await));
    assert!(matches!(nobody.get(TIME, MOST).await, Err(SendError::NotSent(_))));
}

#[tokio::test]
async fn a_redirect_is_an_answer_like_others() {
    let elsewhere = Upstream::always(status(200)).await;
    let location = elsewhere.origin();
    for code in [301, 302, 303, 307, 308] {
        let upstream = Upstream::always(Reply::Bytes(answer(code, &[("location", &location)], ""))).await;
        assert_eq!(posted(&upstream).await.unwrap(), code);
        assert_eq!(to(&upstream.origin()).get(TIME, MOST).await.unwrap().status(), code);
    }
    assert_eq!(elsewhere.log().connections, 0);
}

#[tokio::test]
async fn a_cookie_is_not_sent_back() {
    let upstream = Upstream::always(Reply::Bytes(answer(200, &[("set-cookie", "a=1")], "{}"))).await;
    let errands = to(&upstream.origin());
    for _ in 0..2 {
        errands.get(TIME, MOST).await.unwrap();
    }
    assert!(upstream.seen().iter().all(|seen| !seen.headers.contains_key("cookie")));
}

#[tokio::test]
async fn an_answer_has_so_many_bytes_and_so_much_time() {
    let upstream = Upstream::always(Reply::Bytes(answer(200, &[], "12345"))).await;
    let errands = to(&upstream.origin());
    assert_eq!(errands.get(TIME, 5).await.unwrap().body(), "12345");
    assert_eq!(errands.get(TIME, 4).await.unwrap_err(), SendError::TooLarge(4));

    let silent = Upstream::always(Reply::Stall).await;
    let late = to(&silent.origin()).get(Duration::from_millis(200), MOST).await.unwrap_err();
    assert!(matches!(late, SendError::OutcomeUnknown(_)), "{late:?}");
}

#[tokio::test]
async fn of_a_posts_answer_the_status_counts() {
    let endless = Upstream::always(Reply::Endless).await;
    assert_eq!(posted(&endless).await.unwrap(), 200);
}

#[tokio::test]
async fn a_foreign_name_that_leads_inside_is_not_dialled() {
    let upstream = Upstream::always(status(200)).await;
    let url = format!("https://keys.test:{}/jwks.json", upstream.port());
    let outbound = outbound_with(ChangingNames::new(&[&["127.0.0.1"]]));
    let foreign = outbound.errands(&url, Reach::Foreign).unwrap();
    assert_denied(foreign.get(TIME, MOST).await, "not public");
    assert_eq!(upstream.log().connections, 0);

    let operators = format!("http://keys.test:{}/jwks.json", upstream.port());
    let operators = outbound.errands(&operators, Reach::Operators).unwrap();
    assert_eq!(operators.get(TIME, MOST).await.unwrap().status(), 200);
}
