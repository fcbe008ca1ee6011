//! Several persons: who sees, who decides, and how many it takes.

use super::visitor::{Visitor, field, revoke, token};
use crate::support::{Api, Server, Setup, crowd};

/// The API for somebody with these roles.
fn api(server: &Server, user: &str, roles: &[&str]) -> Api {
    Api { token: token(server, user, roles), ..server.api.clone() }
}

#[test]
fn an_agent_has_no_inbox() {
    let server = Setup::of(&["tickets"]).start();
    let agent = token(&server, "bot", &["agent"]);
    let answer = Visitor::of(&server).sign_in(&agent);
    assert_eq!((answer.status, answer.header("set-cookie")), (403, None));
    assert!(answer.text.contains("takes the role approver or admin"), "{}", answer.text);
}

#[test]
fn a_rule_that_protects_nothing_is_told_at_the_start() {
    let rule = |tool: &str| format!("[[rules]]\ntool = \"{tool}\"\npeople = 2\n");
    let config = rule("probe_echo") + &rule("probe_write");
    let server = Setup::of(&["probe"]).config("tether.toml", &config).start();
    let log = server.log().text();
    let warnings: Vec<_> = log.lines().filter(|line| line.contains("reads wait for nobody")).collect();
    assert!(warnings.len() == 1 && warnings[0].contains("tool=probe_echo"), "{log}");
}

#[test]
fn whoever_may_not_decide_sees_why_and_no_buttons() {
    let server = Setup::of(&["probe"]).start();
    let both = ["agent", "approver"];
    let id = api(&server, "ann", &both).propose("probe_write", r#"{"note":"mine"}"#);
    for (user, roles, why) in
        [("ann", &both[..], "you proposed it; somebody else must decide"), ("eve", &["admin"], "approver")]
    {
        let person = Visitor::person(&server, user, roles);
        assert!(person.get("/inbox").text.contains("not yours to decide"));
        let page = person.action(&id);
        assert!(page.contains("You cannot decide this:") && page.contains(why), "{page}");
        assert!(!page.contains("id=\"confirm\"") && !page.contains("id=\"decline\""), "{page}");
        assert_eq!((person.confirm(&id, "0").status, person.decline(&id, "").status), (403, 403));
    }
    server.api.action(&id).check("200 Pending");
    assert_eq!(server.effects(), []);
    assert_eq!(Visitor::person(&server, "ben", &["approver"]).confirm(&id, "0").status, 303);
    assert_eq!(server.effects_of(&id), 1);
}

#[test]
fn a_yes_falls_with_the_token_of_whoever_gave_it() {
    let server = Setup::of(&["probe"]).config("tether.toml", "[actions]\npeople = 2\n").start();
    let id = api(&server, "bot", &["agent"]).propose("probe_write", r#"{"note":"by two"}"#);
    let [ann, ben] = ["ann", "ben"].map(|user| Visitor::person(&server, user, &["approver"]));
    assert_eq!(ann.confirm(&id, "0").status, 303);
    assert!(ben.action(&id).contains("Confirm and run"));
    let proof = ben.proof();
    revoke(&server, "ann");

    let page = ben.action(&id);
    assert!(page.contains("<bdi>ann</bdi> said yes, and may not decide about it any more."), "{page}");
    assert!(!page.contains("id=\"confirm\"") && page.contains("id=\"decline\""), "{page}");
    // From the page of before.
    let fields = [("attemptsUsed", "0"), ("approvals", "1"), ("csrf", &*proof)];
    let answer = ben.post(&format!("/inbox/actions/{id}/confirm"), &fields);
    assert_eq!(answer.status, 409, "{}", answer.text);
    let why = "ann said yes, and may not decide about it any more. Nothing ran; propose it again.";
    assert!(answer.text.contains("role=\"alert\"") && answer.text.contains(why), "{}", answer.text);
    let over_api = api(&server, "cat", &["approver"]);
    over_api.confirm(&id, "{}").check("409 Conflict ACTION_OUTDATED");
    assert_eq!(server.effects(), []);
    assert_eq!(server.api.action(&id).check("200 Pending").body["attemptsUsed"], 0);
    // With a new token her yes counts again.
    let _ = token(&server, "ann", &["approver"]);
    assert_eq!(ben.confirm_seen(&id, "0", "1").status, 303);
    assert_eq!(server.effects_of(&id), 1);
}

#[test]
fn two_people_say_yes_before_it_runs() {
    let server = Setup::of(&["probe"]).config("tether.toml", "[actions]\npeople = 2\n").start();
    let id = api(&server, "bot", &["agent"]).propose("probe_write", r#"{"note":"by two"}"#);
    let [ann, ben] = ["ann", "ben"].map(|user| Visitor::person(&server, user, &["approver"]));
    let page = ann.action(&id);
    assert!(page.contains("It takes 2. None has said yes so far.") && page.contains("Say yes"), "{page}");
    assert_eq!(ann.confirm(&id, "0").status, 303);
    // Nobody is two people, in whatever tab or on whatever device.
    assert_eq!(ann.confirm(&id, "0").status, 303);
    assert_eq!(Visitor::person(&server, "ann", &["approver"]).confirm(&id, "0").status, 303);
    assert_eq!(server.effects(), []);
    let page = ann.action(&id);
    assert!(page.contains("You said yes. Before it runs, it takes 1 person more."), "{page}");
    assert!(!page.contains("id=\"confirm\"") && page.contains("id=\"decline\""), "{page}");
    assert!(ben.get("/inbox").text.contains("1 of 2 people said yes"));
    let page = ben.action(&id);
    assert!(page.contains("Yes from <b><bdi>ann</bdi></b>") && page.contains("Confirm and run"), "{page}");
    assert_eq!(ben.confirm_seen(&id, "0", "1").status, 303);
    assert_eq!(server.effects_of(&id), 1);
    assert!(ann.action(&id).contains("It was done."));
    // Whoever approved may ask again what came of it.
    assert_eq!(ann.confirm(&id, "0").status, 303);
    assert_eq!(server.effects_of(&id), 1);
}

#[test]
fn a_yes_counts_for_as_many_as_the_page_showed() {
    let server = Setup::of(&["probe"]).config("tether.toml", "[actions]\npeople = 2\n").start();
    let id = api(&server, "bot", &["agent"]).propose("probe_write", r#"{"note":"by two"}"#);
    let [ann, ben] = ["ann", "ben"].map(|user| Visitor::person(&server, user, &["approver"]));
    let old = ben.action(&id);
    assert!(old.contains("It runs once 1 person more said yes."), "{old}");
    assert_eq!(ann.confirm(&id, "0").status, 303);
    // Ben's page said that another yes would be needed; his would be the last by now.
    let answer = ben.confirm_seen(&id, &field(&old, "attemptsUsed"), &field(&old, "approvals"));
    assert_eq!(answer.status, 409);
    for part in ["role=\"alert\"", "Since you looked, ann said yes. Yours was not taken.", "Confirm and run"]
    {
        assert!(answer.text.contains(part), "{part:?} is missing in {}", answer.text);
    }
    assert_eq!(
        server.api.action(&id).check("200 Pending").body["approvals"].as_array().map(Vec::len),
        Some(1)
    );
    assert_eq!(server.effects(), []);
    // What says nothing of it decides nothing either.
    let without = ben.post_proven(&format!("/inbox/actions/{id}/confirm"), &[("attemptsUsed", "0")]);
    assert_eq!(without.status, 400);
    // The page that came instead is one to decide by.
    let [attempts, approvals] = ["attemptsUsed", "approvals"].map(|name| field(&answer.text, name));
    assert_eq!(ben.confirm_seen(&id, &attempts, &approvals).status, 303);
    assert_eq!(server.effects_of(&id), 1);
}

#[test]
fn of_two_who_say_the_first_yes_at_once_one_is_asked_again() {
    let server = Setup::of(&["probe"]).config("tether.toml", "[actions]\npeople = 2\n").start();
    let bot = api(&server, "bot", &["agent"]);
    let people = ["ann", "ben"].map(|user| Visitor::person(&server, user, &["approver"]));
    for _ in 0..5 {
        let id = bot.propose("probe_write", r#"{"note":"by two"}"#);
        let mut statuses = crowd(2, |number| people[number].confirm(&id, "0").status);
        statuses.sort_unstable();
        assert_eq!(statuses, [303, 409]);
        server.api.action(&id).check("200 Pending");
    }
    assert_eq!(server.effects(), []);
}

#[test]
fn what_is_revoked_ends_its_sessions_with_the_next_request() {
    let server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_write", r#"{"note":"revoked"}"#);
    let person = Visitor::person(&server, "ann", &["approver"]);
    let proof = person.proof();
    revoke(&server, "ann");
    let fields = [("attemptsUsed", "0"), ("approvals", "0"), ("csrf", &*proof)];
    let answer = person.post(&format!("/inbox/actions/{id}/confirm"), &fields);
    let place = format!("/inbox/sign-in?action={id}");
    assert_eq!((answer.status, answer.header("location")), (303, Some(&*place)));
    server.api.action(&id).check("200 Pending");
}

#[test]
fn nothing_of_another_tenant_is_seen_or_heard() {
    let server = Setup::of(&["probe"]).start();
    let made = server.api.post("/v1/tokens", r#"{"user":"eve","roles":["approver"],"tenant":"other"}"#);
    let other = Visitor::with_token(&server, made.str("token"));
    let mine = Visitor::signed_in(&server);
    let [mut others_news, mut my_news] = [&other, &mine].map(Visitor::listen);
    for news in [&mut others_news, &mut my_news] {
        news.next_of(&["data: again"]).expect("it begins");
    }
    let id = server.api.propose("probe_write", r#"{"note":"mine"}"#);
    assert_eq!(my_news.next_of(&["data: "]), Some(format!("data: {id} Pending")));
    assert!(!other.get("/inbox?all").text.contains(&id));
    assert_eq!(other.get(&format!("/inbox/actions/{id}")).status, 404);
    assert_eq!((other.confirm(&id, "0").status, other.decline(&id, "").status), (404, 404));
    assert_eq!(other.get(&format!("/inbox?all&cursor={id}")).status, 400);
    // Had it been told, that would come before the end.
    assert_eq!(other.post_proven("/inbox/sign-out", &[]).status, 303);
    assert_eq!(others_news.next_of(&["data: "]), None);
    server.api.action(&id).check("200 Pending");
}
