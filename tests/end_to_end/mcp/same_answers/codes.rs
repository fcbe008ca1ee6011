//! Every code is in a table, or elsewhere for a reason.

use std::collections::BTreeSet;

use tether_core::problem::Code;

use super::TIMED_OUT;
use super::calls::calls;
use super::states::states;
use super::world::upstream;

/// Codes that are told over both, and in no table here.
const ELSEWHERE: [(Code, &str); 11] = [
    (Code::ActionExecuting, "said to whoever decides, which nobody does over MCP but by a form"),
    (Code::ActionChanged, "the same"),
    (Code::ActionDecided, "the same"),
    (Code::ActionDeclined, "the same"),
    (Code::ActionExpired, "the same"),
    (Code::ActionOutdated, "the same"),
    (Code::KeyExpired, "it takes an hour at least"),
    (Code::StorageFull, "it takes a file system of its own"),
    (Code::Unauthenticated, "at the door, before the protocol begins"),
    (Code::Forbidden, "the same"),
    (Code::IdempotencyKeyReused, "it takes two calls"),
];

#[test]
fn no_code_is_forgotten() {
    let upstream = upstream();
    let calls = calls(&upstream);
    let states = states(&upstream);
    let words = calls.iter().map(|call| call.words).chain(states.iter().map(|state| state.words));
    let looked_at = [TIMED_OUT, "404 ACTION_NOT_FOUND", "500 INTERNAL"];
    let told: BTreeSet<_> = words.chain(looked_at).flat_map(|words| words.split(' ')).collect();
    for code in Code::ALL {
        let elsewhere = ELSEWHERE.iter().find(|(known, _)| known == code);
        assert_ne!(told.contains(code.as_str()), elsewhere.is_some(), "{code}: {elsewhere:?}");
    }
}
