//! Text that is none, where Tether wrote text: a finding like any other, which hides nothing.

use super::*;

#[tokio::test]
async fn a_head_of_a_tenant_that_is_no_text_hides_nothing_else() {
    let folder = Folder::new().await;
    folder.tamper(
        "actions.db",
        "INSERT INTO chain_heads SELECT CAST(x'ff' AS TEXT), place, hash FROM chain_heads;
         UPDATE actions SET preview_kind = 'text', preview = 'x' WHERE number = 1",
    );
    let told = folder.findings().await;
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(told[0].starts_with("tenant \u{fffd}: the head that is kept of it holds what"), "{told:#?}");
    assert!(told[1].contains("it is stored as another than its history says (chain)"), "{told:#?}");
}

#[tokio::test]
async fn an_id_that_is_no_text_hides_nothing_else() {
    for number in [1, 2] {
        let folder = Folder::new().await;
        folder.tamper(
            "actions.db",
            &format!(
                "UPDATE actions SET id = CAST(x'ff' AS TEXT) WHERE number = {number};
                 UPDATE actions SET preview_kind = 'text', preview = 'x' WHERE number <> {number}"
            ),
        );
        let told = folder.findings().await;
        for part in ["action \u{fffd}: it was changed in the store", "it is stored as another than"] {
            assert!(told.iter().any(|line| line.contains(part)), "{number}: {part:?} in {told:#?}");
        }
    }
}

#[tokio::test]
async fn a_key_that_is_bound_to_an_id_that_is_no_text_hides_nothing_else() {
    let folder = Folder::new().await;
    folder.tamper(
        "actions.db",
        "UPDATE confirm_keys SET action = 1; UPDATE actions SET id = CAST(x'ff' AS TEXT) WHERE number = 1",
    );
    folder.tamper(MAIN, "UPDATE tether_records SET key = 'x'");
    let told = folder.findings().await;
    for part in ["01010101: it was changed in the store: its id is none", "action x: there is a record"] {
        assert!(told.iter().any(|line| line.contains(part)), "{part:?} in {told:#?}");
    }
}

#[tokio::test]
async fn keys_of_records_that_are_no_text_hide_no_others() {
    let folder = Folder::new().await;
    folder.tamper(
        MAIN,
        "INSERT INTO tether_records (key, step, attempt, output, statements, at)
         SELECT column1, '', 1, NULL, '[]', 0
         FROM (VALUES (x'ff'), ('junk'), (CAST(x'fe' AS TEXT)), (CAST(hex(x'01010101') AS BLOB)))",
    );
    let [nobody, no_text] = ["and there is no such action", "under a key that is no text"];
    let expected = [("junk", nobody), ("\u{fffd}", no_text), ("01010101", no_text), ("\u{fffd}", no_text)];
    let expected = expected.map(|(key, what)| {
        format!("action {key}: there is a record of it in {MAIN}, {what} (from-somewhere)")
    });
    assert_eq!(folder.findings().await, expected);
}
