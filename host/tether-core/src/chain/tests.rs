//! What a chain shows.

use super::*;
use crate::action::Status;
use crate::clock::Timestamp;
use crate::identity::Actor;

/// An event as it is stored: what [`Line`] borrows, owned.
#[derive(Clone)]
struct Stored {
    tenant: TenantId,
    place: u64,
    action: ActionId,
    revision: u64,
    event: HistoryEvent,
    proposal: Digest,
    state: Digest,
    confirm_key: Option<Digest>,
    hash: Digest,
}

impl Stored {
    fn line(&self) -> Line<'_> {
        Line {
            tenant: &self.tenant,
            place: self.place,
            action: self.action,
            revision: Revision(self.revision),
            event: &self.event,
            proposal: self.proposal,
            state: self.state,
            confirm_key: self.confirm_key,
        }
    }
}

fn event(number: u64) -> HistoryEvent {
    HistoryEvent {
        at: Timestamp::from_millis(1_000 + number as i64),
        actor: Some(Actor { user: "ann".parse().unwrap(), channel: Some(Channel::Api) }),
        from: Some(Status::Pending),
        to: Status::Executing,
        attempt: 1,
        detail: format!("event {number}"),
    }
}

/// Four events of each of two tenants, in turn.
fn history() -> (Vec<Stored>, Vec<Head>) {
    let mut stored: Vec<Stored> = Vec::new();
    for place in 1..=4 {
        for tenant in ["acme", "umbrella"] {
            let tenant: TenantId = tenant.parse().unwrap();
            let before = stored.iter().rev().find(|before| before.tenant == tenant);
            let previous = before.map_or_else(|| genesis(&tenant), |before| before.hash);
            let mut next = Stored {
                tenant,
                place,
                action: ActionId::from_random([place as u8; 16]),
                revision: 2,
                event: event(place),
                proposal: Digest::of("proposal"),
                state: Digest::of("state"),
                confirm_key: Some(Digest::of("key")),
                hash: previous,
            };
            next.hash = next.line().hash(&previous);
            stored.push(next);
        }
    }
    let heads = stored[6..].iter();
    let heads = heads.map(|last| Head { tenant: last.tenant.clone(), place: last.place, hash: last.hash });
    (stored.clone(), heads.collect())
}

/// What is found, as `tenant place`.
fn broken(stored: &[Stored], heads: &[Head], witnesses: &[Head]) -> Vec<String> {
    let mut checker = Checker::with_witnesses(witnesses.to_vec());
    let found: Vec<_> = stored.iter().filter_map(|event| checker.next(&event.line(), &event.hash)).collect();
    let found = found.into_iter().chain(checker.end(heads));
    found.map(|broken| format!("{} {}", broken.tenant, broken.place)).collect()
}

#[test]
fn a_history_that_was_left_alone_is_whole() {
    let (stored, heads) = history();
    assert_eq!(broken(&stored, &heads, &heads), [""; 0]);
    let mut checker = Checker::default();
    assert!(stored.iter().all(|event| checker.next(&event.line(), &event.hash).is_none()));
    assert_eq!(checker.heads(), heads);
}

#[test]
fn whatever_is_changed_of_an_event_is_found_where_it_is() {
    let changes: [fn(&mut Stored); 14] = [
        |event| event.action = ActionId::from_random([9; 16]),
        |event| event.revision = 3,
        |event| event.event.at = Timestamp::EPOCH,
        |event| event.event.actor = None,
        |event| event.event.actor.as_mut().unwrap().user = "bob".parse().unwrap(),
        |event| event.event.actor.as_mut().unwrap().channel = Some(Channel::Mcp),
        |event| event.event.actor.as_mut().unwrap().channel = None,
        |event| event.event.from = None,
        |event| event.event.to = Status::Declined,
        |event| event.event.attempt = 2,
        |event| event.event.detail.push(' '),
        |event| event.proposal = Digest::of("other"),
        |event| event.state = Digest::of("other"),
        |event| event.hash = Digest::of("other"),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let (mut stored, heads) = history();
        change(&mut stored[2]);
        assert_eq!(broken(&stored, &heads, &[])[0], "acme 2", "change {number}");
    }
}

#[test]
fn what_is_dropped_added_or_moved_is_found() {
    let check = |change: fn(&mut Vec<Stored>), found: &[&str]| {
        let (mut stored, heads) = history();
        change(&mut stored);
        assert_eq!(broken(&stored, &heads, &[]), found);
    };
    check(|stored| drop(stored.remove(0)), &["acme 2"]);
    check(|stored| drop(stored.remove(2)), &["acme 3"]);
    check(|stored| drop(stored.remove(6)), &["acme 3"]);
    check(|stored| stored.retain(|event| event.tenant.as_str() != "acme"), &["acme 0"]);
    check(|stored| stored.insert(4, stored[2].clone()), &["acme 2"]);
    check(|stored| stored.swap(2, 4), &["acme 3", "acme 2", "acme 4"]);
    // Another place: what was moved, and what came after where it had been.
    check(|stored| stored[7].place = 5, &["umbrella 5", "umbrella 5"]);
    check(
        |stored| {
            for event in stored {
                event.tenant =
                    if event.tenant.as_str() == "acme" { "umbrella" } else { "acme" }.parse().unwrap();
            }
        },
        &[
            "umbrella 1",
            "acme 1",
            "umbrella 2",
            "acme 2",
            "umbrella 3",
            "acme 3",
            "umbrella 4",
            "acme 4",
            "acme 4",
            "umbrella 4",
        ],
    );
}

#[test]
fn a_history_that_was_written_anew_is_found_by_what_was_kept_elsewhere() {
    let (stored, kept) = history();
    let cut = &stored[..6];
    let heads: Vec<_> = cut[4..]
        .iter()
        .map(|last| Head { tenant: last.tenant.clone(), place: last.place, hash: last.hash })
        .collect();
    assert_eq!(broken(cut, &heads, &[]), [""; 0], "nothing in the file tells");
    assert_eq!(broken(cut, &heads, &kept), ["acme 4", "umbrella 4"]);

    let (mut anew, mut heads) = history();
    anew[6].event.detail.push('!');
    anew[6].hash = anew[6].line().hash(&anew[4].hash);
    heads[0].hash = anew[6].hash;
    assert_eq!(broken(&anew, &heads, &[]), [""; 0]);
    assert_eq!(broken(&anew, &heads, &kept), ["acme 4"]);
}

#[test]
fn a_head_that_was_changed_is_found() {
    let (stored, heads) = history();
    let mut other = heads.clone();
    other[0].hash = Digest::of("other");
    assert_eq!(broken(&stored, &other, &[]), ["acme 4"]);
    other[0] = Head { place: 3, ..heads[0].clone() };
    assert_eq!(broken(&stored, &other, &[]), ["acme 4"]);
    assert_eq!(broken(&stored, &heads[1..], &[]), ["acme 4"]);
}

/// What is kept elsewhere, and older files, are checked for good: the lines of a hash never
/// change.
#[test]
fn a_hash_is_of_its_lines() {
    let (stored, _) = history();
    let lines = |key: &str| {
        let (before, first) = (genesis(&stored[0].tenant), &stored[0]);
        let detail = Digest::of("event 1");
        Digest::of(format!(
            "{before}\nacme\n1\n{}\n2\n1001\nann\napi\nPending\nExecuting\n1\n{detail}\n{}\n{}{key}",
            first.action,
            Digest::of("proposal"),
            Digest::of("state"),
        ))
    };
    let hash = |confirm_key| Line { confirm_key, ..stored[0].line() }.hash(&genesis(&stored[0].tenant));
    assert_eq!(hash(None), lines(""));
    assert_eq!(hash(Some(Digest::of("key"))), lines(&format!("\n{}", Digest::of("key"))));
}
