//! What nobody can foresee: ids, and the jitter of pauses.

use tether_core::id::{ActionId, RequestId};

pub(crate) fn fresh_action_id() -> ActionId {
    ActionId::from_random(random())
}

pub(crate) fn fresh_request_id() -> RequestId {
    RequestId::from_random(random())
}

/// A random number from 0 to 1.
pub(crate) fn chance() -> f64 {
    f64::from(u32::from_ne_bytes(random())) / f64::from(u32::MAX)
}

/// # Panics
///
/// If the system has no random numbers: then no key would be safe.
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system gives random numbers");
    bytes
}
