//! axe-core, which finds what keeps people out.

use std::fs;
use std::sync::OnceLock;

use serde_json::{Value, json};

use super::Browser;
use crate::support::NodeProject;

/// The text of axe-core. None, and a printed reason, where it cannot be had.
fn axe() -> Option<&'static str> {
    static TEXT: OnceLock<Option<String>> = OnceLock::new();
    let text = TEXT.get_or_init(|| {
        let project = NodeProject::install("browser")?;
        Some(fs::read_to_string(project.path("node_modules/axe-core/axe.min.js")).expect("it is installed"))
    });
    text.as_deref()
}

impl Browser {
    /// axe-core finds nothing on this page, serious or not.
    #[track_caller]
    pub(super) fn check_with_axe(&self) {
        let Some(axe) = axe() else { return };
        let script = format!(
            "{axe};
             const done = arguments[arguments.length - 1];
             axe.run(document, {{ resultTypes: ['violations'] }}).then(
                 found => done(found.violations.map(v => ({{
                     rule: v.id, impact: v.impact, help: v.help, nodes: v.nodes.map(n => n.html + ' ' + n.failureSummary),
                 }}))),
                 error => done([String(error)]));"
        );
        let found = self.driver.post("/execute/async", &json!({"script": script, "args": []}));
        assert_eq!(found, Value::Array(Vec::new()), "at {}: {found:#}", self.driver.url());
    }
}
