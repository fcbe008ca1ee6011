//! The start of a server that has compiled its components before.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::ensure;

use crate::rounds::median;
use crate::server::Setup;
use crate::stage::Stage;
use crate::table::{Goal, Table};

const COMPONENTS: usize = 100;

pub(super) fn measure(stage: &Stage, table: &mut Table) -> anyhow::Result<()> {
    let folder = stage.kept("hundred");
    let components = variants(stage.component("tickets")?, &folder.join("components"))?;
    let components: Vec<_> = components.iter().map(PathBuf::as_path).collect();
    // The first start compiles what is not compiled yet.
    Setup::new(stage, &components, folder.join("data")).start()?.stop()?;
    let mut times = Vec::new();
    for _ in 0..stage.rounds() {
        let server = Setup::new(stage, &components, folder.join("data")).start()?;
        times.push(server.start.as_secs_f64());
        server.stop()?;
    }
    table.add("start to ready with 100 cached components", median(times), None, "s", Goal::AtMost(1.0));
    Ok(())
}

/// A hundred components that differ in the names of their tools, and so in everything
/// that is made of them.
fn variants(component: &Path, folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    fs::create_dir_all(folder)?;
    let bytes = fs::read(component)?;
    let mut paths = Vec::new();
    for number in 0..COMPONENTS {
        let variant = replaced(&bytes, b"_ticket", format!("_tick{number:02}").as_bytes());
        ensure!(variant != bytes, "the names of the tools are not in {}", component.display());
        let path = folder.join(format!("tickets-{number:02}.wasm"));
        fs::write(&path, variant)?;
        paths.push(path);
    }
    Ok(paths)
}

/// `bytes`, with each `from` replaced by `to`, which is as long: names are told by place
/// and length, so that a component stays one.
fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len(), "nothing may move");
    let mut bytes = bytes.to_vec();
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(from.len()).position(|part| part == from) {
        at += found;
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_replaced_in_its_place() {
        assert_eq!(replaced(b"get_x, set_x;", b"_x", b"_7"), b"get_7, set_7;");
        assert_eq!(replaced(b"none", b"_x", b"_7"), b"none");
    }
}
