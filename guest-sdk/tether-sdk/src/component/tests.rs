//! A component, asked as the host would ask it.

use super::{Catalogue, Migration, check, migration};
use crate::bindings::exports::tether::tool::handler::Guest;
use crate::bindings::tether::tool::types;
use crate::prelude::*;
use crate::tool::{Definition, Effect, Invocation, Tool};

#[derive(Deserialize, JsonSchema)]
struct Sum {
    /// Any integer.
    zebra: i64,
    #[serde(default)]
    ant: u64,
}

#[derive(Serialize, JsonSchema)]
struct Total {
    zebra: i64,
    ant: u64,
    user: String,
}

/// Says what it was told.
#[tool(read, title = "Echo")]
fn echo(call: &Read, args: Sum) -> Result<Total, ToolError> {
    Ok(Total { zebra: args.zebra, ant: args.ant, user: call.user().to_owned() })
}

#[tool(write, name = "refuse.it", description = "Refuses", preview = preview_refuse)]
fn refuse(_call: &Write, _args: Sum) -> Result<Total, ToolError> {
    Err(refused("NO", "it is refused").retry_after_ms(1_500))
}

fn preview_refuse(_call: &Read, args: Sum) -> Result<Option<String>, ToolError> {
    Ok(Some(format!("Refuse {}", args.zebra)))
}

struct Component;

impl Catalogue for Component {
    const TOOLS: &'static [Definition] = &[echo::DEFINITION, refuse::DEFINITION];
    const MIGRATIONS: &'static [Migration] = &[migration("main", "0001", "CREATE TABLE t (id)")];
}

fn call(tool: &str, arguments: &str) -> Invocation {
    Invocation {
        request_id: "0123456789abcdef0123456789abcdef".into(),
        tool: tool.into(),
        tenant: "acme".into(),
        user: "ada".into(),
        arguments: arguments.into(),
        attempt: 1,
        timeout_ms: 20_000,
    }
}

#[test]
fn the_manifest_says_what_the_attributes_say() {
    let manifest = Component::describe();
    let [echo, refuse] = &manifest.tools[..] else { panic!("{manifest:?}") };
    assert_eq!(
        (echo.name.as_str(), echo.title.as_deref(), echo.effect),
        ("echo", Some("Echo"), Effect::Read)
    );
    assert_eq!(echo.description, "Says what it was told.");
    assert_eq!((refuse.name.as_str(), &refuse.title, refuse.effect), ("refuse.it", &None, Effect::Write));
    let [migration] = &manifest.migrations[..] else { panic!("{manifest:?}") };
    assert_eq!((migration.database.as_str(), migration.id.as_str()), ("main", "0001"));
}

#[test]
fn integers_stay_exact_and_fields_in_order() {
    let output = Component::invoke(call("echo", r#"{"ant":18446744073709551615,"zebra":-9007199254740993}"#));
    let expected = r#"{"zebra":-9007199254740993,"ant":18446744073709551615,"user":"ada"}"#;
    assert_eq!(output.unwrap(), expected);
}

#[test]
fn arguments_that_no_type_can_hold_are_invalid() {
    for arguments in [r#"{"zebra":9223372036854775808}"#, r#"{"zebra":1,"ant":-1}"#, "{}"] {
        let answer = Component::invoke(call("echo", arguments));
        assert!(matches!(answer, Err(types::ToolError::InvalidArguments(_))), "{arguments}: {answer:?}");
    }
}

#[test]
fn errors_keep_their_kind_code_and_time() {
    let Err(types::ToolError::Refused(fault)) = Component::invoke(call("refuse.it", r#"{"zebra":1}"#)) else {
        panic!("it is refused");
    };
    assert_eq!((fault.code.as_str(), fault.retry_after_ms), ("NO", Some(1_500)));
}

#[test]
fn a_preview_is_asked_of_those_that_have_one() {
    let preview = |tool| Component::preview(call(tool, r#"{"zebra":7}"#)).unwrap();
    assert_eq!(preview("refuse.it").as_deref(), Some("Refuse 7"));
    assert_eq!(preview("echo"), None);
}

#[test]
fn an_unknown_tool_is_a_failure() {
    let answer = Component::invoke(call("nothing", "{}"));
    assert!(matches!(answer, Err(types::ToolError::Failed(fault)) if fault.code == "TOOL_NOT_FOUND"));
}

#[test]
#[should_panic = "two tools have the same name"]
fn a_repeated_tool_is_found() {
    struct Twice;
    impl Catalogue for Twice {
        const TOOLS: &'static [Definition] = &[echo::DEFINITION, refuse::DEFINITION, echo::DEFINITION];
        const MIGRATIONS: &'static [Migration] = &[];
    }
    check::<Twice>();
}

#[test]
#[should_panic = "two migrations of one database have the same id"]
fn a_repeated_migration_is_found() {
    struct Twice;
    impl Catalogue for Twice {
        const TOOLS: &'static [Definition] = &[];
        const MIGRATIONS: &'static [Migration] =
            &[migration("main", "1", ""), migration("other", "1", ""), migration("main", "1", "")];
    }
    check::<Twice>();
}
