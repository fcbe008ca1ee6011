//! The real binary, serving.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;

use serde_json::Value;

use super::compiled;
use super::log::Log;
use super::{Api, Effect, Setup, effects};

/// A server that is ready. It is killed with its test.
pub(crate) struct Server {
    pub(crate) setup: Setup,
    process: Process,
    pub(crate) api: Api,
}

struct Process {
    child: Child,
    log: Log,
    output: BufReader<ChildStdout>,
}

impl Server {
    /// Starts it, and waits until it is ready.
    pub(crate) fn start(setup: Setup) -> Self {
        let (process, api) = Process::start(&setup);
        Self { setup, process, api }
    }

    /// `kill -9`, and waits until it is dead.
    pub(crate) fn kill(&mut self) {
        self.process.end();
    }

    /// Asks it to stop, and waits until it has; its exit code.
    pub(crate) fn stop(&mut self) -> Option<i32> {
        let id = self.process.child.id().to_string();
        let asked = Command::new("kill").arg(id).status().expect("a signal can be sent");
        assert!(asked.success(), "it was there to be asked");
        self.process.child.wait().expect("it can be waited for").code()
    }

    /// Kills it if it lives, and starts it again, without a fault.
    pub(crate) fn restart(&mut self) {
        self.setup.fault = None;
        self.restart_with_the_fault();
    }

    /// Kills it if it lives, and starts it again, to halt at the same fault.
    pub(crate) fn restart_with_the_fault(&mut self) {
        self.kill();
        (self.process, self.api) = Process::start(&self.setup);
    }

    /// Kills it if it lives, and starts it again at its old address.
    pub(crate) fn restart_where_it_was(&mut self) {
        let free = std::mem::replace(&mut self.setup.listen, self.api.address.to_string());
        self.restart();
        self.setup.listen = free;
    }

    /// Kills it, and starts it again at its old address, to halt at `point` before
    /// it is ready.
    pub(crate) fn restart_into(&mut self, point: &'static str) {
        self.kill();
        self.setup.fault = Some(point);
        let free = std::mem::replace(&mut self.setup.listen, self.api.address.to_string());
        self.process = Process::spawn(&self.setup);
        self.setup.listen = free;
        self.wait_for_the_fault();
    }

    /// Waits until it has halted.
    #[track_caller]
    pub(crate) fn wait_for_the_fault(&self) {
        let point = self.setup.fault.expect("this server was started with a fault");
        self.process.log.wait_for(&format!("fault: {point}"));
    }

    /// Kills it where it has halted, and starts it again, without the fault.
    #[track_caller]
    pub(crate) fn die_at_the_fault(&mut self) {
        self.wait_for_the_fault();
        self.restart();
    }

    /// The number of its process.
    pub(crate) fn process_id(&self) -> u32 {
        self.process.child.id()
    }

    /// What it says on standard error.
    pub(crate) fn log(&self) -> &Log {
        &self.process.log
    }

    /// A file in the data folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.setup.data().join(name)
    }

    /// The file of a component's own database.
    pub(crate) fn database(&self, component: &str) -> PathBuf {
        self.file(&format!("databases/{component}/default/main.db"))
    }

    /// What the tools of `probe` did.
    pub(crate) fn effects(&self) -> Vec<Effect> {
        effects(&self.database("probe"))
    }

    /// How many effects there are with this key.
    pub(crate) fn effects_of(&self, key: &str) -> usize {
        self.effects().iter().filter(|effect| effect.key == key).count()
    }
}

impl Process {
    fn spawn(setup: &Setup) -> Self {
        compiled::lend(setup.data());
        let mut command = setup.command();
        let spawned = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = spawned.expect("tether can be started");
        let log = Log::of(child.stderr.take().expect("its standard error is ours"));
        let output = BufReader::new(child.stdout.take().expect("its standard output is ours"));
        Self { child, log, output }
    }

    /// Starts one, and waits until it says that it is ready.
    fn start(setup: &Setup) -> (Self, Api) {
        let mut process = Self::spawn(setup);
        let mut line = String::new();
        process.output.read_line(&mut line).expect("it can be heard");
        let Ok(ready) = serde_json::from_str::<Value>(&line) else {
            panic!("it is not ready: {line}");
        };
        compiled::collect(setup.data());
        let text = |name: &str| ready[name].as_str().unwrap_or_default().to_owned();
        let address = text("url").trim_start_matches("http://").parse().expect("it tells its address");
        (process, Api { address, token: text("token") })
    }

    fn end(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        self.child.wait().expect("it can be waited for");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
        if thread::panicking() {
            eprintln!("the server said:\n{}", self.log.whole());
        }
    }
}
