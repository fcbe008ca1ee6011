//! Who was turned away after saying yes.

use std::sync::Arc;
use std::time::Duration;

use tether_core::clock::{Clock as _, Timestamp};
use tether_core::digest::Digest;
use tether_core::id::{TenantId, TokenId, UserId};
use tether_core::identity::Role;
use tether_core::port::people::People as _;
use tether_core::port::tokens::{Token, Tokens as _};
use tether_store::SqliteActions;

use super::given_clock::GivenClock;
use crate::identity::KnownPeople;
use crate::scratch::Scratch;

/// When they said yes, in seconds after the clock's beginning.
const YES: u64 = 100;

/// When it is asked whether that counts, in the same.
const NOW: u64 = 1_000;

/// A token of a user, with when it is revoked and when it ends.
struct Given {
    user: &'static str,
    role: Role,
    revoked: Option<u64>,
    ends: u64,
}

const fn approvers(revoked: Option<u64>) -> Given {
    Given { user: "ann", role: Role::Approver, revoked, ends: 10_000 }
}

async fn check(user: &str, tokens: &[Given], operator_left: Option<u64>, expected: bool, why: &str) {
    let folder = Scratch::new().unwrap();
    let store = Arc::new(SqliteActions::open(folder.path().join("actions.db")).unwrap());
    let clock = Arc::new(GivenClock::default());
    let beginning = clock.now();
    let after = |seconds: u64| beginning.after(Duration::from_secs(seconds));
    clock.advance(Duration::from_secs(NOW));
    for (number, given) in (0..).zip(tokens) {
        let token = Token {
            id: TokenId::from_random([number; 16]),
            tenant: "default".parse().unwrap(),
            user: given.user.parse().unwrap(),
            roles: vec![given.role],
            created_at: beginning,
            created_by: "root".parse().unwrap(),
            expires_at: after(given.ends),
            revoked_at: given.revoked.map(after),
            revoked_by: given.revoked.map(|_| "root".parse().unwrap()),
        };
        store.create(token, Digest::of([number])).await.unwrap();
    }
    let people = KnownPeople { tokens: store, operator_left_at: operator_left.map(after), clock };
    let (tenant, user): (TenantId, UserId) = ("default".parse().unwrap(), user.parse().unwrap());
    let since: Timestamp = after(YES);
    let turned_away = people.is_turned_away(&tenant, &user, Role::Approver, since).await.unwrap();
    assert_eq!(turned_away, expected, "{why}");
}

#[tokio::test]
async fn whose_token_was_revoked_since_is_turned_away() {
    check("ann", &[approvers(Some(YES + 1))], None, true, "it was revoked").await;
    check("ann", &[approvers(Some(YES))], None, true, "in the same moment").await;
    check("ann", &[approvers(None)], None, false, "it is valid").await;
    check("ann", &[], None, false, "a provider vouches for her, for all that is known").await;
    check("ann", &[approvers(Some(YES - 60))], None, true, "it may have been on its way").await;
    check("ann", &[approvers(Some(YES - 61))], None, false, "she said yes by something else").await;
    check("bob", &[approvers(Some(YES + 1))], None, false, "another's").await;
    let two = [approvers(Some(YES + 1)), approvers(None)];
    check("ann", &two, None, false, "she comes in by the other").await;
    let over = [approvers(Some(YES + 1)), Given { ends: 500, ..approvers(None) }];
    check("ann", &over, None, true, "the other is over").await;
    check("ann", &[Given { ends: 500, ..approvers(None) }], None, false, "nobody took it away").await;
    let agents = Given { role: Role::Agent, ..approvers(None) };
    check("ann", &[approvers(Some(YES + 1)), agents], None, true, "the other does not decide").await;
    let agents = Given { role: Role::Agent, ..approvers(Some(YES + 1)) };
    check("ann", &[agents], None, false, "she did not decide by that").await;
}

#[tokio::test]
async fn the_operator_comes_in_by_the_hosts_own_token_while_there_is_one() {
    let operators = |revoked| Given { user: "operator", ..approvers(revoked) };
    let started = Some(YES + 1);
    check("operator", &[], None, false, "there is one").await;
    check("operator", &[operators(Some(YES + 1))], None, false, "he said yes by that, or may say it again")
        .await;
    check("operator", &[], started, true, "there is none since then").await;
    check("operator", &[operators(Some(YES + 1))], started, true, "nor another").await;
    check("operator", &[operators(None)], started, false, "he comes in by the other").await;
    let over = Given { ends: 500, ..operators(None) };
    check("operator", &[over], started, true, "the other is over").await;
    check("operator", &[], Some(YES - 61), false, "he said yes by something else").await;
    check("ann", &[], started, false, "she never came in by it").await;
}

#[tokio::test]
async fn of_an_operator_of_another_tenant_nothing_is_known() {
    let folder = Scratch::new().unwrap();
    let store = Arc::new(SqliteActions::open(folder.path().join("actions.db")).unwrap());
    let clock = Arc::new(GivenClock::default());
    let now = clock.now();
    let people = KnownPeople { tokens: store, operator_left_at: Some(now), clock };
    let (tenant, user) = ("acme".parse().unwrap(), "operator".parse().unwrap());
    assert!(!people.is_turned_away(&tenant, &user, Role::Approver, now).await.unwrap());
}
