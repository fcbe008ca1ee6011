//! Notices to webhooks, counted where they arrive.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use serde_json::{Value, json};

use crate::support::{Received, Reply, Server, Setup, Upstream, eventually};

/// The key of all hooks here: 32 bytes, as `whsec_` writes them.
const SECRET: &str = "whsec_c2l4dGVlbiBieXRlcywgYW5kIHNpeHRlZW4gbW9yZS4=";

/// A server whose hook `hook` is at `upstream`, with these keys besides.
fn telling(upstream: &Upstream, keys: &str) -> Setup {
    let config = format!(
        "[[webhooks]]\nname = \"hook\"\nurl = \"{}\"\nsecret = \"${{HOOK_SECRET}}\"\n{keys}",
        upstream.url("/hook")
    );
    Setup::of(&["probe"]).config("tether.toml", &config).env("HOOK_SECRET", SECRET)
}

fn body(notice: &Received) -> Value {
    serde_json::from_slice(&notice.body).expect("a notice is JSON")
}

/// `proposed Pending`, say.
fn words(notice: &Received) -> String {
    let body = body(notice);
    format!("{} {}", body["type"].as_str().unwrap(), body["status"].as_str().unwrap())
}

/// What came about this action, once there are so many of them.
#[track_caller]
fn about(upstream: &Upstream, id: &str, count: usize) -> Vec<Received> {
    eventually(&format!("{count} notices"), || {
        let mut received = upstream.received();
        received.retain(|notice| notice.key() == id);
        (received.len() >= count).then_some(received)
    })
}

fn write(server: &Server) -> String {
    server.api.propose("probe_write", &json!({ "note": "told" }).to_string())
}

/// As a receiver does it by hand.
#[track_caller]
fn verify(notice: &Received) {
    let header = |name: &str| notice.header(name).unwrap_or_else(|| panic!("no {name}: {notice:?}"));
    let key = STANDARD.decode(SECRET.strip_prefix("whsec_").unwrap()).unwrap();
    let mut signed = format!("{}.{}.", header("webhook-id"), header("webhook-timestamp")).into_bytes();
    signed.extend_from_slice(&notice.body);
    let signature = STANDARD.decode(header("webhook-signature").strip_prefix("v1,").unwrap()).unwrap();
    hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, &key), &signed, &signature).expect("it is signed");
}

#[test]
fn each_event_is_told_once_and_in_order() {
    let upstream = Upstream::always(Reply::status(204));
    let server = telling(&upstream, "").start();
    let (done, declined) = (write(&server), write(&server));
    server.api.confirm(&done, "{}").check("200 Succeeded");
    server.api.decline(&declined, "{}").check("200 Declined");

    let notices = about(&upstream, &done, 3);
    let told: Vec<_> = notices.iter().map(words).collect();
    assert_eq!(told, ["proposed Pending", "decided Executing", "done Succeeded"]);
    let told: Vec<_> = about(&upstream, &declined, 2).iter().map(words).collect();
    assert_eq!(told, ["proposed Pending", "decided Declined"]);
    let revisions: Vec<_> = notices.iter().map(|notice| body(notice)["revision"].as_u64().unwrap()).collect();
    assert!(revisions.is_sorted_by(|earlier, later| *later == earlier + 1), "{revisions:?}");
    for notice in &notices {
        verify(notice);
        let body = body(notice);
        assert_eq!(notice.header("webhook-id"), Some(&*format!("{done}.{}", body["revision"])));
        assert_eq!(body["actionId"], *done);
        assert!(body["chain"]["place"].is_u64() && body["chain"]["hash"].is_string(), "{body}");
        assert!(body["url"].as_str().unwrap().ends_with(&format!("/inbox/actions/{done}")), "{body}");
        assert!(body.get("args").is_none() && body.get("result").is_none(), "{body}");
    }
    assert_eq!((notices.len(), upstream.received().len()), (3, 5));
}

#[test]
fn what_is_not_taken_is_sent_again_and_what_follows_waits() {
    let upstream = Upstream::start(|number, _| Reply::status(if number <= 2 { 500 } else { 200 }));
    let server = telling(&upstream, "").start();
    let id = write(&server);
    server.api.decline(&id, "{}").check("200 Declined");
    let notices = about(&upstream, &id, 4);
    let told: Vec<_> = notices.iter().map(words).collect();
    assert_eq!(told, ["proposed Pending", "proposed Pending", "proposed Pending", "decided Declined"]);
    for pair in notices[..3].windows(2) {
        assert_eq!(pair[0].header("webhook-id"), pair[1].header("webhook-id"));
        assert_eq!(pair[0].body, pair[1].body);
    }
    let waits = [notices[1].at - notices[0].at, notices[2].at - notices[1].at];
    assert!(waits[0] >= Duration::from_secs(1) && waits[1] >= Duration::from_secs(2), "{waits:?}");
    notices.iter().for_each(verify);
}

#[test]
fn a_receiver_that_is_gone_is_told_nothing_twice() {
    let upstream = Upstream::start(|number, _| Reply::status(if number == 1 { 410 } else { 200 }));
    let server = telling(&upstream, "").start();
    let id = write(&server);
    server.log().wait_for("given up");
    server.api.decline(&id, "{}").check("200 Declined");
    let told: Vec<_> = about(&upstream, &id, 2).iter().map(words).collect();
    assert_eq!(told, ["proposed Pending", "decided Declined"]);
    let log = server.log().text();
    let line = log.lines().find(|line| line.contains("given up")).unwrap();
    assert!(line.contains("hook") && line.contains(&id) && line.contains("410"), "{line}");
}

#[test]
fn nobody_is_told_again_sooner_than_they_wanted() {
    let upstream = Upstream::start(|number, _| match number {
        1 => Reply::Answer(429, "Retry-After: 4\r\n", String::new()),
        _ => Reply::status(200),
    });
    let server = telling(&upstream, "").start();
    let first = write(&server);
    about(&upstream, &first, 1);
    let second = write(&server);
    let again = &about(&upstream, &first, 2)[1];
    about(&upstream, &second, 1);
    let received = upstream.received();
    let wait = again.at - received[0].at;
    assert!(wait >= Duration::from_secs(4), "{wait:?}");
    assert!(received[1..].iter().all(|notice| notice.at - received[0].at >= Duration::from_secs(4)));
}

/// Killed after the receiver has it and before that is noted.
/// Events that wait for their delivery, or for its being noted.
fn undelivered(server: &Server) -> i64 {
    let file = rusqlite::Connection::open(server.file("actions.db")).unwrap();
    file.query_row("SELECT count(*) FROM hook_queue", [], |row| row.get(0)).unwrap()
}

#[test]
fn what_was_delivered_and_not_noted_is_delivered_again_under_its_id() {
    let held = Arc::new(AtomicBool::new(true));
    let silent = Arc::clone(&held);
    let upstream = Upstream::start(move |_, _| match silent.load(Ordering::SeqCst) {
        true => Reply::Silence,
        false => Reply::status(200),
    });
    let mut server = telling(&upstream, "").start();
    let id = write(&server);
    about(&upstream, &id, 1);
    server.kill();
    held.store(false, Ordering::SeqCst);
    server.restart();
    let notices = about(&upstream, &id, 2);
    assert_eq!(notices[0].header("webhook-id"), notices[1].header("webhook-id"));
    assert_eq!(body(&notices[0])["chain"], body(&notices[1])["chain"]);

    // From there on it goes on where it was.
    server.api.decline(&id, "{}").check("200 Declined");
    assert_eq!(words(&about(&upstream, &id, 3)[2]), "decided Declined");
    eventually("its delivery is noted", || (undelivered(&server) == 0).then_some(()));
    server.restart();
    let other = write(&server);
    about(&upstream, &other, 1);
    assert_eq!(upstream.received().len(), 4);
}

#[test]
fn a_receiver_that_stalls_at_one_action_holds_up_no_other() {
    let stalled = Arc::new(Mutex::new(String::new()));
    let which = Arc::clone(&stalled);
    let upstream = Upstream::start(move |number, notice| {
        let mut which = which.lock().unwrap_or_else(PoisonError::into_inner);
        if number == 1 {
            *which = notice.key().to_owned();
        }
        match notice.key() == *which {
            true => Reply::Silence,
            false => Reply::status(200),
        }
    });
    let server = telling(&upstream, "").start();
    let first = write(&server);
    about(&upstream, &first, 1);
    server.api.decline(&first, "{}").check("200 Declined");
    let others: Vec<_> = (0..6).map(|_| write(&server)).collect();
    for other in &others {
        server.api.decline(other, "{}").check("200 Declined");
        about(&upstream, other, 2);
    }
    assert_eq!(about(&upstream, &first, 1).len(), 1, "its second event waits for the first");
}

#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = Upstream::always(Reply::status(200));
    let location: &'static str = format!("Location: {}\r\n", elsewhere.url("/hook")).leak();
    let upstream = Upstream::start(move |number, _| match number {
        1 => Reply::Answer(307, location, String::new()),
        _ => Reply::status(200),
    });
    let server = telling(&upstream, "").start();
    let id = write(&server);
    about(&upstream, &id, 2);
    assert_eq!(elsewhere.connections(), 0);
}

#[test]
fn a_hook_hears_of_its_tenant_and_of_its_kinds_only() {
    let [ours, others, decided] = [(); 3].map(|()| Upstream::always(Reply::status(200)));
    let hook = |name: &str, upstream: &Upstream, keys: &str| {
        format!(
            "[[webhooks]]\nname = \"{name}\"\nurl = \"{}\"\nsecret = \"{SECRET}\"\n{keys}\n",
            upstream.url("/")
        )
    };
    let config = hook("ours", &ours, "tenant = \"default\"")
        + &hook("others", &others, "tenant = \"other\"")
        + &hook("decided", &decided, "events = [\"decided\"]");
    let server = Setup::of(&["probe"]).config("tether.toml", &config).start();
    let id = write(&server);
    server.api.decline(&id, "{}").check("200 Declined");
    about(&ours, &id, 2);
    assert_eq!(words(&about(&decided, &id, 1)[0]), "decided Declined");
    assert_eq!((others.connections(), decided.received().len()), (0, 1));
}

#[test]
fn a_channel_of_slack_gets_messages_that_call_nobody() {
    let upstream = Upstream::always(Reply::status(200));
    let config = format!(
        "[[webhooks]]\nname = \"ops\"\nurl = \"{}\"\nbody = \"slack\"\n",
        upstream.url("/services/T0/B0")
    );
    let server = Setup::of(&["probe"]).config("tether.toml", &config).start();
    let preview = "<!channel> <https://evil.test|Click> @here \u{202e}";
    let id = server.api.propose("probe_preview", &json!({ "text": preview }).to_string());
    let notice = &about(&upstream, &id, 1)[0];
    let message = body(notice);
    let text = message["text"].as_str().unwrap();
    assert!(text.contains("&lt;!channel&gt;") && !text.contains(['<', '\u{202e}']), "{text}");
    assert_eq!(message["blocks"][0]["text"]["type"], "plain_text");
    assert!(message["blocks"][1]["text"]["text"].as_str().unwrap().starts_with("<!channel>"));
    assert_eq!(notice.header("webhook-signature"), None);
}

/// F27: the url of a hook can be a secret as a whole; nobody hears it or its key.
#[test]
fn f27_neither_a_hooks_url_nor_its_secret_is_told_or_logged() {
    const PATH: &str = "/canary-url-3fa2";
    const KEY: &str = "canary-key-6d1e of more than 24 characters";
    let upstream = Upstream::start(|number, _| Reply::status(if number == 1 { 500 } else { 200 }));
    let config = "[[webhooks]]\nname = \"hook\"\nurl = \"${HOOK_URL}\"\nsecret = \"${HOOK_KEY}\"\n\
                  [[webhooks]]\nname = \"deaf\"\nurl = \"${DEAF_URL}\"\nbody = \"slack\"\n";
    let mut server = Setup::of(&["probe"])
        .config("tether.toml", config)
        .env("HOOK_URL", upstream.url(PATH))
        .env("DEAF_URL", "http://canary-host-77aa.invalid/")
        .env("HOOK_KEY", KEY)
        .env("TETHER_LOG", "trace")
        .start();
    let id = write(&server);
    let told = server.api.confirm(&id, "{}");
    about(&upstream, &id, 4);
    server.log().wait_for("deaf");
    assert_eq!(upstream.received()[0].path, PATH);
    let shown = told.text + &server.api.action(&id).text;
    server.kill();
    let log = server.log().whole();
    let file = String::from_utf8_lossy(&std::fs::read(server.file("actions.db")).unwrap()).into_owned();
    for canary in ["canary-url", "canary-key", "canary-host", &upstream.address.to_string()] {
        assert!(!log.contains(canary), "{canary} is in the log:\n{log}");
        assert!(!shown.contains(canary) && !file.contains(canary), "{canary}");
    }
}

#[test]
fn a_hook_that_cannot_be_is_told_at_the_start_and_its_url_is_not() {
    let refused = |keys: &str, parts: &[&str]| {
        let config = format!("[[webhooks]]\n{keys}");
        let ran = Setup::of(&[]).config("tether.toml", &config).env("HOOK_URL", "canary-none").refused();
        ran.check(2, parts);
        assert!(!ran.stderr.contains("canary"), "{}", ran.stderr);
    };
    refused("name = \"a\"\nurl = \"${HOOK_URL}\"\nsecret = \"\"\n", &["webhooks[0].url"]);
    refused("name = \"a\"\nurl = \"https://a.test\"\n", &["webhooks[0].secret", "is missing"]);
    refused(
        "name = \"a\"\nurl = \"https://a.test\"\nsecret = \"canary-short\"\n",
        &["webhooks[0].secret", "24"],
    );
}
