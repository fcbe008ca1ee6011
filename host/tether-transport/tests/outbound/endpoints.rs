//! Tools behind a URL: the protocol, the table, and what it comes to.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tether_core::failure::{Cause, Failure};
use tether_core::grant::Binding;
use tether_core::invocation::Invocation;
use tether_core::json::JsonText;
use tether_core::ledger::Answer;
use tether_core::port::handlers::Handlers;
use tether_core::tool::{Tool, ToolEffect};
use tether_transport::endpoint::{EndpointSettings, Endpoints};

use crate::journal::TestJournal;
use crate::setup::*;
use crate::upstream::{Reply, Upstream, answer, deaf_port, status};

const ARGUMENTS: &str = "{ \"ticket_id\" : 9007199254740993 }";

fn tool(name: &str) -> Tool {
    Tool {
        name: name.parse().unwrap(),
        title: None,
        description: "Voids a ticket".to_owned(),
        effect: ToolEffect::Write,
        input_schema: JsonText::parse(r#"{"type":"object"}"#).unwrap(),
        output_schema: None,
    }
}

fn settings_of(url: &str) -> EndpointSettings {
    EndpointSettings {
        url: url.to_owned(),
        headers: BTreeMap::from([("Authorization".to_owned(), "Bearer ${TOKEN}".to_owned())]),
        key_header: Some("Idempotency-Key".to_owned()),
        tools: vec![tool("void_ticket")],
    }
}

fn endpoints(settings: EndpointSettings) -> Endpoints {
    Endpoints::new(&outbound(), vec![settings], 1_000).unwrap()
}

fn at(url: &str) -> Endpoints {
    endpoints(settings_of(url))
}

fn binding(endpoints: &Endpoints) -> Binding {
    endpoints.offers()[0].binding.clone()
}

fn invocation(timeout: Duration) -> Invocation {
    Invocation {
        request_id: key(),
        tool: "void_ticket".parse().unwrap(),
        tenant: "acme \"x\"".parse().unwrap(),
        user: "ann".parse().unwrap(),
        arguments: JsonText::parse(ARGUMENTS).unwrap(),
        attempt: 1,
        timeout,
    }
}

async fn read(url: &str) -> Result<JsonText, Failure> {
    let endpoints = at(url);
    let allowance = allowance(3, Duration::from_millis(250));
    endpoints.read(&binding(&endpoints), invocation(Duration::from_secs(9)), allowance).await
}

async fn write(url: &str) -> (Result<JsonText, Failure>, Vec<Answer>) {
    let (endpoints, journal) = (at(url), TestJournal::new());
    let invocation = invocation(Duration::from_millis(250));
    let report = endpoints.write(&binding(&endpoints), invocation, journal.clone()).await;
    assert!(!report.began_main);
    (report.result, journal.answers())
}

#[tokio::test]
async fn a_call_is_a_post_as_the_page_describes_it() {
    let upstream = Upstream::always(Reply::Bytes(answer(200, &[], "{ \"ok\": true }"))).await;
    let url = upstream.origin() + "/tether";
    assert_eq!(read(&url).await.unwrap().as_str(), "{ \"ok\": true }");
    assert_eq!(write(&url).await.0.unwrap().as_str(), "{ \"ok\": true }");
    let body = format!(
        r#"{{"request_id":"{KEY}","tool":"void_ticket","tenant":"acme \"x\"","user":"ann","args":{ARGUMENTS}}}"#
    );
    for seen in upstream.seen() {
        assert_eq!((&*seen.method, &*seen.path, &*seen.body), ("POST", "/tether", &*body));
        let header = |name: &str| seen.headers[name].clone();
        assert_eq!(header("x-tether-idempotency-key"), KEY);
        assert_eq!(header("idempotency-key"), KEY);
        assert_eq!(header("content-type"), "application/json");
        assert_eq!(header("authorization"), "Bearer s3cr3t");
    }
}

#[tokio::test]
async fn one_run_of_a_read_is_one_request_whatever_comes_of_it() {
    for (reply, cause) in [
        (status(408), Cause::Transient),
        (status(429), Cause::Transient),
        (status(502), Cause::Transient),
        (status(503), Cause::Transient),
        (status(504), Cause::Transient),
        (status(400), Cause::Failed),
        (status(404), Cause::Failed),
        (status(500), Cause::Failed),
        (status(302), Cause::Failed),
        (status(204), Cause::ResultInvalid),
        (Reply::Close, Cause::Unreachable),
        (Reply::Stall, Cause::TimedOut),
        (Reply::Endless, Cause::ResultTooLarge),
        (Reply::Last(b"no HTTP".to_vec()), Cause::Unreachable),
    ] {
        let upstream = Upstream::always(reply).await;
        let failure = read(&upstream.origin()).await.unwrap_err();
        assert_eq!(failure.cause, cause, "{failure:?}");
        assert_eq!(upstream.seen().len(), 1, "{cause:?}");
    }
    let failure = read(&format!("http://127.0.0.1:{}", deaf_port().await)).await.unwrap_err();
    assert_eq!(failure.cause, Cause::Unreachable);
}

#[tokio::test]
async fn a_write_is_sent_once_and_sorted_the_same() {
    use Answer::{InDoubt, Status};
    for (reply, cause, noted) in [
        (status(408), Cause::Transient, Status(408)),
        (status(503), Cause::Transient, Status(503)),
        (status(400), Cause::Failed, Status(400)),
        (status(500), Cause::Failed, Status(500)),
        (status(307), Cause::Failed, Status(307)),
        (status(204), Cause::ResultInvalid, Status(204)),
        (Reply::Close, Cause::Unreachable, InDoubt),
        (Reply::Stall, Cause::TimedOut, InDoubt),
        (Reply::Endless, Cause::ResultTooLarge, Status(200)),
    ] {
        let upstream = Upstream::always(reply).await;
        let (result, answers) = write(&upstream.origin()).await;
        assert_eq!((result.unwrap_err().cause, answers), (cause, vec![noted]));
        assert_eq!(upstream.seen().len(), 1, "{cause:?}");
    }
    let (result, answers) = write(&format!("http://127.0.0.1:{}", deaf_port().await)).await;
    assert_eq!((result.unwrap_err().cause, answers), (Cause::Unreachable, vec![Answer::NotSent]));
}

#[tokio::test]
async fn a_failure_with_a_long_page_is_what_its_status_says() {
    let upstream =
        Upstream::always(Reply::Bytes(answer(503, &[("Retry-After", "7")], &"x".repeat(5_000)))).await;
    let failure = read(&upstream.origin()).await.unwrap_err();
    assert_eq!((failure.cause, failure.retry_after), (Cause::Transient, Some(Duration::from_secs(7))));
}

#[tokio::test]
async fn a_binding_fits_while_nothing_about_the_call_has_changed() {
    let url = "https://tools.example.com/tether";
    let (bound, tenant) = (binding(&at(url)), "acme".parse().unwrap());
    let fits = async |settings: EndpointSettings| {
        let endpoints = endpoints(settings);
        endpoints.fits(&tenant, &bound).await.unwrap().is_ok()
    };
    assert!(fits(settings_of(url)).await);
    assert!(!fits(settings_of("https://tools.example.com/other")).await);
    let changed = |change: &dyn Fn(&mut EndpointSettings)| {
        let mut settings = settings_of(url);
        change(&mut settings);
        settings
    };
    assert!(!fits(changed(&|settings| settings.tools[0].description.push('!'))).await);
    assert!(!fits(changed(&|settings| settings.tools[0].effect = ToolEffect::Read)).await);
    assert!(!fits(changed(&|settings| settings.key_header = None)).await);
    assert!(!fits(changed(&|settings| settings.headers.clear())).await);
    assert!(!fits(changed(&|settings| settings.tools.clear())).await);
    assert!(fits(changed(&|settings| settings.tools.push(tool("another")))).await);
}

#[tokio::test]
async fn what_was_bound_otherwise_is_not_called() {
    let upstream = Upstream::always(status(200)).await;
    let bound = binding(&at(&(upstream.origin() + "/before")));
    let (endpoints, journal) = (at(&upstream.origin()), TestJournal::new());
    let report = endpoints.write(&bound, invocation(Duration::from_secs(9)), journal.clone()).await;
    assert_eq!(report.result.unwrap_err().cause, Cause::Failed);
    assert!(journal.entries().is_empty() && upstream.log().connections == 0);
}

#[test]
fn an_endpoint_that_cannot_be_is_told_at_the_start() {
    let check = |says: &str, change: &dyn Fn(&mut EndpointSettings)| {
        let mut settings = settings_of("https://tools.example.com/tether");
        change(&mut settings);
        let error = Endpoints::new(&outbound(), vec![settings], 1_000).map(drop).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    };
    check("no URL", &|settings| settings.url = "tools".to_owned());
    check("starts with neither", &|settings| settings.url = "ftp://tools.example.com".to_owned());
    check("names a user", &|settings| settings.url = "https://u:p@tools.example.com".to_owned());
    check("query", &|settings| settings.url = "https://tools.example.com/?a".to_owned());
    check("OTHER", &|settings| _ = settings.headers.insert("x".to_owned(), "${OTHER}".to_owned()));
    check("host", &|settings| _ = settings.headers.insert("Host".to_owned(), "x".to_owned()));
    check("output schema", &|settings| {
        settings.tools[0].output_schema = Some(JsonText::parse("{\"type\":1}").unwrap())
    });
    check("offered twice", &|settings| settings.tools.push(tool("void_ticket")));
}

#[test]
fn the_handlers_are_shared() {
    fn is_shared<T: Send + Sync + 'static>(_: Arc<T>) {}
    is_shared(Arc::new(at("https://tools.example.com")));
}

#[tokio::test]
async fn a_call_that_there_is_no_room_to_note_is_not_sent_and_says_so() {
    let upstream = Upstream::always(status(200)).await;
    let (endpoints, journal) = (at(&upstream.origin()), TestJournal::new());
    journal.fill();
    let invocation = invocation(Duration::from_secs(9));
    let report = endpoints.write(&binding(&endpoints), invocation, journal.clone()).await;
    assert_eq!(report.result.unwrap_err().cause, Cause::StorageFull);
    assert_eq!(upstream.log().connections, 0);
}

#[tokio::test]
async fn a_date_in_the_answer_to_a_write_is_told() {
    // See the test's clock.
    let later = [("Retry-After", "Sun, 09 Sep 2001 01:48:40 GMT")];
    let upstream = Upstream::always(Reply::Bytes(answer(503, &later, "{}"))).await;
    let (endpoints, journal) = (at(&upstream.origin()), TestJournal::new());
    let invocation = invocation(Duration::from_secs(9));
    let report = endpoints.write(&binding(&endpoints), invocation, journal.clone()).await;
    assert!(report.result.unwrap_err().retry_after.is_some());
}

#[tokio::test]
async fn names_that_are_the_same_once_they_are_masked_make_no_result() {
    let echo = r#"{"s3cr3t":1,"\u00733cr3t":2}"#;
    for body in [echo, r#"{"s3cr3t":1,"***":2}"#] {
        let upstream = Upstream::always(Reply::Bytes(answer(200, &[], body))).await;
        let failure = read(&upstream.origin()).await.unwrap_err();
        assert_eq!(failure.cause, Cause::ResultInvalid);
        assert!(failure.message.contains("masked, two are the same"), "{}", failure.message);
        assert!(!failure.message.contains("s3cr3t"), "{}", failure.message);
    }
    let one = Upstream::always(Reply::Bytes(answer(200, &[], r#"{"s3cr3t":1}"#))).await;
    assert_eq!(read(&one.origin()).await.unwrap().as_str(), r#"{"***":1}"#);
}
