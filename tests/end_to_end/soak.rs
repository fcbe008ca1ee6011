//! Many random calls at once, a tenth of which trap, spin, hoard, leak or are
//! given up, and some of which send requests: the calls beside them are right, and
//! afterwards the host holds no more memory, files and connections than before.
//!
//! `TETHER_SOAK_CALLS` sets how many (200,000 take about a quarter of an hour).

use std::collections::BTreeSet;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use crate::support::{Api, Reply, Server, Setup, Upstream, component, crowd, eventually};

/// Callers at the same time.
const CALLERS: usize = 8;

/// What the host may hold more of in the end: allocators keep some for later.
const MORE_MEMORY_KIB: u64 = 32 << 10;

/// Connections for reading are opened when they are first needed: 8 of a tool's
/// database and 4 of the actions', two files each.
const MORE_FILES: usize = (8 + 4) * 2;

/// Connections that are kept for the next read: of one destination, and of `wasi:http`
/// the same.
const KEPT_CONNECTIONS: usize = 8;

/// What was done outside, as far as the callers know.
#[derive(Default)]
struct Done {
    written: AtomicUsize,
    sent: AtomicUsize,
}

/// A generator of numbers that all follow from its seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// One random call; its answer must be right, whatever the others do.
fn call(api: &Api, upstream: &Upstream, random: &mut Random, done: &Done) {
    let number = random.below(1 << 60);
    let wrong = |tool: &str, words: &str| _ = api.call(tool, "{}").check(words);
    match random.below(1_000) {
        0..50 => wrong("probe_trap", "502 HANDLER_TRAPPED"),
        50..65 => wrong("probe_hoard", "502 LIMIT_EXCEEDED"),
        65..75 => wrong("probe_handles", "502 LIMIT_EXCEEDED"),
        75 => wrong("probe_spin", "504 TIMED_OUT"),
        76..90 => give_up(api, "probe_sleep", r#"{"ms":60000}"#),
        90..100 => {
            let tool = ["probe_send", "probe_fetch"][random.below(2) as usize];
            give_up(api, tool, &json!({ "url": upstream.url("/silent") }).to_string());
        }
        100..150 => {
            let id = api.propose("probe_write", &format!(r#"{{"note":"{number}"}}"#));
            done.written.fetch_add(1, Ordering::Relaxed);
            api.confirm(&id, "{}").check("200 Succeeded");
        }
        150..180 => {
            let tool = ["probe_send", "probe_fetch"][random.below(2) as usize];
            let answer = api.call(tool, &json!({ "url": upstream.url("/busy-at-first") }).to_string());
            assert_eq!(answer.check("200 Succeeded").body["attempts"], 2);
        }
        180..210 => {
            let request = json!({ "method": "POST", "url": upstream.url("/paid"), "step": "pay" });
            let id = api.propose("probe_send_write", &request.to_string());
            done.sent.fetch_add(1, Ordering::Relaxed);
            assert_eq!(api.confirm(&id, "{}").check("200 Succeeded").body["result"]["status"], 200);
        }
        210..500 => {
            let arguments = format!(r#"{{"number":{number}}}"#);
            let answer = api.call("probe_echo", &arguments);
            assert_eq!(answer.check("200 Succeeded").raw("result"), arguments);
        }
        // 1 in a fresh instance.
        _ => assert_eq!(api.call("probe_count", "{}").check("200 Succeeded").raw("result"), "1"),
    }
}

/// Calls a read, and goes away.
fn give_up(api: &Api, tool: &str, arguments: &str) {
    let (path, body) = (format!("/v1/tools/{tool}/calls"), format!(r#"{{"args":{arguments}}}"#));
    drop(api.send(&api.post_of(&path, &[], body.as_bytes())).expect("it takes requests"));
}

fn calls(api: &Api, upstream: &Upstream, count: usize, seed: u64, done: &Done) {
    crowd(CALLERS, |caller| {
        let mut random = Random(seed + caller as u64);
        for _ in 0..count / CALLERS {
            call(api, upstream, &mut random, done);
        }
    });
}

/// Silent, busy when a call asks for the first time, or fine.
fn upstream() -> Upstream {
    let asked = Mutex::new(BTreeSet::new());
    Upstream::start(move |_, request| match request.path.as_str() {
        "/silent" => Reply::Silence,
        "/busy-at-first" if asked.lock().unwrap().insert(request.key().to_owned()) => Reply::status(503),
        _ => Reply::ok(""),
    })
}

/// Each POST came once, with a key of its own, and whoever was asked in vain was let go.
fn check_upstream(upstream: &Upstream, sent: usize) {
    eventually("the connections are closed", || {
        (upstream.open_connections() <= KEPT_CONNECTIONS).then_some(())
    });
    let received = upstream.received();
    let posts = received.iter().filter(|request| request.method == "POST");
    let keys: Vec<_> = posts.map(|request| request.key()).collect();
    assert_eq!(keys.len(), sent, "every request of a write once");
    assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), sent, "each with a key of its own");
    let silent = received.iter().filter(|request| request.path == "/silent").count();
    assert_eq!(upstream.gone(), silent);
}

/// Memory in KiB, and open files.
fn held(server: &Server) -> (u64, usize) {
    let process = format!("/proc/{}", server.process_id());
    let status = fs::read_to_string(format!("{process}/status")).expect("it lives");
    let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let memory = memory.and_then(|memory| memory.trim().trim_end_matches(" kB").parse().ok());
    let files = fs::read_dir(format!("{process}/fd")).expect("it lives").count();
    (memory.expect("Linux tells it"), files)
}

#[test]
fn a_tenth_of_the_calls_go_wrong_and_nothing_is_left_of_them() {
    let count = std::env::var("TETHER_SOAK_CALLS").ok().and_then(|count| count.parse().ok()).unwrap_or(2_000);
    // 0 is no seed of a xorshift; any other tells which calls there were.
    let seed = 0x9e37_79b9_7f4a_7c15;
    let upstream = upstream();
    let config = format!(
        "[[components]]\npath = {:?}\n[[components.outbound]]\norigin = \"{}\"\nmethods = [\"GET\", \"POST\"]\n",
        component("probe"),
        upstream.origin()
    );
    let server = Setup::of(&[])
        .config("tether.toml", &config)
        .env("TETHER_TOOL_TRANSPORT__TIMEOUT_SECONDS", "4")
        .env("TETHER_LIMITS__MEMORY", "16MiB")
        .env("TETHER_TOOL_TRANSPORT__MAX_ATTEMPTS", "2")
        .env("TETHER_LIMITS__QUEUE_TIME", "60s")
        .start();
    // Whatever the host makes once and keeps is made now.
    let done = Done::default();
    calls(&server.api, &upstream, 800, seed ^ 1, &done);
    let before = held(&server);

    calls(&server.api, &upstream, count, seed, &done);

    let (memory, files) = before;
    let most = files + MORE_FILES + KEPT_CONNECTIONS;
    eventually("the files are closed", || (held(&server).1 <= most).then_some(()));
    let after = held(&server);
    assert!(after.0 <= memory + MORE_MEMORY_KIB, "KiB and files before: {before:?}, after: {after:?}");
    assert_eq!(server.effects().len(), done.written.into_inner(), "every write once");
    check_upstream(&upstream, done.sent.into_inner());
    eprintln!("{count} calls; KiB and files before: {before:?}, after: {after:?}");
}
