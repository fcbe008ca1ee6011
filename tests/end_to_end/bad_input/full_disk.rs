//! A disk that is full: nothing is applied, nothing is lost, and it goes on once
//! there is room. Needs root, for a small file system of its own.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{Folder, Server, Setup, component, effects};

/// A file system of 32 MiB, gone with its test.
struct SmallDisk(Folder);

impl SmallDisk {
    /// None where this user may not mount, which is then said.
    fn mount() -> Option<Self> {
        let folder = Folder::new();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=32m", "tmpfs"]).arg(folder.path());
        match mount.stderr(Stdio::null()).status() {
            Ok(status) if status.success() => Some(Self(folder)),
            _ => {
                eprintln!("skipped: only root can mount a disk that is small enough to fill");
                None
            }
        }
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Leaves no room at all.
    fn fill(&self) -> Filler {
        let path = self.path().join("filler");
        let mut file = File::create(&path).unwrap();
        for size in [1 << 20, 4096, 1] {
            let piece = vec![0; size];
            while file.write_all(&piece).is_ok() {}
        }
        Filler(path)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily, for a server may still be going away.
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

/// What takes up all the room.
struct Filler(PathBuf);

impl Filler {
    /// Gives the room back. Removing the file would not do at once: another test's process
    /// that has just begun holds it open until it runs its own program.
    fn empty(self) {
        File::create(self.0).unwrap();
    }
}

#[test]
fn f15_a_full_data_folder_refuses_and_loses_nothing() {
    let Some(disk) = SmallDisk::mount() else { return };
    let server = Setup::of(&["probe"]).data_at(disk.path().join("data")).start();
    let done = server.api.propose("probe_write", r#"{"note":"before"}"#);
    let result = server.api.confirm(&done, "{}").check("200 Succeeded").raw("result").to_owned();
    let waiting = server.api.propose("probe_write", r#"{"note":"waiting"}"#);

    let filler = disk.fill();
    let refused = server.api.confirm(&waiting, "{}");
    refused.check("503 STORAGE_FULL");
    assert!(
        refused.header("retry-after").is_some() && refused.str("detail").contains("nothing was attempted")
    );
    server.api.call("probe_write", r#"{"note":"more"}"#).check("503 STORAGE_FULL");
    assert_eq!(server.api.action(&waiting).check("200 Pending").body["attemptsUsed"], 0);
    assert_eq!(server.api.confirm(&done, "{}").check("200 Replayed").raw("result"), result);
    assert_eq!(server.effects().len(), 1, "nothing was applied");

    filler.empty();
    server.api.confirm(&waiting, "{}").check("200 Succeeded");
    server.api.propose("probe_write", r#"{"note":"more"}"#);
    assert_eq!(server.effects().len(), 2);
}

#[test]
fn f15_a_handler_whose_disk_is_full_can_be_confirmed_again_once_there_is_room() {
    let Some(disk) = SmallDisk::mount() else { return };
    let database = disk.path().join("main.db");
    let config = format!(
        "[[components]]\npath = {:?}\n[components.databases]\nmain = \"sqlite:{}\"\n",
        component("probe"),
        database.display()
    );
    File::create(&database).unwrap();
    let server: Server = Setup::of(&[]).config("tether.toml", &config).start();
    let first = server.api.propose("probe_write", r#"{"note":"first"}"#);
    server.api.confirm(&first, "{}").check("200 Succeeded");

    let filler = disk.fill();
    let large = format!(r#"{{"note":"{}"}}"#, "x".repeat(100_000));
    let id = server.api.propose("probe_write", &large);
    let outcome = server.api.confirm(&id, "{}");
    outcome.check("200 FailedRetryable EXECUTION_FAILED_RETRYABLE");
    assert_eq!(
        (outcome.str("effect"), outcome.body["cause"]["code"].as_str()),
        ("None", Some("STORAGE_FULL"))
    );
    assert_eq!(effects(&database).len(), 1, "nothing of it was applied");

    // Now that it is known, no attempt is used up on it.
    for _ in 0..5 {
        let refused = server.api.confirm(&id, "{}");
        refused.check("503 STORAGE_FULL");
        assert!(refused.str("detail").contains("nothing was attempted"), "{}", refused.text);
    }
    assert_eq!(
        server.api.action(&id).check("200 Pending EXECUTION_FAILED_RETRYABLE").body["attemptsUsed"],
        1
    );

    filler.empty();
    server.api.confirm(&id, "{}").check("200 Succeeded");
    assert_eq!(effects(&database).len(), 2);
}
