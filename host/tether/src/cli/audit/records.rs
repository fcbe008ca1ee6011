//! Whether the records in Tether's own databases are all of actions that may have left them
//! there. Other programs may write to existing databases: those are not gone through.

use tether_core::audit::Rule;
use tether_core::grant::Binding;
use tether_store::{Archive, OwnFile, RecordKey, SqliteDatabases};

use super::verify::{Line, Progress, scope};

/// Keys that are read in one go.
const PAGE: usize = 1_000;

/// Goes through every own database; `tell` is told of each key under which nobody may have
/// recorded something there. Keeps a page of keys in memory.
pub(super) async fn check(
    databases: &SqliteDatabases,
    archive: &Archive,
    tell: &mut impl FnMut(Line),
) -> anyhow::Result<()> {
    let files = databases.own_files()?;
    let mut progress = Progress::new("databases", files.len() as u64);
    for file in files {
        check_file(databases, archive, &file, tell).await?;
        progress.one_more();
    }
    Ok(())
}

async fn check_file(
    databases: &SqliteDatabases,
    archive: &Archive,
    file: &OwnFile,
    tell: &mut impl FnMut(Line),
) -> anyhow::Result<()> {
    let mut last: Option<RecordKey> = None;
    loop {
        let keys = match databases.record_keys(file, last.as_ref(), PAGE).await {
            Ok(keys) => keys,
            Err(unreachable) => {
                let what = format!("{}: {unreachable}", file.name());
                tell(line(file, None, Rule::Readable, what));
                return Ok(());
            }
        };
        for key in &keys {
            let bound = key.as_str().map(|key| archive.bound(key)).transpose()?;
            let what = match bound {
                None => "under a key that is no text",
                Some(None) => "and there is no such action",
                // Told already, and nobody knows what it was granted.
                Some(Some(Err(_))) => continue,
                Some(Some(Ok((tenant, binding)))) => {
                    let granted = match &binding {
                        Binding::Component(bound) => databases.own_files_of(&scope(&tenant, bound)),
                        Binding::Endpoint(_) => Vec::new(),
                    };
                    if granted.contains(&file.path) {
                        continue;
                    }
                    "a database that it was not granted"
                }
            };
            let what = format!("there is a record of it in {}, {what}", file.name());
            tell(line(file, Some(key.shown().into_owned()), Rule::FromSomewhere, what));
        }
        match keys.into_iter().next_back() {
            Some(key) => last = Some(key),
            None => return Ok(()),
        }
    }
}

fn line(file: &OwnFile, action: Option<String>, rule: Rule, what: String) -> Line {
    Line { tenant: Some(file.tenant.clone()), place: None, action, rule: rule.as_str(), what }
}
