//! `[[webhooks]]`.

use super::*;
use crate::webhooks::{Format, Kind, Webhook};

const SECRET: (&str, &str) = ("HOOK_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
const URL: (&str, &str) = ("HOOK_URL", "https://hooks.test/s3cret-canary");

/// A configuration with a hook of these keys.
fn with(keys: &str) -> Result<Config, String> {
    load_file("tether.toml", &format!("[[webhooks]]\n{keys}"), &[SECRET, URL])
}

/// The hook itself.
fn hook(keys: &str) -> Webhook {
    with(keys).unwrap().webhooks.remove(0)
}

#[test]
fn a_hook_is_read_whole() {
    let hook = hook(
        r#"
        name   = "ops-1"
        url    = "${HOOK_URL}"
        events = ["proposed", "done"]
        body   = "slack"
        secret = "${HOOK_SECRET}"
        tenant = "acme"
    "#,
    );
    assert_eq!((hook.name.as_str(), hook.format), ("ops-1", Format::Slack));
    assert_eq!(hook.address.origin(), "https://hooks.test");
    assert_eq!(hook.kinds.into_iter().collect::<Vec<_>>(), [Kind::Proposed, Kind::Done]);
    assert_eq!(hook.tenant.unwrap().as_str(), "acme");
    assert!(hook.key.is_some());
}

#[test]
fn what_is_left_out_is_everything() {
    let hook = hook("name = \"a\"\nurl = \"http://127.0.0.1:1/a?b=$$c\"\nsecret = \"${HOOK_SECRET}\"");
    assert_eq!((hook.format, hook.kinds.len(), hook.tenant), (Format::Tether, 3, None));
}

#[test]
fn only_messages_for_slack_go_without_a_secret() {
    let keys = "name = \"a\"\nurl = \"https://a.test\"\n";
    assert!(hook(&format!("{keys}body = \"slack\"")).key.is_none());
    wrong(with(keys), &["`webhooks[0].secret` is missing"]);
    for short in ["", "short", "whsec_AAAA", "whsec_not base64, whatever it is"] {
        wrong(with(&format!("{keys}secret = \"{short}\"")), &["`webhooks[0].secret`", "at least 24"]);
    }
}

#[test]
fn what_cannot_be_a_hook_is_refused() {
    let check = |keys: &str, parts: &[&str]| wrong(with(keys), parts);
    check("url = \"https://a.test\"\nsecret = \"${HOOK_SECRET}\"", &["`webhooks[0].name` is missing"]);
    check("name = \"a\"\nsecret = \"${HOOK_SECRET}\"", &["`webhooks[0].url` is missing"]);
    check("name = \"a b\"", &["`webhooks[0].name` is \"a b\"", "1 to 64"]);
    check("name = \"a\"\nurl = \"ftp://a.test\"", &["`webhooks[0].url`", "http or https"]);
    check("name = \"a\"\nevents = [\"prposed\"]", &["`webhooks[0].events[0]`", "\"proposed\""]);
    check("name = \"a\"\nbody = \"teams\"", &["`webhooks[0].body`", "\"slack\""]);
    check("name = \"a\"\nurls = \"https://a.test\"", &["`webhooks[0].urls`", "`url`?"]);
    check(
        "name = \"a\"\nurl = \"https://a.test\"\nbody = \"slack\"\nevents = []",
        &["`webhooks[0].events` is empty"],
    );
    let two = "[[webhooks]]\nname = \"a\"\nurl = \"https://a.test\"\nbody = \"slack\"\n".repeat(2);
    wrong(toml(&two), &["two webhooks are named `a`"]);
}

#[test]
fn neither_url_nor_secret_is_shown() {
    for keys in [
        "name = \"a\"\nurl = \"ftp://canary/canary\"",
        "name = \"a\"\nurl = \"https://u:canary@a.test\"",
        "name = \"a\"\nurl = \"https://a.test\"\nsecret = \"canary\"",
        "name = \"a\"\nurl = [\"canary\"]",
        "name = \"a\"\nurl = \"https://a.test/canär\"",
    ] {
        let message = with(keys).unwrap_err();
        assert!(!message.contains("canär") && !message.contains("canary"), "{message}");
    }
    let keys = "name = \"a\"\nurl = \"${HOOK_URL}\"\nsecret = \"s3cret-canary of twenty-four\"";
    let printed = format!("{:?}", hook(keys));
    assert!(!printed.contains("s3cret-canary"), "{printed}");
}

#[test]
fn the_example_of_the_document_is_read() {
    let examples = blocks(include_str!("../../../../../docs/webhooks.md"), "toml");
    let [example] = examples[..] else { panic!("{examples:?}") };
    let files = [("tether.toml", example), ("slack-url", "https://hooks.slack.test/services/T0\n")];
    let config = load(&files, &[("EXAMPLE_SECRET", SECRET.1)]).unwrap();
    let names: Vec<_> = config.webhooks.iter().map(|hook| hook.name.as_str()).collect();
    assert_eq!(names, ["ops", "approvers"]);
}
