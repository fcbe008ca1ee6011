//! What a guest sends, by either import, counted where it lands.

use std::time::{Duration, Instant};

use tether_core::failure::Cause;
use tether_core::invocation::Invocation;
use tether_core::ledger::Answer;

use crate::upstream::Upstream;
use crate::world::{World, allowance, call, probe_sending, probe_sending_to};

const SECOND: Duration = Duration::from_secs(1);

/// An upstream, and a probe that may send to it.
async fn given() -> (Upstream, World) {
    let upstream = Upstream::start().await;
    let world = probe_sending_to(&upstream.origin()).await;
    (upstream, world)
}

/// Runs a write that says how its requests went.
async fn write(world: &World, tool: &str, arguments: &str) -> String {
    let report = world.write(call(tool, arguments, 1)).await;
    report.result.unwrap_or_else(|failure| panic!("{tool}: {failure:?}")).as_str().to_owned()
}

fn key_line(call: &Invocation) -> String {
    format!("x-tether-idempotency-key: {}\r\n", call.request_id)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_and_its_answer_pass_to_the_letter() {
    for tool in ["probe_send", "probe_fetch"] {
        let (upstream, world) = given().await;
        let arguments = upstream.request("GET", "/echo?a=%20b", r#","headers":{"X-Own":"1"}"#);
        let call = call(tool, &arguments, 1);
        let key = key_line(&call);
        let answer = world.read_by(call, allowance(3, SECOND)).await.unwrap();
        let [request] = &upstream.seen()[..] else { panic!("{tool}: {:?}", upstream.seen()) };
        for part in ["GET /echo?a=%20b HTTP/1.1\r\n", "x-own: 1\r\n", &key] {
            assert!(request.contains(part), "{tool}: {request:?} has {part:?}");
        }
        for part in [r#""status":200"#, r#"["x-bytes","é"]"#, "GET /echo?a=%20b HTTP/1.1"] {
            assert!(answer.contains(part), "{tool}: {answer:?} has {part:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_repeats_what_it_sends_with_the_same_key() {
    for tool in ["probe_send", "probe_fetch"] {
        let (upstream, world) = given().await;
        let call = call(tool, &upstream.request("GET", "/flaky", ""), 1);
        let (key, allowance) = (key_line(&call), allowance(3, SECOND));
        world.read_by(call, allowance.clone()).await.unwrap();
        let seen = upstream.seen();
        assert!(seen.len() == 2 && seen.iter().all(|request| request.contains(&key)), "{tool}: {seen:?}");
        assert_eq!(allowance.attempts(), 2, "{tool}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_sends_once_and_notes_it() {
    let (upstream, world) = given().await;
    let call = call("probe_send_write", &upstream.request("POST", "/flaky", r#","body":"{}""#), 1);
    let key = key_line(&call);
    let answer = world.write(call).await.result.unwrap();
    assert!(answer.as_str().contains(r#""status":503"#), "{answer:?}");
    let seen = upstream.seen();
    assert!(seen.len() == 1 && seen[0].contains(&key) && seen[0].ends_with("\r\n\r\n{}"), "{seen:?}");
    assert_eq!(world.journal.all(), [("POST /flaky".into(), Answer::Status(503))]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_unsafe_request_of_a_step_is_denied() {
    let (upstream, world) = given().await;
    let said = write(&world, "probe_send_twice", &upstream.request("POST", "/echo", r#","step":"a""#)).await;
    assert!(said.starts_with(r#"["200","the request was not allowed"#), "{said}");
    let said = write(&world, "probe_fetch_twice", &upstream.request("POST", "/echo", "")).await;
    assert_eq!(said, r#"["200","ErrorCode::HttpRequestDenied"]"#);
    assert_eq!(upstream.seen().len(), 2);
    let said = write(&world, "probe_fetch_twice", &upstream.request("GET", "/echo", "")).await;
    assert_eq!(said, r#"["200","200"]"#, "reading twice is no harm");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sent_while_a_transaction_is_open() {
    let (upstream, world) = given().await;
    let get = upstream.request("GET", "/echo", "");
    let said = write(&world, "probe_send_inside", &get).await;
    assert_eq!(said, r#""no request is sent while a transaction is open""#);
    assert_eq!(write(&world, "probe_fetch_inside", &get).await, r#""ErrorCode::HttpRequestDenied""#);
    assert_eq!(upstream.seen(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_unsafe_is_sent_after_the_main_record() {
    let (upstream, world) = given().await;
    let post = upstream.request("POST", "/echo", "");
    let said = write(&world, "probe_send_after", &post).await;
    assert!(said.starts_with(r#""the request was not allowed"#), "{said}");
    assert_eq!(write(&world, "probe_fetch_after", &post).await, r#""ErrorCode::HttpRequestDenied""#);
    assert_eq!(upstream.seen(), [""; 0]);
    let get = upstream.request("GET", "/echo", "");
    assert_eq!(write(&world, "probe_send_after", &get).await, r#""200""#);
    assert_eq!(write(&world, "probe_fetch_after", &get).await, r#""200""#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_and_a_preview_send_nothing_unsafe() {
    let (upstream, world) = given().await;
    for tool in ["probe_send", "probe_fetch"] {
        let failure = world.read(tool, &upstream.request("DELETE", "/echo", "")).await.unwrap_err();
        assert_eq!(failure.cause, Cause::Denied, "{tool}: {failure:?}");
    }
    let preview = async |method| {
        world.preview("probe_send_write", &upstream.request(method, "/echo", "")).await.unwrap().unwrap()
    };
    assert!(preview("POST").await.starts_with("the request was not allowed"));
    assert_eq!(preview("GET").await, "200");
    assert_eq!(upstream.seen().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_destination_that_was_not_granted_is_told_as_that() {
    let (upstream, world) = given().await;
    let other = Upstream::start().await;
    for tool in ["probe_send", "probe_fetch"] {
        let failure = world.read(tool, &other.request("GET", "/echo", "")).await.unwrap_err();
        assert_eq!(failure.cause, Cause::Denied, "{tool}: {failure:?}");
    }
    let report = world.write(call("probe_send_write", &other.request("POST", "/echo", ""), 1)).await;
    let failure = report.result.unwrap_err();
    let code = failure.handler_code.as_deref();
    assert_eq!((failure.cause, code), (Cause::Denied, Some("REQUEST_DENIED")));
    assert_eq!((upstream.seen().len(), other.seen().len()), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_of_the_host_are_not_the_guests_to_set() {
    let (upstream, world) = given().await;
    for header in ["X-Tether-Idempotency-Key", "Host", "Connection", "Transfer-Encoding"] {
        for tool in ["probe_send", "probe_fetch"] {
            let forged = upstream.request("GET", "/echo", &format!(r#","headers":{{"{header}":"0"}}"#));
            let failure = world.read(tool, &forged).await.unwrap_err();
            // Those that `wasi:http` forbids are refused before there is a request.
            let denied = failure.cause == Cause::Denied || failure.message.contains("Forbidden");
            assert!(denied, "{tool} {header}: {failure:?}");
        }
    }
    assert_eq!(upstream.seen(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_cannot_be_had_is_told_in_the_words_of_each_import() {
    let (upstream, world) = given().await;
    let failing = async |tool: &str, path: &str| {
        let call = call(tool, &upstream.request("GET", path, ""), 1);
        let failure = world.read_by(call, allowance(1, SECOND)).await.unwrap_err();
        (failure.cause, failure.handler_code.unwrap(), failure.message)
    };
    let (cause, code, message) = failing("probe_send", "/large").await;
    assert_eq!((cause, code.as_str()), (Cause::Failed, "UPSTREAM_TOO_LARGE"), "{message}");
    assert!(failing("probe_fetch", "/large").await.2.contains("HttpResponseBodySize"));
    let (cause, code, message) = failing("probe_send", "/broken").await;
    assert_eq!((cause, code.as_str()), (Cause::Transient, "UPSTREAM_OUTCOME_UNKNOWN"), "{message}");
    assert!(failing("probe_fetch", "/broken").await.2.contains("ConnectionTerminated"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_that_cannot_be_reached() {
    let nowhere = "http://127.0.0.1:1";
    let world = probe_sending_to(nowhere).await;
    let arguments = format!(r#"{{"url":"{nowhere}/"}}"#);
    let failing =
        async |tool| world.read_by(call(tool, &arguments, 1), allowance(1, SECOND)).await.unwrap_err();
    let failure = failing("probe_send").await;
    let code = failure.handler_code.as_deref();
    assert_eq!((failure.cause, code), (Cause::Transient, Some("UPSTREAM_UNAVAILABLE")));
    assert!(failing("probe_fetch").await.message.contains("ConnectionRefused"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_peer_asked_for_is_told_with_the_failure() {
    let (upstream, world) = given().await;
    let failing = async |more: &str| {
        let call = call("probe_send", &upstream.request("GET", "/busy", more), 1);
        world.read_by(call, allowance(1, SECOND)).await.unwrap_err()
    };
    let near = |failure: &tether_core::failure::Failure| {
        failure.retry_after.is_some_and(|wait| wait > Duration::from_secs(4) && wait.as_secs() <= 7)
    };
    let failure = failing(r#","strict":true"#).await;
    assert!(failure.cause == Cause::Transient && near(&failure), "{failure:?}");
    let failure = failing(r#","then":"fail""#).await;
    assert!(failure.cause == Cause::Failed && near(&failure), "{failure:?}");
    let failure = failing(r#","then":"trap""#).await;
    assert!(failure.cause == Cause::Trapped && near(&failure), "{failure:?}");
    assert_eq!(failing(r#","then":"refuse""#).await.retry_after, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_for_a_peer_is_not_the_time_of_a_read() {
    let own = Duration::from_millis(400);
    for tool in ["probe_send", "probe_fetch"] {
        for (then, is_done) in [("ok", true), ("spin", false), ("sleep:60000", false)] {
            let (upstream, world) = given().await;
            let held = upstream.request("GET", "/held", &format!(r#","then":"{then}""#));
            let call = Invocation { timeout: own, ..call(tool, &held, 1) };
            let begin = Instant::now();
            let read = world.read_by(call, allowance(3, 5 * SECOND));
            let (ended, ()) = tokio::join!(read, async {
                upstream.reached().await;
                tokio::time::sleep(own + Duration::from_millis(100)).await;
                upstream.release();
            });
            match ended {
                Ok(_) => assert!(is_done, "{tool} {then}"),
                Err(failure) => {
                    assert!(!is_done && failure.cause == Cause::TimedOut, "{tool} {then}: {failure:?}");
                    assert!(failure.message.contains("after 400 ms"), "{tool} {then}: {failure:?}");
                    assert!(begin.elapsed() >= own * 2, "{tool} {then}: {:?}", begin.elapsed());
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_under_way_does_not_stop_the_time_of_a_guest_that_goes_on() {
    let (upstream, world) = given().await;
    let spin = call("probe_fetch_meanwhile", &upstream.request("GET", "/held", r#","then":"spin""#), 1);
    let spin = Invocation { timeout: Duration::from_millis(400), ..spin };
    let failure = world.read_by(spin, allowance(1, 20 * SECOND)).await.unwrap_err();
    assert_eq!(failure.cause, Cause::TimedOut);
    assert!(failure.message.contains("after 400 ms"), "its own time, not the call's: {failure:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_read_has_its_time_as_well() {
    let (_, world) = given().await;
    let call = call("probe_sleep", r#"{"ms":60000}"#, 1);
    let failure = world.read_by(call, allowance(1, Duration::from_millis(200))).await.unwrap_err();
    assert_eq!(failure.cause, Cause::TimedOut);
    assert!(failure.message.contains("the whole call"), "{failure:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_of_a_write_is_for_everything() {
    for tool in ["probe_send_write", "probe_fetch_twice"] {
        let (upstream, world) = given().await;
        let call = call(tool, &upstream.request("POST", "/held", ""), 1);
        let report = world.write(Invocation { timeout: Duration::from_millis(200), ..call }).await;
        assert_eq!(report.result.unwrap_err().cause, Cause::TimedOut, "{tool}");
        upstream.given_up(1).await;
        assert_eq!(world.journal.all(), [("POST /held".into(), Answer::InDoubt)], "{tool}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_may_be_less_patient_than_the_host() {
    let (upstream, world) = given().await;
    let impatient = upstream.request("GET", "/held", r#","patience_ms":100"#);
    let failure = world.read("probe_fetch", &impatient).await.unwrap_err();
    assert!(failure.message.contains("HttpResponseTimeout"), "{failure:?}");
    upstream.given_up(1).await;
    assert_eq!(upstream.seen().len(), 1, "the guest has given up, so nothing is repeated");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_read_ends_its_requests() {
    for tool in ["probe_send", "probe_fetch"] {
        let (upstream, world) = given().await;
        let call = call(tool, &upstream.request("GET", "/held", ""), 1);
        let read = world.read_by(call, allowance(1, 60 * SECOND));
        tokio::select! {
            answer = read => panic!("{tool}: {answer:?}"),
            () = upstream.reached() => {}
        }
        tokio::time::timeout(SECOND, upstream.given_up(1)).await.expect(tool);
        assert_eq!(world.databases.alive(), 0, "{tool}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_of_many_pieces_leaves_whole_or_not_at_all() {
    let (upstream, world) = given().await;
    let post = |bytes| upstream.request("POST", "/", &format!(r#","body":"{}""#, "x".repeat(bytes)));
    let said = write(&world, "probe_fetch_twice", &post(100_000)).await;
    assert!(said.starts_with(r#"["404","#), "{said}");
    let [request] = &upstream.seen()[..] else { panic!("one request") };
    assert!(request.contains("content-length: 100000\r\n") && request.ends_with(&"x".repeat(100_000)));
    let said = write(&world, "probe_fetch_twice", &post(100_001)).await;
    assert!(said.starts_with(r#"["ErrorCode::HttpRequestDenied""#), "{said}");
    assert_eq!(upstream.seen().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn half_a_request_never_leaves() {
    let (upstream, world) = given().await;
    for then in ["ok", "trap", "fail", "spin"].repeat(5) {
        let half = upstream.request("POST", "/echo", &format!(r#","body":"half","then":"{then}""#));
        let call = call("probe_fetch_unfinished", &half, 1);
        let report = world.write(Invocation { timeout: Duration::from_millis(100), ..call }).await;
        assert_eq!(report.result.is_ok(), then == "ok", "{then}: {report:?}");
    }
    assert_eq!((upstream.seen().len(), world.journal.all().len()), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_guest_does_not_wait_for_ends_with_it() {
    for _ in 0..10 {
        let (upstream, world) = given().await;
        write(&world, "probe_fetch_forgotten", &upstream.request("POST", "/held", "")).await;
        // Whatever left was noted, and given up, before the attempt was over.
        let noted = world.journal.all();
        assert!(upstream.seen().len() <= noted.len());
        upstream.release();
        tokio::time::timeout(10 * SECOND, upstream.ended()).await.unwrap();
        assert_eq!(world.journal.all(), noted, "nothing goes on behind it");
        assert!(noted.iter().all(|(_, answer)| *answer != Answer::Status(200)), "{noted:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_a_guest_does_not_let_go_of_are_bounded_together() {
    let upstream = Upstream::start().await;
    let world = probe_sending(&upstream.origin(), |settings| settings.max_memory_bytes = 4_000_000).await;
    let many = async |hoard: bool| {
        let request = upstream.request("GET", "/full", "");
        world
            .read("probe_fetch_many", &format!(r#"{{"request":{request},"times":50,"hoard":{hoard}}}"#))
            .await
    };
    assert!(many(false).await.is_ok());
    let begin = upstream.seen().len();
    let (hoarded, neighbour) = tokio::join!(many(true), many(false));
    let failure = hoarded.unwrap_err();
    assert_eq!(failure.cause, Cause::Limit, "{failure:?}");
    assert!(failure.message.contains("4000000 bytes of answers"), "{failure:?}");
    assert!(neighbour.is_ok(), "{neighbour:?}");
    assert_eq!(upstream.seen().len() - begin, 50 + 41);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_beyond_a_limit_is_told_as_that() {
    let (upstream, world) = given().await;
    let request = upstream.request("GET", "/echo", "");
    let many = format!(r#"{{"request":{request},"times":61,"hoard":false}}"#);
    let failure = world.read("probe_fetch_many", &many).await.unwrap_err();
    assert_eq!((failure.cause, upstream.seen().len()), (Cause::Limit, 60), "{failure:?}");
    let large = upstream.request("POST", "/echo", &format!(r#","body":"{}""#, "x".repeat(100_001)));
    let failure = world.write(call("probe_send_write", &large, 1)).await.result.unwrap_err();
    assert_eq!((failure.cause, upstream.seen().len()), (Cause::Limit, 60), "{failure:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_there_is_no_room_to_note_is_told_as_that() {
    let (upstream, world) = given().await;
    world.journal.fill();
    let post = upstream.request("POST", "/echo", "");
    let failure = world.write(call("probe_send_write", &post, 1)).await.result.unwrap_err();
    assert_eq!((failure.cause, upstream.seen().len()), (Cause::StorageFull, 0), "{failure:?}");
    let said = write(&world, "probe_fetch_twice", &post).await;
    assert!(said.starts_with(r#"["ErrorCode::ConnectionRefused""#), "{said}");
}
