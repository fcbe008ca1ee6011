//! Whether the rows of events and of actions are in the order in which they were written. No
//! hash covers their numbers, and lists and webhooks go by them.

use tether_store::Chained;

/// What was seen of the rows so far.
#[derive(Default)]
pub(super) struct Order {
    /// The number of the last event.
    event: u64,
    /// That of the action that was proposed last.
    proposed: i64,
}

impl Order {
    /// Takes the next event; what is wrong with its place among the rows, if something is.
    /// Nothing is ever deleted, so that events have all numbers from 1, and actions rising
    /// ones.
    pub(super) fn next(&mut self, chained: &Chained) -> Option<String> {
        let (event, action) = (chained.announced.number, chained.action_number);
        let before = std::mem::replace(&mut self.event, event);
        if chained.announced.event.from.is_none() {
            let proposed = std::mem::replace(&mut self.proposed, action);
            if action <= proposed {
                return Some(format!(
                    "the action is row {action}, and the one that was proposed before it row {proposed}"
                ));
            }
        }
        (event != before + 1).then(|| format!("the event is row {event}, and should be row {}", before + 1))
    }

    /// There is an event that cannot be read.
    pub(super) fn skip(&mut self) {
        self.event += 1;
    }
}
