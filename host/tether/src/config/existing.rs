//! Existing databases are there when the host starts. One that goes away later is a
//! matter of the calls that need it.

use std::path::Path;

use tether_core::grant::DatabaseGrant;

use super::{Component, ConfigError};

/// What stands for the tenant in a path.
const TENANT: &str = "{tenant}";

/// Looks for the existing databases that `components` are granted. Of one for each
/// tenant, the folder is enough.
pub(crate) fn are_there(components: &[Component]) -> Result<(), ConfigError> {
    for component in components {
        for (database, grant) in &component.grants.databases {
            let DatabaseGrant::Sqlite { path, .. } = grant else { continue };
            missing(path).map_or(Ok(()), |why| {
                Err(ConfigError(format!(
                    "the database `{database}` of the component `{}`: {why}; existing databases are never created: \
                     put it there, correct the path, or write \"sqlite\" for one that is made when first used",
                    component.name
                )))
            })?;
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
