//! Which pairs of deaths are tried.

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};

/// One of so many first deaths is followed by a second one, in a sample.
const ONE_OF: u64 = 6;

/// All pairs, or a sample that follows from a seed.
pub(super) enum Pairs {
    All,
    Sample { seed: u64 },
}

impl Pairs {
    /// Those that the environment asks for: `TETHER_CRASH_PAIRS=all`, or the sample of
    /// `TETHER_CRASH_SEED`, or any sample.
    pub(super) fn asked_for() -> Self {
        match std::env::var("TETHER_CRASH_PAIRS").as_deref() {
            Ok("all") => return Self::All,
            Ok(other) => panic!("TETHER_CRASH_PAIRS is `all`, or not set; not {other:?}"),
            Err(_) => {}
        }
        let seed = match std::env::var("TETHER_CRASH_SEED") {
            Ok(text) => {
                text.parse().unwrap_or_else(|_| panic!("TETHER_CRASH_SEED is a number, not {text:?}"))
            }
            Err(_) => RandomState::new().hash_one(0) >> 32,
        };
        Self::Sample { seed }
    }

    /// Whether any second death after the `first` one is tried.
    pub(super) fn follow(&self, first: usize) -> bool {
        match self {
            Self::All => true,
            Self::Sample { seed } => number(*seed, first).is_multiple_of(ONE_OF),
        }
    }

    /// Those that are tried, of so many that there can be.
    pub(super) fn of(&self, first: usize, seconds: usize) -> Vec<usize> {
        match self {
            Self::All => (0..seconds).collect(),
            Self::Sample { seed } if self.follow(first) && seconds > 0 => {
                vec![(number(*seed, first) / ONE_OF) as usize % seconds]
            }
            Self::Sample { .. } => Vec::new(),
        }
    }
}

/// One that follows from the seed, and is another for each first death.
fn number(seed: u64, first: usize) -> u64 {
    scatter(seed ^ scatter(first as u64))
}

impl fmt::Display for Pairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all pairs"),
            Self::Sample { seed } => write!(f, "a sample of the pairs, TETHER_CRASH_SEED={seed}"),
        }
    }
}

/// Numbers that are close to each other become ones that are not (splitmix64).
fn scatter(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
