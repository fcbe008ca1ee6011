//! F19: where a redirect leads, and what goes along.

use std::sync::{Arc, Mutex};

use tether_core::destination::Destination;
use tether_transport::outbound::{Course, Response, SendError};

use crate::setup::*;
use crate::upstream::{Reply, Seen, Upstream, answer, status};

const STATUSES: [u16; 5] = [301, 302, 303, 307, 308];

/// Sends what is asked for at `/` to `to`, and answers anything else.
fn to(code: u16, to: String) -> impl FnMut(&Seen) -> Reply + Send {
    move |seen| {
        if seen.path == "/" { Reply::Bytes(answer(code, &[("location", &to)], "")) } else { status(200) }
    }
}

fn full_grant(origin: &str) -> Destination {
    let headers = "authorization: Bearer ${TOKEN}";
    format!("{origin}\tGET,POST\tQUERY\t\tidempotency-key\t{headers}").parse().unwrap()
}

async fn follow(method: &str, from: &Upstream, destinations: &[Destination]) -> Result<Response, SendError> {
    let request = request(method, from.origin() + "/");
    let own =
        [("cookie", "c"), ("x-api-key", "k"), ("accept", "text/plain"), ("content-type", "application/json")];
    reader(destinations).send(with(request, &own)).await
}

#[tokio::test]
async fn within_its_origin_a_read_is_followed_with_everything() {
    for code in STATUSES {
        for method in ["GET", "QUERY"] {
            let upstream = Upstream::new(to(code, "/next?q".to_owned())).await;
            let response = follow(method, &upstream, &[full_grant(&upstream.origin())]).await.unwrap();
            assert_eq!(response.status(), 200);
            let [_, next] = &upstream.seen()[..] else { panic!("{:?}", upstream.seen()) };
            let keeps = matches!(code, 307 | 308);
            assert_eq!(next.path, "/next?q");
            assert_eq!(next.method, if keeps { method } else { "GET" }, "{code}");
            assert_eq!(next.body.is_empty(), !keeps || method == "GET", "{code}");
            assert_eq!(next.headers.contains_key("content-type"), keeps, "{code}");
            for name in
                ["x-tether-idempotency-key", "idempotency-key", "authorization", "cookie", "x-api-key"]
            {
                assert!(next.headers.contains_key(name), "{code} {name}");
            }
        }
    }
}

#[tokio::test]
async fn across_origins_goes_no_key_no_secret_and_no_body() {
    for code in STATUSES {
        for method in ["GET", "QUERY"] {
            let other = Upstream::always(status(200)).await;
            let upstream = Upstream::new(to(code, other.origin() + "/next")).await;
            let destinations = [full_grant(&upstream.origin()), full_grant(&other.origin())];
            let outcome = follow(method, &upstream, &destinations).await;
            assert_eq!(upstream.seen().len(), 1);
            if method == "QUERY" && matches!(code, 307 | 308) {
                assert_refused(outcome, "would carry the body");
                assert_eq!(other.log().connections, 0);
                continue;
            }
            assert_eq!(outcome.unwrap().status(), 200);
            let [next] = &other.seen()[..] else { panic!("{:?}", other.seen()) };
            assert_eq!((next.method.as_str(), next.body.as_str()), ("GET", ""));
            let names: Vec<_> = next.headers.keys().map(String::as_str).collect();
            assert_eq!(names, ["accept", "accept-encoding", "host", "user-agent"], "{code}");
        }
    }
}

#[tokio::test]
async fn what_has_left_its_origin_gets_nothing_back_when_it_returns() {
    let first = Arc::new(Mutex::new(String::new()));
    let back = first.clone();
    let other =
        Upstream::new(move |_| Reply::Bytes(answer(302, &[("location", &back.lock().unwrap())], ""))).await;
    let upstream = Upstream::new(to(302, other.origin())).await;
    *first.lock().unwrap() = upstream.origin() + "/back";
    let destinations = [full_grant(&upstream.origin()), full_grant(&other.origin())];
    assert_eq!(follow("GET", &upstream, &destinations).await.unwrap().status(), 200);
    let back = &upstream.seen()[1];
    assert_eq!(back.path, "/back");
    assert!(
        !back.headers.contains_key("authorization") && !back.headers.contains_key("x-tether-idempotency-key")
    );
}

#[tokio::test]
async fn what_has_left_its_origin_gets_nothing_of_the_new_one_either() {
    let other = Upstream::new(to(302, "/again".to_owned())).await;
    let upstream = Upstream::new(to(302, other.origin() + "/")).await;
    let destinations = [full_grant(&upstream.origin()), full_grant(&other.origin())];
    assert_eq!(follow("GET", &upstream, &destinations).await.unwrap().status(), 200);
    let seen = other.seen();
    let paths: Vec<_> = seen.iter().map(|seen| seen.path.as_str()).collect();
    assert_eq!(paths, ["/", "/again"]);
    for name in ["authorization", "x-tether-idempotency-key", "idempotency-key", "cookie"] {
        assert!(seen.iter().all(|seen| !seen.headers.contains_key(name)), "{name}");
    }
}

#[tokio::test]
async fn a_write_follows_none() {
    for code in STATUSES {
        for method in ["GET", "POST"] {
            let upstream = Upstream::new(to(code, "/next".to_owned())).await;
            let (sender, _) = writer(&[full_grant(&upstream.origin())]);
            let response = sender.send(request(method, upstream.origin() + "/")).await.unwrap();
            assert_eq!(
                (response.status().as_u16(), response.headers()["location"].as_bytes()),
                (code, &b"/next"[..])
            );
            assert_eq!(upstream.seen().len(), 1, "{code}");
        }
    }
}

#[tokio::test]
async fn a_redirect_is_checked_as_if_it_were_asked_for() {
    let other = Upstream::always(status(200)).await;
    let refused = [
        (other.origin(), "not granted"),
        ("http://169.254.169.254/latest".to_owned(), "not granted"),
        (format!("http://inner.test:{}/", other.port()), "not public"),
        ("http://u:p@127.0.0.1/".to_owned(), "names a user"),
        ("file:///etc/passwd".to_owned(), "scheme"),
        ("http://[".to_owned(), "leads to no URL"),
    ];
    for (target, says) in refused {
        let upstream = Upstream::new(to(302, target)).await;
        let outbound = outbound_with(ChangingNames::new(&[&["127.0.0.1"]]));
        let inner = full_grant(&format!("http://inner.test:{}", other.port()));
        let destinations = [full_grant(&upstream.origin()), inner];
        let sender = outbound.sender(&destinations, key(), Course::Read(three()));
        assert_denied(sender.send(request("GET", upstream.origin() + "/")).await, says);
        assert_eq!((upstream.seen().len(), other.log().connections), (1, 0));
    }
}

#[tokio::test]
async fn a_method_that_is_not_granted_there_is_not_followed() {
    let other = Upstream::always(status(200)).await;
    let upstream = Upstream::new(to(302, other.origin())).await;
    let only_post = format!("{}\tPOST\t\t\t", other.origin()).parse().unwrap();
    assert_denied(
        follow("GET", &upstream, &[full_grant(&upstream.origin()), only_post]).await,
        "not granted",
    );
    assert_eq!(other.log().connections, 0);
}

#[tokio::test]
async fn five_are_followed_and_not_six() {
    let upstream = Upstream::new(|seen| {
        let turn: usize = seen.path[1..].parse().unwrap();
        if turn == 0 {
            status(200)
        } else {
            Reply::Bytes(answer(302, &[("location", &format!("/{}", turn - 1))], ""))
        }
    })
    .await;
    let destinations = [full_grant(&upstream.origin())];
    let five = reader(&destinations).send(request("GET", upstream.origin() + "/5")).await.unwrap();
    assert_eq!((five.status().as_u16(), upstream.seen().len()), (200, 6));
    let six = reader(&destinations).send(request("GET", upstream.origin() + "/6")).await;
    assert_refused(six, "more than 5 times");
    assert_eq!(upstream.seen().len(), 12);
}

#[tokio::test]
async fn a_redirect_that_leads_nowhere_is_an_answer() {
    for code in [300, 301, 304] {
        let upstream = Upstream::always(status(code)).await;
        let outcome = reader(&[full_grant(&upstream.origin())]).send(request("GET", upstream.origin())).await;
        assert_eq!(outcome.unwrap().status(), code);
        assert_eq!(upstream.seen().len(), 1);
    }
}

#[tokio::test]
async fn a_try_begins_where_the_handler_asked() {
    let mut fails = true;
    let upstream = Upstream::new(move |seen| {
        if seen.path == "/" {
            Reply::Bytes(answer(302, &[("location", "/next")], ""))
        } else {
            status(if std::mem::take(&mut fails) { 503 } else { 200 })
        }
    })
    .await;
    assert_eq!(follow("GET", &upstream, &[full_grant(&upstream.origin())]).await.unwrap().status(), 200);
    let paths: Vec<_> = upstream.seen().into_iter().map(|seen| seen.path).collect();
    assert_eq!(paths, ["/", "/next", "/", "/next"]);
}
