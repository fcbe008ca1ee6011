//! Whether the keys that are bound to actions are those that people confirmed with.

use std::collections::{HashMap, HashSet};

use super::{Finding, Rule};
use crate::action::Status;
use crate::chain::Line;
use crate::digest::Digest;
use crate::id::{ActionId, IdempotencyKey, TenantId, UserId};

/// Compares the keys that a store has bound with the confirmations that the histories tell
/// of. It is given all events, and after that all keys; it keeps about 60 bytes for each
/// confirmation with a key.
#[derive(Debug, Default)]
pub struct Keys {
    /// Tenant, person, key and action of each confirmation, as a digest.
    confirmed: HashMap<Digest, ActionId>,
    /// The same without the key, of confirmations that do not tell it: they are older than
    /// that.
    untold: HashSet<Digest>,
}

/// A key that a store has bound to an action, so that it confirms no other.
#[derive(Debug)]
pub struct BoundKey {
    /// Whose.
    pub tenant: TenantId,
    /// The person who confirmed with it.
    pub person: UserId,
    /// The key.
    pub key: IdempotencyKey,
    /// The action.
    pub action: ActionId,
}

impl Keys {
    /// Takes the next event of a history.
    pub fn event(&mut self, line: &Line<'_>) {
        let event = line.event;
        let confirms =
            event.from == Some(Status::Pending) && matches!(event.to, Status::Pending | Status::Executing);
        let Some(actor) = event.actor.as_ref().filter(|_| confirms) else { return };
        let holder = holder(line.tenant, &actor.user, line.action);
        match line.confirm_key {
            Some(key) if key == of_no_key() => {}
            Some(key) => {
                self.confirmed.insert(confirmation(&holder, key), line.action);
            }
            None => {
                self.untold.insert(Digest::of(holder));
            }
        }
    }

    /// Takes the next key that is bound; what is wrong with it, if something is.
    pub fn bound(&mut self, bound: &BoundKey) -> Option<Finding> {
        let BoundKey { tenant, person, key, action } = bound;
        let holder = holder(tenant, person, *action);
        let known = self.confirmed.remove(&confirmation(&holder, Digest::of(key.as_str()))).is_some();
        if known || self.untold.contains(&Digest::of(holder)) {
            return None;
        }
        let what = format!("a key of {person} is bound to it, with which nobody confirmed it");
        Some(Finding { action: *action, rule: Rule::Keys, what })
    }

    /// All keys were taken: the confirmations whose keys are not among them.
    pub fn end(self) -> Vec<Finding> {
        let missing = |action| {
            let what = "a key with which it was confirmed is no longer bound to it".to_owned();
            Finding { action, rule: Rule::Keys, what }
        };
        let mut actions: Vec<_> = self.confirmed.into_values().collect();
        actions.sort();
        actions.into_iter().map(missing).collect()
    }
}

/// What stands in the event of a confirmation that had no key: no key is empty.
fn of_no_key() -> Digest {
    Digest::of("")
}

/// No name holds a line break: two holders never give one text.
fn holder(tenant: &TenantId, person: &UserId, action: ActionId) -> String {
    format!("{tenant}\n{person}\n{action}")
}

fn confirmation(holder: &str, key: Digest) -> Digest {
    Digest::of(format!("{holder}\n{key}"))
}
