//! What a person sees: live, on every screen, in every colour.

use super::Browser;
use crate::support::{Reply, Server, Setup, Upstream};

/// Actions that stand everywhere an action can stand, with their ids.
fn every_standing(server: &Server) -> Vec<(&'static str, String)> {
    let api = &server.api;
    let write = |note: &str| api.propose("probe_write", &format!(r#"{{"note":"{note}"}}"#));
    let done = write("Send the invoice again");
    api.confirm(&done, "{}").check("200 Succeeded");
    let declined = write("Delete the archive of 2019");
    api.decline(&declined, r#"{"reason":"The auditors still need it.\nAsk again in May."}"#)
        .check("200 Declined");
    let failed =
        api.propose("probe_write", r#"{"note":"Close the account","then":"refuse","when":"before"}"#);
    api.confirm(&failed, "{}").check("200 Failed EXECUTION_FAILED");
    let partly = api.propose("probe_steps", r#"{"steps":2,"stop_after":1}"#);
    api.confirm(&partly, "{}").check("200 FailedRetryable EXECUTION_FAILED_RETRYABLE");
    let unpreviewed = api.propose("probe_nothing", "{}");
    let waiting = write("Void ticket 42 of Überlandwerk GmbH, because the concert was moved to May");
    vec![
        ("done", done),
        ("declined", declined),
        ("failed", failed),
        ("partly-done", partly),
        ("without-preview", unpreviewed),
        ("waiting", waiting),
    ]
}

#[test]
fn every_page_is_for_everybody_in_light_and_dark_and_on_a_phone() {
    let server = Setup::of(&["probe", "tickets"]).start();
    let Some(browser) = Browser::of(&server) else { return };
    browser.look_at("sign-in", "/inbox/sign-in");
    browser.open("/inbox");
    browser.sign_in("wrong");
    browser.wait_for("This token lets nobody in here.");
    browser.check_with_axe();
    browser.picture("sign-in-refused");
    browser.sign_in(&server.api.token);
    browser.look_at("nothing-waits", "/inbox");
    let standings = every_standing(&server);
    browser.look_at("list", "/inbox");
    browser.look_at("list-of-all", "/inbox?all");
    browser.look_at("not-there", "/inbox/actions/none");
    for (name, id) in standings {
        browser.look_at(name, &format!("/inbox/actions/{id}"));
    }
    browser.check_that_it_does_not_complain(&["401", "404"]);
}

#[test]
fn an_effect_that_nobody_knows_is_said_before_it_is_confirmed_again() {
    let upstream = Upstream::always(Reply::Cut);
    let config = format!(
        "[tool_transport]\ntimeout_seconds = 1\n[[components]]\npath = {:?}\n\
         [[components.outbound]]\norigin = \"{}\"\nmethods = [\"GET\", \"POST\"]\n\
         headers = {{ Authorization = \"Bearer ${{BANK}}\" }}\n",
        crate::support::component("probe"),
        upstream.origin()
    );
    let server = Setup::of(&[]).config("tether.toml", &config).env("BANK", "secret-of-the-bank").start();
    let arguments = format!(r#"{{"method":"POST","url":"{}"}}"#, upstream.url("/refunds?account=1"));
    let id = server.api.propose("probe_send_write", &arguments);
    server.api.confirm(&id, "{}");
    let Some(browser) = Browser::signed_in(&server) else { return };
    browser.look_at("effect-unknown", &format!("/inbox/actions/{id}"));
    let page = browser.driver.text();
    for part in ["Nobody here can know what it did.", "no answer", "/refunds", "authorization"] {
        assert!(page.contains(part), "{part:?} is missing in {page}");
    }
    assert!(!page.contains("secret-of-the-bank"));
}

impl Browser {
    /// Light and dark, on a desk and on a phone: kept as pictures, fitting, and nothing
    /// that axe-core finds.
    #[track_caller]
    fn look_at(&self, name: &str, path: &str) {
        for (width, dark, kind) in
            [(1280, false, "light"), (1280, true, "dark"), (360, false, "phone"), (360, true, "phone-dark")]
        {
            self.width(width);
            self.dark(dark);
            self.open(path);
            self.check_that_it_fits();
            self.check_with_axe();
            self.picture(&format!("{name}-{kind}"));
        }
        self.width(1280);
        self.dark(false);
        self.check_that_nobody_else_was_asked();
    }
}

#[test]
fn what_somebody_else_does_is_seen_at_once() {
    let server = Setup::of(&["probe"]).start();
    let (Some(mine), Some(other)) = (Browser::signed_in(&server), Browser::signed_in(&server)) else {
        return;
    };
    mine.wait_for("Nothing waits for you.");
    mine.wait_for("Live");
    let id = server.api.propose("probe_write", r#"{"note":"seen at once"}"#);
    mine.wait_for("Leave the note “seen at once”");
    other.open_action(&id);
    mine.open_action(&id);
    mine.wait_for("Live");
    other.driver.click("#confirm");
    mine.wait_for("It was done.");
    mine.open("/inbox?all");
    mine.wait_for("Done");
    assert_eq!(server.effects_of(&id), 1);
    mine.check_that_it_does_not_complain(&[]);
}

#[test]
fn nothing_moves_under_the_hands_of_who_writes() {
    let server = Setup::of(&["probe"]).start();
    let Some(browser) = Browser::signed_in(&server) else { return };
    let id = server.api.propose("probe_write", r#"{"note":"decided elsewhere"}"#);
    browser.open_action(&id);
    browser.wait_for("Live");
    browser.driver.type_into("#reason", "Half a sen");
    server.api.confirm(&id, "{}").check("200 Succeeded");
    browser.wait_for("Load the page again to see it.");
    let written = browser.driver.run("return document.querySelector('#reason').value");
    assert_eq!(written, "Half a sen");
    browser.picture("changed-while-writing");
    browser.driver.click("#decline");
    browser.wait_for("It was done.");
}

#[test]
fn a_page_is_live_again_after_the_host_was_away() {
    let mut server = Setup::of(&["probe"]).start();
    let Some(browser) = Browser::signed_in(&server) else { return };
    browser.wait_for("Live");
    server.kill();
    browser.wait_for("Not live at the moment");
    server.restart_where_it_was();
    server.api.propose("probe_write", r#"{"note":"meanwhile"}"#);
    browser.wait_for("Leave the note “meanwhile”");
}
