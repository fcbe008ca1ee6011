//! Many random calls at once, a tenth of which trap, spin, hoard, leak or are
//! given up: the calls beside them are right, and afterwards the host holds no
//! more memory and no more files than before.
//!
//! `TETHER_SOAK_CALLS` sets how many (200,000 take about a quarter of an hour).

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{Api, Server, Setup, crowd, eventually};

/// Callers at the same time.
const CALLERS: usize = 8;

/// What the host may hold more of in the end: allocators keep some for later.
const MORE_MEMORY_KIB: u64 = 32 << 10;

/// Connections for reading are opened when they are first needed: 8 of a tool's
/// database and 4 of the actions', two files each.
const MORE_FILES: usize = (8 + 4) * 2;

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
fn call(api: &Api, random: &mut Random, written: &AtomicUsize) {
    let number = random.below(1 << 60);
    let wrong = |tool: &str, words: &str| _ = api.call(tool, "{}").check(words);
    match random.below(1_000) {
        0..50 => wrong("probe_trap", "502 HANDLER_TRAPPED"),
        50..65 => wrong("probe_hoard", "502 LIMIT_EXCEEDED"),
        65..75 => wrong("probe_handles", "502 LIMIT_EXCEEDED"),
        75..77 => wrong("probe_spin", "504 TIMED_OUT"),
        77..100 => {
            let path = "/v1/tools/probe_sleep/calls";
            let begun = api.send(&api.post_of(path, &[], br#"{"args":{"ms":60000}}"#));
            drop(begun.expect("it takes requests"));
        }
        100..150 => {
            let id = api.propose("probe_write", &format!(r#"{{"note":"{number}"}}"#));
            written.fetch_add(1, Ordering::Relaxed);
            api.confirm(&id, "{}").check("200 Succeeded");
        }
        150..500 => {
            let arguments = format!(r#"{{"number":{number}}}"#);
            let answer = api.call("probe_echo", &arguments);
            assert_eq!(answer.check("200 Succeeded").raw("result"), arguments);
        }
        // 1 in a fresh instance.
        _ => assert_eq!(api.call("probe_count", "{}").check("200 Succeeded").raw("result"), "1"),
    }
}

fn calls(api: &Api, count: usize, seed: u64) -> usize {
    let written = AtomicUsize::new(0);
    crowd(CALLERS, |caller| {
        let mut random = Random(seed + caller as u64);
        for _ in 0..count / CALLERS {
            call(api, &mut random, &written);
        }
    });
    written.into_inner()
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
    let server = Setup::of(&["probe"])
        .env("TETHER_TOOL_TRANSPORT__TIMEOUT_SECONDS", "4")
        .env("TETHER_LIMITS__MEMORY", "16MiB")
        .env("TETHER_TOOL_TRANSPORT__MAX_ATTEMPTS", "1")
        .env("TETHER_LIMITS__QUEUE_TIME", "60s")
        .start();
    // Whatever the host makes once and keeps is made now.
    let mut written = calls(&server.api, 800, seed ^ 1);
    let before = held(&server);

    written += calls(&server.api, count, seed);

    let (memory, files) = before;
    eventually("the files are closed", || (held(&server).1 <= files + MORE_FILES).then_some(()));
    let after = held(&server);
    assert!(after.0 <= memory + MORE_MEMORY_KIB, "KiB and files before: {before:?}, after: {after:?}");
    assert_eq!(server.effects().len(), written, "every write once");
    eprintln!("{count} calls; KiB and files before: {before:?}, after: {after:?}");
}
