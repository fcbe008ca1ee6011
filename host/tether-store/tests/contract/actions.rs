//! Cases of `ActionStore`.

use std::sync::Arc;
use std::time::Duration;

use tether_core::action::{Action, Approval, Arguments, Claim, Output, Preview, Revision, State, Status};
use tether_core::digest::Digest;
use tether_core::failure::{Cause, Failure};
use tether_core::grant::{Binding, BoundEndpoint};
use tether_core::ledger::{Answer, Entry, Fact, Ledger, Request};
use tether_core::port::actions::{ActionStore, Filter, NewAction, Page, Proposed, StoreError, Swap};
use tokio::task::JoinSet;

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

fn approval(user: &str, key: Option<&str>) -> Approval {
    Approval { claim: Claim { by: user.parse().unwrap(), ..claim(key) }, at: at(7) }
}

fn approved(approvals: &[Approval]) -> State {
    State::Pending {
        attempts_used: 0,
        expires_at: at(1_000),
        last_failure: None,
        approvals: approvals.to_vec(),
    }
}

fn failure() -> Failure {
    Failure {
        cause: Cause::Transient,
        handler_code: Some("LATER".into()),
        message: "not now — 😀".into(),
        retry_after: Some(Duration::from_millis(1500)),
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
        *claim = tether_core::action::Claim { by: "bob".parse().unwrap(), key: Some("k".parse().unwrap()) };
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

fn committed(step: Option<&str>) -> Entry {
    Entry {
        at: at(6),
        attempt: 1,
        fact: Fact::Committed {
            database: "main".parse().unwrap(),
            step: step.map(|step| step.parse().unwrap()),
            statements: vec!["UPDATE \"t\" SET a = 'ü'".into(), String::new()],
        },
    }
}

fn sent(step: Option<&str>, answer: Answer) -> Entry {
    let request = Request {
        method: "POST".parse().unwrap(),
        origin: "https://api.example.com:8443".into(),
        path: "/refunds/ü".into(),
        step: step.map(|step| step.parse().unwrap()),
    };
    Entry { at: at(7), attempt: 1, fact: Fact::Sent { request, answer } }
}

pub(crate) async fn what_is_sent_is_noted_while_its_attempt_executes_and_at_no_other_time(store: Store) {
    let action = propose(&store, new_action(1)).await;
    let tenant = action.proposal.tenant.clone();
    let ledger = |entries: &[Entry]| Ledger::new(entries.to_vec());
    let first = ledger(&[sent(None, Answer::InDoubt)]);
    let note = async |tenant: &str, attempt, ledger: &Ledger| {
        store.note(&tenant.parse().unwrap(), action.id, attempt, ledger.clone()).await.unwrap()
    };
    assert!(!note("acme", 1, &first).await, "not before its claim");
    let claimed = moved(&store, &action, executing(None)).await;
    assert!(note("acme", 1, &first).await);
    assert_eq!(load(&store, &action).await.ledger, first);
    for (tenant, attempt) in [("acme", 0), ("acme", 2), ("umbrella", 1)] {
        assert!(!note(tenant, attempt, &Ledger::default()).await, "{tenant}, {attempt}");
    }
    assert!(!store.note(&tenant, id(9), 1, first.clone()).await.unwrap());

    let more = ledger(&[sent(None, Answer::InDoubt), sent(Some("mail"), Answer::InDoubt)]);
    assert!(note("acme", 1, &more).await);
    let kept = load(&store, &action).await;
    assert_eq!((&kept.ledger, kept.revision, &kept.state), (&more, claimed.revision, &claimed.state));
    assert_eq!(store.history(&tenant, action.id).await.unwrap().len(), 2, "a note is no move");

    let failed =
        State::Pending { attempts_used: 1, expires_at: at(2_000), last_failure: None, approvals: vec![] };
    let back = moved(&store, &claimed, failed).await;
    assert!(!note("acme", 1, &more).await, "not after it was settled");
    let State::Executing { claim, since, expires_at, .. } = executing(None) else { unreachable!() };
    moved(
        &store,
        &back,
        State::Executing { attempt: 2, claim, since, expires_at, last_failure: None, approvals: vec![] },
    )
    .await;
    assert!(!note("acme", 1, &more).await, "not for an attempt that is over");
    assert_eq!(load(&store, &action).await.ledger, Ledger::default());
}

pub(crate) async fn every_state_survives_its_row(store: Store) {
    let failed = || Some(failure());
    let states = [
        State::Pending {
            attempts_used: 2,
            expires_at: at(i64::MAX),
            last_failure: failed(),
            approvals: vec![],
        },
        State::Pending { attempts_used: 0, expires_at: at(-1), last_failure: None, approvals: vec![] },
        State::Pending {
            attempts_used: 0,
            expires_at: at(9),
            last_failure: None,
            approvals: vec![approval("ann", Some("k\"1")), approval("Bob  B. 😀", None)],
        },
        executing(Some("k")),
        State::Executing {
            attempt: 3,
            claim: claim(None),
            since: at(7),
            expires_at: at(8),
            last_failure: Some(Failure::new(Cause::Interrupted, "")),
            approvals: vec![],
        },
        succeeded("{\"b\" : 9007199254740993,\n \"a\": [0.10, \"\\ud83d\\ude00\", -0]}", 9),
        State::Succeeded {
            attempts_used: 1,
            claim: claim(Some("l")),
            at: at(9),
            output: Output::Erased,
            approvals: vec![approval("bob", Some("m"))],
        },
        State::Failed { attempts_used: 3, at: at(9), failure: failure() },
        State::Declined { attempts_used: 1, at: at(9), by: "bob".parse().unwrap(), reason: None },
        State::Declined {
            attempts_used: 0,
            at: at(9),
            by: "Bob  B. 😀".parse().unwrap(),
            reason: Some("no\n\"way\"".into()),
        },
        State::Expired { attempts_used: 0, at: at(9) },
    ];
    let answers = [Answer::InDoubt, Answer::NotSent, Answer::Status(404)];
    let sent = answers.into_iter().flat_map(|answer| [sent(None, answer), sent(Some("mail"), answer)]);
    let ledger = Ledger::new([committed(None), committed(Some("mail"))].into_iter().chain(sent).collect());
    for (number, state) in (1..).zip(states) {
        let action = propose(&store, new_action(number)).await;
        let mut to = change(&action, state.clone());
        to.ledger = ledger.clone();
        let Swap::Done(answered) = store.swap(to).await.unwrap() else { panic!("{state:?}") };
        let kept = load(&store, &action).await;
        assert_eq!((&kept.state, &kept.ledger, kept.revision), (&state, &ledger, Revision(2)));
        assert_eq!(
            (answered.state, answered.ledger, answered.revision),
            (state, ledger.clone(), Revision(2))
        );
    }
}

pub(crate) async fn a_proposal_survives_to_the_letter(store: Store) {
    let previews = [
        Preview::Text("Void \u{1f4a5}\u{a0}it".into()),
        Preview::None,
        Preview::Unavailable("it trapped".into()),
    ];
    for (number, preview) in (1..).zip(previews) {
        let mut new = new_action(number);
        new.proposal.preview = preview;
        new.proposal.arguments =
            Arguments::Kept(json("{\"z\":9007199254740993, \"a\":1.0e0,\t\"é\":\"\\u00e9\"}"));
        let proposed = propose(&store, new.clone()).await;
        let kept = load(&store, &proposed).await;
        assert_eq!(kept.proposal.arguments, new.proposal.arguments);
        assert_eq!(kept.proposal.preview, new.proposal.preview);
        assert_eq!(kept.proposal.binding, new.proposal.binding);
        assert_eq!(format!("{kept:?}"), format!("{proposed:?}"));
    }
}

pub(crate) async fn an_action_is_bound_to_an_endpoint_as_well(store: Store) {
    let mut new = new_action(1);
    let url = "https://tools.example.com/tether".to_owned();
    new.proposal.binding = Binding::Endpoint(BoundEndpoint { url, definition: Digest::of("defined so") });
    let action = propose(&store, new.clone()).await;
    assert_eq!(load(&store, &action).await.proposal.binding, new.proposal.binding);
    moved(&store, &action, executing(None)).await;
    assert_eq!(store.executing().await.unwrap()[0].proposal.binding, new.proposal.binding);
    assert_eq!(store.needed_components().await.unwrap(), [], "nothing of it is kept here");
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
        let found = store.overdue(at(now), limit).await.unwrap();
        found.into_iter().map(|action| action.id).collect::<Vec<_>>()
    };
    assert_eq!(overdue(95, 9).await, []);
    assert_eq!(overdue(97, 9).await, [id(4), id(3)], "the longest overdue first");
    assert_eq!(overdue(97, 1).await, [id(4)]);

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
