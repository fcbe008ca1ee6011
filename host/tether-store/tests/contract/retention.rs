//! Cases of `ActionStore`: how many proposals may be open, and what is erased of those that
//! have ended.

use tether_core::action::{Arguments, Output, Preview, State, Status};
use tether_core::port::actions::Proposed;
use tokio::task::JoinSet;

use super::actions::{Store, load, moved, propose, succeeded};
use super::given::*;

pub(crate) async fn of_fifty_proposals_at_once_as_many_are_kept_as_may_be_open(store: Store) {
    let limited = |number: u64, user: &str, tool: &str| {
        let mut new = new_action(number);
        new.proposal.proposer = user.parse().unwrap();
        new.proposal.tool = tool.parse().unwrap();
        new.key = Some(format!("key-{number}").parse().unwrap());
        new.max_open = Some(5);
        new
    };
    let mut racers = JoinSet::new();
    for number in 1..=50 {
        let (store, new) = (store.clone(), limited(number, "agent", "void_ticket"));
        racers.spawn(async move { store.propose(new).await.unwrap() });
    }
    let mut kept = vec![];
    let mut refused = 0;
    while let Some(proposed) = racers.join_next().await {
        match proposed.unwrap() {
            Proposed::New(action) => kept.push(action),
            Proposed::TooMany => refused += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((kept.len(), refused), (5, 45));
    let number = u64::from_str_radix(&kept[0].id.to_string(), 16).unwrap();
    let again = store.propose(limited(number, "agent", "void_ticket")).await.unwrap();
    assert!(matches!(again, Proposed::Before(_)), "a repetition is never refused");
    propose(&store, limited(60, "other", "void_ticket")).await;
    propose(&store, limited(61, "agent", "refund")).await;
    let mut foreign = limited(62, "agent", "void_ticket");
    foreign.proposal.tenant = "umbrella".parse().unwrap();
    propose(&store, foreign).await;

    let refused = async |number, millis| {
        let mut new = limited(number, "agent", "void_ticket");
        new.proposal.created_at = at(millis);
        matches!(store.propose(new).await.unwrap(), Proposed::TooMany)
    };
    moved(&store, &kept[0], executing(None)).await;
    assert!(refused(70, 0).await, "what executes is open");
    moved(&store, &kept[1], State::Expired { attempts_used: 0, at: at(5) }).await;
    assert!(!refused(71, 0).await);
    assert!(refused(72, 999).await);
    assert!(!refused(73, 1_000).await, "what is over is not open");
}

pub(crate) async fn arguments_are_erased_once_their_action_has_ended(store: Store) {
    let tenant = "acme".parse().unwrap();
    let ended = async |number: u64, millis: i64| {
        let mut new = new_action(number);
        new.key = Some(format!("key-{number}").parse().unwrap());
        new.proposal.preview = Preview::Text("Void ticket 7".into());
        let action = propose(&store, new).await;
        moved(&store, &action, State::Expired { attempts_used: 0, at: at(millis) }).await
    };
    for (number, millis) in [(1, 10), (2, 20), (3, 30)] {
        ended(number, millis).await;
    }
    let open = propose(&store, new_action(4)).await;
    let running = propose(&store, new_action(5)).await;
    moved(&store, &running, executing(None)).await;
    let erased = async || {
        let mut erased = vec![];
        for number in 1..=5 {
            let action = store.load(&tenant, id(number)).await.unwrap().unwrap();
            if action.proposal.arguments.kept().is_none() {
                assert_eq!(action.proposal.preview, Preview::Erased);
                erased.push(number);
            }
        }
        erased
    };
    store.erase_arguments(at(10), at(90), None, 9).await.unwrap();
    assert_eq!(erased().await, [0; 0]);
    store.erase_arguments(at(30), at(90), None, 1).await.unwrap();
    assert_eq!(erased().await, [1], "the oldest first");
    for _ in 0..2 {
        store.erase_arguments(at(i64::MAX), at(90), None, 9).await.unwrap();
    }
    assert_eq!(erased().await, [1, 2, 3], "what is undecided is kept");
    let whole = json("{\"ticket\": 7}");
    assert_eq!(load(&store, &open).await.proposal.arguments, Arguments::Kept(whole.clone()));

    let forgotten = store.load(&tenant, id(1)).await.unwrap().unwrap();
    assert_eq!(forgotten.proposal.arguments, Arguments::Erased(whole.fingerprint()));
    let (user, key) = ("agent".parse().unwrap(), "key-1".parse().unwrap());
    let again = store.proposed_with(&tenant, &user, &key).await.unwrap().unwrap();
    assert_eq!(again.id, id(1), "its key stays known");
    let history = store.history(&tenant, id(1)).await.unwrap();
    assert_eq!((forgotten.revision.0, history.len()), (3, 3));
    let last = &history[2];
    assert_eq!((last.from, last.to, &last.actor), (Some(Status::Expired), Status::Expired, &None));
    assert_eq!((last.at, last.detail.as_str()), (at(90), "its arguments and its preview were erased"));
}

pub(crate) async fn outputs_are_erased_and_their_records_are_due_until_they_are_empty(store: Store) {
    for (number, millis) in [(1, 10), (2, 20), (3, 30)] {
        let action = propose(&store, new_action(number)).await;
        let claimed = moved(&store, &action, executing(Some(&format!("key-{number}")))).await;
        moved(&store, &claimed, succeeded("{\"n\":1}", millis)).await;
    }
    let tenant = "acme".parse().unwrap();
    let due = async |now, limit| {
        let found = store.with_records(at(now), None, limit).await.unwrap().actions;
        found.into_iter().map(|action| action.id).collect::<Vec<_>>()
    };
    store.erase_outputs(at(10), at(90), None, 9).await.unwrap();
    assert_eq!(due(100, 9).await, []);
    store.erase_outputs(at(30), at(90), None, 1).await.unwrap();
    assert_eq!(due(100, 9).await, [id(1)]);
    store.erase_outputs(at(30), at(90), None, 9).await.unwrap();
    store.erase_outputs(at(30), at(90), None, 9).await.unwrap();
    assert_eq!(due(100, 9).await, [id(1), id(2)]);
    assert_eq!(due(100, 1).await, [id(1)]);
    let first = store.with_records(at(100), None, 1).await.unwrap().seen.last;
    let second = store.with_records(at(100), first, 9).await.unwrap();
    assert_eq!((second.seen.count, second.actions[0].id), (1, id(2)), "of the same time, after the mark");

    store.set_records_due(&tenant, id(1), Some(at(200))).await.unwrap();
    assert_eq!(due(199, 9).await, [id(2)]);
    assert_eq!(due(200, 9).await, [id(2), id(1)], "the longest due first");
    store.set_records_due(&tenant, id(2), None).await.unwrap();
    store.set_records_due(&tenant, id(3), Some(at(0))).await.unwrap();
    assert_eq!(due(200, 9).await, [id(1)], "a kept output's records are never due");

    let history = store.history(&tenant, id(1)).await.unwrap();
    let last = history.last().unwrap();
    assert_eq!((last.at, last.attempt, last.detail.as_str()), (at(90), 1, "its result was erased"));

    let kept = |number| store.load(&tenant, id(number));
    let first = kept(1).await.unwrap().unwrap();
    assert!(matches!(first.state, State::Succeeded { output: Output::Erased, .. }));
    assert_eq!(kept(3).await.unwrap().unwrap().state.status(), Status::Succeeded);
    let (user, key) = ("ann".parse().unwrap(), "key-1".parse().unwrap());
    assert_eq!(store.confirmed_with(&tenant, &user, &key).await.unwrap(), Some(id(1)));
}
