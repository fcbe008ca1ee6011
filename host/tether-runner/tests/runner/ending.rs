//! Each way in which a call can end, and that it harms no other.

use std::time::{Duration, Instant};

use tether_core::failure::{Cause, Failure};

use crate::world::{allowance, call, probe, probe_with};

const LIMIT: Duration = Duration::from_millis(200);

/// Calls a read that does not end well, and then one that does.
async fn check(tool: &str, arguments: &str, cause: Cause, word: &str) -> Failure {
    let world = probe_with(|settings| settings.max_memory_bytes = 16 << 20).await;
    let failure = world.read(tool, arguments).await.unwrap_err();
    assert_eq!(failure.cause, cause, "{tool} {arguments}: {failure:?}");
    assert!(failure.message.contains(word), "{tool} {arguments}: {failure:?} says {word:?}");
    assert_eq!(world.read("probe_echo", "{}").await.as_deref(), Ok("{}"));
    assert_eq!(world.databases.alive(), 0, "nothing of it is left");
    failure
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trap() {
    let failure = check("probe_trap", "{}", Cause::Trapped, "unreachable").await;
    assert!(!failure.message.contains("told"), "what the guest said is for its log: {failure:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_is_named() {
    check("probe_hoard", "{}", Cause::Limit, "16777216 bytes of memory").await;
    check("probe_recurse", "{}", Cause::Limit, "524288 bytes of stack").await;
    for kind in ["connections", "clocks", "headers"] {
        check("probe_handles", &format!(r#"{{"of":"{kind}"}}"#), Cause::Limit, "1000 open handles").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_handler_says() {
    let says = |how: &str| format!(r#"{{"until":2,"by":"{how}"}}"#);
    let failure = check("probe_flaky", &says("transient"), Cause::Transient, "told to be transient").await;
    assert_eq!(failure.handler_code.as_deref(), Some("PROBE_TRANSIENT"));
    check("probe_flaky", &says("refuse"), Cause::Refused, "told to refuse").await;
    check("probe_flaky", &says("fail"), Cause::Failed, "told to fail").await;
    check("probe_flaky", &says("nonsense"), Cause::InvalidArguments, "nonsense").await;
    check("probe_sneak", "{}", Cause::Failed, "must be described as a write").await;
    check("probe_lie", "{}", Cause::ResultInvalid, "not what the tool promises").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn computing_and_waiting_end_alike() {
    let world = probe().await;
    world.read("probe_echo", "{}").await.unwrap();
    for (tool, arguments) in [("probe_spin", "{}"), ("probe_sleep", r#"{"ms":60000}"#)] {
        let begin = Instant::now();
        // Where the machine is busy with something else, a plain timer is late as well:
        // a guest ends at most as much after it as the limit is long.
        let timer = async {
            tokio::time::sleep(LIMIT).await;
            begin.elapsed()
        };
        let guest = async {
            let failure = world.read_within(tool, arguments, LIMIT).await.unwrap_err();
            (failure, begin.elapsed())
        };
        let ((failure, guest), timer) = tokio::join!(guest, timer);
        assert_eq!(failure.cause, Cause::TimedOut, "{failure:?}");
        assert!(guest >= LIMIT, "{tool} had its time: {guest:?}");
        println!("{tool} ended after {guest:?}, a timer after {timer:?}");
        assert!(guest < timer + LIMIT, "{tool} took {guest:?}, a timer {timer:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_attempt_goes_better() {
    let world = probe().await;
    let again = call("probe_flaky", r#"{"until":2,"by":"transient"}"#, 2);
    let answer = world.read_by(again, allowance(3, LIMIT)).await;
    assert_eq!(answer.as_deref(), Ok("2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_output_of_the_size_of_the_limit_is_whole() {
    let world = probe_with(|settings| settings.max_response_bytes = 1000).await;
    let big =
        async |bytes: usize| world.read("probe_big", &format!(r#"{{"bytes":{bytes},"emoji":true}}"#)).await;
    assert_eq!(big(999).await.unwrap().len(), 999);
    assert!(big(1000).await.unwrap().ends_with("😀\""));
    let failure = big(1001).await.unwrap_err();
    assert_eq!(failure.cause, Cause::ResultTooLarge);
    assert_eq!(failure.message, "the output has 1001 bytes; the limit is 1000");
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_and_outputs_pass_to_the_letter() {
    let world = probe().await;
    let text = "{\"b\" : 9007199254740993, \"a\":[0.10, -0, 1e400000000000 ],\"\u{1f600}\":\"\\u00e4\"}";
    let text = text.replace("1e400000000000", "1.0e5");
    assert_eq!(world.read("probe_echo", &text).await.unwrap(), text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_is_plain_text() {
    let world = probe().await;
    let preview = async |text: &str| world.preview("probe_preview", &format!(r#"{{"text":"{text}"}}"#)).await;
    assert_eq!(preview("Void it").await.unwrap().as_deref(), Some("Void it"));
    assert_eq!(preview("  ").await.unwrap(), None);
    assert_eq!(preview(r"a\n\u202eb").await.unwrap().as_deref(), Some(r"a\n\u{202e}b"));
    let long = preview(&"x".repeat(2000)).await.unwrap().unwrap();
    assert_eq!(long.chars().count(), 1000);
    assert!(long.ends_with('…'));
    let refused = world.preview("probe_preview", r#"{"text":"","then":"refuse"}"#).await.unwrap_err();
    assert_eq!(refused.cause, Cause::Refused);
    let sneaked = world.preview("probe_preview", r#"{"text":"","then":"sneak"}"#).await.unwrap_err();
    assert!(sneaked.message.contains("in a read or a preview"), "{sneaked:?}");
    assert_eq!(world.preview("probe_nothing", "{}").await.unwrap(), None);
}
