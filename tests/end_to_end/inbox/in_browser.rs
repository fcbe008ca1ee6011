//! In a real, headless Chromium. Every test says why it is skipped where there is none.
//!
//! Pictures of the pages go to `target/screenshots`: look at them.

mod axe;
mod deciding;
mod looking;
mod strangers;

use std::fs;
use std::path::Path;

use serde_json::json;

use super::webdriver::WebDriver;
use crate::support::{Server, eventually};

/// A window that shows the inbox of a server.
struct Browser {
    driver: WebDriver,
    origin: String,
}

impl Browser {
    /// None, and a printed reason, where there is no Chromium.
    fn of(server: &Server) -> Option<Self> {
        Some(Self { driver: WebDriver::start()?, origin: format!("http://{}", server.api.address) })
    }

    /// The same, signed in with the host's own token.
    fn signed_in(server: &Server) -> Option<Self> {
        let browser = Self::of(server)?;
        browser.open("/inbox");
        browser.sign_in(&server.api.token);
        Some(browser)
    }

    #[track_caller]
    fn open(&self, path: &str) {
        self.driver.go(&format!("{}{path}", self.origin));
    }

    #[track_caller]
    fn open_action(&self, id: &str) {
        self.open(&format!("/inbox/actions/{id}"));
    }

    /// By the form that is shown.
    #[track_caller]
    fn sign_in(&self, token: &str) {
        self.driver.type_into("#token", token);
        self.driver.click("main button");
    }

    /// Waits until the page says this.
    #[track_caller]
    fn wait_for(&self, part: &str) {
        eventually(part, || self.says(part).then_some(()));
    }

    #[track_caller]
    fn says(&self, part: &str) -> bool {
        // Between two pages there is none.
        let body = self.driver.ask(
            "POST",
            "/execute/sync",
            &json!({
                "script": "return document.body.innerText", "args": [],
            }),
        );
        body.is_ok_and(|text| text.as_str().unwrap_or_default().contains(part))
    }

    /// Whether scripts run in its pages.
    fn scripts(&self, run: bool) {
        self.driver.cdp("Emulation.setScriptExecutionDisabled", &json!({"value": !run}));
    }

    fn dark(&self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": value}]});
        self.driver.cdp("Emulation.setEmulatedMedia", &features);
    }

    /// A screen of this width in pixels, a phone's where it is narrow.
    fn width(&self, width: u32) {
        let screen = json!({"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600});
        self.driver.cdp("Emulation.setDeviceMetricsOverride", &screen);
    }

    /// Nothing reaches beyond the right edge, and whatever is tapped is 44 pixels high.
    #[track_caller]
    fn check_that_it_fits(&self) {
        let wide = self.driver.run(
            "return [...document.querySelectorAll('body *')]
                 .filter(e => e.getBoundingClientRect().right > innerWidth + 0.5 && !e.closest('pre'))
                 .map(e => e.outerHTML.slice(0, 200))
                 .concat(document.documentElement.scrollWidth > innerWidth ? ['the page scrolls sideways'] : [])",
        );
        assert_eq!(wide, json!([]), "at {}", self.driver.url());
        let small = self.driver.run(
            "return [...document.querySelectorAll('button, input:not([type=hidden]), textarea, nav a, .brand')]
                 .filter(e => e.checkVisibility() && e.getBoundingClientRect().height < 44)
                 .map(e => e.outerHTML)",
        );
        assert_eq!(small, json!([]), "at {}", self.driver.url());
    }

    /// Everything came from this host, and the browser has nothing to complain about.
    #[track_caller]
    fn check_that_nobody_else_was_asked(&self) {
        let foreign = self.driver.run(
            "return performance.getEntriesByType('resource').map(e => e.name)
                 .filter(name => new URL(name).origin !== location.origin)",
        );
        assert_eq!(foreign, json!([]));
    }

    /// Nothing was refused by the policy, nothing failed. Whatever a test makes fail on
    /// purpose is named by a part of the complaint.
    #[track_caller]
    fn check_that_it_does_not_complain(&self, but_for: &[&str]) {
        let mut complaints = self.driver.complaints();
        // Nobody serves that, and browsers ask for it all the same.
        complaints.retain(|line| !line.contains("/favicon.ico"));
        complaints.retain(|line| !but_for.iter().any(|part| line.contains(part)));
        assert_eq!(complaints, [""; 0]);
    }

    /// Keeps a picture of the whole page where a person can look at it.
    fn picture(&self, name: &str) {
        self.keep(name, &self.driver.picture(true));
    }

    /// The same of what is in view: of a very long page, all would take long to paint.
    fn picture_of_the_view(&self, name: &str) {
        self.keep(name, &self.driver.picture(false));
    }

    fn keep(&self, name: &str, picture: &[u8]) {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../screenshots");
        fs::create_dir_all(&folder).expect("the tests can make folders");
        fs::write(folder.join(format!("{name}.png")), picture).expect("the tests can write files");
    }
}
