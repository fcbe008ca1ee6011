//! Who decides about which tool: keys of `actions`, and `rules`, which have the same.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tether_core::id::{ToolName, UserId};
use tether_core::rule::{Rule, Rules};
use tether_core::tool::{Tool, ToolEffect};

use super::ConfigError;
use super::section::{Section, nearest};

const SECOND: Duration = Duration::from_secs(1);
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// Reads `rules`; what they leave out is as in `default`, which is of `actions`.
pub(super) fn read(root: &mut Section<'_>, default: Rule) -> Result<Rules, ConfigError> {
    let mut by_tool = BTreeMap::new();
    for mut section in root.list("rules")? {
        let place = section.place_of("tool");
        let tool =
            section.parsed("tool", |text| text.parse::<ToolName>().map_err(|error| error.to_string()))?;
        let rule = rule(&mut section, &default)?;
        section.finish()?;
        let tool = tool.ok_or_else(|| ConfigError::new(format!("{place} is missing: the tool's name")))?;
        if by_tool.insert(tool.clone(), rule).is_some() {
            return Err(ConfigError::new(format!("{place}: there are two rules for `{tool}`; leave one")));
        }
    }
    Ok(Rules { default, by_tool })
}

/// Reads the keys of a rule out of `section`; what it leaves out is as in `default`.
pub(super) fn rule(section: &mut Section<'_>, default: &Rule) -> Result<Rule, ConfigError> {
    let place = section.place_of("people");
    let form_place = section.place_of("form_confirms");
    let confirmers = section.parsed_list("confirmers", |name| name.parse::<UserId>())?;
    let proposer_may_confirm = section.optional_flag("proposer_may_confirm")?;
    let rule = Rule {
        confirmers: confirmers.unwrap_or_else(|| default.confirmers.clone()),
        proposer_may_confirm: proposer_may_confirm.or(default.proposer_may_confirm),
        people: section.number("people", 1..=5, default.people)?,
        expires_after: section.duration("expires_after", SECOND..=YEAR, default.expires_after)?,
        max_open: section.optional_number("max_open", 1..=100_000)?.or(default.max_open),
        form_confirms: section.optional_flag("form_confirms")?.unwrap_or(default.form_confirms),
    };
    if rule.form_confirms && rule.people > 1 {
        return Err(ConfigError::new(format!(
            "{place}: it takes {} persons, and with `form_confirms` one would be enough; leave one of them out",
            rule.people
        )));
    }
    if rule.form_confirms && rule.proposer_may_confirm == Some(false) {
        return Err(ConfigError::new(format!(
            "{form_place}: a form is answered as the proposer, and `proposer_may_confirm` is false; leave one of them out"
        )));
    }
    let named = rule.confirmers.iter().collect::<BTreeSet<_>>().len();
    if named != 0 && (named as u64) < u64::from(rule.people) {
        return Err(ConfigError::new(format!(
            "{place}: it takes {} persons, and `confirmers` names {named}: nobody could ever confirm",
            rule.people
        )));
    }
    Ok(rule)
}

/// Whether every rule is about a tool that is there: one that is misspelt would protect
/// nothing.
///
/// # Errors
///
/// With the rule, and the tool that was probably meant.
pub(crate) fn are_about_tools<'a>(
    rules: &Rules,
    tools: impl IntoIterator<Item = &'a ToolName> + Clone,
) -> Result<(), ConfigError> {
    let known = |name: &&ToolName| tools.clone().into_iter().any(|tool| tool == *name);
    let Some(stray) = rules.by_tool.keys().find(|name| !known(name)) else { return Ok(()) };
    let advice = match nearest(stray.as_str(), tools.clone().into_iter().map(ToolName::as_str)) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => "`tether inspect COMPONENT` lists those of a component".to_owned(),
    };
    Err(ConfigError::new(format!("`rules`: nobody offers a tool named `{stray}`; {advice}")))
}

/// The rules that are about tools that read: nobody decides about a read, so they do nothing.
pub(crate) fn of_reads<'a>(rules: &Rules, tools: impl IntoIterator<Item = &'a Tool>) -> Vec<&'a ToolName> {
    let reads = tools.into_iter().filter(|tool| tool.effect == ToolEffect::Read);
    reads.map(|tool| &tool.name).filter(|name| rules.by_tool.contains_key(*name)).collect()
}
