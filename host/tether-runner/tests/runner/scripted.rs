//! Databases without an engine: they know the few statements of the probe, and
//! count what is open.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tether_core::clock::Timestamp;
use tether_core::id::{DatabaseName, RequestId, StepName};
use tether_core::json::JsonText;
use tether_core::port::BoxFuture;
use tether_core::port::databases::{
    Begun, Connection, Databases, NotNow, Record, Rights, RowSet, Scope, Session, SqlError, Transaction,
    Unfit, Unreachable, Value, Work,
};

type Key = (RequestId, Option<StepName>);

/// One database for everybody.
#[derive(Default)]
pub(crate) struct Scripted(Arc<State>);

#[derive(Default)]
struct State {
    /// The notes that were committed.
    effects: Mutex<Vec<String>>,
    records: Mutex<BTreeMap<Key, (u32, JsonText)>>,
    /// Sessions, connections and transactions that are alive.
    alive: AtomicUsize,
    unfit: Mutex<Option<Unfit>>,
    /// What opening says, while it says anything.
    trouble: Mutex<Option<SqlError>>,
}

/// Counts itself.
struct Alive(Arc<State>);

impl Alive {
    fn new(state: &Arc<State>) -> Self {
        state.alive.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(state))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Scripted {
    pub(crate) fn effects(&self) -> Vec<String> {
        self.0.effects.lock().unwrap().clone()
    }

    pub(crate) fn alive(&self) -> usize {
        self.0.alive.load(Ordering::SeqCst)
    }

    /// From now on no database can be opened.
    pub(crate) fn set_trouble(&self, trouble: SqlError) {
        *self.0.trouble.lock().unwrap() = Some(trouble);
    }

    pub(crate) fn set_unfit(&self, unfit: Unfit) {
        *self.0.unfit.lock().unwrap() = Some(unfit);
    }
}

impl Databases for Scripted {
    fn session(&self, _: Scope, Work { rights, key, attempt, .. }: Work) -> Box<dyn Session> {
        Box::new(Open { alive: Alive::new(&self.0), rights, key, attempt })
    }

    fn fit<'a>(&'a self, _: &'a Scope) -> BoxFuture<'a, Result<Result<(), Unfit>, NotNow>> {
        let unfit = self.0.unfit.lock().unwrap().clone();
        Box::pin(async move { Ok(unfit.map_or(Ok(()), Err)) })
    }

    fn records<'a>(
        &'a self,
        scope: &'a Scope,
        key: RequestId,
    ) -> BoxFuture<'a, Result<Vec<Record>, Unreachable>> {
        Box::pin(async move {
            let Some(database) = scope.grants.databases.keys().next() else {
                return Ok(Vec::new());
            };
            let records = self.0.records.lock().unwrap();
            let mine = records.iter().filter(|((owner, _), _)| *owner == key);
            Ok(mine
                .map(|((_, step), (attempt, output))| Record {
                    database: database.clone(),
                    step: step.clone(),
                    attempt: *attempt,
                    at: Timestamp::EPOCH,
                    output: output.clone(),
                    statements: Vec::new(),
                })
                .collect())
        })
    }

    fn empty_records<'a>(&'a self, _: &'a Scope, key: RequestId) -> BoxFuture<'a, Result<(), Unreachable>> {
        Box::pin(async move {
            for ((_, _), (_, output)) in
                self.0.records.lock().unwrap().iter_mut().filter(|((owner, _), _)| *owner == key)
            {
                *output = JsonText::parse("null").unwrap();
            }
            Ok(())
        })
    }
}

/// A session, and a connection of it.
struct Open {
    alive: Alive,
    rights: Rights,
    key: RequestId,
    attempt: u32,
}

impl Session for Open {
    fn open(&self, database: DatabaseName) -> BoxFuture<'_, Result<Arc<dyn Connection>, SqlError>> {
        Box::pin(async move {
            if database.as_str() != "main" {
                return Err(SqlError::NotGranted);
            }
            if let Some(trouble) = &*self.alive.0.trouble.lock().unwrap() {
                return Err(trouble.clone());
            }
            let Open { rights, key, attempt, .. } = *self;
            let connection = Open { alive: Alive::new(&self.alive.0), rights, key, attempt };
            Ok(Arc::new(connection) as Arc<dyn Connection>)
        })
    }
}

impl Connection for Open {
    fn query(&self, _: String, _: Vec<Value>) -> BoxFuture<'_, Result<RowSet, SqlError>> {
        Box::pin(async move {
            let notes = self.alive.0.effects.lock().unwrap();
            let rows = notes.iter().map(|note| vec![Value::Text(note.clone())]).collect();
            Ok(RowSet { columns: vec!["note".into()], rows })
        })
    }

    fn lookup(&self, step: Option<StepName>) -> BoxFuture<'_, Result<Option<JsonText>, SqlError>> {
        Box::pin(async move {
            let records = self.alive.0.records.lock().unwrap();
            Ok(records.get(&(self.key, step)).map(|(_, output)| output.clone()))
        })
    }

    fn begin(&self, step: Option<StepName>) -> BoxFuture<'_, Result<Begun, SqlError>> {
        Box::pin(async move {
            assert_eq!(self.rights, Rights::Write, "the runner lets no read begin");
            if let Some(output) = self.lookup(step.clone()).await? {
                return Ok(Begun::Recorded(output));
            }
            Ok(Begun::Fresh(Box::new(Uncommitted {
                alive: Alive::new(&self.alive.0),
                key: (self.key, step),
                attempt: self.attempt,
                notes: Vec::new(),
            })))
        })
    }
}

struct Uncommitted {
    alive: Alive,
    key: Key,
    attempt: u32,
    notes: Vec<String>,
}

impl Transaction for Uncommitted {
    fn query(&mut self, sql: String, parameters: Vec<Value>) -> BoxFuture<'_, Result<RowSet, SqlError>> {
        Box::pin(async move {
            if let ("INSERT", Some(Value::Text(note))) = (&sql[..6], parameters.last()) {
                self.notes.push(note.clone());
            }
            let id = self.alive.0.effects.lock().unwrap().len() + self.notes.len();
            Ok(RowSet { columns: vec!["id".into()], rows: vec![vec![Value::Integer(id as i64)]] })
        })
    }

    fn execute(&mut self, sql: String, _: Vec<Value>) -> BoxFuture<'_, Result<u64, SqlError>> {
        Box::pin(async move {
            match sql.starts_with("INSERT INTO counters") {
                true => Err(SqlError::Constraint("UNIQUE constraint failed: counters.name".into())),
                false => Ok(1),
            }
        })
    }

    fn commit(mut self: Box<Self>, output: JsonText) -> BoxFuture<'static, Result<(), SqlError>> {
        Box::pin(async move {
            let state = &self.alive.0;
            state.effects.lock().unwrap().append(&mut self.notes);
            state.records.lock().unwrap().insert(self.key, (self.attempt, output));
            Ok(())
        })
    }
}
