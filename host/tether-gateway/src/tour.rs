//! How a list of what the host looks after is gone through: from round to round, past
//! whatever is left as it is.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tether_core::port::actions::{Left, Mark, Seen};

/// Actions handled in one go; after as many were settled, the rest waits for the next round.
pub(crate) const BATCH: usize = 200;

/// How often a round asks at most.
const PARTS: usize = 10;

/// When what was left is tried again, after the end of the list was reached. Whatever comes
/// meanwhile comes at its end, and is seen in the next round.
const AGAIN: Duration = Duration::from_secs(60);

/// How many of those that are left the log names.
const NAMED: usize = 3;

/// How far a list was gone through.
#[derive(Default)]
pub(crate) struct Tour(Mutex<Reached>);

#[derive(Clone, Copy, Default)]
struct Reached {
    last: Option<Mark>,
    /// When it begins anew, on the monotonic clock; none before its end was reached.
    anew: Option<Duration>,
}

impl Tour {
    /// A round of it that begins at `now`, on the monotonic clock.
    pub(crate) fn round(&self, now: Duration) -> Round<'_> {
        let mut reached = self.reached();
        if reached.anew.is_some_and(|anew| now >= anew) {
            *reached = Reached::default();
        }
        Round { tour: self, after: reached.last, now, parts: 0, settled: 0, over: false, left: Vec::new() }
    }

    fn reached(&self) -> MutexGuard<'_, Reached> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One round.
pub(crate) struct Round<'a> {
    tour: &'a Tour,
    /// Where the next part begins.
    pub(crate) after: Option<Mark>,
    now: Duration,
    parts: usize,
    settled: usize,
    over: bool,
    left: Vec<Left>,
}

impl Round<'_> {
    /// Whether another part is to be asked for.
    pub(crate) fn goes_on(&self) -> bool {
        !self.over && self.parts < PARTS && self.settled < BATCH
    }

    /// Goes on past a part of at most [`BATCH`].
    pub(crate) fn saw(&mut self, Seen { count, last, left }: Seen) {
        self.parts += 1;
        self.settled += count.saturating_sub(left.len());
        self.over = count < BATCH;
        self.after = last.or(self.after);
        self.left.extend(left);
        let mut reached = self.tour.reached();
        let anew = self.over.then(|| reached.anew.unwrap_or(self.now + AGAIN));
        *reached = Reached { last: self.after, anew };
    }

    /// Tells the log what was left, in one line: that it was not `done`.
    pub(crate) fn tell(self, done: &str) {
        if let Some(line) = self.line(done) {
            tracing::warn!("{line}");
        }
    }

    fn line(&self, done: &str) -> Option<String> {
        let first = self.left.first()?;
        let named: Vec<_> = self.left.iter().take(NAMED).map(|left| left.id.as_str()).collect();
        let others = self.left.len() - named.len();
        let more = if others > 0 { format!(" and {others} more") } else { String::new() };
        Some(format!("not {done}: {}{more}; the first because {}", named.join(", "), first.why))
    }
}

#[cfg(test)]
mod tests {
    use tether_core::clock::Timestamp;

    use super::*;

    const START: Duration = Duration::from_secs(9);

    fn mark(at: i64) -> Mark {
        Mark { at: Timestamp::from_millis(at), number: 1 }
    }

    /// A part of `count`, of which so many are left, that ends at `at`.
    fn seen(count: usize, left: usize, at: i64) -> Seen {
        let left =
            (0..left).map(|number| Left { id: format!("id-{number}"), why: "it is broken".to_owned() });
        Seen { count, last: Some(mark(at)), left: left.collect() }
    }

    #[test]
    fn a_round_goes_past_what_is_left_and_the_next_one_goes_on_there() {
        let tour = Tour::default();
        let mut round = tour.round(START);
        let mut asked = 0;
        while round.goes_on() {
            asked += 1;
            round.saw(seen(BATCH, BATCH, asked));
        }
        assert_eq!(asked, 10);
        assert_eq!(tour.round(START).after, Some(mark(10)));
    }

    #[test]
    fn a_round_is_over_where_the_list_is_or_enough_is_settled() {
        let tour = Tour::default();
        for count in [BATCH, 0, 7] {
            let mut round = tour.round(START);
            round.saw(seen(count, 0, 1));
            assert!(!round.goes_on(), "{count}");
        }
    }

    #[test]
    fn it_begins_anew_a_while_after_its_end_and_never_before_it() {
        let tour = Tour::default();
        let much_later = START + 9 * AGAIN;
        tour.round(START).saw(seen(BATCH, BATCH, 1));
        assert_eq!(tour.round(much_later).after, Some(mark(1)));
        tour.round(much_later).saw(seen(7, 7, 2));
        tour.round(much_later + AGAIN / 2).saw(Seen::default());
        assert_eq!(tour.round(much_later + AGAIN / 2).after, Some(mark(2)));
        assert_eq!(tour.round(much_later + AGAIN).after, None);
    }

    #[track_caller]
    fn told(left: usize, expected: Option<&str>) {
        let tour = Tour::default();
        let mut round = tour.round(START);
        round.saw(seen(left, left, 1));
        assert_eq!(round.line("expired").as_deref(), expected);
    }

    #[test]
    fn one_line_tells_of_all_that_is_left() {
        told(0, None);
        told(1, Some("not expired: id-0; the first because it is broken"));
        told(205, Some("not expired: id-0, id-1, id-2 and 202 more; the first because it is broken"));
    }
}
