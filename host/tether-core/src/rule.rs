//! Who may decide about a tool's writes, how many it takes, and until when.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::action::Proposal;
use crate::id::{ToolName, UserId};
use crate::identity::{Caller, Channel};

/// What holds for the writes of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Who may confirm and decline; empty: every approver.
    pub confirmers: Vec<UserId>,
    /// Whether the proposer may; where it is not said, only who is alone on the host.
    pub proposer_may_confirm: Option<bool>,
    /// How many persons an attempt takes, 1 to 5. Bound to an action when it is proposed.
    pub people: u32,
    /// How long a person has to decide.
    pub expires_after: Duration,
    /// Proposals of one proposer that may wait or execute at the same time.
    pub max_open: Option<u32>,
    /// Whether a form that the proposer's own client shows counts as a person's decision.
    pub form_confirms: bool,
}

impl Default for Rule {
    /// One person, any approver, within 24 hours.
    fn default() -> Self {
        Self {
            confirmers: Vec::new(),
            proposer_may_confirm: None,
            people: 1,
            expires_after: Duration::from_secs(24 * 3600),
            max_open: None,
            form_confirms: false,
        }
    }
}

/// Why somebody who is an approver may not decide about this action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotYours {
    /// Its own proposal.
    #[error("you proposed it; somebody else must decide")]
    Proposer,
    /// The rule names others.
    #[error("the rule for this tool names who may decide, and you are not among them")]
    NotNamed,
    /// By a form of a client, where the rule does not let that count.
    #[error("the rule for this tool does not let a form in a client decide")]
    ByForm,
}

impl Rule {
    /// Whether `caller`, who has the role for it, may confirm or decline `proposal`.
    pub fn may_decide(&self, caller: &Caller, proposal: &Proposal) -> Result<(), NotYours> {
        self.may(&caller.user, caller.alone, proposal)
    }

    /// Whether a yes counts that `user` gave to `proposal` before. Where somebody else says
    /// yes as well, nobody is alone on the host.
    pub fn counts(&self, user: &UserId, proposal: &Proposal) -> Result<(), NotYours> {
        self.may(user, false, proposal)
    }

    fn may(&self, user: &UserId, alone: bool, proposal: &Proposal) -> Result<(), NotYours> {
        if !self.confirmers.is_empty() && !self.confirmers.contains(user) {
            return Err(NotYours::NotNamed);
        }
        if *user == proposal.proposer && !self.proposer_may_confirm.unwrap_or(alone) {
            return Err(NotYours::Proposer);
        }
        Ok(())
    }

    /// Whether a form that the client of `caller` shows decides about `proposal`: its own, over
    /// the protocol that has such forms, where one person is enough.
    pub fn may_decide_in_client(&self, caller: &Caller, proposal: &Proposal) -> Result<(), NotYours> {
        let own = caller.user == proposal.proposer && caller.channel == Channel::Mcp;
        if !self.form_confirms || !own || proposal.people != 1 {
            return Err(NotYours::ByForm);
        }
        if !self.confirmers.is_empty() && !self.confirmers.contains(&caller.user) {
            return Err(NotYours::NotNamed);
        }
        if self.proposer_may_confirm == Some(false) {
            return Err(NotYours::Proposer);
        }
        Ok(())
    }
}

/// The rules of a host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// For every tool that has none of its own.
    pub default: Rule,
    /// Those that have.
    pub by_tool: BTreeMap<ToolName, Rule>,
}

impl Rules {
    /// The rule of `tool`.
    pub fn of(&self, tool: &ToolName) -> &Rule {
        self.by_tool.get(tool).unwrap_or(&self.default)
    }

    /// How many persons the rule takes that takes most.
    pub fn most_people(&self) -> u32 {
        self.by_tool.values().chain([&self.default]).map(|rule| rule.people).max().unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::tests::{action, pending};
    use crate::identity::Role;

    fn caller(user: &str, alone: bool) -> Caller {
        Caller {
            tenant: "acme".parse().unwrap(),
            user: user.parse().unwrap(),
            roles: Role::ALL.to_vec(),
            channel: Channel::Api,
            alone,
            operator: false,
        }
    }

    #[track_caller]
    fn check(
        confirmers: &[&str],
        proposer_may_confirm: Option<bool>,
        by: Caller,
        answer: Result<(), NotYours>,
    ) {
        let confirmers = confirmers.iter().map(|user| user.parse().unwrap()).collect();
        let rule = Rule { confirmers, proposer_may_confirm, ..Rule::default() };
        assert_eq!(rule.may_decide(&by, &action(pending(0)).proposal), answer);
    }

    #[test]
    fn every_approver_decides_where_nobody_is_named() {
        check(&[], None, caller("ann", false), Ok(()));
        check(&["ann", "bob"], None, caller("bob", false), Ok(()));
        check(&["ann"], None, caller("bob", false), Err(NotYours::NotNamed));
        check(&["ann"], None, caller("Ann", false), Err(NotYours::NotNamed));
    }

    #[test]
    fn the_proposer_decides_where_the_rule_says_so_or_where_nobody_else_is() {
        check(&[], None, caller("agent-7", false), Err(NotYours::Proposer));
        check(&[], None, caller("agent-7", true), Ok(()));
        check(&[], Some(true), caller("agent-7", false), Ok(()));
        check(&[], Some(false), caller("agent-7", true), Err(NotYours::Proposer));
        check(&["agent-7"], None, caller("agent-7", false), Err(NotYours::Proposer));
        check(&["ann"], Some(true), caller("agent-7", true), Err(NotYours::NotNamed));
    }

    #[test]
    fn a_yes_counts_by_the_rule_of_now() {
        let counts =
            |rule: Rule, user: &str| rule.counts(&user.parse().unwrap(), &action(pending(0)).proposal);
        let named = |user: &str| Rule { confirmers: vec![user.parse().unwrap()], ..Rule::default() };
        assert_eq!(counts(Rule::default(), "ann"), Ok(()));
        assert_eq!(counts(named("ann"), "ann"), Ok(()));
        assert_eq!(counts(named("bob"), "ann"), Err(NotYours::NotNamed));
        assert_eq!(counts(Rule::default(), "agent-7"), Err(NotYours::Proposer));
        let own = Rule { proposer_may_confirm: Some(true), ..Rule::default() };
        assert_eq!(counts(own, "agent-7"), Ok(()));
    }

    #[track_caller]
    fn check_form(rule: Rule, by: &Caller, people: u32, answer: Result<(), NotYours>) {
        let mut proposal = action(pending(0)).proposal;
        proposal.people = people;
        assert_eq!(rule.may_decide_in_client(by, &proposal), answer);
    }

    #[test]
    fn a_form_decides_about_ones_own_where_the_rule_says_so_and_nowhere_else() {
        let forms = || Rule { form_confirms: true, ..Rule::default() };
        let by = |user: &str, channel| Caller { channel, ..caller(user, false) };
        let own = by("agent-7", Channel::Mcp);
        check_form(forms(), &own, 1, Ok(()));
        check_form(Rule::default(), &own, 1, Err(NotYours::ByForm));
        check_form(forms(), &own, 2, Err(NotYours::ByForm));
        check_form(forms(), &by("ann", Channel::Mcp), 1, Err(NotYours::ByForm));
        check_form(forms(), &by("agent-7", Channel::Api), 1, Err(NotYours::ByForm));
        let named = |user: &str| Rule { confirmers: vec![user.parse().unwrap()], ..forms() };
        check_form(named("ann"), &own, 1, Err(NotYours::NotNamed));
        check_form(named("agent-7"), &own, 1, Ok(()));
        check_form(Rule { proposer_may_confirm: Some(false), ..forms() }, &own, 1, Err(NotYours::Proposer));
    }
}
