//! What sessions share: the files, and what is known of them.

use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::Connection;
use tether_core::fault::{self, Point};
use tether_core::hex::Hex;
use tether_core::id::{ComponentName, DatabaseName};
use tether_core::port::databases::{Scope, SqlError, SqlLimits};
use tether_core::tool::Migration;

use super::error::{sql_error, without_connection};
use super::file::DatabaseFile;
use super::files::{Files, unusable};
use super::guard::GuardedConnection;
use super::known::KnownDatabases;
use super::place::Place;
use super::room::Room;
use super::standing::Standing;
use super::stop::Stop;
use super::turn::Turn;
use super::{bookkeeping, migration};
use crate::sqlite::{blocking, left};

/// See [`super::SqliteDatabases`].
pub(super) struct Host {
    pub(super) data_dir: PathBuf,
    pub(super) limits: SqlLimits,
    pub(super) files: Files,
    pub(super) known: KnownDatabases,
    pub(super) room: Arc<Room>,
}

impl Host {
    /// The file of a granted database, brought to where the scope needs it: with
    /// bookkeeping, checked to be the right one, its migrations applied.
    pub(super) async fn open(
        self: &Arc<Self>,
        scope: &Scope,
        database: &DatabaseName,
    ) -> Result<Arc<DatabaseFile>, SqlError> {
        let place = Place::of(&self.data_dir, scope, database).ok_or(SqlError::NotGranted)?;
        self.room.heed(&place.path, self.open_at(&place, scope, database).await)
    }

    async fn open_at(
        self: &Arc<Self>,
        place: &Place,
        scope: &Scope,
        database: &DatabaseName,
    ) -> Result<Arc<DatabaseFile>, SqlError> {
        let (file, standing) = match self.look_again(place, &scope.component).await? {
            Some(found) => found,
            None => {
                let file = self.file_to_open(place).await?;
                self.look_first(file, place, &scope.component).await?
            }
        };
        standing.check(place)?;
        let of_it = |migration: &&Migration| migration.database == *database;
        let migrations: Vec<_> = scope.migrations.iter().filter(of_it).collect();
        if !standing.is_ready(place, &migrations)? {
            let turn = file.turn().await?;
            let (host, place, component) = (self.clone(), place.clone(), scope.component.clone());
            let migrations: Vec<_> = migrations.into_iter().cloned().collect();
            let changed = file.clone();
            blocking(move || {
                let prepared = host.prepare(turn, &place, &component, &migrations);
                changed.stands_otherwise(); // before it is told, and also where it failed
                prepared
            })
            .await?;
        }
        Ok(file)
    }

    /// A database whose file is open, and what it says; none where that is not so, or
    /// another file is in its place by now.
    pub(super) async fn look_again(
        self: &Arc<Self>,
        place: &Place,
        component: &ComponentName,
    ) -> Result<Option<(Arc<DatabaseFile>, Arc<Standing>)>, SqlError> {
        let Some(file) = self.files.open(place) else { return Ok(None) };
        let standing = self.look(&file, place, component).await?;
        Ok(standing.map(|standing| (file, standing)))
    }

    /// The same of a `file` that was just looked for.
    pub(super) async fn look_first(
        self: &Arc<Self>,
        file: Arc<DatabaseFile>,
        place: &Place,
        component: &ComponentName,
    ) -> Result<(Arc<DatabaseFile>, Arc<Standing>), SqlError> {
        let standing = self.look(&file, place, component).await?;
        Ok((file, standing.ok_or_else(super::changed)?))
    }

    /// What a database says, and what is known about it; none where `file` is not the one
    /// in its place any more.
    async fn look(
        self: &Arc<Self>,
        file: &Arc<DatabaseFile>,
        place: &Place,
        component: &ComponentName,
    ) -> Result<Option<Arc<Standing>>, SqlError> {
        let changes = match file.standing() {
            Ok(standing) => return Ok(self.files.holds(place, file)?.then_some(standing)),
            Err(changes) => changes,
        };
        let Some(standing) = self.look_inside(file, place, component).await? else { return Ok(None) };
        let standing = Arc::new(standing);
        file.stands(&standing, changes);
        Ok(Some(standing))
    }

    async fn look_inside(
        self: &Arc<Self>,
        file: &Arc<DatabaseFile>,
        place: &Place,
        component: &ComponentName,
    ) -> Result<Option<Standing>, SqlError> {
        let (host, expected, place, component) =
            (self.clone(), file.clone(), place.clone(), component.clone());
        let look = move |connection: &mut GuardedConnection| match host.files.holds(&place, &expected)? {
            true => host.standing(connection, &place, &component).map(Some),
            false => Ok(None),
        };
        file.read_whatever_was_left(look).await
    }

    /// What `connection` and the list of known databases say. Blocks.
    pub(super) fn standing(
        &self,
        connection: &Connection,
        place: &Place,
        component: &ComponentName,
    ) -> Result<Standing, SqlError> {
        let read = || -> rusqlite::Result<Standing> {
            // In this order: what is remembered was in the database before.
            let known = self.known.id(place)?;
            let (identity, applied) = bookkeeping::look(connection, component)?;
            Ok(Standing { known, identity, applied })
        };
        read().map_err(|error| sql_error(connection, error))
    }

    /// Whether the disk of the database at `place` has room, as far as anybody knows.
    pub(super) async fn has_room(self: &Arc<Self>, place: &Place, file: Option<&DatabaseFile>) -> bool {
        let host = self.clone();
        let mut paths = vec![place.path.clone()];
        paths.extend(file.map(|file| file.path().to_owned()));
        if !paths.iter().any(|path| self.room.was_full(path)) {
            return true;
        }
        blocking(move || paths.iter().all(|path| host.room.is_left(path))).await
    }

    async fn file_to_open(self: &Arc<Self>, place: &Place) -> Result<Arc<DatabaseFile>, SqlError> {
        let (host, place) = (self.clone(), place.clone());
        blocking(move || {
            let away = |why: &str| SqlError::Unreachable(why.to_owned());
            // Asked before the file is looked for: it may be made meanwhile.
            let known = host.known.id(&place).map_err(without_connection)?;
            if let Some(file) = host.files.get(&place)? {
                return Ok(file);
            }
            if !place.own {
                return Err(away("its file is not there"));
            }
            // Made again, it would have forgotten what was done.
            if known.is_some() {
                return Err(away("its file is gone: put it back"));
            }
            host.files.make(&place)?;
            host.files.get(&place)?.ok_or_else(|| away("its file was taken away"))
        })
        .await
    }

    /// Writes what is missing. Looks again first: whoever had the turn before may
    /// have done it.
    fn prepare(
        &self,
        mut turn: Turn,
        place: &Place,
        component: &ComponentName,
        migrations: &[Migration],
    ) -> Result<(), SqlError> {
        let connection = turn.connection(&Stop::after(self.limits.turn_time)).map_err(without_connection)?;
        let mut standing = self.standing(connection, place, component)?;
        standing.check(place)?;

        if standing.lacks_bookkeeping(place) {
            // Before anything is in it, so that what is in it can be found again. Another
            // process may have made it, and been killed before it came to this.
            if place.own {
                left::sync_names(&place.path).map_err(|error| unusable(&error))?;
            }
            let id = fresh_id()?;
            // Synced with the turn, as the migrations are: whoever sees that they are there may
            // rely on them, and the id is on the disk before it is remembered, or the database
            // would be taken for another one.
            let made = connection
                .execute_batch("BEGIN IMMEDIATE")
                .and_then(|()| bookkeeping::make(connection, &id, place.owner.as_ref()))
                .inspect(|_| fault::reached(Point::BookkeepingWritten));
            standing.identity = Some(made.map_err(|error| sql_error(connection, error))?);
            turn.commit()?;
            turn.sync()?;
            fault::reached(Point::BookkeepingKept);
            // Another process may have been first to own it.
            standing.check(place)?;
        }
        if let Some(identity) = &standing.identity {
            self.known.remember(place, &identity.id).map_err(without_connection)?;
            fault::reached(Point::IdRemembered);
        }
        for migration in standing.missing(&migrations.iter().collect::<Vec<_>>())? {
            migration::apply(&mut turn, component, migration, &self.limits)?;
        }
        Ok(())
    }
}

/// 32 random hex digits.
fn fresh_id() -> Result<String, SqlError> {
    let mut id = [0; 16];
    getrandom::fill(&mut id).map_err(|error| SqlError::Other(format!("no random numbers: {error}")))?;
    Ok(Hex(&id).to_string())
}
