//! What cargo made, as it tells with `--message-format=json`.

use std::path::PathBuf;

use anyhow::Context;
use serde::Deserialize;

/// The part of cargo's messages that is of interest here.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    filenames: Vec<PathBuf>,
    target: Option<Target>,
}

#[derive(Deserialize)]
struct Target {
    crate_types: Vec<String>,
}

/// The components among the files that `messages`, one JSON object a line, tell
/// of. Sorted, each once.
pub(crate) fn components(messages: &[u8]) -> anyhow::Result<Vec<PathBuf>> {
    let mut components = Vec::new();
    for line in messages.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"{")) {
        let message: Message =
            serde_json::from_slice(line).context("cargo said what this tether does not know")?;
        let library = |target: &Target| target.crate_types.iter().any(|kind| kind == "cdylib");
        if message.reason == "compiler-artifact" && message.target.as_ref().is_some_and(library) {
            let wasm = |file: &PathBuf| file.extension().is_some_and(|ending| ending == "wasm");
            components.extend(message.filenames.into_iter().filter(wasm));
        }
    }
    components.sort();
    components.dedup();
    Ok(components)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_libraries_for_others_are_components() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","target":{"crate_types":["lib"]},"filenames":["/t/libserde.rlib"]}"#,
            "\n",
            r#"{"reason":"compiler-artifact","target":{"crate_types":["cdylib"]},"filenames":["/t/tickets.wasm"]}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
            "\n",
        );
        assert_eq!(components(messages.as_bytes()).unwrap(), [PathBuf::from("/t/tickets.wasm")]);
    }
}
