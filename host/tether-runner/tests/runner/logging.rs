//! What a guest writes goes to the log, bounded and made harmless.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::upstream::Upstream;
use crate::world::{World, allowance, call, probe, probe_sending_to};

/// A log in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

impl Log {
    /// The log of this process: tests run side by side in it.
    fn of_all_tests() -> Self {
        static LOG: OnceLock<Log> = OnceLock::new();
        let install = || {
            let log = Self::default();
            let subscriber = tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE).with_ansi(false);
            subscriber.with_writer(log.clone()).init();
            log
        };
        LOG.get_or_init(install).clone()
    }

    /// The lines that hold `part`.
    fn lines_with(&self, part: &str) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().filter(|line| line.contains(part)).map(str::to_owned).collect()
    }
}

/// Calls a read, and returns what the log says of it.
async fn logged(world: &World, tool: &str, arguments: &str) -> Vec<String> {
    let log = Log::of_all_tests();
    let call = call(tool, arguments, 1);
    let id = call.request_id.to_string();
    let _ = world.read_by(call, allowance(1, Duration::from_secs(20))).await;
    log.lines_with(&id)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_is_logged_with_its_call() {
    let world = probe().await;
    let lines = logged(&world, "probe_log", r#"{"line":"first\n  second"}"#).await;
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[1].contains("tether::guest:   second"), "{lines:?}");
    for part in ["tether::guest: first", "tool=\"probe_log\"", "stream=\"stdout\""] {
        assert!(lines[0].contains(part), "{:?} holds {part}", lines[0]);
    }
    let lines = logged(&world, "probe_trap", "{}").await;
    assert!(lines.iter().any(|line| line.contains("told to trap")), "a panic's words are logged: {lines:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_is_harmless() {
    let world = probe().await;
    let lines = logged(&world, "probe_log", r#"{"line":"a\u001b[2Jb\rc"}"#).await;
    assert!(lines[0].contains(r"a\u{1b}[2Jb\rc"), "{lines:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_are_bounded() {
    let world = probe().await;
    let long = format!(r#"{{"line":"{}"}}"#, "x".repeat(20_000));
    let lines = logged(&world, "probe_log", &long).await;
    assert_eq!(lines.len(), 3, "at most 8 KiB each");
    assert!(lines.iter().all(|line| line.len() < 8_500));
    // A thousand lines, or 64 KiB, and a last one that says so.
    for (line, most) in [("x", 1_001), (&*"x".repeat(1_000), 67)] {
        let many = format!(r#"{{"line":"{line}","times":100000}}"#);
        let lines = logged(&world, "probe_log", &many).await;
        assert_eq!(lines.len(), most);
        assert!(lines.last().unwrap().contains("is not logged"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_are_in_no_log() {
    let world = probe().await;
    logged(&world, "probe_echo", r#"{"secret":"canary-5f2d"}"#).await;
    assert_eq!(Log::of_all_tests().lines_with("canary-5f2d"), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_panic_quotes_of_the_arguments_is_in_no_log() {
    let world = probe().await;
    for (words, quoted) in [
        (r#"["canary-31aa"]"#, r#"told to quote *** and Quoted { words: ["***"] }"#),
        (r#"["canary-31aa \"x\"","\\canary-31aa","b"]"#, r#"told to quote ***, ***, b and"#),
        (r#"["canary-31aa x\ny canary-31aa"]"#, r#"told to quote ***"#),
    ] {
        let lines = logged(&world, "probe_panic", &format!(r#"{{"words":{words}}}"#)).await;
        assert!(lines.iter().any(|line| line.contains(quoted)), "{quoted}: {lines:?}");
    }
    for (word, said) in [
        // More than is looked for; and what the panic spells in more bytes than a line has.
        ("canary-31aa ".repeat(2_000), "the arguments hold too much"),
        (format!("canary-31aa{}", "\\u0001".repeat(15_000)), "too long to be masked"),
    ] {
        let lines = logged(&world, "probe_panic", &format!(r#"{{"words":["{word}"]}}"#)).await;
        assert!(lines.iter().any(|line| line.contains(said)), "{said}: {lines:?}");
    }
    assert_eq!(Log::of_all_tests().lines_with("canary-31aa"), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_written_to_standard_error_is_masked_and_blank_lines_are_left_out() {
    let world = probe().await;
    let lines = logged(&world, "probe_log", r#"{"line":"\n \nsome words","error":true}"#).await;
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("tether::guest: ***") && lines[0].contains("stderr"), "{lines:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_in_no_log_but_for_their_origin() {
    let log = Log::of_all_tests();
    let upstream = Upstream::start().await;
    let world = probe_sending_to(&upstream.origin()).await;
    let more = r#","headers":{"x-own":"canary-77ab"},"body":"canary-77ab""#;
    for tool in ["probe_send", "probe_fetch"] {
        let call = call(tool, &upstream.request("GET", "/echo?token=canary-77ab", more), 1);
        let answer = world.read_by(call, allowance(1, Duration::from_secs(20))).await.unwrap();
        assert!(answer.contains("canary-77ab"), "{tool}: it went there and back: {answer}");
    }
    assert_eq!(log.lines_with("canary-77ab"), [""; 0]);
}
