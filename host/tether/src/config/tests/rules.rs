//! Rules, as they are written.

use tether_core::id::{ToolName, UserId};
use tether_core::json::JsonText;
use tether_core::rule::{Rule, Rules};
use tether_core::tool::{Tool, ToolEffect};

use super::{Duration, toml, wrong};
use crate::config::rules::{are_about_tools, of_reads};

fn rules(text: &str) -> Rules {
    toml(text).unwrap_or_else(|error| panic!("{error}\n{text}")).actions.rules
}

fn tool(name: &str) -> ToolName {
    name.parse().unwrap()
}

#[test]
fn a_rule_says_what_is_different_for_its_tool() {
    let rules = rules(
        "[actions]
         confirmers = [\"ann\", \"bob\"]
         expires_after = \"8h\"
         max_open = 20
         [[rules]]
         tool = \"refund\"
         people = 2
         proposer_may_confirm = false
         [[rules]]
         tool = \"void_ticket\"
         confirmers = []
         expires_after = \"5m\"
         max_open = 3
         proposer_may_confirm = true",
    );
    let hours = |hours: u64| Duration::from_secs(hours * 3600);
    let both: Vec<UserId> = vec!["ann".parse().unwrap(), "bob".parse().unwrap()];
    let default = Rule { confirmers: both, expires_after: hours(8), max_open: Some(20), ..Rule::default() };
    assert_eq!(rules.of(&tool("anything")), &default);
    let refund = Rule { people: 2, proposer_may_confirm: Some(false), ..default };
    assert_eq!(rules.of(&tool("refund")), &refund);
    let void = Rule {
        confirmers: Vec::new(),
        proposer_may_confirm: Some(true),
        people: 1,
        expires_after: Duration::from_secs(300),
        max_open: Some(3),
        form_confirms: false,
    };
    assert_eq!(rules.of(&tool("void_ticket")), &void);
}

#[test]
fn what_is_no_rule_is_named_with_its_place() {
    let check = |text: &str, parts: &[&str]| wrong(toml(text), parts);
    check("[actions]\npeople = 6", &["`actions.people` is 6", "from 1 to 5"]);
    check("[actions]\nmax_open = 0", &["`actions.max_open` is 0", "from 1 to 100000"]);
    check("[actions]\nconfirmers = [\" ann\"]", &["actions.confirmers[0]", "no blanks at its ends"]);
    check(
        "[actions]\nconfirmers = [\"ann\", \"ann\"]\npeople = 2",
        &["`actions.people`", "`confirmers` names 1"],
    );
    check("[actions]\npeople = 2\nform_confirms = true", &["`actions.people`", "one would be enough"]);
    check(
        "[[rules]]\ntool = \"a\"\nform_confirms = true\nproposer_may_confirm = false",
        &["`rules[0].form_confirms`", "as the proposer"],
    );
    check("[[rules]]\npeople = 2", &["`rules[0].tool` is missing"]);
    check("[[rules]]\ntool = \"a b\"", &["`rules[0].tool` is \"a b\""]);
    check("[[rules]]\ntool = \"a\"\n[[rules]]\ntool = \"a\"", &["`rules[1].tool`", "two rules for `a`"]);
    check("[[rules]]\ntool = \"a\"\npeple = 2", &["`rules[0].peple`", "did you mean `people`?"]);
    check("[rules]\ntool = \"a\"", &["write [[rules]]"]);
}

#[test]
fn a_rule_for_a_tool_that_nobody_offers_is_refused() {
    let rules = rules("[[rules]]\ntool = \"void_tickets\"");
    let [void, other] = [tool("void_ticket"), tool("zzz")];
    let error = are_about_tools(&rules, [&void, &other]).unwrap_err().to_string();
    assert!(error.contains("named `void_tickets`; did you mean `void_ticket`?"), "{error}");
    let error = are_about_tools(&rules, [&other]).unwrap_err().to_string();
    assert!(error.contains("tether inspect"), "{error}");
    assert_eq!(are_about_tools(&rules, [&tool("void_tickets")]), Ok(()));
}

#[test]
fn a_rule_for_a_tool_that_reads_is_known_to_do_nothing() {
    let rules = rules("[[rules]]\ntool = \"look\"\n[[rules]]\ntool = \"void_ticket\"");
    let offered = |name: &str, effect| Tool {
        name: tool(name),
        title: None,
        description: String::new(),
        effect,
        input_schema: JsonText::parse("{}").unwrap(),
        output_schema: None,
    };
    let (read, write) = (ToolEffect::Read, ToolEffect::Write);
    let tools = [offered("look", read), offered("void_ticket", write), offered("other", read)];
    assert_eq!(of_reads(&rules, &tools), [&tool("look")]);
}
