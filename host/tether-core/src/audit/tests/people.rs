//! As many persons as each attempt takes.

use super::*;

#[test]
fn as_many_confirm_each_attempt_as_it_takes() {
    let alone = |case: &mut Case| {
        case.history.remove(1);
        case.action.revision = Revision(5);
    };
    check(of_two(), alone, Rule::People, "1 persons confirmed attempt 1, and it takes 2");
    let again = |case: &mut Case| case.history[2].actor = by("bob");
    check(of_two(), again, Rule::People, "1 persons confirmed attempt 1");
    let of_before = |case: &mut Case| {
        case.history.remove(4);
        case.action.revision = Revision(5);
        let State::Executing { approvals, .. } = &mut case.action.state else { unreachable!() };
        approvals.clear();
    };
    check(of_two(), of_before, Rule::People, "1 persons confirmed attempt 2");
    let more = |case: &mut Case| {
        case.history.insert(4, event(Some(Status::Pending), Status::Pending, 1, "bob"));
        case.action.revision = Revision(7);
    };
    check(of_two(), more, Rule::People, "one person approved it twice");
    let one_is_enough = |case: &mut Case| {
        case.history.insert(1, event(Some(Status::Pending), Status::Pending, 0, "bob"));
        case.action.revision = Revision(4);
        case.seen = None;
        case.action.proposal.people = 1;
        let State::Succeeded { approvals, .. } = &mut case.action.state else { unreachable!() };
        *approvals = of_two().action.state.approvals().to_vec();
    };
    let mut case = sent_only();
    one_is_enough(&mut case);
    let found = Auditor::default().check(&case);
    assert_eq!(
        found.iter().map(|finding| finding.rule).collect::<Vec<_>>(),
        [Rule::Transitions, Rule::People]
    );
    let by_nobody = |case: &mut Case| case.history[4].actor = None;
    let mut case = of_two();
    by_nobody(&mut case);
    let found = Auditor::default().check(&case);
    assert!(found.iter().any(|finding| finding.rule == Rule::FromSomewhere), "{found:#?}");
}
