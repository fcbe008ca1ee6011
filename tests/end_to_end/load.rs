//! F8, F14, F15 under load: many at once, round after round, and the host is killed or
//! its disk is full in the middle of it. (F16 and F17 are cases of the store's contract:
//! `tether-store/tests/contract/cancelled.rs`.)
//!
//! With every test some rounds. At full length (a minute of F14, 50 kills, 10 full disks),
//! so many rounds of each, and the kills of a run that failed:
//!
//! ```text
//! TETHER_LOAD=full cargo test -p tether --test end_to_end load:: -- --nocapture
//! TETHER_LOAD=20 cargo test -p tether --test end_to_end load:: -- --nocapture
//! TETHER_LOAD_SEED=42 cargo test -p tether --test end_to_end load:: -- --nocapture
//! ```
//!
//! A seed decides when the host is killed; who has come how far by then, it does not.

mod full_disk;
mod killed;
mod read_then_write;

use crate::support::{Answer, Api, Server, tether};

/// How long the tests go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    /// As with every test.
    Some,
    Full,
    Rounds(usize),
}

impl Length {
    /// What `TETHER_LOAD` asks for.
    fn asked_for() -> Self {
        match std::env::var("TETHER_LOAD").as_deref() {
            Err(_) => Self::Some,
            Ok("full") => Self::Full,
            Ok(text) => match text.parse() {
                Ok(rounds) if rounds > 0 => Self::Rounds(rounds),
                _ => panic!("TETHER_LOAD is `full`, or a number from 1, or not set; not {text:?}"),
            },
        }
    }

    /// How many rounds that is, of a test that has these lengths.
    fn rounds(self, some: usize, full: usize) -> usize {
        match self {
            Self::Some => some,
            Self::Full => full,
            Self::Rounds(rounds) => rounds,
        }
    }
}

/// Confirms, whether or not the host is there to be asked.
fn try_confirm(api: &Api, id: &str) -> std::io::Result<Answer> {
    api.ask(&api.post_of(&format!("/v1/actions/{id}/confirm"), &[], b"{}"))
}

/// The host's own judge finds nothing wrong with these many actions. The host ends with it.
#[track_caller]
fn check_audit(server: &mut Server, actions: usize) {
    server.kill();
    let audit = tether(server.setup.data(), &["audit", "verify", "--data-dir", "."]);
    audit.check(0, &[]);
    assert!(audit.stdout.contains(&format!("all is well: {actions} actions and ")), "{}", audit.stdout);
}
