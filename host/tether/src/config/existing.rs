//! Existing databases are there when the host starts for the first time with them. One
//! that was used and is away is a matter of the calls that need it: everything else is
//! served.

use std::path::Path;

use tether_core::grant::DatabaseGrant;

use super::{Component, ConfigError};

/// What stands for the tenant in a path.
const TENANT: &str = "{tenant}";

/// Looks for the existing databases that `components` are granted. Of one for each
/// tenant, the folder is enough. `was_used` tells whether a path was used before.
pub(crate) fn are_there(
    components: &[Component],
    was_used: impl Fn(&str) -> anyhow::Result<bool>,
) -> anyhow::Result<()> {
    for component in components {
        for (database, grant) in &component.grants.databases {
            let DatabaseGrant::Sqlite { path, .. } = grant else { continue };
            let Some(why) = missing(path) else { continue };
            let name = &component.name;
            if was_used(path)? {
                tracing::warn!(component = %name, %database, "{why}: what needs it waits until it is back");
                continue;
            }
            return Err(ConfigError(format!(
                "the database `{database}` of the component `{name}`: {why}; existing databases are never created: \
                 put it there, correct the path, or write \"sqlite\" for one that is made when first used",
            ))
            .into());
        }
    }
    Ok(())
}

/// What is not there of a database, if anything.
fn missing(path: &str) -> Option<String> {
    let Some((before, _)) = path.split_once(TENANT) else {
        return match std::fs::metadata(path) {
            Ok(found) if found.is_file() => None,
            Ok(_) => Some(format!("{path} is no file")),
            Err(error) => Some(format!("{path} cannot be opened ({error})")),
        };
    };
    // Up to the last folder that is the same for all tenants.
    let folder =
        before.rsplit_once('/').map_or(".", |(folder, _)| if folder.is_empty() { "/" } else { folder });
    (!Path::new(folder).is_dir()).then(|| format!("there is no folder {folder}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn a_database_is_missed_by_its_file_or_by_the_folder_of_all_tenants() {
        let scratch = Scratch::new().unwrap();
        std::fs::write(scratch.path().join("a.db"), "").unwrap();
        let missing = |name: &str| missing(&scratch.path().join(name).display().to_string());
        assert_eq!(missing("a.db"), None);
        assert!(missing("b.db").unwrap().contains("b.db cannot be opened"));
        assert!(missing("").unwrap().contains("is no file"));
        assert_eq!(missing("{tenant}.db"), None);
        assert_eq!(missing("{tenant}/a.db"), None);
        assert_eq!(missing("of-{tenant}/a.db"), None);
        assert!(missing("none/{tenant}.db").unwrap().contains("no folder"));
        assert!(missing("a.db/{tenant}.db").unwrap().contains("no folder"));
        assert_eq!(super::missing("{tenant}.db"), None);
        assert_eq!(super::missing("/{tenant}.db"), None);
    }
}
