//! Cases of `ActionStore`: what is kept is what was given, to the letter.

use tether_core::action::{Arguments, Output, Preview, Revision, State};
use tether_core::digest::Digest;
use tether_core::failure::{Cause, Failure};
use tether_core::grant::{Binding, BoundEndpoint};
use tether_core::ledger::{Answer, Entry, Fact, Ledger, Request};
use tether_core::port::actions::Swap;

use super::actions::{Store, approval, failure, load, moved, propose, succeeded};
use super::given::*;

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
