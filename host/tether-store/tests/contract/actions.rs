//! Cases of `ActionStore`: lists, the history, and what the host looks after.

use std::sync::Arc;
use std::time::Duration;

use tether_core::action::{Action, Approval, Claim, Output, State, Status};
use tether_core::digest::Digest;
use tether_core::failure::{Cause, Failure};
use tether_core::port::actions::{ActionStore, Filter, NewAction, Page, Proposed, StoreError, Swap};

use super::given::*;

pub(crate) type Store = Arc<dyn ActionStore>;

pub(crate) async fn propose(store: &Store, new: NewAction) -> Action {
    match store.propose(new).await.unwrap() {
        Proposed::New(action) => action,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn moved(store: &Store, action: &Action, state: State) -> Action {
    match store.swap(change(action, state)).await.unwrap() {
        Swap::Done(action) => action,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn load(store: &Store, action: &Action) -> Action {
    store.load(&action.proposal.tenant, action.id).await.unwrap().unwrap()
}

pub(crate) fn succeeded(output: &str, millis: i64) -> State {
    State::Succeeded {
        attempts_used: 1,
        claim: claim(None),
        at: at(millis),
        output: Output::Kept(json(output)),
        approvals: Vec::new(),
    }
}

pub(crate) fn approval(user: &str, key: Option<&str>) -> Approval {
    Approval { claim: Claim { by: user.parse().unwrap(), ..claim(key) }, at: at(7) }
}

pub(crate) fn failure() -> Failure {
    Failure {
        cause: Cause::Transient,
        handler_code: Some("LATER".into()),
        message: "not now — 😀".into(),
        retry_after: Some(Duration::from_millis(1500)),
    }
}

pub(crate) async fn lists_are_newest_first_and_their_pages_join(store: Store) {
    for number in 1..=9 {
        let mut new = new_action(number);
        new.proposal.proposer = if number % 2 == 0 { "even" } else { "odd" }.parse().unwrap();
        let action = propose(&store, new).await;
        if number % 3 == 0 {
            moved(&store, &action, State::Expired { attempts_used: 0, at: at(5) }).await;
        }
    }
    let mut foreign = new_action(99);
    foreign.proposal.tenant = "umbrella".parse().unwrap();
    propose(&store, foreign).await;

    let page = async |filter: &Filter, limit, cursor: Option<&str>| -> Page {
        let tenant = "acme".parse().unwrap();
        store.list(&tenant, filter.clone(), limit, cursor.map(str::to_owned)).await.unwrap()
    };
    let all = async |filter: Filter, limit| {
        let (mut ids, mut cursor) = (vec![], None::<String>);
        loop {
            let found = page(&filter, limit, cursor.as_deref()).await;
            assert!(found.actions.len() <= limit);
            ids.extend(found.actions.iter().map(|action| action.id));
            match found.next {
                Some(next) => cursor = Some(next),
                None => return ids,
            }
        }
    };
    let ids = |numbers: &[u64]| numbers.iter().map(|number| id(*number)).collect::<Vec<_>>();
    let status = Some(Status::Expired);
    let proposer = Some("even".parse().unwrap());
    for limit in [1, 2, 3, 9, 10] {
        assert_eq!(all(Filter::default(), limit).await, ids(&[9, 8, 7, 6, 5, 4, 3, 2, 1]));
        assert_eq!(all(Filter { status, proposer: None }, limit).await, ids(&[9, 6, 3]));
        assert_eq!(all(Filter { status: None, proposer: proposer.clone() }, limit).await, ids(&[8, 6, 4, 2]));
        assert_eq!(all(Filter { status, proposer: proposer.clone() }, limit).await, ids(&[6]));
    }
    for cursor in ["", "nonsense", &id(99).to_string(), "' OR 1"] {
        let tenant = "acme".parse().unwrap();
        let found = store.list(&tenant, Filter::default(), 1, Some(cursor.to_owned())).await;
        assert!(matches!(found, Err(StoreError::UnknownCursor)), "{cursor:?}: {found:?}");
    }
    assert!(page(&Filter::default(), 0, None).await.actions.is_empty());
}

pub(crate) async fn the_history_tells_every_move(store: Store) {
    let action = propose(&store, new_action(1)).await;
    let claimed = moved(&store, &action, executing(None)).await;
    let mut end = change(&claimed, succeeded("1", 9));
    (end.actor, end.at, end.detail) = (None, at(9), "Done.".into());
    assert!(matches!(store.swap(end).await.unwrap(), Swap::Done(_)));
    let told: Vec<_> = store
        .history(&"acme".parse().unwrap(), action.id)
        .await
        .unwrap()
        .into_iter()
        .map(|event| {
            let actor = event.actor.map(|actor| actor.user.to_string());
            (event.at, actor, event.from, event.to, event.attempt, event.detail)
        })
        .collect();
    let by = |user: &str| Some(user.to_owned());
    assert_eq!(
        told,
        [
            (NOON, by("agent"), None, Status::Pending, 0, "Proposed.".into()),
            (at(5), by("ann"), Some(Status::Pending), Status::Executing, 1, "Moved.".into()),
            (at(9), None, Some(Status::Executing), Status::Succeeded, 1, "Done.".into()),
        ]
    );
    assert!(store.history(&"umbrella".parse().unwrap(), action.id).await.unwrap().is_empty());
}

pub(crate) async fn no_tenant_sees_another_tenants_actions(store: Store) {
    let action = propose(&store, new_action(1)).await;
    let umbrella = "umbrella".parse().unwrap();
    assert!(store.load(&umbrella, action.id).await.unwrap().is_none());
    assert!(store.list(&umbrella, Filter::default(), 9, None).await.unwrap().actions.is_empty());
    let mut theft = change(&action, executing(None));
    theft.seen.proposal.tenant = umbrella;
    assert!(matches!(store.swap(theft).await.unwrap(), Swap::Gone));
    assert!(store.load(&"acme".parse().unwrap(), id(7)).await.unwrap().is_none());
}

pub(crate) async fn what_the_host_looks_after_is_found(store: Store) {
    for number in 1..=4 {
        let mut new = new_action(number);
        new.proposal.tenant = format!("tenant-{number}").parse().unwrap();
        new.proposal.binding = bound(Digest::of(format!("bytes {}", number % 3)));
        new.expires_at = at(100 - number.cast_signed());
        propose(&store, new).await;
    }
    let overdue = async |now, limit| {
        let found = store.overdue(at(now), None, limit).await.unwrap().actions;
        found.into_iter().map(|action| action.id).collect::<Vec<_>>()
    };
    assert_eq!(overdue(95, 9).await, []);
    assert_eq!(overdue(97, 9).await, [id(4), id(3)], "the longest overdue first");
    assert_eq!(overdue(97, 1).await, [id(4)]);
    let first = store.overdue(at(97), None, 1).await.unwrap().seen;
    assert_eq!((first.count, first.left.len()), (1, 0));
    let second = store.overdue(at(97), first.last, 9).await.unwrap();
    assert_eq!((second.seen.count, second.actions[0].id), (1, id(3)), "after the mark");
    assert_eq!(store.overdue(at(97), second.seen.last, 9).await.unwrap().seen.count, 0);

    let fourth = store.load(&"tenant-4".parse().unwrap(), id(4)).await.unwrap().unwrap();
    let third = store.load(&"tenant-3".parse().unwrap(), id(3)).await.unwrap().unwrap();
    moved(&store, &fourth, executing(None)).await;
    moved(&store, &third, State::Expired { attempts_used: 0, at: at(97) }).await;
    assert_eq!(overdue(97, 9).await, []);
    let running: Vec<_> = store.executing().await.unwrap().into_iter().map(|action| action.id).collect();
    assert_eq!(running, [id(4)]);

    let mut needed = store.needed_components().await.unwrap();
    let mut expected = vec![Digest::of("bytes 1"), Digest::of("bytes 2")];
    needed.sort();
    expected.sort();
    assert_eq!(needed, expected, "nothing undecided is bound to the third");
}
