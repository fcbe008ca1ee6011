//! Keys that are bound, and those that were confirmed with.

use super::super::keys::{BoundKey, Keys};
use crate::action::{Revision, Status};
use crate::chain::Line;
use crate::clock::Timestamp;
use crate::digest::Digest;
use crate::id::ActionId;
use crate::identity::Actor;
use crate::port::actions::HistoryEvent;

/// An event of action 1 of `acme`, by `ann` unless the host did it.
fn event(from: Option<Status>, to: Status, by_ann: bool) -> HistoryEvent {
    let actor = by_ann.then(|| Actor { user: "ann".parse().unwrap(), channel: None });
    HistoryEvent { at: Timestamp::EPOCH, actor, from, to, attempt: 1, detail: String::new() }
}

fn tell(keys: &mut Keys, event: &HistoryEvent, confirm_key: Option<Digest>) {
    keys.event(&Line {
        tenant: &"acme".parse().unwrap(),
        place: 1,
        action: ActionId::from_random([1; 16]),
        revision: Revision(2),
        event,
        proposal: Digest::of("proposal"),
        state: Digest::of("state"),
        confirm_key,
    });
}

fn bound(tenant: &str, person: &str, key: &str, action: u8) -> BoundKey {
    BoundKey {
        tenant: tenant.parse().unwrap(),
        person: person.parse().unwrap(),
        key: key.parse().unwrap(),
        action: ActionId::from_random([action; 16]),
    }
}

/// How many findings there are of keys that are there, and of keys that are not.
fn findings(confirmed: &[Option<&str>], rows: &[BoundKey]) -> (usize, usize) {
    let mut keys = Keys::default();
    for key in confirmed {
        let claim = event(Some(Status::Pending), Status::Executing, true);
        tell(&mut keys, &claim, key.map(Digest::of));
    }
    let added = rows.iter().filter_map(|row| keys.bound(row)).count();
    (added, keys.end().len())
}

#[test]
fn every_key_is_one_that_somebody_confirmed_with() {
    let ours = || bound("acme", "ann", "k", 1);
    assert_eq!(findings(&[Some("k")], &[ours()]), (0, 0));
    assert_eq!(findings(&[Some("k"), Some("k")], &[ours()]), (0, 0), "it confirmed two attempts");
    assert_eq!(findings(&[Some("k"), Some("l")], &[ours(), bound("acme", "ann", "l", 1)]), (0, 0));
    assert_eq!(findings(&[Some("")], &[]), (0, 0), "it had none");
    // Dropped, added, changed.
    assert_eq!(findings(&[Some("k")], &[]), (0, 1));
    assert_eq!(findings(&[Some("")], &[ours()]), (1, 0));
    for other in [
        bound("umbrella", "ann", "k", 1),
        bound("acme", "bob", "k", 1),
        bound("acme", "ann", "l", 1),
        bound("acme", "ann", "k", 2),
    ] {
        assert_eq!(findings(&[Some("k")], &[other]), (1, 1));
    }
    assert_eq!(findings(&[], &[ours()]), (1, 0));
}

#[test]
fn a_confirmation_that_does_not_tell_its_key_had_any() {
    assert_eq!(findings(&[None], &[bound("acme", "ann", "k", 1)]), (0, 0));
    assert_eq!(findings(&[None], &[]), (0, 0));
    assert_eq!(findings(&[None], &[bound("acme", "bob", "k", 1), bound("acme", "ann", "k", 2)]), (2, 0));
}

#[test]
fn only_a_persons_yes_binds_a_key() {
    use Status::{Declined, Executing, Pending, Succeeded};
    for (from, to, by_ann, binds) in [
        (Some(Pending), Executing, true, true),
        (Some(Pending), Pending, true, true),
        (None, Pending, true, false),
        (Some(Pending), Declined, true, false),
        (Some(Executing), Pending, false, false),
        (Some(Executing), Succeeded, false, false),
    ] {
        for told in [None, Some(Digest::of("k"))] {
            let mut keys = Keys::default();
            tell(&mut keys, &event(from, to, by_ann), told);
            let found = keys.bound(&bound("acme", "ann", "k", 1)).is_some();
            assert_eq!(found, !binds, "{from:?} to {to:?}, {told:?}");
        }
    }
}
