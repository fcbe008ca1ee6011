//! One life of the real binary, from its start to the answer of a confirm, or to its
//! death at a fault point.

use std::io::{self, BufRead, BufReader};
use std::process::{Child, ChildStderr, ChildStdout, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use serde_json::Value;

use crate::support::{Api, Setup, eventually};

/// A process that is killed where it halts.
pub(super) struct Life {
    child: Arc<Mutex<Child>>,
    output: BufReader<ChildStdout>,
    listener: Option<JoinHandle<String>>,
    pub(super) born: Instant,
    /// What it is started with, for as long as it lives.
    _setup: Setup,
}

/// What a life that has ended said.
pub(super) struct Told {
    /// The passings, in order: `committed#2`.
    pub(super) passed: Vec<String>,
    /// Whether it halted.
    pub(super) halted: bool,
    pub(super) text: String,
}

impl Life {
    /// Begins one, to halt at `halt`, a passing.
    pub(super) fn begin(setup: Setup, halt: Option<&str>) -> Self {
        let plan = halt.map_or("trace".to_owned(), |halt| format!("trace,{halt}"));
        let mut command = setup.command();
        command.env("TETHER_FAULT", plan).stdout(Stdio::piped()).stderr(Stdio::piped());
        let born = Instant::now();
        let mut child = command.spawn().expect("tether can be started");
        let errors = child.stderr.take().expect("its standard error is ours");
        let output = BufReader::new(child.stdout.take().expect("its standard output is ours"));
        let child = Arc::new(Mutex::new(child));
        let listener = Some(listen(errors, child.clone()));
        Self { child, output, listener, born, _setup: setup }
    }

    /// Its API, once it says that it is ready.
    ///
    /// # Errors
    ///
    /// It has died before.
    pub(super) fn ready(&mut self) -> io::Result<Api> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let ready: Value = serde_json::from_str(&line).map_err(io::Error::other)?;
        let text = |name: &str| ready[name].as_str().unwrap_or_default().to_owned();
        let address = text("url").trim_start_matches("http://").parse().map_err(io::Error::other)?;
        Ok(Api { address, token: text("token") })
    }

    /// Waits until it has halted, and is dead by that.
    #[track_caller]
    pub(super) fn wait_for_its_death(&self) {
        eventually("it halts", || lock(&self.child).try_wait().expect("it can be waited for"));
    }

    /// `kill -9`, if it lives; everything that it said.
    pub(super) fn end(mut self) -> Told {
        self.kill();
        let text = self.listener.take().expect("it ends once").join().expect("nobody panics there");
        let passed = text.lines().filter_map(|line| line.strip_prefix("passed: "));
        Told {
            passed: passed.map(str::to_owned).collect(),
            halted: text.lines().any(|line| line.starts_with("fault: ")),
            text,
        }
    }

    fn kill(&self) {
        let mut child = lock(&self.child);
        // It may be dead already.
        let _ = child.kill();
        child.wait().expect("it can be waited for");
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        self.kill();
        if let Some(listener) = self.listener.take()
            && let Ok(text) = listener.join()
            && thread::panicking()
        {
            eprintln!("the server said:\n{text}");
        }
    }
}

/// Listens until the process has ended, and kills it where it halts.
fn listen(errors: ChildStderr, child: Arc<Mutex<Child>>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut text = String::new();
        for line in BufReader::new(errors).lines().map_while(Result::ok) {
            if line.starts_with("fault: ") {
                let _ = lock(&child).kill();
            }
            text.push_str(&line);
            text.push('\n');
        }
        text
    })
}

fn lock(child: &Mutex<Child>) -> MutexGuard<'_, Child> {
    child.lock().unwrap_or_else(PoisonError::into_inner)
}
