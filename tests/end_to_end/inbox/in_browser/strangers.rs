//! What strangers write is shown, and does nothing.

use super::Browser;
use crate::support::Setup;

#[test]
fn a_hostile_preview_and_hostile_arguments_are_text() {
    let server = Setup::of(&["probe"]).start();
    let Some(browser) = Browser::signed_in(&server) else { return };
    let hostile = concat!(
        r#"</pre></main><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"#,
        r#"<a href='javascript:alert(1)'>Pay</a> annual_report_\u202efdp.exe \u05d0\u05d1\u05d2 \u200b end"#,
    );
    let id = server.api.propose("probe_write", &format!(r#"{{"note":"{hostile}"}}"#));
    for path in ["/inbox".to_owned(), format!("/inbox/actions/{id}")] {
        browser.open(&path);
        let page = browser.driver.text();
        assert!(page.contains("<script>document.title='taken'</script>"), "{page}");
        assert!(!page.contains(['\u{202e}', '\u{200b}']), "{page}");
        let made =
            browser.driver.run("return document.querySelectorAll('main script, main img, bdi a').length");
        assert_eq!(made, 0);
        let title = browser.driver.run("return document.title");
        assert!(!title.as_str().unwrap().contains("taken"));
        browser.check_with_axe();
    }
    browser.picture("hostile");
    browser.width(360);
    browser.check_that_it_fits();
    browser.picture("hostile-phone");
    browser.check_that_it_does_not_complain(&[]);
}

#[test]
fn a_megabyte_of_arguments_is_there_in_full_and_the_decision_in_reach() {
    let server = Setup::of(&["probe"]).start();
    let Some(browser) = Browser::signed_in(&server) else { return };
    let long = "W".repeat((1 << 20) - 200);
    let id = server.api.propose("probe_write", &format!(r#"{{"note":"{long}"}}"#));
    for width in [1280, 360] {
        browser.width(width);
        browser.open_action(&id);
        let shown = browser.driver.run("return document.querySelector('pre').textContent.length");
        assert!(shown.as_u64().unwrap() > long.len() as u64);
        browser.check_that_it_fits();
        browser.picture_of_the_view(&format!("megabyte-{width}"));
    }
    browser.driver.click("#decline");
    browser.wait_for("It was declined.");
}
