//! What a guest writes goes to the log, bounded and made harmless.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::util::SubscriberInitExt;

use crate::world::probe;

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
    fn lines(&self) -> Vec<String> {
        let bytes = std::mem::take(&mut *self.0.lock().unwrap());
        let text = String::from_utf8(bytes).unwrap();
        text.lines().filter(|line| line.contains("tether::guest")).map(str::to_owned).collect()
    }
}

// One thread, so that this test's log holds what this test does.
#[tokio::test]
async fn a_guests_lines_are_logged_bounded_and_harmless() {
    let log = Log::default();
    let _guard = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_ansi(false)
        .with_writer(log.clone())
        .set_default();
    let world = probe().await;
    log.lines();

    world.read("probe_log", r#"{"line":"first\nsecond"}"#).await.unwrap();
    let lines = log.lines();
    assert_eq!(lines.len(), 2, "{lines:?}");
    for part in ["first", "tool=\"probe_log\"", "stream=\"stdout\"", "request_id="] {
        assert!(lines[0].contains(part), "{:?} holds {part}", lines[0]);
    }

    world.read("probe_log", r#"{"line":"a\u001b[2Jb","error":true}"#).await.unwrap();
    let lines = log.lines();
    assert!(lines[0].contains(r"a\u{1b}[2Jb") && lines[0].contains("stderr"), "{lines:?}");

    let mut long = String::new();
    write!(long, r#"{{"line":"{}"}}"#, "x".repeat(20_000)).unwrap();
    world.read("probe_log", &long).await.unwrap();
    let lines = log.lines();
    assert_eq!(lines.len(), 3, "lines of at most 8 KiB");
    assert!(lines.iter().all(|line| line.len() < 8_500));

    world
        .read("probe_log", r#"{"line":"0123456789012345678901234567890123456789","times":100000}"#)
        .await
        .unwrap();
    let lines = log.lines();
    assert!(lines.len() < 2_000, "{} lines", lines.len());
    assert!(lines.last().unwrap().contains("is not logged"));

    world.read("probe_trap", "{}").await.unwrap_err();
    assert!(log.lines().iter().any(|line| line.contains("told to trap")), "a panic's words are in the log");

    let secret = "canary-5f2d";
    world.read("probe_echo", &format!(r#"{{"secret":"{secret}"}}"#)).await.unwrap();
    assert!(!log.lines().iter().any(|line| line.contains(secret)), "arguments are in no log");
}
