//! The ends of histories, as they are kept elsewhere.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;
use tether_core::chain::Head;

/// One head, or an event of an export.
#[derive(Deserialize)]
struct Kept {
    tenant: String,
    place: u64,
    hash: String,
}

/// A line of a file of heads: one, or a report with all of them.
#[derive(Deserialize)]
#[serde(untagged)]
enum KeptLine {
    Report { heads: Vec<Kept> },
    One(Kept),
}

/// The last head of each tenant that is in the file at `path`: lines of JSON, each a head,
/// an exported event, or what `--json` printed.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Head>> {
    let file = BufReader::new(std::fs::File::open(path)?);
    let mut heads = BTreeMap::new();
    for (number, line) in file.lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let kept = parse(&line).with_context(|| format!("line {} is no head", number + 1))?;
        for head in kept {
            let last: &mut Head = heads.entry(head.tenant.clone()).or_insert_with(|| head.clone());
            if last.place < head.place {
                *last = head;
            }
        }
    }
    anyhow::ensure!(!heads.is_empty(), "there are none in it");
    Ok(heads.into_values().collect())
}

fn parse(line: &str) -> anyhow::Result<Vec<Head>> {
    let kept = match serde_json::from_str(line)? {
        KeptLine::Report { heads } => heads,
        KeptLine::One(kept) => vec![kept],
    };
    let head =
        |Kept { tenant, place, hash }: Kept| Ok(Head { tenant: tenant.parse()?, place, hash: hash.parse()? });
    kept.into_iter().map(head).collect()
}

/// A head, as [`read`] reads it.
pub(super) fn json(head: &Head) -> serde_json::Value {
    let Head { tenant, place, hash } = head;
    serde_json::json!({ "tenant": tenant.as_str(), "place": place, "hash": hash.to_string() })
}
