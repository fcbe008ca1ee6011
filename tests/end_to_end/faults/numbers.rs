//! F24: numbers on their way through arguments, SQL, result and replay. They are
//! exact to the letter, or refused with a reason.

use crate::support::{Setup, open_read_only};

/// Numbers that some JSON reader or other changes on the way.
const HARD: [&str; 10] = [
    "9007199254740993",
    "-9007199254740993",
    "9223372036854775808",
    "18446744073709551616",
    "123456789012345678901234567890",
    "-0",
    "0.1",
    "0.10",
    "1.0",
    "1E+2",
];

#[test]
fn f24_numbers_survive_to_the_letter() {
    let server = Setup::of(&["probe"]).start();
    for number in HARD {
        let arguments = format!("{{\"n\": {number}, \"list\":[{number}]}}");
        let read = server.api.call("probe_echo", &arguments);
        assert_eq!(read.check("200 Succeeded").raw("result"), arguments);

        let id = server.api.propose("probe_keep", &arguments);
        assert_eq!(server.api.action(&id).raw("args"), arguments, "as it is shown");
        for words in ["200 Succeeded", "200 Replayed"] {
            assert_eq!(server.api.confirm(&id, "{}").check(words).raw("result"), arguments);
        }
        assert_eq!(server.api.action(&id).raw("result"), arguments);
        let note = server.effects().pop().expect("it left a note").note;
        assert_eq!(note, arguments, "in the tool's database");
    }
}

#[test]
fn f24_a_number_beyond_every_double_is_refused() {
    let server = Setup::of(&["probe"]).start();
    for number in ["1e400", "-1e400", "1e99999999999"] {
        for tool in ["probe_echo", "probe_keep"] {
            let answer = server.api.call(tool, &format!("{{\"n\":{number}}}"));
            let detail = answer.check("400 INVALID_ARGUMENTS").str("detail");
            assert!(detail.contains("out of range") || detail.contains("too large"), "{detail}");
        }
    }
}

/// Numbers that go through SQL: what the tool got back from it.
#[track_caller]
fn check_sql(arguments: &str, result: &str) {
    let server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_numbers", arguments);
    for words in ["200 Succeeded", "200 Replayed"] {
        assert_eq!(server.api.confirm(&id, "{}").check(words).raw("result"), result);
    }
}

#[test]
fn f24_sql_gives_back_the_numbers_that_it_got() {
    check_sql(r#"{"integer":9007199254740993}"#, r#"{"integer":9007199254740993,"real":null}"#);
    check_sql(r#"{"integer":-9223372036854775808}"#, r#"{"integer":-9223372036854775808,"real":null}"#);
    check_sql(r#"{"real":0.1}"#, r#"{"integer":null,"real":0.1}"#);
    check_sql(r#"{"real":5e-324}"#, r#"{"integer":null,"real":5e-324}"#);
}

#[test]
fn f24_sql_holds_the_numbers_that_were_shown() {
    let server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_numbers", r#"{"integer":9007199254740993,"real":0.1}"#);
    server.api.confirm(&id, "{}").check("200 Succeeded");
    let database = open_read_only(&server.database("probe"));
    let stored = database.query_row("SELECT integer, real FROM numbers WHERE key = ?", [&id], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, f64>(1)?.to_bits()))
    });
    assert_eq!(stored, Ok((9_007_199_254_740_993, 0.1_f64.to_bits())));
}

#[test]
fn f24_an_integer_that_sql_does_not_have_is_refused() {
    let server = Setup::of(&["probe"]).start();
    for number in ["0.5", "\"1\"", "1.5e0"] {
        let answer = server.api.call("probe_numbers", &format!("{{\"integer\":{number}}}"));
        assert_eq!(
            answer.check("422 INVALID_ARGUMENTS").body["errors"][0]["pointer"],
            "/integer",
            "{number}"
        );
    }
    // To JSON Schema these are integers; to the handler they are not, and it says so.
    for number in ["9223372036854775808", "-9223372036854775809", "1.0", "1e0", "-0"] {
        let id = server.api.propose("probe_numbers", &format!("{{\"integer\":{number}}}"));
        let outcome = server.api.confirm(&id, "{}");
        outcome.check("200 Failed EXECUTION_FAILED");
        assert_eq!(outcome.body["cause"]["code"], "INVALID_ARGUMENTS", "{number}");
        assert_eq!(outcome.str("effect"), "None", "{number}");
    }
}
