//! Keys that Tether never wrote.

use super::*;

#[test]
fn keys_come_one_after_the_other_whatever_they_are() {
    let connection = Connection::open_in_memory().unwrap();
    make(&connection, "id", None).unwrap();
    connection
        .execute_batch(
            "INSERT INTO tether_records (key, step, attempt, statements, at)
             SELECT key, step, 1, '[]', 0 FROM
                 (SELECT column1 AS key FROM
                     (VALUES (x'ff'), (''), (x''), ('b'), (CAST(x'fe' AS TEXT)), (CAST(x'fd' AS TEXT)), (x'62'), (7))),
                 (SELECT column1 AS step FROM (VALUES (''), ('x')))",
        )
        .unwrap();
    for limit in [1, 2, 9] {
        let (mut keys, mut last) = (Vec::new(), None);
        loop {
            let page = keys_after(&connection, last.as_ref(), limit).unwrap();
            let Some(end) = page.last() else { break };
            last = Some(end.clone());
            keys.extend(page);
        }
        let texts: Vec<_> = keys.iter().map(RecordKey::as_str).collect();
        assert_eq!(texts, [Some(""), Some("7"), Some("b"), None, None, None, None, None], "{limit}");
        assert_eq!(keys.iter().map(RecordKey::shown).collect::<String>(), "7b\u{fffd}\u{fffd}b\u{fffd}");
    }
}
