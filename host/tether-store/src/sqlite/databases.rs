//! Databases that are SQLite files, with the record in each.

mod bookkeeping;
mod commit;
mod connect;
mod error;
mod file;
mod files;
mod guard;
mod host;
mod known;
mod mend;
mod migration;
mod own;
mod place;
mod room;
mod session;
mod standing;
mod statement;
mod stop;
mod syncs;
#[cfg(test)]
mod tests;
mod transaction;
mod turn;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use tether_core::id::{DatabaseName, RequestId};
use tether_core::port::BoxFuture;
use tether_core::port::databases::{
    Databases, NotNow, Record, Scope, Session, SqlError, SqlLimits, Unfit, Unreachable, Work,
};

pub use self::bookkeeping::RecordKey;
use self::error::{sql_error, without_connection};
use self::file::{DatabaseFile, Pace};
use self::files::Files;
use self::host::Host;
use self::known::KnownDatabases;
pub use self::own::OwnFile;
use self::place::Place;
use self::room::Room;
use self::session::SqliteSession;
use self::stop::Stop;
use self::turn::Turn;
use super::{blocking, execute};

/// The [`Databases`] of a host on SQLite.
///
/// A component's own are files `databases/<component>/<tenant>/<database>.db` in the
/// data folder. Ids of databases are remembered there as well, in `databases.db`: a
/// file that is gone, or is another than it was, is never taken for an empty one.
pub struct SqliteDatabases {
    host: Arc<Host>,
}

impl SqliteDatabases {
    /// Databases of the data folder `data_dir`, which must be there when the first one
    /// is opened. Does nothing until then.
    pub fn new(data_dir: impl Into<PathBuf>, limits: SqlLimits) -> Self {
        Self::with_room(data_dir.into(), limits, Room::new(room::write_and_remove))
    }

    fn with_room(data_dir: PathBuf, limits: SqlLimits, room: Room) -> Self {
        let data_dir = std::path::absolute(&data_dir).unwrap_or(data_dir);
        let known = KnownDatabases::of(&data_dir);
        let room = Arc::new(room);
        let files = Files::new(data_dir.clone(), limits, room.clone());
        Self { host: Arc::new(Host { data_dir, limits, files, known, room }) }
    }

    /// Whether an existing database that is granted as `path` was ever used. Blocks.
    ///
    /// # Errors
    ///
    /// Where the list of known databases cannot be read.
    pub fn was_used(&self, path: &str) -> anyhow::Result<bool> {
        self.host.known.has(path).context("the list of the databases that were used cannot be read")
    }

    /// The file of a database that was used before or exists; none where there is
    /// nothing that could hold anything.
    async fn existing(&self, place: &Place) -> Result<Option<Arc<DatabaseFile>>, SqlError> {
        let (host, place) = (self.host.clone(), place.clone());
        blocking(move || {
            // Asked before the file is looked for: it may be made meanwhile.
            let known = host.known.id(&place).map_err(without_connection)?;
            let file = host.files.get(&place)?;
            if file.is_none() && (known.is_some() || !place.own) {
                return Err(SqlError::Unreachable("its file is not there".to_owned()));
            }
            Ok(file)
        })
        .await
    }

    /// Whether a write of `scope` can run on one of its databases.
    async fn fits(&self, scope: &Scope, database: &DatabaseName) -> Result<Result<(), Unfit>, SqlError> {
        let Some(place) = Place::of(&self.host.data_dir, scope, database) else { return Ok(Ok(())) };
        let mut looked = self.host.look_again(&place, &scope.component).await?;
        if looked.is_none()
            && let Some(file) = self.existing(&place).await?
        {
            looked = Some(self.host.look_first(file, &place, &scope.component).await?);
        }
        let file = looked.as_ref().map(|(file, _)| file);
        if let Some((_, standing)) = &looked {
            standing.check(&place)?;
            if let Err(unfit) = standing.fits(scope, database) {
                return Ok(Err(unfit));
            }
        }
        match self.host.has_room(&place, file.map(|file| &**file)).await {
            true => Ok(Ok(())),
            false => Err(SqlError::StorageFull),
        }
    }

    /// Runs `work` on every database of `scope` that is there, with the writer's turn.
    /// What it sees and does is durable when this answers.
    async fn in_turn<T: Send + 'static>(
        &self,
        scope: &Scope,
        pace: Pace,
        work: impl Fn(&DatabaseName, &mut Turn, &Stop) -> Result<T, SqlError> + Clone + Send + 'static,
    ) -> Result<Vec<T>, Unreachable> {
        let mut answers = Vec::new();
        for database in scope.grants.databases.keys() {
            let Some(place) = Place::of(&self.host.data_dir, scope, database) else { continue };
            let away = |error| unreachable(database, error);
            let (run, name) = (work.clone(), database.clone());
            let work = move |turn: &mut Turn, stop: &Stop| run(&name, turn, stop);
            let mut answer = match self.host.files.open(&place) {
                Some(file) => self.answer(file, &place, scope, pace, work.clone()).await.map_err(away)?,
                None => None,
            };
            if answer.is_none() {
                let Some(file) = self.existing(&place).await.map_err(away)? else { continue };
                answer = self.answer(file, &place, scope, pace, work).await.map_err(away)?;
            }
            answers.push(answer.ok_or_else(changed).map_err(away)?);
        }
        Ok(answers)
    }

    /// Runs `work` with the turn of `file`; none where another is in its place by now.
    async fn answer<T: Send + 'static>(
        &self,
        file: Arc<DatabaseFile>,
        place: &Place,
        scope: &Scope,
        pace: Pace,
        work: impl FnOnce(&mut Turn, &Stop) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<Option<T>, SqlError> {
        let turn = file.turn().await?;
        let (host, place, component) = (self.host.clone(), place.clone(), scope.component.clone());
        let expected = file.clone();
        let answered = file.in_turn(turn, pace, move |mut turn| {
            let stop = Stop::after(host.limits.turn_time);
            let answer = || {
                if !host.files.holds(&place, &expected)? {
                    return Ok(None);
                }
                let connection = turn.connection(&stop).map_err(without_connection)?;
                host.standing(connection, &place, &component)?.check(&place)?;
                work(&mut turn, &stop).map(Some)
            };
            (answer(), turn.seen())
        });
        let (answer, seen) = answered.await;
        let answer = file.heed(answer)?;
        file.durable(seen).await?;
        Ok(answer)
    }
}

/// What is told of a file that is replaced all the time.
fn changed() -> SqlError {
    SqlError::Unreachable("another file is in its place".to_owned())
}

fn unreachable(database: &DatabaseName, error: SqlError) -> Unreachable {
    let why = match error {
        SqlError::Unreachable(why) => why,
        error => error.to_string(),
    };
    Unreachable(format!("database `{database}`: {why}"))
}

impl Databases for SqliteDatabases {
    fn session(&self, scope: Scope, work: Work) -> Box<dyn Session> {
        Box::new(SqliteSession::new(self.host.clone(), scope, work))
    }

    fn fit<'a>(&'a self, scope: &'a Scope) -> BoxFuture<'a, Result<Result<(), Unfit>, NotNow>> {
        Box::pin(async move {
            for database in scope.grants.databases.keys() {
                match self.fits(scope, database).await {
                    Ok(Ok(())) => {}
                    Ok(Err(unfit)) => return Ok(Err(unfit)),
                    Err(SqlError::StorageFull) => {
                        return Err(NotNow::StorageFull { database: database.clone() });
                    }
                    Err(error) => return Err(unreachable(database, error).into()),
                }
            }
            Ok(Ok(()))
        })
    }

    fn records<'a>(
        &'a self,
        scope: &'a Scope,
        key: RequestId,
    ) -> BoxFuture<'a, Result<Vec<Record>, Unreachable>> {
        Box::pin(async move {
            let records = self.in_turn(scope, Pace::Brief, move |database, turn, stop| {
                let connection = turn.connection(stop).map_err(without_connection)?;
                let records = bookkeeping::records(connection, database, key);
                records.map_err(|error| match error.downcast::<rusqlite::Error>() {
                    Ok(error) => sql_error(connection, error),
                    Err(error) => SqlError::Other(error.to_string()),
                })
            });
            Ok(records.await?.into_iter().flatten().collect())
        })
    }

    fn empty_records<'a>(
        &'a self,
        scope: &'a Scope,
        key: RequestId,
    ) -> BoxFuture<'a, Result<(), Unreachable>> {
        Box::pin(async move {
            let emptied = self.in_turn(scope, Pace::Blocks, move |_, turn, stop| {
                let connection = turn.connection(stop).map_err(without_connection)?;
                let emptied = execute(connection, "BEGIN IMMEDIATE")
                    .and_then(|()| bookkeeping::empty_records(connection, key));
                emptied.map_err(|error| sql_error(connection, error))?;
                turn.commit()
            });
            emptied.await.map(drop)
        })
    }
}
