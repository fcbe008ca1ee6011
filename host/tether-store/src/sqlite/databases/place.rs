//! Where a granted database is.

use std::path::{Path, PathBuf};

use tether_core::grant::DatabaseGrant;
use tether_core::id::{DatabaseName, TenantId};
use tether_core::port::databases::Scope;

use crate::file_name::encode;

/// What stands for the tenant in the path of an existing file.
const TENANT: &str = "{tenant}";

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
    /// The place of `database`; none where it is not granted.
    pub(super) fn of(data_dir: &Path, scope: &Scope, database: &DatabaseName) -> Option<Self> {
        let tenant = encode(scope.tenant.as_str());
        let (own, path, owner, configured) = match scope.grants.databases.get(database)? {
            DatabaseGrant::Own => {
                let folder = data_dir.join("databases").join(encode(scope.component.as_str())).join(tenant);
                (true, folder.join(encode(database.as_str()) + ".db"), None, String::new())
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
