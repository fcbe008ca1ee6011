//! What happens at core's fault points, in builds with debug assertions.
//!
//! `TETHER_FAULT` is a plan, its parts separated by commas. `claimed` halts the process
//! where it comes to that point, `committed#2` where it does so for the second time; of
//! several, whichever comes first. It says so on standard error (`fault: committed#2`),
//! and a test then kills it, as a machine dies: without a chance to finish anything.
//! `trace` says each passing (`passed: committed#2`), so that a test can list them.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use tether_core::fault::{self, Point};

static PLAN: OnceLock<Plan> = OnceLock::new();

#[derive(Default)]
struct Plan {
    /// The passings at which to halt, counted from 1.
    halts: Vec<(Point, usize)>,
    trace: bool,
    /// How often each point was passed.
    passed: Mutex<BTreeMap<Point, usize>>,
}

/// Obeys `TETHER_FAULT`, if it is set.
///
/// # Panics
///
/// Where it is no plan: a test that misspells a point would wait for it in vain.
pub(crate) fn obey_environment() {
    if let Ok(text) = std::env::var("TETHER_FAULT") {
        let plan = Plan::parse(&text).unwrap_or_else(|part| panic!("TETHER_FAULT: {part:?} is no point"));
        let _ = PLAN.set(plan);
        fault::install(|point| PLAN.get().into_iter().for_each(|plan| plan.pass(point)));
    }
}

impl Plan {
    /// The error is the part that is none.
    fn parse(text: &str) -> Result<Self, &str> {
        let mut plan = Self::default();
        for part in text.split(',') {
            if part == "trace" {
                plan.trace = true;
                continue;
            }
            let (name, count) = part.split_once('#').unwrap_or((part, "1"));
            let point = Point::ALL.iter().find(|point| point.as_str() == name).ok_or(part)?;
            plan.halts.push((*point, count.parse().map_err(|_| part)?));
        }
        Ok(plan)
    }

    fn pass(&self, point: Point) {
        let passing = {
            let mut passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
            let count = passed.entry(point).or_default();
            *count += 1;
            (point, *count)
        };
        let (name, count) = (point.as_str(), passing.1);
        if self.trace {
            eprintln!("passed: {name}#{count}");
        }
        if self.halts.contains(&passing) {
            eprintln!("fault: {name}#{count}");
            loop {
                std::thread::park();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_names_passings() {
        let plan = Plan::parse("claimed,trace,committed#2").ok().unwrap();
        assert_eq!(plan.halts, [(Point::Claimed, 1), (Point::Committed, 2)]);
        assert!(plan.trace);
        for (text, wrong) in [("claimd", "claimd"), ("trace,claimed#x", "claimed#x"), ("", "")] {
            assert_eq!(Plan::parse(text).err(), Some(wrong));
        }
    }
}
