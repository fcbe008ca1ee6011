//! Many writers at once, and somebody who checkpoints now and then: everything that the
//! stores promise, asked in a random order.

mod failing;
mod writes;

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection as File;
use tether_core::action::{Action, Approval, Arguments, Claim, Output, Preview, Proposal, Revision, State};
use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::failure::{Cause, Failure};
use tether_core::grant::{Binding, BoundComponent, Grants};
use tether_core::id::{ActionId, StepName};
use tether_core::json::JsonText;
use tether_core::ledger::{Answer, Entry, Fact as Seen, Ledger, Request};
use tether_core::port::actions::{Change, NewAction, Proposed, Swap};
use tether_core::port::databases::Unreachable;
use tokio::task::JoinSet;

pub(crate) use self::failing::{fail_to_commit, fail_to_commit_beside_another, find_what_was_told};
pub(crate) use self::writes::write_everywhere;
use self::writes::{begin, commit, insert};
use super::disk::Disk;
use super::facts::{Fact, Facts, Version, Write};
use super::random::Random;
use super::stores::{DATABASES, Stores, confirm_key};

/// Who write at the same time.
const WRITERS: u64 = 6;

/// Actions of each writer, each time the stores are opened.
const ACTIONS: u64 = 2;

/// How often the stores are opened, one time after the other.
const ROUNDS: u64 = 2;

/// Runs the whole of it on `disk`, while `others` checkpoint or not.
pub(crate) async fn run(disk: &Arc<Disk>, seed: u64, others: bool) {
    for round in 0..ROUNDS {
        let stores = Stores::open(disk.root()).unwrap();
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            let number = round * WRITERS + writer;
            let (stores, disk) = (stores.clone(), disk.clone());
            writers.spawn(async move {
                let mut random = Random::new(seed, number);
                for action in 0..ACTIONS {
                    Writer::propose(&stores, &disk, number * ACTIONS + action, &mut random).await;
                }
            });
        }
        let (root, mut random) = (disk.root().to_owned(), Random::new(seed, 1_000 + round));
        let checkpoints = tokio::task::spawn_blocking(move || {
            (0..4).filter(|_| others).for_each(|_| checkpoint(&root, &mut random))
        });
        while let Some(done) = writers.join_next().await {
            done.unwrap();
        }
        checkpoints.await.unwrap();
        erase(&stores, disk).await;
    }
}

/// How many write to one database in [`crowd`], and how often each.
pub(crate) const CROWD: (u64, u64) = (64, 3);

/// Many write to one database at once, all of the time.
pub(crate) async fn crowd(disk: &Arc<Disk>, seed: u64) {
    let stores = Stores::open(disk.root()).unwrap();
    let mut writers = JoinSet::new();
    for writer in 0..CROWD.0 {
        let (stores, disk) = (stores.clone(), disk.clone());
        writers.spawn(async move {
            let mut random = Random::new(seed, writer);
            for write in 0..CROWD.1 {
                let id = (action_id(writer * CROWD.1 + write), None);
                let mut transaction = begin(&stores, &disk, &id, DATABASES[0]).await.unwrap();
                insert(&mut *transaction, &id, 1, &mut random).await.unwrap();
                let output = format!("{:?}", filler(&mut random, 100));
                let write = Write { database: DATABASES[0], rows: 1, output: output.clone() };
                disk.told(Fact::Committing(id.clone(), write));
                transaction.commit(json(output)).await.unwrap();
                disk.told(Fact::Committed(id));
            }
        });
    }
    while let Some(done) = writers.join_next().await {
        done.unwrap();
    }
}

/// Another program, such as a backup, checkpoints a file.
fn checkpoint(root: &Path, random: &mut Random) {
    let files = ["data/actions.db", "data/databases.db", "data/databases/tickets/acme/main.db"];
    let path = root.join(random.of(&files));
    if path.metadata().is_ok_and(|metadata| metadata.len() > 0) {
        let mode = random.of(&["PASSIVE", "FULL", "RESTART", "TRUNCATE"]);
        let file = File::open(path).unwrap();
        // Where somebody reads or writes, it does not get far; that is all right.
        let _ = file.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()));
    }
}

fn action_id(number: u64) -> ActionId {
    format!("{number:032x}").parse().unwrap()
}

fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis as i64)
}

fn json(text: String) -> JsonText {
    JsonText::parse(text).unwrap()
}

fn filler(random: &mut Random, most: usize) -> String {
    let length = random.below(most);
    char::from(b'a' + random.below(26) as u8).to_string().repeat(length)
}

/// What drives one action, from its proposal on.
struct Writer<'w> {
    stores: &'w Stores,
    disk: &'w Arc<Disk>,
    number: u64,
    new: NewAction,
    now: Version,
    /// Versions that were asked for.
    asked: usize,
}

impl<'w> Writer<'w> {
    async fn propose(stores: &'w Stores, disk: &'w Arc<Disk>, number: u64, random: &mut Random) {
        let new = new_action(number, random);
        disk.told(Fact::Proposing(Box::new(new.clone())));
        let Ok(Proposed::New(action)) = stores.actions.propose(new.clone()).await else {
            panic!("the proposal is new")
        };
        disk.told(Fact::Moved(new.id, 0));
        let now = Version { revision: 1, state: action.state, ledger: action.ledger };
        Self { stores, disk, number, new, now, asked: 1 }.decide(random).await;
    }

    async fn decide(mut self, random: &mut Random) {
        if random.percent(15) {
            let declined = State::Declined {
                attempts_used: 0,
                at: at(2),
                by: "ann".parse().unwrap(),
                reason: Some(filler(random, 300)),
            };
            self.swap(vec![declined]).await;
            return;
        }
        for attempt in 1..=2 {
            if random.percent(25) {
                self.approve().await;
            }
            // Of two persons at once, one is first.
            let rivals = if random.percent(30) { 2 } else { 1 };
            self.swap((0..rivals).map(|rival| self.executing(attempt, rival)).collect()).await;
            for _ in 0..random.below(3) {
                self.note(attempt, random).await;
            }
            if random.percent(30) {
                self.write(Some(format!("step {attempt}").parse().unwrap()), random).await;
            }
            let fails = attempt == 1 && random.percent(25);
            if fails {
                let failure = Failure::new(Cause::Transient, filler(random, 100));
                self.swap(vec![State::Pending {
                    attempts_used: 1,
                    expires_at: at(9_000),
                    last_failure: Some(failure),
                    approvals: Vec::new(),
                }])
                .await;
                continue;
            }
            self.write(None, random).await;
            self.succeed(random).await;
            return;
        }
    }

    /// Somebody says yes, and it takes another.
    async fn approve(&mut self) {
        let State::Pending { attempts_used, expires_at, last_failure, .. } = self.now.state.clone() else {
            panic!("it is pending")
        };
        let approvals = vec![Approval { claim: Claim { by: "bob".parse().unwrap(), key: None }, at: at(1) }];
        self.swap(vec![State::Pending { attempts_used, expires_at, last_failure, approvals }]).await;
    }

    fn executing(&self, attempt: u32, rival: usize) -> State {
        let last_failure = match &self.now.state {
            State::Pending { last_failure, .. } => last_failure.clone(),
            _ => None,
        };
        State::Executing {
            attempt,
            claim: Claim { by: "ann".parse().unwrap(), key: Some(confirm_key(self.new.id, attempt, rival)) },
            since: at(1),
            expires_at: at(9_000),
            last_failure,
            approvals: self.now.state.approvals().to_vec(),
        }
    }

    async fn succeed(&mut self, random: &mut Random) {
        let State::Executing { attempt, claim, .. } = &self.now.state else { panic!("it executes") };
        // Each at a moment of its own: the oldest outputs are erased first.
        let done = State::Succeeded {
            attempts_used: *attempt,
            claim: claim.clone(),
            at: at(self.number),
            output: Output::Kept(json(format!("{:?}", filler(random, 1_000)))),
            approvals: self.now.state.approvals().to_vec(),
        };
        self.swap(vec![done]).await;
    }

    /// Moves the action to one of `states`, all asked for at once.
    async fn swap(&mut self, states: Vec<State>) {
        let mut asking = JoinSet::new();
        for state in states {
            let next = Version { revision: self.now.revision + 1, state, ledger: self.now.ledger.clone() };
            let number = self.ask(next.clone());
            let change = Change {
                seen: self.seen(),
                state: next.state.clone(),
                ledger: next.ledger.clone(),
                actor: None,
                at: at(self.number),
                detail: "Moved.".to_owned(),
            };
            let actions = self.stores.actions.clone();
            asking.spawn(async move { (number, next, actions.swap(change).await.unwrap()) });
        }
        while let Some(asked) = asking.join_next().await {
            match asked.unwrap() {
                (number, next, Swap::Done(_)) => {
                    self.disk.told(Fact::Moved(self.new.id, number));
                    self.now = next;
                }
                (number, _, Swap::Stale(_)) => self.disk.told(Fact::Refused(self.new.id, number)),
                (_, _, other) => panic!("{other:?}"),
            }
        }
    }

    fn seen(&self) -> Action {
        Action {
            id: self.new.id,
            revision: Revision(self.now.revision),
            proposal: self.new.proposal.clone(),
            state: self.now.state.clone(),
            ledger: self.now.ledger.clone(),
        }
    }

    async fn note(&mut self, attempt: u32, random: &mut Random) {
        let mut entries = self.now.ledger.entries().to_vec();
        let request = Request {
            method: "POST".parse().unwrap(),
            origin: "https://a.test".to_owned(),
            path: format!("/{}", filler(random, 400)),
            step: None,
        };
        let fact = Seen::Sent { request, answer: Answer::InDoubt };
        entries.push(Entry { at: at(entries.len() as u64), attempt, fact });
        let ledger = Ledger::new(entries);
        let number = self.ask(Version { ledger: ledger.clone(), ..self.now.clone() });
        let tenant = &self.new.proposal.tenant;
        let noted = self.stores.actions.note(tenant, self.new.id, attempt, ledger.clone()).await.unwrap();
        assert!(noted, "it executes");
        self.disk.told(Fact::Moved(self.new.id, number));
        self.now.ledger = ledger;
    }

    /// Some rows and their record, or some rows that are given up.
    async fn write(&self, step: Option<StepName>, random: &mut Random) {
        let own = (if self.new.proposal.tenant.as_str() == "acme" { "acme" } else { "umbrella" }, "main");
        let database = if random.percent(30) { ("acme", "crm") } else { own };
        if random.percent(25) {
            let id = (self.new.id, step.clone());
            if let Ok(mut given_up) = begin(self.stores, self.disk, &id, database).await {
                insert(&mut *given_up, &id, 2, random).await.unwrap();
            }
        }
        commit(self.stores, self.disk, (self.new.id, step), database, random).await.unwrap();
    }

    fn ask(&mut self, version: Version) -> usize {
        self.disk.told(Fact::Moving(self.new.id, version));
        self.asked += 1;
        self.asked - 1
    }
}

fn new_action(number: u64, random: &mut Random) -> NewAction {
    let id = action_id(number);
    let component = BoundComponent {
        component: "tickets".parse().unwrap(),
        digest: Digest::of("bytes"),
        grants: Grants::default(),
    };
    NewAction {
        id,
        proposal: Proposal {
            tenant: random.of(&["acme", "umbrella"]).parse().unwrap(),
            proposer: "agent".parse().unwrap(),
            tool: "void_ticket".parse().unwrap(),
            arguments: Arguments::Kept(json(format!("{:?}", filler(random, 1_500)))),
            binding: Binding::Component(component),
            preview: Preview::Text(filler(random, 500)),
            created_at: at(0),
            max_attempts: 3,
            people: 1,
        },
        expires_at: at(9_000),
        key: random.percent(50).then(|| id.to_string().parse().unwrap()),
        channel: None,
        max_open: None,
    }
}

/// Erases the outputs of the oldest actions, and empties their records.
async fn erase(stores: &Stores, disk: &Disk) {
    let mut facts = Facts::default();
    disk.trace().iter().for_each(|event| event.told().into_iter().for_each(|fact| facts.add(fact)));
    for (id, asked) in &facts.actions {
        if asked.has_output() {
            disk.told(Fact::Erasing(*id));
        }
    }
    let later = at(1_000_000);
    stores.actions.erase_outputs(later, later, None, 3).await.unwrap();
    let erased = stores.actions.with_records(later, None, 9).await.unwrap().actions;
    erased.iter().for_each(|action| disk.told(Fact::Erased(action.id)));
    for Action { id, proposal: Proposal { tenant, .. }, .. } in erased {
        while matches!(stores.empty(&tenant, id).await, Err(Unreachable(_))) {}
        disk.told(Fact::Emptied(id));
        stores.actions.set_records_due(&tenant, id, None).await.unwrap();
    }
}
