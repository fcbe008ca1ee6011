//! The databases that Tether made, whoever they are of: for whoever checks what is in them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tether_core::port::databases::{Scope, SqlError, Unreachable};

use super::bookkeeping::RecordKey;
use super::error::sql_error;
use super::guard::GuardedConnection;
use super::place::Place;
use super::{SqliteDatabases, bookkeeping};
use crate::file_name::decode;
use crate::sqlite::blocking;

/// The file of a database of Tether's own.
#[derive(Debug, Clone)]
pub struct OwnFile {
    /// Where it is.
    pub path: PathBuf,
    /// The tenant that it is of, as far as its folder tells: names that are too long for
    /// one are cut.
    pub tenant: String,
}

impl OwnFile {
    /// Its name in the data folder, with the folders of its component and its tenant.
    pub fn name(&self) -> String {
        let names: Vec<_> = self.path.iter().rev().take(4).map(|name| name.to_string_lossy()).collect();
        names.into_iter().rev().collect::<Vec<_>>().join("/")
    }
}

impl SqliteDatabases {
    /// The files of all databases of Tether's own, in the order of their names. Blocks.
    ///
    /// # Errors
    ///
    /// Where a folder cannot be read.
    pub fn own_files(&self) -> io::Result<Vec<OwnFile>> {
        let mut files = Vec::new();
        for component in sorted(&Place::folder(&self.host.data_dir))? {
            for tenant in sorted(&component)? {
                let name = tenant.file_name().unwrap_or_default().to_string_lossy();
                let name = decode(&name).unwrap_or_else(|| name.into_owned());
                let of_databases = sorted(&tenant)?.into_iter().filter(|path| Place::is_database(path));
                files.extend(of_databases.map(|path| OwnFile { path, tenant: name.clone() }));
            }
        }
        Ok(files)
    }

    /// Where the databases of Tether's own are that `scope` was granted.
    pub fn own_files_of(&self, scope: &Scope) -> Vec<PathBuf> {
        let names = scope.grants.databases.keys();
        let places = names.filter_map(|name| Place::of(&self.host.data_dir, scope, name));
        places.filter(|place| place.own).map(|place| place.path).collect()
    }

    /// The keys of the records in a database of Tether's own, in their order: the next
    /// `limit` after `after`, from the first where that is none. Changes nothing.
    ///
    /// # Errors
    ///
    /// It is gone, or cannot be read.
    pub async fn record_keys(
        &self,
        file: &OwnFile,
        after: Option<&RecordKey>,
        limit: usize,
    ) -> Result<Vec<RecordKey>, Unreachable> {
        let (host, place) = (self.host.clone(), Place::own(file.path.clone()));
        let found = async {
            let file = blocking(move || host.files.get(&place)).await?;
            let file = file.ok_or_else(|| SqlError::Unreachable("its file is not there".to_owned()))?;
            let after = after.cloned();
            let keys = move |connection: &mut GuardedConnection| {
                bookkeeping::keys_after(connection, after.as_ref(), limit)
                    .map_err(|error| sql_error(connection, error))
            };
            file.read_whatever_was_left(keys).await
        };
        found.await.map_err(|error| match error {
            SqlError::Unreachable(why) => Unreachable(why),
            error => Unreachable(error.to_string()),
        })
    }
}

/// What is in a folder, nothing where it is none.
fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        entries => entries?,
    };
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
