//! Everybody × every route × one's own, a colleague's, another tenant's and no thing at
//! all. The routes are those that are served: one without a line fails.

mod api;
mod inbox;

use super::people::{People, Who};
use crate::http::Route;

/// Whose the thing is that a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Own,
    Colleagues,
    OtherTenants,
    Nobodys,
}

const EVERYBODYS: [Whose; 4] = [Whose::Own, Whose::Colleagues, Whose::OtherTenants, Whose::Nobodys];

/// What somebody is answered, by whose the thing is.
type Line = fn(Who, Whose) -> u16;

/// What somebody was answered.
struct Answered {
    status: u16,
    /// All of it but the time of day, the id in the path, and whatever each answer has of
    /// its own.
    told: String,
}

/// Asks for every route as everybody about everything, and compares with the matrix; what
/// another tenant has must be answered as what nobody has.
async fn is_as_said(
    routes: &[Route],
    everybody: &[Who],
    line: impl Fn(&Route) -> Option<Line>,
    ask: impl AsyncFn(&People, &Route, Who, Whose) -> Answered,
) {
    let people = People::new().await;
    for route in routes {
        let place = format!("{} {}", route.method, route.path);
        let line = line(route).unwrap_or_else(|| panic!("{place} is not in the matrix"));
        for who in everybody.iter().copied() {
            let mut told = Vec::new();
            for whose in EVERYBODYS {
                let answered = ask(&people, route, who, whose).await;
                let expected = line(who, whose);
                assert_eq!(answered.status, expected, "{place}: {who:?}, {whose:?}: {}", answered.told);
                told.push(answered.told);
            }
            if route.path.contains("Id}") {
                let [_, _, theirs, nobodys] = &told[..] else { panic!("there are four") };
                assert_eq!(theirs, nobodys, "{place}: {who:?}");
            }
        }
    }
}

/// The id of a fresh thing of the kind that the route's path names.
async fn thing(people: &People, route: &Route, user: &str, whose: Whose) -> String {
    let (tenant, user) = match whose {
        Whose::Own => ("acme", user),
        Whose::Colleagues => ("acme", "colleague"),
        Whose::OtherTenants => ("globex", user),
        Whose::Nobodys => return "0".repeat(32),
    };
    if route.path.contains("{tokenId}") {
        people.server.token_id(tenant, user).await
    } else if route.path.contains("{actionId}") {
        people.propose(tenant, user).await
    } else {
        String::new()
    }
}

/// A head without the time of day.
fn timeless(head: &str) -> String {
    head.lines().filter(|line| !line.starts_with("date: ")).collect()
}
