//! F25: arguments that are absent, or something else than an object.

use crate::support::Setup;

#[test]
fn f25_absent_arguments_are_an_empty_object() {
    let server = Setup::of(&["probe"]).start();
    let answer = server.api.post("/v1/tools/probe_echo/calls", "{}");
    assert_eq!(answer.check("200 Succeeded").raw("result"), "{}");
    let action = server.api.post("/v1/tools/probe_nothing/calls", "{}");
    assert_eq!(action.check("202 Pending").raw("args"), "{}");
}

#[test]
fn f25_what_is_no_object_does_not_fit() {
    let server = Setup::of(&["probe"]).start();
    for tool in ["probe_echo", "probe_nothing"] {
        for arguments in ["null", "[]", "[{}]", "1", "\"{}\"", "true", "\"\""] {
            let answer = server.api.call(tool, arguments);
            answer.check("422 INVALID_ARGUMENTS");
            assert_eq!(answer.body["errors"][0]["pointer"], "", "{arguments} as a whole");
        }
    }
}
