//! The stores in one folder, as a host opens them, and what they say of everything
//! that was asked of them.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection as File;
use tether_core::action::Action;
use tether_core::chain::Checker;
use tether_core::grant::{DatabaseGrant, Grants};
use tether_core::id::{ActionId, IdempotencyKey, RequestId, TenantId};
use tether_core::port::actions::{ActionStore, NewAction};
use tether_core::port::databases::{
    Begun, Connection, Databases, Rights, Scope, SqlError, SqlLimits, Unreachable, Value, Work,
};
use tether_core::tool::Migration;
use tether_store::{Archive, SqliteActions, SqliteDatabases};

use super::facts::{Database, Facts, Found, Keys, Version, WriteId};

/// Databases of the component's own, one for each tenant, and a file that somebody else
/// made, with a rollback journal, for both.
pub(crate) const DATABASES: [Database; 3] = [("acme", "main"), ("umbrella", "main"), ("acme", "crm")];

/// Every database has this table: a row for each part of a write.
const PARTS: &str = "CREATE TABLE parts (write TEXT, step TEXT, part INTEGER, filler BLOB)";

/// Both ports on one folder.
#[derive(Clone)]
pub(crate) struct Stores {
    pub(crate) actions: Arc<dyn ActionStore>,
    databases: Arc<dyn Databases>,
    grants: Grants,
}

/// What was there long before a host starts.
pub(crate) fn prepare(root: &Path) {
    let file = File::open(root.join("crm.db")).unwrap();
    file.execute_batch("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT)").unwrap();
}

/// Gives an existing file the journal of this `mode`.
pub(crate) fn keep_journal(path: &Path, mode: &str) {
    let file = File::open(path).unwrap();
    file.pragma_update(None, "journal_mode", mode).unwrap();
}

impl Stores {
    pub(crate) fn open(root: &Path) -> Result<Self, String> {
        let minute = Duration::from_secs(60);
        let limits = SqlLimits {
            transaction_time: minute,
            turn_time: minute,
            read_time: minute,
            ..SqlLimits::default()
        };
        let actions = SqliteActions::open(root.join("data/actions.db"))
            .map_err(|error| format!("the actions do not open: {error:#}"))?;
        let crm =
            DatabaseGrant::Sqlite { path: root.join("crm.db").to_str().unwrap().to_owned(), shared: true };
        let databases = [("main".parse().unwrap(), DatabaseGrant::Own), ("crm".parse().unwrap(), crm)].into();
        Ok(Self {
            actions: Arc::new(actions),
            databases: Arc::new(SqliteDatabases::new(root.join("data"), limits)),
            grants: Grants { databases, ..Grants::default() },
        })
    }

    /// What a component of `tenant` is granted.
    pub(crate) fn scope(&self, tenant: &str) -> Scope {
        let migration = |database: &str| Migration {
            database: database.parse().unwrap(),
            id: "001".to_owned(),
            sql: PARTS.to_owned(),
        };
        Scope {
            tenant: tenant.parse().unwrap(),
            component: "tickets".parse().unwrap(),
            grants: self.grants.clone(),
            migrations: Arc::new([migration("main"), migration("crm")]),
        }
    }

    /// A database, opened by the write of `action`.
    pub(crate) async fn database(
        &self,
        (tenant, name): Database,
        rights: Rights,
        action: ActionId,
    ) -> Result<Arc<dyn Connection>, SqlError> {
        let work = Work { rights, key: action.into(), attempt: 1, time: Duration::from_secs(60) };
        let session = self.databases.session(self.scope(tenant), work);
        session.open(name.parse().unwrap()).await
    }

    /// Empties the records of `action` in the databases of `tenant`.
    pub(crate) async fn empty(&self, tenant: &TenantId, action: ActionId) -> Result<(), Unreachable> {
        self.databases.empty_records(&self.scope(tenant.as_str()), action.into()).await
    }

    /// Whether the write `id` is there, as they tell it in the way with the number `way`.
    pub(crate) async fn tell(&self, database: Database, id: &WriteId, way: usize) -> Result<bool, SqlError> {
        let (tenant, name) = database;
        if way == 0 {
            let records = self.databases.records(&self.scope(tenant), RequestId::from(id.0)).await;
            let records = records.map_err(|error| SqlError::Unreachable(error.0))?;
            return Ok(records.iter().any(|record| record.database.as_str() == name && record.step == id.1));
        }
        let connection = self.database(database, Rights::Write, id.0).await?;
        match way {
            1 => Ok(connection.lookup(id.1.clone()).await?.is_some()),
            2 => Ok(matches!(connection.begin(id.1.clone()).await?, Begun::Recorded(_))),
            _ => {
                let sql = "SELECT 1 FROM parts WHERE write = $1 AND step = $2";
                let step = id.1.as_ref().map_or(String::new(), |step| step.to_string());
                let values = vec![Value::Text(id.0.to_string()), Value::Text(step)];
                Ok(!connection.query(sql.to_owned(), values).await?.rows.is_empty())
            }
        }
    }

    /// What they say of everything that was asked.
    pub(crate) async fn say(&self, root: &Path, asked: &Facts) -> Result<Found, String> {
        let mut found = Found::default();
        for (id, asked) in &asked.actions {
            if let Some(version) = self.action(&asked.new).await? {
                let keys = self.keys(&asked.new).await.map_err(|error| error.to_string())?;
                found.actions.insert(*id, (version, keys));
            }
        }
        check_chain(root).map_err(|error| format!("the chain: {error:#}"))?;
        found.known = known(root)?;
        let written = asked.writes.iter().map(|((id, _), (write, _))| (write.database.0, *id));
        for (tenant, id) in written.collect::<BTreeSet<_>>() {
            self.records(tenant, id, &mut found).await?;
        }
        for database in DATABASES {
            self.rows(database, &mut found).await?;
        }
        Ok(found)
    }

    async fn action(&self, new: &NewAction) -> Result<Option<Version>, String> {
        let tenant = &new.proposal.tenant;
        let loaded = self.actions.load(tenant, new.id).await.map_err(|error| error.to_string())?;
        let Some(Action { revision, proposal, state, ledger, .. }) = loaded else { return Ok(None) };
        if proposal.arguments != new.proposal.arguments || proposal.preview != new.proposal.preview {
            return Err(format!("action {} was proposed otherwise", new.id));
        }
        let history = self.actions.history(tenant, new.id).await.map_err(|error| error.to_string())?;
        if history.last().map(|event| event.to) != Some(state.status()) || history.len() as u64 != revision.0
        {
            return Err(format!("action {} is {state:?}, and its history says {history:?}", new.id));
        }
        Ok(Some(Version { revision: revision.0, state, ledger }))
    }

    async fn keys(&self, new: &NewAction) -> Result<Keys, tether_core::port::actions::StoreError> {
        let (tenant, user) = (&new.proposal.tenant, &new.proposal.proposer);
        let mut keys = Keys::default();
        if let Some(key) = &new.key {
            let proposed = self.actions.proposed_with(tenant, user, key).await?;
            keys.proposed = proposed.map(|action| action.id);
        }
        for (attempt, rival) in [(1, 0), (1, 1), (2, 0), (2, 1)] {
            let key = confirm_key(new.id, attempt, rival);
            keys.confirmed.extend(self.actions.confirmed_with(tenant, &"ann".parse().unwrap(), &key).await?);
        }
        Ok(keys)
    }

    async fn records(&self, tenant: &str, id: ActionId, found: &mut Found) -> Result<(), String> {
        let records = self.databases.records(&self.scope(tenant), id.into()).await;
        for record in records.map_err(|error| error.to_string())? {
            let is_here = |&&(owner, name): &&Database| owner == tenant && record.database.as_str() == name;
            if let Some(database) = DATABASES.iter().find(is_here) {
                found.records.insert((*database, (id, record.step)), record.output.as_str().to_owned());
            }
        }
        Ok(())
    }

    async fn rows(&self, database: Database, found: &mut Found) -> Result<(), String> {
        let opened = self.database(database, Rights::Read, ActionId::from_random([0; 16])).await;
        let connection = opened.map_err(|error| format!("{database:?} does not open: {error}"))?;
        let sql = "SELECT write, step, count(*), count(DISTINCT part) FROM parts GROUP BY write, step";
        for row in connection.query(sql.to_owned(), vec![]).await.map_err(|error| error.to_string())?.rows {
            let [Value::Text(write), Value::Text(step), Value::Integer(rows), Value::Integer(parts)] =
                &row[..]
            else {
                return Err(format!("{row:?} is no part of a write"));
            };
            if rows != parts {
                return Err(format!("{write} wrote the same part twice"));
            }
            let step = (!step.is_empty()).then(|| step.parse().unwrap());
            found.rows.insert((database, (write.parse().unwrap(), step)), *rows);
        }
        Ok(())
    }
}

/// The key that the `rival`-th of those who confirm an attempt at once confirms with.
pub(crate) fn confirm_key(id: ActionId, attempt: u32, rival: usize) -> IdempotencyKey {
    format!("{id}-{attempt}-{rival}").parse().unwrap()
}

/// The databases whose ids `databases.db` holds.
fn known(root: &Path) -> Result<Vec<Database>, String> {
    let path = root.join("data/databases.db");
    if !path.exists() {
        return Ok(Vec::new());
    }
    let read = || -> rusqlite::Result<Vec<Database>> {
        let file = File::open(path)?;
        if !file.table_exists(None, "databases")? {
            return Ok(Vec::new());
        }
        let mut statement = file.prepare("SELECT 1 FROM databases WHERE tenant = ? AND name = ?")?;
        let mut known = Vec::new();
        for database in DATABASES {
            if statement.exists(database)? {
                known.push(database);
            }
        }
        Ok(known)
    };
    read().map_err(|error| format!("databases.db cannot be read: {error}"))
}

/// Whether every database file below `folder` is sound.
pub(crate) fn check_files(folder: &Path) -> Result<(), String> {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            check_files(&path)?;
        } else if path.extension().is_some_and(|ending| ending == "db") {
            let checked = File::open(&path)
                .and_then(|file| file.pragma_query_value(None, "integrity_check", |row| row.get(0)));
            match checked {
                Ok(answer) if answer == "ok" => {}
                answer => {
                    let answer: rusqlite::Result<String> = answer;
                    return Err(format!("{} is damaged: {answer:?}", path.display()));
                }
            }
        }
    }
    Ok(())
}

/// The history of each tenant is whole, and every action is what it says.
fn check_chain(root: &Path) -> anyhow::Result<()> {
    let mut archive = Archive::open(root.join("data/actions.db"))?;
    let mut checker = Checker::default();
    archive.events(|event| {
        let event = event?;
        match checker.next(&event.line(), &event.announced.hash) {
            None => Ok(()),
            Some(broken) => anyhow::bail!("{broken:?}"),
        }
    })?;
    let broken = checker.end(&archive.heads()?.into_iter().collect::<Result<Vec<_>, _>>()?);
    anyhow::ensure!(broken.is_empty(), "{broken:?}");
    for kept in archive.next_page(1_000)? {
        let kept = kept?;
        anyhow::ensure!(kept.fits, "action {} is another than its history says", kept.action.id);
    }
    Ok(())
}
