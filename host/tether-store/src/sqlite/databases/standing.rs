//! Whether a database is the one that a scope means, and ready for it: decided from
//! values alone.

use tether_core::id::DatabaseName;
use tether_core::port::databases::{Scope, SqlError, Unfit};
use tether_core::tool::Migration;

use super::bookkeeping::Identity;
use super::place::Place;

/// What a database holds, and what is known about it.
pub(super) struct Standing {
    /// What it says about itself.
    pub(super) identity: Option<Identity>,
    /// The id that it had when this scope used it before.
    pub(super) known: Option<String>,
    /// The component's migrations that it had: id and digest.
    pub(super) applied: Vec<(String, String)>,
}

impl Standing {
    /// Whether it is the database that this scope used before, and is not another
    /// tenant's.
    ///
    /// # Errors
    ///
    /// `Unreachable` where it is another one, `Other` where it is another tenant's.
    pub(super) fn check(&self, place: &Place) -> Result<(), SqlError> {
        let id = self.identity.as_ref().map(|identity| &identity.id);
        if self.known.is_some() && self.known.as_ref() != id {
            let why = "it is another database than it was: put the old one back";
            return Err(SqlError::Unreachable(why.to_owned()));
        }
        let owner = self.identity.as_ref().and_then(|identity| identity.owner.as_deref());
        match &place.owner {
            Some(tenant) if owner.is_some_and(|owner| owner != tenant.as_str()) => Err(SqlError::Other(
                "it belongs to another tenant: put `{tenant}` into its path, or grant it with `shared = true`"
                    .to_owned(),
            )),
            _ => Ok(()),
        }
    }

    /// Whether nothing has to be written before this scope can use it: it has an id,
    /// which is remembered, its owner, and every migration.
    pub(super) fn is_ready(&self, place: &Place, migrations: &[&Migration]) -> Result<bool, SqlError> {
        let complete = self.known.is_some() && !self.lacks_bookkeeping(place);
        Ok(complete && self.missing(migrations)?.is_empty())
    }

    /// Whether it has no id yet, or no owner where it needs one.
    pub(super) fn lacks_bookkeeping(&self, place: &Place) -> bool {
        match &self.identity {
            Some(identity) => place.owner.is_some() && identity.owner.is_none(),
            None => true,
        }
    }

    /// The migrations that it has not had.
    ///
    /// # Errors
    ///
    /// `Other` where it had one of the same name with another text.
    pub(super) fn missing<'m>(&self, migrations: &[&'m Migration]) -> Result<Vec<&'m Migration>, SqlError> {
        let mut missing = Vec::new();
        for &migration in migrations {
            match self.applied.iter().find(|(id, _)| *id == migration.id) {
                None => missing.push(migration),
                Some((_, digest)) if *digest == migration.digest().to_string() => {}
                Some(_) => {
                    return Err(SqlError::Other(format!(
                        "the database had the migration `{}` with another text: an applied migration is \
                         never edited, add a new one",
                        migration.id
                    )));
                }
            }
        }
        Ok(missing)
    }

    /// Whether the component lists every migration that it had.
    pub(super) fn fits(&self, scope: &Scope, database: &DatabaseName) -> Result<(), Unfit> {
        let listed = |(id, digest): &&(String, String)| {
            scope.migrations.iter().any(|listed| listed.id == *id && listed.digest().to_string() == *digest)
        };
        match self.applied.iter().find(|applied| !listed(applied)) {
            Some((id, _)) => {
                Err(Unfit::UnknownMigration { database: database.clone(), migration: id.clone() })
            }
            None => Ok(()),
        }
    }
}
