//! Whether as many people confirmed each attempt as it takes, and the stored approvals are
//! those of the history.

use super::{Case, Findings, Rule};
use crate::action::Status;
use crate::id::UserId;

pub(super) fn check(case: &Case, findings: &mut Findings) {
    let people = case.action.proposal.people;
    // Who said yes to the next attempt, or to the last one.
    let mut said_yes: Vec<&UserId> = Vec::new();
    let mut claimed = false;
    for pair in case.history.windows(2) {
        let [before, event] = [&pair[0], &pair[1]];
        let by = event.actor.as_ref().map(|actor| &actor.user);
        match (before.to, event.to, by) {
            (Status::Executing, Status::Pending, _) => (claimed, said_yes) = (false, Vec::new()),
            (Status::Pending, Status::Pending, Some(by)) if said_yes.contains(&by) => {
                findings.add(Rule::People, "one person approved it twice");
            }
            (Status::Pending, Status::Pending, Some(by)) => said_yes.push(by),
            (_, Status::Executing, by) if !claimed => {
                claimed = true;
                check_claim(by, &said_yes, people, event.attempt, findings);
            }
            _ => {}
        }
    }
    let stored: Vec<_> = case.action.state.approvals().iter().map(|approval| &approval.claim.by).collect();
    let tells = matches!(case.action.state.status(), Status::Pending | Status::Executing | Status::Succeeded);
    if tells && stored != said_yes {
        findings.add(Rule::EndAgrees, "its approvals are others than its history tells of");
    }
}

fn check_claim(
    by: Option<&UserId>,
    said_yes: &[&UserId],
    people: u32,
    attempt: u32,
    findings: &mut Findings,
) {
    let others = said_yes.iter().filter(|user| Some(**user) != by).count();
    let confirmed = others + 1;
    if confirmed != people as usize {
        let what = format!("{confirmed} persons confirmed attempt {attempt}, and it takes {people}");
        findings.add(Rule::People, what);
    } else if others != said_yes.len() {
        findings.add(Rule::People, format!("one person confirmed attempt {attempt} twice"));
    }
}
