//! Confirmed and declined without a script.

use super::visitor::{Visitor, field};
use crate::support::{Answer, Server, Setup, crowd, eventually};

/// It leads back to the action.
#[track_caller]
fn leads_back(answer: &Answer, id: &str) {
    let place = format!("/inbox/actions/{id}");
    assert_eq!((answer.status, answer.header("location")), (303, Some(&*place)), "{}", answer.text);
}

#[track_caller]
fn shows(page: &str, parts: &[&str]) {
    for part in parts {
        assert!(page.contains(part), "{part:?} is missing in {page}");
    }
}

fn probe() -> (Server, Visitor) {
    let server = Setup::of(&["probe"]).start();
    let person = Visitor::signed_in(&server);
    (server, person)
}

#[test]
fn what_waits_is_listed_and_what_is_confirmed_runs_once() {
    let (server, person) = probe();
    shows(&person.get("/inbox").text, &["Nothing waits for you."]);
    let id = server.api.propose("probe_write", r#"{"note":"from the inbox"}"#);
    shows(&person.get("/inbox").text, &["Leave the note “from the inbox”", &id, "Waiting"]);
    let page = person.action(&id);
    shows(
        &page,
        &[
            "<h1><code><bdi>probe_write</bdi></code></h1>",
            "Leave the note “from the inbox”",
            "&quot;note&quot;: &quot;from the inbox&quot;",
            "its own, for this tenant alone",
            "Confirm and run",
            "Decline",
        ],
    );
    assert_eq!(field(&page, "attemptsUsed"), "0");
    leads_back(&person.confirm(&id, "0"), &id);
    let page = person.action(&id);
    shows(&page, &["It was done.", "Result", "in the inbox", "Attempt 1 succeeded."]);
    assert!(!page.contains("Confirm and run") && !page.contains("Decline"), "{page}");
    assert_eq!(server.effects_of(&id), 1);
    shows(&person.get("/inbox").text, &["Nothing waits for you."]);
    shows(&person.get("/inbox?all").text, &[&id, "Done"]);
}

#[test]
fn what_is_declined_never_runs_and_keeps_its_reason() {
    let (server, person) = probe();
    let id = server.api.propose("probe_write", r#"{"note":"no"}"#);
    leads_back(&person.decline(&id, " not <b>now</b>\r\nnor later "), &id);
    shows(&person.action(&id), &["It was declined.", "not &lt;b&gt;now&lt;/b&gt;\nnor later"]);
    assert_eq!(
        server.api.action(&id).check("200 Declined").str("declineReason"),
        "not <b>now</b>\nnor later"
    );
    leads_back(&person.confirm(&id, "0"), &id);
    assert_eq!(server.effects(), []);

    let id = server.api.propose("probe_write", r#"{"note":"no"}"#);
    let long = "x".repeat(1001);
    let answer = person.decline(&id, &long);
    assert_eq!(answer.status, 400);
    shows(&answer.text, &["role=\"alert\"", "at most 1000 characters", &long]);
    server.api.action(&id).check("200 Pending");
}

#[test]
fn a_double_click_two_tabs_and_two_devices_are_one_confirmation() {
    let server = Setup::of(&["probe"]).start();
    let id = server.api.propose("probe_write", r#"{"note":"once","then":"sleep:300","when":"before"}"#);
    let tab = Visitor::signed_in(&server);
    let device = Visitor::signed_in(&server);
    let answers = crowd(8, |number| if number % 2 == 0 { &tab } else { &device }.confirm(&id, "0"));
    for answer in answers {
        leads_back(&answer, &id);
    }
    shows(&tab.action(&id), &["It was done."]);
    shows(&device.action(&id), &["It was done."]);
    assert_eq!(server.effects_of(&id), 1);
}

#[test]
fn whoever_loses_the_connection_finds_the_one_result() {
    let (server, person) = probe();
    let id = server.api.propose("probe_write", r#"{"note":"alone","then":"sleep:300","when":"before"}"#);
    let fields = format!("attemptsUsed=0&approvals=0&csrf={}", person.proof());
    let path = format!("/inbox/actions/{id}/confirm");
    let gone = person.begin("POST", &path, &[("Origin", &person.origin())], &fields);
    eventually("it runs", || person.action(&id).contains("It is running.").then_some(()));
    drop(gone);
    leads_back(&person.confirm(&id, "0"), &id);
    shows(&person.action(&id), &["It was done."]);
    assert_eq!(server.effects_of(&id), 1);
}

#[test]
fn an_attempt_that_failed_is_shown_with_its_evidence_and_an_old_page_runs_nothing() {
    let (server, person) = probe();
    let id = server.api.propose("probe_steps", r#"{"steps":1,"stop_after":1}"#);
    leads_back(&person.confirm(&id, "0"), &id);
    let page = person.action(&id);
    shows(
        &page,
        &[
            "A part of it was applied.",
            "Attempt 1 failed",
            "<bdi>step-1</bdi>",
            "INSERT INTO effects",
            "This is attempt 2 of 3.",
        ],
    );
    assert_eq!(field(&page, "attemptsUsed"), "1");
    // A tab that still shows what was before.
    let old = person.confirm(&id, "0");
    assert_eq!(old.status, 409);
    shows(&old.text, &["role=\"alert\"", "other attempts than you saw"]);
    assert_eq!(server.effects_of(&id), 1, "the step, and nothing after it");
    leads_back(&person.confirm(&id, "1"), &id);
    shows(&person.action(&id), &["It was done.", "in 2 attempts"]);
}

#[test]
fn forms_of_others_change_nothing() {
    let (server, person) = probe();
    let id = server.api.propose("probe_write", r#"{"note":"no"}"#);
    let other = Visitor::signed_in(&server);
    let path = format!("/inbox/actions/{id}/confirm");
    let (origin, proof, foreign) = (person.origin(), person.proof(), other.proof());
    let form = |proof: &str| format!("attemptsUsed=0&approvals=0&csrf={proof}");
    let mine = [("Origin", &*origin)];
    for (headers, body) in [
        (&mine[..], "attemptsUsed=0".to_owned()),
        (&mine, form("")),
        (&mine, form(&foreign)),
        (&mine, format!("{}&csrf={foreign}", form(&proof))),
        (&[("Origin", "https://evil.test")], form(&proof)),
        (&[("Origin", "null")], form(&proof)),
        (&[("Sec-Fetch-Site", "cross-site")], form(&proof)),
        (&[("Sec-Fetch-Site", "same-site")], form(&proof)),
        (&[], form(&proof)),
    ] {
        for path in [&*path, &format!("/inbox/actions/{id}/decline"), "/inbox/sign-out"] {
            assert_eq!(person.send("POST", path, headers, &body).status, 403, "{path} {headers:?} {body}");
        }
    }
    for headers in [&[("Origin", "null")][..], &[]] {
        let token = format!("token={}", server.api.token);
        assert_eq!(Visitor::of(&server).send("POST", "/inbox/sign-in", headers, &token).status, 403);
    }
    server.api.action(&id).check("200 Pending");
    assert_eq!(server.effects(), []);
    assert_eq!(person.get("/inbox").status, 200, "nobody signed it out");
    let honest = person.send("POST", &path, &[("Sec-Fetch-Site", "same-origin")], &form(&proof));
    leads_back(&honest, &id);
}

#[test]
fn names_of_persons_in_a_form_change_nothing() {
    let (server, person) = probe();
    let id = server.api.propose("probe_write", r#"{"note":"mine"}"#);
    let me = server.api.action(&id).str("proposedBy").to_owned();
    let fields = [
        ("attemptsUsed", "0"),
        ("approvals", "0"),
        ("user", "mallory"),
        ("approvedBy", "mallory"),
        ("tenant", "other"),
        ("roles", "admin"),
    ];
    leads_back(&person.post_proven(&format!("/inbox/actions/{id}/confirm"), &fields), &id);
    assert_eq!(server.api.action(&id).check("200 Succeeded").str("decidedBy"), me);
    assert!(!server.api.get(&format!("/v1/actions/{id}/history")).text.contains("mallory"));
}

#[test]
fn what_a_stranger_wrote_is_text() {
    let (server, person) = probe();
    let hostile = "</pre></main><script>alert(1)</script><img src=x onerror=alert(2)> \u{202e}gnp.exe";
    let id = server.api.propose("probe_write", &format!(r#"{{"note":"{hostile}"}}"#));
    for page in [person.get("/inbox").text, person.action(&id)] {
        assert!(!page.contains("<script>") && !page.contains("<img") && !page.contains('\u{202e}'), "{page}");
        assert!(page.contains("&lt;script&gt;"), "{page}");
    }
    shows(&person.action(&id), &["\\u202egnp.exe"]);
}

#[test]
fn a_page_of_what_waits_leads_to_the_one_after_it() {
    let (server, person) = probe();
    let ids: Vec<_> = (0..51)
        .map(|number| server.api.propose("probe_write", &format!(r#"{{"note":"{number}"}}"#)))
        .collect();
    let newest = person.get("/inbox").text;
    assert!(newest.contains(&ids[50]) && newest.contains(&ids[1]) && !newest.contains(&ids[0]));
    let (_, rest) = newest.split_once("href=\"/inbox?cursor=").expect("there are older ones");
    let cursor = rest.split('"').next().unwrap();
    let older = person.get(&format!("/inbox?cursor={cursor}")).text;
    assert!(older.contains(&ids[0]) && !older.contains(&ids[1]) && older.contains(">Newest<"));
    assert_eq!(person.get("/inbox?cursor=none").status, 400);
}
