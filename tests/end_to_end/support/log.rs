//! What a process says on standard error, while it says it.

use std::io::{BufRead, BufReader, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Longer than anything that is waited for takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Default)]
pub(crate) struct Log(Arc<(Mutex<Lines>, Condvar)>);

#[derive(Default)]
struct Lines {
    text: String,
    ended: bool,
}

impl Log {
    /// Listens until the other end is closed.
    pub(crate) fn of(source: impl Read + Send + 'static) -> Self {
        let log = Self::default();
        let ear = log.clone();
        thread::spawn(move || {
            for line in BufReader::new(source).split(b'\n').map_while(Result::ok) {
                ear.add(|lines| {
                    lines.text.push_str(&String::from_utf8_lossy(&line));
                    lines.text.push('\n');
                });
            }
            ear.add(|lines| lines.ended = true);
        });
        log
    }

    fn add(&self, change: impl FnOnce(&mut Lines)) {
        change(&mut self.lines());
        self.0.1.notify_all();
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something of it holds `part`.
    #[track_caller]
    pub(crate) fn wait_for(&self, part: &str) {
        self.wait(|lines| lines.text.contains(part) || lines.ended);
        let text = self.text();
        assert!(text.contains(part), "{part:?} was never said; this was:\n{text}");
    }

    /// Everything, once the process has ended.
    pub(crate) fn whole(&self) -> String {
        self.wait(|lines| lines.ended);
        self.text()
    }

    /// Everything so far.
    pub(crate) fn text(&self) -> String {
        self.lines().text.clone()
    }

    fn wait(&self, until: impl Fn(&Lines) -> bool) {
        let waited = self.0.1.wait_timeout_while(self.lines(), PATIENCE, |lines| !until(lines));
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}
