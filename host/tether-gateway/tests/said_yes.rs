//! A yes counts while its person may decide, and is dated by when it was said.

mod world;

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tether_core::clock::{Clock as _, Timestamp};
use tether_core::id::{ActionId, TenantId, UserId};
use tether_core::identity::{Caller, Channel, Role};
use tether_core::port::BoxFuture;
use tether_core::port::actions::StoreError;
use tether_core::port::people::People;
use tether_core::rule::{Rule, Rules};
use tether_gateway::{Gateway, Outcome, Settings};
use tokio::task::JoinHandle;
use world::{Act, World, agent, ann, bob, caller, key, propose, words};

/// Knows who was turned away as what, and when.
#[derive(Default)]
struct TurnedAway(Mutex<BTreeMap<(String, &'static str), Timestamp>>);

impl TurnedAway {
    fn now(&self, users: &[&str], role: Role, at: Timestamp) {
        let turned_away = users.iter().map(|user| (((*user).to_owned(), role.as_str()), at));
        *self.0.lock().unwrap() = turned_away.collect();
    }
}

impl People for TurnedAway {
    fn is_turned_away<'a>(
        &'a self,
        _tenant: &'a TenantId,
        user: &'a UserId,
        role: Role,
        since: Timestamp,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        let turned_away = self.0.lock().unwrap().get(&(user.to_string(), role.as_str())).copied();
        Box::pin(async move { Ok(turned_away.is_some_and(|at| since <= at)) })
    }
}

/// A gateway with one place for handlers, among people who may be turned away.
struct Among {
    world: World,
    people: Arc<TurnedAway>,
    gateway: Arc<Gateway>,
}

/// A confirmation that waits for its place.
type Waiting = JoinHandle<Result<Outcome, String>>;

impl Among {
    fn new(rule: Rule) -> Self {
        let (world, people) = (World::new(&[Act::Commit]), Arc::new(TurnedAway::default()));
        let rules = Rules { default: rule, ..Rules::default() };
        let settings = Settings { rules, max_concurrent: 1, ..Settings::default() };
        let (actions, handlers) = (world.actions.clone(), world.handlers.clone());
        let gateway = Gateway::among(people.clone(), actions, handlers, world.clock.clone(), settings);
        Self { world, people, gateway }
    }

    fn turn_away(&self, users: &[&str]) {
        self.people.now(users, Role::Approver, self.world.clock.now());
    }

    async fn confirm(&self, by: &Caller, id: ActionId, text: &str) -> String {
        told(self.gateway.confirm(by, id, key(text), None).await.map_err(|problem| problem.code.to_string()))
    }

    /// Takes the one place, and has somebody wait for it.
    async fn behind(
        &self,
        confirmation: impl Future<Output = Result<Outcome, String>> + Send + 'static,
    ) -> Waiting {
        self.world.handlers.holds.store(true, Ordering::SeqCst);
        let gateway = Arc::clone(&self.gateway);
        tokio::spawn(async move { gateway.call(&agent(), "read", world::json("{}"), None).await });
        self.world.handlers.started.notified().await;
        let waiting = tokio::spawn(confirmation);
        for _ in 0..100 {
            tokio::task::yield_now().await; // there is nothing else to run than who waits
        }
        assert!(!waiting.is_finished(), "the place is taken");
        waiting
    }

    async fn bob_behind(&self, id: ActionId) -> Waiting {
        let gateway = Arc::clone(&self.gateway);
        let confirmation = async move {
            gateway.confirm(&bob(), id, key("b"), None).await.map_err(|problem| {
                assert!(problem.detail.starts_with("what let you in was revoked"), "{}", problem.detail);
                problem.code.to_string()
            })
        };
        self.behind(confirmation).await
    }

    /// Main records of this write: the read has one as well.
    fn effects_of(&self, id: ActionId) -> usize {
        let records = self.world.handlers.records.lock().unwrap();
        records.iter().filter(|(of, record)| *of == id.into() && record.step.is_none()).count()
    }

    /// The place is free.
    async fn told(&self, waiting: Waiting) -> String {
        self.world.handlers.holds.store(false, Ordering::SeqCst);
        self.world.handlers.go_on.notify_one();
        told(waiting.await.unwrap())
    }
}

/// What the person is told.
fn told(answer: Result<Outcome, String>) -> String {
    answer.map_or_else(|code| code, |outcome| words(&outcome))
}

fn of_people(people: u32) -> Rule {
    Rule { people, ..Rule::default() }
}

#[tokio::test]
async fn a_yes_falls_with_its_person() {
    let among = Among::new(of_people(3));
    let Among { world, gateway, .. } = &among;
    let id = propose(gateway, None).await.unwrap().id;
    assert_eq!(among.confirm(&ann(), id, "a").await, "Approved");
    among.turn_away(&["ann"]);
    // Nobody adds to what cannot run, and nobody claims it.
    let cat = caller("cat", &[Role::Approver]);
    for by in [bob(), cat.clone()] {
        assert_eq!(among.confirm(&by, id, "k").await, "Conflict ACTION_OUTDATED");
    }
    assert_eq!(gateway.whose_yes_fell(&world.stored(id)).await.unwrap(), [ann().user]);
    assert_eq!((world.stored(id).state.approvals().len(), world.handlers.runs()), (1, 0));
    among.turn_away(&[]);
    assert_eq!(among.confirm(&bob(), id, "b").await, "Approved");
    among.turn_away(&["bob"]);
    assert_eq!(among.confirm(&cat, id, "c").await, "Conflict ACTION_OUTDATED", "the last yes");
    among.turn_away(&["zoe"]);
    assert_eq!(among.confirm(&cat, id, "c").await, "Succeeded", "they are back");
    among.turn_away(&["ann", "bob"]);
    assert_eq!(among.confirm(&cat, id, "c").await, "Replayed", "what is done stays done");
    assert_eq!(gateway.whose_yes_fell(&world.stored(id)).await.unwrap(), []);
    assert_eq!((world.handlers.runs(), world.handlers.effects()), (1, 1));
}

#[tokio::test]
async fn whoever_is_turned_away_while_waiting_for_a_place_said_nothing() {
    for people in [1, 2] {
        let among = Among::new(of_people(people));
        let id = propose(&among.gateway, None).await.unwrap().id;
        let bob = among.bob_behind(id).await;
        among.world.clock.advance(Duration::from_secs(1));
        among.turn_away(&["bob"]);
        among.world.clock.advance(Duration::from_secs(1));
        assert_eq!(among.told(bob).await, "FORBIDDEN");
        let stored = among.world.stored(id).state;
        assert_eq!((stored.attempts_used(), stored.approvals()), (0, &[][..]));
        assert_eq!(among.effects_of(id), 0);
        // It waits for others as if nothing had been said.
        let others = if people == 1 { "Succeeded" } else { "Approved" };
        assert_eq!(among.confirm(&ann(), id, "a").await, others);
        assert_eq!(among.effects_of(id), usize::from(people == 1));
    }
}

#[tokio::test]
async fn whose_client_is_turned_away_while_its_form_waits_for_a_place_said_nothing() {
    let among = Among::new(Rule { form_confirms: true, ..Rule::default() });
    let id = propose(&among.gateway, None).await.unwrap().id;
    let gateway = Arc::clone(&among.gateway);
    let form = async move {
        let client = Caller { channel: Channel::Mcp, ..agent() };
        gateway.decide_in_client(&client, id, true, 0).await.map_err(|problem| problem.code.to_string())
    };
    let form = among.behind(form).await;
    among.people.now(&["agent-7"], Role::Agent, among.world.clock.now());
    assert_eq!(among.told(form).await, "FORBIDDEN");
    assert_eq!((among.world.stored(id).state.attempts_used(), among.effects_of(id)), (0, 0));
}

#[tokio::test]
async fn a_yes_is_dated_by_when_it_was_said_and_not_by_when_there_was_a_place() {
    let among = Among::new(of_people(3));
    let (clock, second) = (&among.world.clock, Duration::from_secs(1));
    let id = propose(&among.gateway, None).await.unwrap().id;
    let said = clock.now();
    let waiting = among.bob_behind(id).await;
    clock.advance(second);
    assert_eq!(among.told(waiting).await, "Approved");
    assert_eq!(among.world.stored(id).state.approvals()[0].at, said);
    let last = among.world.actions.told(id).pop().unwrap();
    assert_eq!((&*last.detail, last.at), ("approved; 1 of 3", said.after(second)), "histories run on");
}

#[tokio::test]
async fn a_clock_that_is_set_back_meanwhile_changes_nothing_of_that() {
    let among = Among::new(of_people(2));
    let clock = &among.world.clock;
    let id = propose(&among.gateway, None).await.unwrap().id;
    let waiting = among.bob_behind(id).await;
    clock.set_back(Duration::from_secs(3600));
    let said = clock.now();
    clock.advance(Duration::from_secs(1));
    among.turn_away(&["bob"]);
    clock.advance(Duration::from_secs(1));
    assert_eq!(among.told(waiting).await, "FORBIDDEN");
    among.turn_away(&[]);
    let waiting = among.bob_behind(id).await;
    assert_eq!(among.told(waiting).await, "Approved");
    assert_eq!(among.world.stored(id).state.approvals()[0].at, said.after(Duration::from_secs(2)));
}

#[tokio::test]
async fn whose_time_is_over_while_waiting_for_a_place_approves_nothing() {
    let among = Among::new(of_people(2));
    let id = propose(&among.gateway, None).await.unwrap().id;
    let waiting = among.bob_behind(id).await;
    among.world.clock.advance(Duration::from_secs(24 * 3600));
    assert_eq!(among.told(waiting).await, "Conflict ACTION_EXPIRED");
}
