//! Cases of `ActionStore`: of many at once one is first, and a key names one action.

use tether_core::action::{Approval, Claim, Revision, State, Status};
use tether_core::port::actions::{Proposed, Swap};
use tokio::task::JoinSet;

use super::actions::{Store, approval, failure, load, moved, propose};
use super::given::*;

fn approved(approvals: &[Approval]) -> State {
    State::Pending {
        attempts_used: 0,
        expires_at: at(1_000),
        last_failure: None,
        approvals: approvals.to_vec(),
    }
}

pub(crate) async fn fifty_racing_swaps_have_one_winner(store: Store) {
    let action = propose(&store, new_action(1)).await;
    let mut racers = JoinSet::new();
    for number in 0..50 {
        let (store, action) = (store.clone(), action.clone());
        racers.spawn(async move {
            store.swap(change(&action, executing(Some(&format!("key-{number}"))))).await.unwrap()
        });
    }
    let (mut done, mut stale) = (vec![], 0);
    while let Some(swap) = racers.join_next().await {
        match swap.unwrap() {
            Swap::Done(action) => done.push(action),
            Swap::Stale(action) => {
                assert_eq!(action.state.status(), Status::Executing);
                stale += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((done.len(), stale), (1, 49));
    let kept = load(&store, &action).await;
    assert_eq!((kept.state, kept.revision), (done[0].state.clone(), Revision(2)));
    assert_eq!(store.history(&"acme".parse().unwrap(), action.id).await.unwrap().len(), 2);
}

pub(crate) async fn a_proposal_key_names_one_action_of_its_proposer(store: Store) {
    let keyed = |number: u64, tenant: &str, user: &str| {
        let mut new = new_action(number);
        new.proposal.tenant = tenant.parse().unwrap();
        new.proposal.proposer = user.parse().unwrap();
        new.key = Some("k".parse().unwrap());
        new
    };
    let mut racers = JoinSet::new();
    for number in 0..50 {
        let (store, new) = (store.clone(), keyed(number, "acme", "agent"));
        racers.spawn(async move { store.propose(new).await.unwrap() });
    }
    let (mut new, mut before) = (vec![], vec![]);
    while let Some(proposed) = racers.join_next().await {
        match proposed.unwrap() {
            Proposed::New(action) => new.push(action.id),
            Proposed::Before(action) => before.push(action.id),
            Proposed::TooMany => panic!("there is no limit"),
        }
    }
    assert_eq!((new.len(), before.len()), (1, 49));
    assert!(before.iter().all(|id| *id == new[0]));

    propose(&store, keyed(60, "acme", "other")).await;
    propose(&store, keyed(61, "umbrella", "agent")).await;
    propose(&store, new_action(62)).await;
    propose(&store, new_action(63)).await;
    let found = async |user: &str, key: &str| {
        let (tenant, user, key) = ("acme".parse().unwrap(), user.parse().unwrap(), key.parse().unwrap());
        store.proposed_with(&tenant, &user, &key).await.unwrap().map(|action| action.id)
    };
    assert_eq!(found("agent", "k").await, Some(new[0]));
    assert_eq!(found("other", "k").await, Some(id(60)));
    assert_eq!(found("agent", "K").await, None, "keys are compared to the letter");
}

pub(crate) async fn a_confirm_key_is_bound_when_its_claim_wins(store: Store) {
    let (first, second) = (propose(&store, new_action(1)).await, propose(&store, new_action(2)).await);
    let bound = async || {
        let (tenant, user, key) = ("acme".parse().unwrap(), "ann".parse().unwrap(), "k".parse().unwrap());
        store.confirmed_with(&tenant, &user, &key).await.unwrap()
    };
    let mut stale = change(&first, executing(Some("k")));
    stale.seen.revision = Revision(9);
    assert!(matches!(store.swap(stale).await.unwrap(), Swap::Stale(_)));
    assert_eq!(bound().await, None, "a claim that lost binds nothing");

    let claimed = moved(&store, &first, executing(Some("k"))).await;
    assert_eq!(bound().await, Some(first.id));
    let taken = store.swap(change(&second, executing(Some("k")))).await.unwrap();
    assert!(matches!(taken, Swap::KeyTaken));
    assert_eq!(load(&store, &second).await.state.status(), Status::Pending);

    let back = State::Pending {
        attempts_used: 1,
        expires_at: at(2_000),
        last_failure: Some(failure()),
        approvals: vec![],
    };
    let back = moved(&store, &claimed, back).await;
    moved(&store, &back, executing(Some("k"))).await;
    let mut other = change(&second, executing(None));
    if let State::Executing { claim, .. } = &mut other.state {
        *claim = Claim { by: "bob".parse().unwrap(), key: Some("k".parse().unwrap()) };
    }
    assert!(matches!(store.swap(other).await.unwrap(), Swap::Done(_)), "another person's key is another");
}

pub(crate) async fn the_key_of_an_approval_is_bound_with_it(store: Store) {
    let (first, second) = (propose(&store, new_action(1)).await, propose(&store, new_action(2)).await);
    let one = moved(&store, &first, approved(&[approval("ann", Some("k"))])).await;
    let (tenant, user, key) = ("acme".parse().unwrap(), "ann".parse().unwrap(), "k".parse().unwrap());
    assert_eq!(store.confirmed_with(&tenant, &user, &key).await.unwrap(), Some(first.id));
    let taken = store.swap(change(&second, approved(&[approval("ann", Some("k"))]))).await.unwrap();
    assert!(matches!(taken, Swap::KeyTaken));
    let taken = store.swap(change(&second, executing(Some("k")))).await.unwrap();
    assert!(matches!(taken, Swap::KeyTaken), "an approval's key is a claim's");
    let two = approved(&[approval("ann", Some("k")), approval("bob", Some("k"))]);
    assert_eq!(moved(&store, &one, two.clone()).await.state, two);
}
