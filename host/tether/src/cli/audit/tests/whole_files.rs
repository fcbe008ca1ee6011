//! What no hash of a history covers: where it ends, the order of the rows, and records that
//! came from nowhere.

use super::*;

const DONE: &str = "01010101010101010101010101010101";

async fn told(folder: &Folder) -> Vec<String> {
    let mut told = Vec::new();
    folder.verify(Vec::new(), None, &mut told).await;
    told
}

#[tokio::test]
async fn a_head_that_cannot_be_is_told_with_its_tenant_and_hides_nothing_else() {
    for (changed, named) in [
        ("place = -1", "tenant acme: the head that is kept of it holds what was never written: no history"),
        ("hash = x'01'", "tenant acme: the head that is kept of it"),
        ("tenant = ''", "the head that is kept of it"),
    ] {
        let folder = Folder::new().await;
        folder.tamper("actions.db", &format!("UPDATE chain_heads SET {changed}"));
        folder.tamper("actions.db", "UPDATE history SET detail = '?' WHERE place = 3");
        let told = folder.findings().await;
        let other = "the history of acme, place 3, action 01010101010101010101010101010101: the event";
        for part in [named, other, "the history of acme, place 4: no head is kept"] {
            assert!(told.iter().any(|line| line.contains(part)), "{changed}: {part:?} in {told:#?}");
        }
        assert_eq!(told.len(), 3, "{changed}: {told:#?}");
    }
}

#[tokio::test]
async fn rows_that_were_moved_in_all_tables_alike_are_found() {
    let swapped = "PRAGMA foreign_keys = off;
         UPDATE actions SET number = -number;      UPDATE actions SET number = 3 + number;
         UPDATE history SET action = -action;      UPDATE history SET action = 3 + action;
         UPDATE confirm_keys SET action = -action; UPDATE confirm_keys SET action = 3 + action;";
    for (sql, place, what) in [
        (swapped, 2, "the action is row 1, and the one that was proposed before it row 2"),
        ("UPDATE history SET number = 9 WHERE place = 4", 4, "the event is row 9, and should be row 4"),
        (
            "UPDATE history SET number = -number; UPDATE history SET number = 10 - number",
            1,
            "the event is row 11, and should be row 1",
        ),
    ] {
        let folder = Folder::new().await;
        folder.tamper("actions.db", sql);
        let told = folder.findings().await;
        let id = if place == 1 { id(2).to_string() } else { DONE.to_owned() };
        assert_eq!(
            told,
            [format!("the history of acme, place {place}, action {id}: {what} (chain)")],
            "{sql}"
        );
    }
}

#[tokio::test]
async fn a_record_under_a_key_of_no_action_is_found() {
    let folder = Folder::new().await;
    folder.tamper(
        MAIN,
        "INSERT INTO tether_records (key, step, attempt, output, statements, at)
         VALUES ('ffffffffffffffffffffffffffffffff', '', 1, NULL, '[]', 0), ('', 'x', 1, NULL, '[]', 0)",
    );
    let what = "there is a record of it in databases/tickets/acme/main.db, and there is no such action";
    let expected =
        ["", "ffffffffffffffffffffffffffffffff"].map(|key| format!("action {key}: {what} (from-somewhere)"));
    assert_eq!(folder.findings().await, expected);
    let report = folder.verify(Vec::new(), None, &mut Vec::new()).await;
    assert_eq!(report.findings[0].tenant.as_deref(), Some("acme"));
}

#[tokio::test]
async fn a_record_in_a_database_that_its_action_was_not_granted_is_found() {
    for (file, tenant) in [
        ("databases/tickets/acme/other.db", "acme"),
        ("databases/people/acme/main.db", "acme"),
        ("databases/tickets/umbrella/main.db", "umbrella"),
    ] {
        let folder = Folder::new().await;
        let copy = folder.path().join(file);
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        std::fs::copy(folder.path().join(MAIN), copy).unwrap();
        let what = format!("there is a record of it in {file}, a database that it was not granted");
        assert_eq!(folder.findings().await, [format!("action {DONE}: {what} (from-somewhere)")]);
        let report = folder.verify(Vec::new(), None, &mut Vec::new()).await;
        assert_eq!(report.findings[0].tenant.as_deref(), Some(tenant));
    }
}

#[tokio::test]
async fn a_tail_that_was_cut_is_found_by_the_record_that_it_left() {
    let folder = Folder::new().await;
    folder.tamper(
        "actions.db",
        "PRAGMA foreign_keys = off;
         DELETE FROM history WHERE action = 2; DELETE FROM confirm_keys; DELETE FROM actions WHERE number = 2;
         UPDATE chain_heads SET place = 1, hash = (SELECT hash FROM history)",
    );
    let told = told(&folder).await;
    assert!(told.len() == 1 && told[0].contains("and there is no such action (from-somewhere)"), "{told:#?}");
}

#[tokio::test]
async fn a_file_among_the_databases_that_is_none_is_told_and_the_others_are_read() {
    let folder = Folder::new().await;
    std::fs::write(folder.path().join("databases/tickets/acme/a.db"), "x".repeat(4096)).unwrap();
    folder.tamper(MAIN, "UPDATE tether_records SET key = 'x'");
    let told = folder.findings().await;
    let unread = "tenant acme: databases/tickets/acme/a.db: the records cannot be read: file is not";
    for part in [unread, "action x: there is a record of it"] {
        assert!(told.iter().any(|line| line.contains(part)), "{part:?} in {told:#?}");
    }
}
