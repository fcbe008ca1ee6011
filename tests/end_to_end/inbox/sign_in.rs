//! Who gets in, and what a browser is told on the way.

use super::visitor::{Visitor, field};
use crate::support::{Answer, Server, Setup, eventually};

const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
     img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

#[track_caller]
fn leads_to(answer: &Answer, place: &str) {
    assert_eq!((answer.status, answer.header("location")), (303, Some(place)), "{}", answer.text);
}

#[test]
fn every_page_keeps_others_out() {
    let server = Setup::of(&["tickets"]).start();
    let id = server.api.propose("void_ticket", r#"{"ticket_id":42}"#);
    let person = Visitor::signed_in(&server);
    let action = format!("/inbox/actions/{id}");
    let pages = [("/inbox", 200), ("/inbox?all", 200), (&*action, 200), ("/inbox/actions/none", 404)];
    let pages = pages.map(|(path, status)| (person.get(path), status));
    let sign_in = Visitor::of(&server).get("/inbox/sign-in");
    for (answer, status) in pages.into_iter().chain([(sign_in, 200)]) {
        assert_eq!(answer.status, status, "{}", answer.text);
        for (name, value) in [
            ("content-security-policy", POLICY),
            ("content-type", "text/html; charset=utf-8"),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{name}");
        }
        for part in ["style=", "<style", "onclick", "javascript:", "http://", "https://"] {
            assert!(!answer.text.contains(part), "{part} in {}", answer.text);
        }
    }
}

#[test]
fn a_person_signs_in_and_out() {
    let server = Setup::of(&["tickets"]).start();
    let mut visitor = Visitor::of(&server);
    leads_to(&visitor.get("/inbox"), "/inbox/sign-in");
    let answer = visitor.sign_in(&server.api.token);
    leads_to(&answer, "/inbox");
    let cookie = answer.header("set-cookie").unwrap();
    let (value, flags) = cookie.split_once("; ").unwrap();
    assert!(value.starts_with("tether=") && value.len() == "tether=".len() + 64, "{cookie}");
    assert_eq!(flags, "Path=/; Max-Age=28800; HttpOnly; SameSite=Lax");
    assert_eq!(visitor.get("/inbox").status, 200);

    let again = visitor.clone();
    leads_to(&visitor.get("/inbox/sign-in"), "/inbox");
    let out = visitor.post_proven("/inbox/sign-out", &[]);
    leads_to(&out, "/inbox/sign-in");
    assert!(out.header("set-cookie").unwrap().starts_with("tether=; Path=/; Max-Age=0;"));
    leads_to(&again.get("/inbox"), "/inbox/sign-in");
}

#[test]
fn a_wrong_token_opens_nothing_and_is_shown_nowhere() {
    let server = Setup::of(&["tickets"]).env("TETHER_LOG", "trace").start();
    let mut visitor = Visitor::of(&server);
    for token in ["", "wrong-canary-token", &server.api.token[1..]] {
        let answer = visitor.sign_in(token);
        assert_eq!(answer.status, 401);
        assert_eq!(answer.header("set-cookie"), None);
        assert!(answer.text.contains("role=\"alert\"") && !answer.text.contains("canary"), "{}", answer.text);
    }
    assert_eq!(visitor.sign_in(&format!(" {}\n", server.api.token)).status, 303, "blanks are no part of it");
    server.log().wait_for("status=303");
    let log = server.log().text();
    for secret in
        ["canary", &*server.api.token, visitor.cookie.as_deref().unwrap().split_once('=').unwrap().1]
    {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}

#[test]
fn every_sign_in_is_a_session_of_its_own_that_nobody_could_have_known() {
    let server = Setup::of(&["tickets"]).start();
    let mut visitor = Visitor::of(&server);
    let planted = format!("tether={}", "5".repeat(64));
    visitor.cookie = Some(planted.clone());
    leads_to(&visitor.sign_in(&server.api.token), "/inbox");
    let first = visitor.clone();
    assert_ne!(first.cookie, Some(planted.clone()));
    leads_to(&Visitor { cookie: Some(planted), ..visitor.clone() }.get("/inbox"), "/inbox/sign-in");
    // The same browser again: what it had before is over.
    leads_to(&visitor.sign_in(&server.api.token), "/inbox");
    assert_ne!(visitor.cookie, first.cookie);
    leads_to(&first.get("/inbox"), "/inbox/sign-in");
    assert_eq!(visitor.get("/inbox").status, 200);
}

#[test]
fn a_cookie_that_somebody_planted_beside_the_own_one_signs_nobody_out() {
    let server = Setup::of(&["tickets"]).start();
    let person = Visitor::signed_in(&server);
    let with = |cookies: &[&str]| Visitor { cookie: Some(cookies.join("; ")), ..person.clone() };
    let own = person.cookie.as_deref().unwrap();
    let unknown = format!("tether={}", "5".repeat(64));
    for cookies in [["tether=zz", own], [own, "tether=zz"], [&unknown, own], [own, own]] {
        assert_eq!(with(&cookies).get("/inbox").status, 200, "{cookies:?}");
    }
    // Two that are valid: whose browser is it? Signing in ends both.
    let other = Visitor::signed_in(&server);
    let mut both = with(&[other.cookie.as_deref().unwrap(), own]);
    leads_to(&both.get("/inbox"), "/inbox/sign-in");
    leads_to(&both.sign_in(&server.api.token), "/inbox");
    for over in [&person, &other] {
        leads_to(&over.get("/inbox"), "/inbox/sign-in");
    }
    assert_eq!(both.get("/inbox").status, 200);
}

#[test]
fn whoever_must_sign_in_first_comes_back_to_the_action_and_to_nothing_else() {
    let server = Setup::of(&["tickets"]).start();
    let id = server.api.propose("void_ticket", r#"{"ticket_id":42}"#);
    let visitor = Visitor::of(&server);
    let action = format!("/inbox/actions/{id}");
    leads_to(&visitor.get(&action), &format!("/inbox/sign-in?action={id}"));
    let form = visitor.get(&format!("/inbox/sign-in?action={id}")).text;
    assert_eq!(field(&form, "action"), id);
    let fields = [("token", &*server.api.token), ("action", &id)];
    leads_to(&visitor.post("/inbox/sign-in", &fields), &action);

    for elsewhere in ["https://evil.test", "//evil.test", "/evil", "..%2f.."] {
        let form = visitor.get(&format!("/inbox/sign-in?action={elsewhere}")).text;
        assert!(!form.contains("evil"), "{form}");
        let fields = [("token", &*server.api.token), ("action", elsewhere)];
        leads_to(&visitor.post("/inbox/sign-in", &fields), "/inbox");
    }
}

#[test]
fn a_session_ends_in_time_and_then_nothing_runs() {
    let server = Setup::of(&["probe"]).config("tether.toml", "[inbox]\nsession = \"5m\"\n").start();
    let mut visitor = Visitor::of(&server);
    let answer = visitor.sign_in(&server.api.token);
    assert!(answer.header("set-cookie").unwrap().contains("; Max-Age=300;"));
    let id = server.api.propose("probe_write", r#"{"note":"late"}"#);
    let proof = visitor.proof();
    end_sessions(&server);
    let fields = [("attemptsUsed", "0"), ("approvals", "0"), ("csrf", &*proof)];
    let late = visitor.post(&format!("/inbox/actions/{id}/confirm"), &fields);
    leads_to(&late, &format!("/inbox/sign-in?action={id}"));
    server.api.action(&id).check("200 Pending");
    assert_eq!(server.effects(), []);
}

/// As if their time were over.
pub(super) fn end_sessions(server: &Server) {
    let store = rusqlite::Connection::open(server.file("actions.db")).unwrap();
    store.busy_timeout(crate::support::PATIENCE).unwrap();
    let ended = eventually("the sessions are over", || {
        store.execute("UPDATE sessions SET expires_at = created_at", []).ok()
    });
    assert_eq!(ended, 1);
}

#[test]
fn a_session_survives_a_restart() {
    let mut server = Setup::of(&["tickets"]).start();
    let cookie = Visitor::signed_in(&server).cookie;
    server.restart();
    assert_eq!(Visitor { cookie, ..Visitor::of(&server) }.get("/inbox").status, 200);
}

#[test]
fn a_cookie_opens_no_door_of_the_api_and_a_token_none_of_the_inbox() {
    let server = Setup::of(&["tickets"]).start();
    let person = Visitor::signed_in(&server);
    assert_eq!(person.get("/v1/actions").status, 401);
    let bearer = format!("Bearer {}", server.api.token);
    let answer = Visitor::of(&server).send("GET", "/inbox", &[("Authorization", &bearer)], "");
    leads_to(&answer, "/inbox/sign-in");
}

#[test]
fn names_of_others_lead_nowhere() {
    let server = Setup::of(&["tickets"]).start();
    let person = Visitor::signed_in(&server);
    let answer = person.send("GET", "/inbox", &[("Host", "rebound.test")], "");
    assert_eq!(answer.status, 421);
    assert_eq!(person.send("GET", "/inbox", &[("Host", "localhost:1")], "").status, 200);

    let setup =
        Setup::of(&["tickets"]).config("tether.toml", "[inbox]\nurl = \"https://tether.example.com\"\n");
    let server = setup.start();
    let visitor = Visitor::of(&server);
    let outside = [("Host", "tether.example.com"), ("Origin", "https://tether.example.com")];
    let token = format!("token={}", server.api.token);
    let answer = visitor.send("POST", "/inbox/sign-in", &outside, &token);
    leads_to(&answer, "/inbox");
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.starts_with("__Host-tether=") && cookie.ends_with("; SameSite=Lax; Secure"), "{cookie}");
    let inside = [("Host", "tether.example.com"), ("Origin", "http://tether.example.com")];
    assert_eq!(visitor.send("POST", "/inbox/sign-in", &inside, &token).status, 403);
}
