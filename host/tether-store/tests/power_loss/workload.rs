//! Many writers at once, and somebody who checkpoints now and then: everything that the
//! stores promise, asked in a random order.

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
use tether_core::port::actions::{Change, NewAction, Proposed, StoreError, Swap};
use tether_core::port::databases::{Begun, Rights, SqlError, Transaction, Unreachable, Value};
use tokio::task::JoinSet;

use super::disk::{Disk, Failing};
use super::facts::{Database, Fact, Facts, Version, Write, WriteId};
use super::model::{Forgotten, Model};
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

/// An action, and a write to an existing file, whose syncs fail, while another program has
/// the file open or not. Answers whether the write is told to be there, and the disk at
/// that moment; the action is told as failed.
pub(crate) async fn fail_to_commit(disk: &Arc<Disk>, shared: bool) -> (bool, Model) {
    let (stores, random) = (Stores::open(disk.root()).unwrap(), &mut Random::new(1, 1));
    write_everywhere(&stores, disk, random).await.unwrap();
    let fail = |path| disk.fail(Failing { path, after: 0, count: 1, forgotten: Forgotten::Changes });

    fail("data/actions.db-wal");
    assert!(matches!(stores.actions.propose(new_action(1, random)).await, Err(StoreError::Failed(_))));

    let other = shared.then(|| File::open(disk.root().join("crm.db")).unwrap());
    let reads = |file: &File| file.query_row("SELECT count(*) FROM parts", [], |row| row.get::<_, i64>(0));
    other.as_ref().map(reads).transpose().unwrap();
    fail("crm.db-wal");
    let (database, id) = (DATABASES[2], (action_id(1), None));
    let mut transaction = begin(&stores, disk, &id, database).await.unwrap();
    insert(&mut *transaction, &id, 1, random).await.unwrap();
    assert!(matches!(transaction.commit(json("1".to_owned())).await, Err(SqlError::Unreachable(_))));
    let told = stores.tell(database, &id, 0).await.unwrap();
    // Now: closing a file may tidy it up.
    (told, disk.model())
}

/// A write to a file of Tether's own whose sync fails, while another program has that open:
/// what it came to is told once that program has closed it.
pub(crate) async fn fail_to_commit_beside_another(disk: &Arc<Disk>, forgotten: Forgotten) {
    let (stores, random) = (Stores::open(disk.root()).unwrap(), &mut Random::new(1, 1));
    write_everywhere(&stores, disk, random).await.unwrap();
    let (database, id) = (DATABASES[0], (action_id(1), None));
    let other = File::open(disk.root().join("data/databases/tickets/acme/main.db")).unwrap();
    let rows = |file: &File| file.query_row("SELECT count(*) FROM parts", [], |row| row.get::<_, i64>(0));
    rows(&other).unwrap();

    let path = "data/databases/tickets/acme/main.db-wal";
    disk.fail(Failing { path, after: 0, count: 1, forgotten });
    let mut transaction = begin(&stores, disk, &id, database).await.unwrap();
    // On pages that are there: the first one, without which nothing can be read, stays.
    let small = format!("INSERT INTO parts VALUES ('{}', '', 0, x'00')", id.0);
    transaction.execute(small, vec![]).await.unwrap();
    disk.told(Fact::Committing(id.clone(), Write { database, rows: 1, output: "1".to_owned() }));
    assert!(matches!(transaction.commit(json("1".to_owned())).await, Err(SqlError::Unreachable(_))));
    match stores.tell(database, &id, 0).await {
        Err(SqlError::Unreachable(why)) => {
            assert!(why.ends_with("another program has it open: close that"), "{forgotten:?}: {why}")
        }
        told => panic!("{told:?}"),
    }

    drop(other);
    let there = settle(&stores, disk, &id, database).await;
    assert_eq!(there, forgotten == Forgotten::Changes);
    let another = (action_id(2), None);
    commit(&stores, disk, another.clone(), database, random).await.unwrap();
    assert_eq!(stores.tell(database, &another, 3).await, Ok(true));
    assert_eq!(stores.tell(database, &id, 3).await, Ok(there));
}

/// That the stores in `root` hold what [`fail_to_commit`] was told.
pub(crate) async fn find_what_was_told(root: &Path, told: bool) {
    let stores = Stores::open(root).unwrap();
    for tenant in ["acme", "umbrella"] {
        let action = stores.actions.load(&tenant.parse().unwrap(), action_id(1)).await.unwrap();
        assert!(action.is_none(), "it was told as failed");
    }
    for (id, told) in [(1, told), (1_000_002, true)] {
        assert_eq!(stores.tell(DATABASES[2], &(action_id(id), None), 0).await, Ok(told));
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

/// Commits one write to every database, so that it can be told from then on.
pub(crate) async fn write_everywhere(
    stores: &Stores,
    disk: &Arc<Disk>,
    random: &mut Random,
) -> Result<(), String> {
    for (number, database) in (1_000_000..).zip(DATABASES) {
        commit(stores, disk, (action_id(number), None), database, random).await?;
    }
    Ok(())
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

/// A transaction and its record; again, where it was undone because a sync failed. Others
/// look for it meanwhile: whoever finds it was told.
async fn commit(
    stores: &Stores,
    disk: &Arc<Disk>,
    id: WriteId,
    database: Database,
    random: &mut Random,
) -> Result<(), String> {
    while !try_commit(stores, disk, &id, database, random).await? {}
    Ok(())
}

async fn try_commit(
    stores: &Stores,
    disk: &Arc<Disk>,
    id: &WriteId,
    database: Database,
    random: &mut Random,
) -> Result<bool, String> {
    let mut transaction = match begin(stores, disk, id, database).await {
        Ok(transaction) => transaction,
        Err(SqlError::Unreachable(_)) => return Ok(false),
        Err(error) => return Err(error.to_string()),
    };
    let rows = 1 + random.below(4) as i64;
    insert(&mut *transaction, id, rows, random).await?;
    let output = format!("{:?}", filler(random, 1_500));
    disk.told(Fact::Committing(id.clone(), Write { database, rows, output: output.clone() }));
    let watching = tokio::spawn(watch(stores.clone(), disk.clone(), id.clone(), database, random.below(4)));
    let committed = transaction.commit(json(output)).await;
    if committed.is_ok() {
        disk.told(Fact::Committed(id.clone()));
    }
    watching.abort();
    let _ = watching.await;
    match committed {
        Ok(()) => Ok(true),
        Err(SqlError::Unreachable(_)) => Ok(settle(stores, disk, id, database).await),
        Err(error) => Err(error.to_string()),
    }
}

async fn begin(
    stores: &Stores,
    disk: &Disk,
    id: &WriteId,
    database: Database,
) -> Result<Box<dyn Transaction>, SqlError> {
    let connection = stores.database(database, Rights::Write, id.0).await?;
    disk.told(Fact::Opened(database));
    match connection.begin(id.1.clone()).await? {
        Begun::Fresh(transaction) => Ok(transaction),
        Begun::Recorded(_) => Err(SqlError::Other("it was committed before".to_owned())),
    }
}

/// Looks for a write in one of the ways in which it can be found, until it is.
async fn watch(stores: Stores, disk: Arc<Disk>, id: WriteId, database: Database, way: usize) {
    while !matches!(stores.tell(database, &id, way).await, Ok(true)) {
        tokio::task::yield_now().await;
    }
    disk.told(Fact::Committed(id));
}

/// Asks what became of a write until that can be known.
async fn settle(stores: &Stores, disk: &Disk, id: &WriteId, database: Database) -> bool {
    loop {
        if let Ok(there) = stores.tell(database, id, 0).await {
            let id = id.clone();
            disk.told(if there { Fact::Committed(id) } else { Fact::Undone(id) });
            return there;
        }
    }
}

async fn insert(
    transaction: &mut dyn Transaction,
    (id, step): &WriteId,
    rows: i64,
    random: &mut Random,
) -> Result<(), String> {
    for part in 0..rows {
        let values = vec![
            Value::Text(id.to_string()),
            Value::Text(step.as_ref().map_or(String::new(), |step| step.to_string())),
            Value::Integer(part),
            Value::Blob(filler(random, 6_000).into_bytes()),
        ];
        let inserted =
            transaction.execute("INSERT INTO parts VALUES ($1, $2, $3, $4)".to_owned(), values).await;
        inserted.map_err(|error| error.to_string())?;
    }
    Ok(())
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
    stores.actions.erase_outputs(later, later, 3).await.unwrap();
    let erased = stores.actions.with_records(later, 9).await.unwrap();
    erased.iter().for_each(|action| disk.told(Fact::Erased(action.id)));
    for Action { id, proposal: Proposal { tenant, .. }, .. } in erased {
        while matches!(stores.empty(&tenant, id).await, Err(Unreachable(_))) {}
        disk.told(Fact::Emptied(id));
        stores.actions.set_records_due(&tenant, id, None).await.unwrap();
    }
}
