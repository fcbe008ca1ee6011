//! A person decides.

use serde_json::json;

use super::super::visitor::{Visitor, revoke, token};
use super::Browser;
use crate::support::{Server, Setup};

/// The key that a keyboard calls so.
const TAB: &str = "\u{e004}";
const SPACE: &str = " ";
const ENTER: &str = "\u{e007}";

fn probe() -> Option<(Server, Browser)> {
    let server = Setup::of(&["probe"]).start();
    let browser = Browser::signed_in(&server)?;
    Some((server, browser))
}

#[test]
fn a_person_finds_what_waits_and_confirms_it() {
    let Some((server, browser)) = probe() else { return };
    let id = server.api.propose("probe_write", r#"{"note":"by hand"}"#);
    browser.wait_for("Leave the note “by hand”");
    browser.driver.click(".list a");
    browser.wait_for("What the tool says it would do");
    browser.driver.click("#confirm");
    browser.wait_for("It was done.");
    assert!(browser.driver.url().ends_with(&id));
    assert!(browser.driver.find("#confirm").is_none() && browser.driver.find("#decline").is_none());
    assert_eq!(server.effects_of(&id), 1);
    browser.check_that_nobody_else_was_asked();
    browser.check_that_it_does_not_complain(&[]);
}

#[test]
fn a_person_declines_and_says_why() {
    let Some((server, browser)) = probe() else { return };
    let id = server.api.propose("probe_write", r#"{"note":"no"}"#);
    browser.open_action(&id);
    browser.driver.type_into("#reason", "Not before\nMonday");
    browser.driver.click("#decline");
    browser.wait_for("It was declined.");
    assert_eq!(server.api.action(&id).check("200 Declined").str("declineReason"), "Not before\nMonday");
    let shown = browser.driver.run("return document.querySelector('.lines').innerText");
    assert_eq!(shown, "Not before\nMonday", "on two lines");
    assert_eq!(server.effects(), []);
}

#[test]
fn a_double_click_is_one_confirmation() {
    let Some((server, browser)) = probe() else { return };
    let id = server.api.propose("probe_write", r#"{"note":"once","then":"sleep:300","when":"before"}"#);
    browser.open_action(&id);
    let button = browser.driver.post("/element", &json!({"using": "css selector", "value": "#confirm"}));
    let press = [json!({"type": "pointerDown", "button": 0}), json!({"type": "pointerUp", "button": 0})];
    let mut strokes = vec![json!({"type": "pointerMove", "origin": button, "x": 0, "y": 0})];
    strokes.extend(press.iter().cloned().chain(press.iter().cloned()));
    let mouse =
        json!({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": strokes});
    browser.driver.post("/actions", &json!({"actions": [mouse]}));
    browser.wait_for("It was done.");
    assert_eq!(server.effects_of(&id), 1);
}

#[test]
fn two_tabs_show_the_one_result() {
    let Some((server, browser)) = probe() else { return };
    let id = server.api.propose("probe_write", r#"{"note":"once"}"#);
    browser.open_action(&id);
    let first = browser.driver.get("/window");
    let second = browser.driver.post("/window/new", &json!({"type": "tab"}))["handle"].clone();
    browser.driver.post("/window", &json!({"handle": second}));
    // A tab that learns nothing by itself.
    browser.scripts(false);
    browser.open_action(&id);
    browser.driver.post("/window", &json!({"handle": first}));
    browser.driver.click("#confirm");
    browser.wait_for("It was done.");
    browser.driver.post("/window", &json!({"handle": second}));
    assert!(browser.driver.text().contains("Confirm and run"), "it shows what was before");
    browser.driver.click("#confirm");
    browser.wait_for("It was done.");
    assert_eq!(server.effects_of(&id), 1);
}

#[test]
fn a_keyboard_is_enough() {
    let server = Setup::of(&["probe"]).start();
    let Some(browser) = Browser::of(&server) else { return };
    let id = server.api.propose("probe_write", r#"{"note":"by keys"}"#);
    browser.open("/inbox");
    // The field has the focus when the page is there.
    let keys: Vec<String> = server.api.token.chars().map(String::from).collect();
    browser.driver.press(&keys.iter().map(String::as_str).collect::<Vec<_>>());
    browser.driver.press(&[ENTER]);
    browser.wait_for("Leave the note “by keys”");
    browser.tab_to("Leave the note “by keys”");
    browser.driver.press(&[ENTER]);
    browser.wait_for("Your decision");
    // The first stop of a page leads past its head.
    browser.tab_to("Skip to the content");
    browser.driver.press(&[ENTER]);
    browser.tab_to("Confirm and run");
    browser.picture("keyboard-focus");
    browser.driver.press(&[SPACE]);
    browser.wait_for("It was done.");
    assert_eq!(server.effects_of(&id), 1);
}

impl Browser {
    /// Goes on until what has the focus says this; every stop on the way can be seen.
    #[track_caller]
    fn tab_to(&self, text: &str) {
        for _ in 0..40 {
            self.driver.press(&[TAB]);
            let focus = self.driver.run(
                "const e = document.activeElement, s = getComputedStyle(e), a = getComputedStyle(e, '::after');
                 return [e.innerText, s.outlineStyle !== 'none' || a.outlineStyle !== 'none', e.tagName]",
            );
            assert!(focus[1] == true || focus[2] == "BODY", "nobody sees where the focus is: {focus}");
            if focus[0].as_str().unwrap_or_default().contains(text) && focus[2] != "BODY" {
                return;
            }
        }
        panic!("no stop says {text:?}");
    }
}

#[test]
fn without_scripts_everything_works_but_the_news() {
    let server = Setup::of(&["probe"]).start();
    let Some(browser) = Browser::of(&server) else { return };
    browser.scripts(false);
    browser.open("/inbox");
    browser.sign_in(&server.api.token);
    let [done, declined] = ["done", "declined"]
        .map(|note| server.api.propose("probe_write", &format!(r#"{{"note":"{note}"}}"#)));
    browser.open("/inbox");
    browser.wait_for("Leave the note “done”");
    browser.open_action(&done);
    browser.driver.click("#confirm");
    browser.wait_for("It was done.");
    browser.open_action(&declined);
    browser.driver.click("#decline");
    browser.wait_for("It was declined.");
    assert_eq!((server.effects_of(&done), server.effects_of(&declined)), (1, 0));
    browser.driver.click(".person button");
    browser.wait_for("Sign in with a token");
}

#[test]
fn whoever_loses_the_connection_finds_the_one_result() {
    let Some((server, browser)) = probe() else { return };
    let id = server.api.propose("probe_write", r#"{"note":"once","then":"sleep:1000","when":"before"}"#);
    browser.open_action(&id);
    // Once it runs, the request is given up, and with it its connection.
    browser.driver.run(
        "const news = new EventSource('/inbox/events');
         news.addEventListener('look', () => document.querySelector('#confirm').click(), { once: true });
         news.addEventListener('changed', event => event.data.endsWith('Executing') && window.stop());",
    );
    browser.wait_for("It was done.");
    assert_eq!(server.effects_of(&id), 1);
}

#[test]
fn a_session_that_is_over_runs_nothing_and_leads_back() {
    let Some((server, browser)) = probe() else { return };
    let id = server.api.propose("probe_write", r#"{"note":"later"}"#);
    // A page that does not see by itself that the session is over.
    browser.scripts(false);
    browser.open_action(&id);
    super::super::sign_in::end_sessions(&server);
    browser.driver.click("#confirm");
    browser.wait_for("Sign in with a token");
    server.api.action(&id).check("200 Pending");
    browser.sign_in(&server.api.token);
    browser.wait_for("Your decision");
    server.api.action(&id).check("200 Pending");
    browser.driver.click("#confirm");
    browser.wait_for("It was done.");
    assert_eq!(server.effects_of(&id), 1);
}

#[test]
fn a_second_person_sees_the_first_ones_yes_at_once_and_says_the_last() {
    let server = Setup::of(&["probe"]).config("tether.toml", "[actions]\npeople = 2\n").start();
    let person = |user: &str| {
        let browser = Browser::of(&server)?;
        browser.open("/inbox");
        browser.sign_in(&token(&server, user, &["approver"]));
        Some(browser)
    };
    let (Some(ann), Some(ben)) = (person("ann"), person("ben")) else { return };
    let id = server.api.propose("probe_write", r#"{"note":"Pay 12,900.00 EUR to Überlandwerk GmbH"}"#);
    ben.open_action(&id);
    ben.wait_for("None has said yes so far.");
    ben.wait_for("Live");
    ann.open_action(&id);
    ann.driver.click("#confirm");
    ann.wait_for("You said yes. Before it runs, it takes 1 person more.");
    ben.wait_for("Said yes: ann.");
    ben.wait_for("1 of 2 people said yes.");
    for browser in [&ann, &ben] {
        browser.check_with_axe();
        browser.check_that_it_does_not_complain(&[]);
    }
    ann.picture("one-of-two-said-yes");
    ben.picture("the-second-of-two");
    ben.width(360);
    ben.check_that_it_fits();
    ben.picture("the-second-of-two-phone");
    ben.driver.click("#confirm");
    ben.wait_for("It was done.");
    ann.wait_for("It was done.");
    assert_eq!(server.effects_of(&id), 1);
}

#[test]
fn a_yes_that_fell_is_said_and_leaves_nothing_but_no() {
    let server = Setup::of(&["probe"]).config("tether.toml", "[actions]\npeople = 2\n").start();
    let Some(browser) = Browser::of(&server) else { return };
    let id = server.api.propose("probe_write", r#"{"note":"Pay 12,900.00 EUR to Überlandwerk GmbH"}"#);
    assert_eq!(Visitor::person(&server, "ann", &["approver"]).confirm(&id, "0").status, 303);
    revoke(&server, "ann");
    browser.open("/inbox");
    browser.sign_in(&token(&server, "ben", &["approver"]));
    browser.open_action(&id);
    browser.wait_for("ann said yes, and may not decide about it any more.");
    assert!(browser.driver.find("#confirm").is_none());
    browser.check_with_axe();
    browser.picture("a-yes-fell");
    browser.driver.click("#decline");
    browser.wait_for("It was declined.");
    assert_eq!(server.effects(), []);
}

#[test]
fn whoever_may_not_decide_sees_why() {
    let server = Setup::of(&["probe"]).start();
    let Some(browser) = Browser::of(&server) else { return };
    let id = server.api.propose("probe_write", r#"{"note":"Only to be looked at"}"#);
    browser.open("/inbox");
    browser.sign_in(&token(&server, "eve", &["admin"]));
    browser.wait_for("not yours to decide");
    browser.open_action(&id);
    browser.wait_for("You cannot decide this");
    browser.check_with_axe();
    browser.picture("not-yours");
}
