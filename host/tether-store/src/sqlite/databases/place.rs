//! Where a granted database is.

use std::path::{Path, PathBuf};

use tether_core::grant::DatabaseGrant;
use tether_core::id::{DatabaseName, TenantId};
use tether_core::port::databases::Scope;

use crate::file_name::encode;

/// What stands for the tenant in the path of an existing file.
const TENANT: &str = "{tenant}";

/// How the names of Tether's own files end.
const EXTENSION: &str = "db";

/// A database of a scope.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// Its file; absolute, so that SQLite takes it for nothing else.
    pub(super) path: PathBuf,
    /// Whether Tether makes the file, and so decides how it is kept.
    pub(super) own: bool,
    /// The one tenant that may use the file, where neither its path nor the operator
    /// says which may.
    pub(super) owner: Option<TenantId>,
    /// The scope's component, tenant and database, and the place as configured: what
    /// the database's id is remembered by. Survives a move of the data folder.
    pub(super) known_as: [String; 4],
}

impl Place {
    /// The folder of the databases that Tether makes: in it is one for each component, in
    /// that one for each tenant.
    pub(super) fn folder(data_dir: &Path) -> PathBuf {
        data_dir.join("databases")
    }

    /// Whether the name of a file there is a database's, and not that of a log beside it.
    pub(super) fn is_database(path: &Path) -> bool {
        path.extension().is_some_and(|extension| extension == EXTENSION)
    }

    /// The place of a file there, for whoever only reads what is in it.
    pub(super) fn own(path: PathBuf) -> Self {
        Self { path, own: true, owner: None, known_as: Default::default() }
    }

    /// The place of `database`; none where it is not granted.
    pub(super) fn of(data_dir: &Path, scope: &Scope, database: &DatabaseName) -> Option<Self> {
        let tenant = encode(scope.tenant.as_str());
        let (own, path, owner, configured) = match scope.grants.databases.get(database)? {
            DatabaseGrant::Own => {
                let folder = Self::folder(data_dir).join(encode(scope.component.as_str())).join(tenant);
                (true, folder.join(encode(database.as_str()) + "." + EXTENSION), None, String::new())
            }
            DatabaseGrant::Sqlite { path, shared } => {
                let one_tenant = !shared && !path.contains(TENANT);
                let owner = one_tenant.then(|| scope.tenant.clone());
                (false, PathBuf::from(path.replace(TENANT, &tenant)), owner, path.clone())
            }
        };
        Some(Self {
            path: std::path::absolute(&path).unwrap_or(path),
            own,
            owner,
            known_as: [
                scope.component.to_string(),
                scope.tenant.to_string(),
                database.to_string(),
                configured,
            ],
        })
    }
}
