//! An export may be the only witness from outside: one that was written before stays until
//! another is whole.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

const EARLIER: &str = "what was exported earlier";

/// A folder that holds an export of earlier.
struct Elsewhere(Scratch);

impl Elsewhere {
    fn new() -> Self {
        let elsewhere = Self(Scratch::new().unwrap());
        std::fs::write(elsewhere.kept(), EARLIER).unwrap();
        elsewhere
    }

    fn kept(&self) -> PathBuf {
        self.0.path().join("kept.jsonl")
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.kept()).unwrap()
    }

    /// The export of earlier is there, and nothing else.
    #[track_caller]
    fn is_as_before(&self) {
        assert_eq!(self.text(), EARLIER);
        self.holds_nothing_else();
    }

    #[track_caller]
    fn holds_nothing_else(&self) {
        let files: Vec<_> =
            std::fs::read_dir(self.0.path()).unwrap().map(|file| file.unwrap().path()).collect();
        assert_eq!(files, [self.kept()]);
    }
}

/// What the command says where it cannot go to its end.
async fn run(data_dir: &Path, export: &Path) -> Result<ExitCode, String> {
    let (data_dir, export) = (data_dir.to_owned(), Some(export.to_owned()));
    let run = Verify { data_dir, export, heads: None, json: true }.run().await;
    run.map_err(|error| format!("{error:#}"))
}

#[tokio::test]
async fn one_of_earlier_stays_where_nothing_can_be_checked() {
    let (folder, elsewhere) = (Folder::new().await, Elsewhere::new());
    let held = DataFolder::take(folder.path()).unwrap();
    let error = run(folder.path(), &elsewhere.kept()).await.unwrap_err();
    assert!(error.contains("is in use by another tether"), "{error}");
    elsewhere.is_as_before();
    drop(held);
    let error = run(&folder.path().join("nowhere"), &elsewhere.kept()).await.unwrap_err();
    assert!(error.contains("is no data folder"), "{error}");
    elsewhere.is_as_before();
}

#[tokio::test]
async fn one_of_earlier_stays_where_the_check_fails_on_its_way() {
    let (folder, elsewhere) = (Folder::new().await, Elsewhere::new());
    folder.tamper("actions.db", "DROP TABLE confirm_keys");
    let error = run(folder.path(), &elsewhere.kept()).await.unwrap_err();
    assert!(error.contains("actions.db cannot be read"), "{error}");
    elsewhere.is_as_before();
}

#[tokio::test]
async fn a_whole_one_takes_the_place_of_one_of_earlier_also_behind_a_link() {
    let folder = Folder::new().await;
    for linked in [false, true] {
        let (elsewhere, links) = (Elsewhere::new(), Scratch::new().unwrap());
        let link = links.path().join("link");
        symlink(elsewhere.kept(), &link).unwrap();
        let to = if linked { link.clone() } else { elsewhere.kept() };
        run(folder.path(), &to).await.unwrap();
        assert_eq!(elsewhere.text().lines().count(), 4);
        elsewhere.holds_nothing_else();
        assert!(link.is_symlink());
        let mode = std::fs::metadata(elsewhere.kept()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[tokio::test]
async fn it_is_written_where_something_is_found_as_well() {
    let (folder, elsewhere) = (Folder::new().await, Elsewhere::new());
    folder.tamper("actions.db", "UPDATE history SET detail = '?' WHERE place = 3");
    assert!(!folder.findings().await.is_empty());
    run(folder.path(), &elsewhere.kept()).await.unwrap();
    assert!(elsewhere.text().lines().nth(2).unwrap().contains("\"detail\":\"?\""));
}

#[tokio::test]
async fn none_is_written_into_the_data_folder() {
    let (folder, links) = (Folder::new().await, Scratch::new().unwrap());
    let (file, link) = (folder.path().join("actions.db"), links.path().join("link"));
    symlink(&file, &link).unwrap();
    let before = std::fs::read(&file).unwrap();
    let new = folder.path().join("history.jsonl");
    let roundabout = folder.path().join("databases/../actions.db");
    for export in [&file, &link, &roundabout, &folder.path().join(MAIN), &new] {
        let error = run(folder.path(), export).await.unwrap_err();
        assert!(error.contains("is in the data folder"), "{export:?}: {error}");
    }
    assert!(before == std::fs::read(&file).unwrap() && !new.exists());
    assert_eq!(folder.findings().await, [""; 0]);
}

#[tokio::test]
async fn what_is_no_file_is_written_to() {
    let (folder, elsewhere) = (Folder::new().await, Scratch::new().unwrap());
    let pipe = elsewhere.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    run(folder.path(), &pipe).await.unwrap();
    assert!(!std::fs::metadata(&pipe).unwrap().is_file());
    assert_eq!(reader.join().unwrap().lines().count(), 4);
}

#[tokio::test]
async fn a_place_that_nobody_can_write_to_is_told() {
    let (folder, elsewhere) = (Folder::new().await, Elsewhere::new());
    let nowhere = elsewhere.0.path().join("nowhere/kept.jsonl");
    for export in [&nowhere, elsewhere.0.path()] {
        let error = run(folder.path(), export).await.unwrap_err();
        assert!(error.contains(&format!("{} cannot be written", export.display())), "{error}");
    }
    elsewhere.is_as_before();
}
