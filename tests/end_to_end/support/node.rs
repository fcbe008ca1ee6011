//! Programs in JavaScript, run with Node.js where there is one.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use super::folder::ROOT;
use super::missing::{or_skipped, run};

/// A folder of `tests/` with a `package.json`, its packages installed.
pub(crate) struct NodeProject {
    folder: PathBuf,
    node: PathBuf,
}

impl NodeProject {
    /// Installs `tests/FOLDER`, without what is in folders of its own. None, and a printed
    /// reason, where Node.js, npm or a package is not to be had.
    pub(crate) fn install(folder: &str) -> Option<Self> {
        or_skipped(Self::installed(folder))
    }

    /// The same; the error says what is not to be had.
    pub(crate) fn installed(folder: &str) -> Result<Self, String> {
        for program in ["node", "npm"] {
            let found = Command::new(program).arg("--version").output();
            if !found.is_ok_and(|output| output.status.success()) {
                return Err(format!("this test needs {program}, which is not installed"));
            }
        }
        // One at a time: tests of one file share an installation.
        static INSTALLING: Mutex<()> = Mutex::new(());
        let _turn = INSTALLING.lock();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(folder);
        let project = Path::new(ROOT).join(folder.replace('/', "-"));
        fs::create_dir_all(&project).expect("the tests can make folders");
        let lock = fs::read(source.join("package-lock.json")).expect("it is there");
        let stamp = project.join("installed.json");
        let files = fs::read_dir(&source).expect("the folder is there").map_while(Result::ok);
        for file in files.filter(|file| file.path().is_file()) {
            fs::copy(file.path(), project.join(file.file_name())).expect("files can be copied");
        }
        if fs::read(&stamp).ok().as_ref() != Some(&lock) {
            let mut npm = Command::new("npm");
            npm.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(&project);
            // Where there is no network, it would try again for more than a minute.
            npm.args(["--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"]);
            run(&mut npm).map_err(|why| format!("this test needs packages of Node.js; {why}"))?;
            fs::write(stamp, lock).expect("the tests can write files");
        }
        Ok(Self { folder: project, node: "node".into() })
    }

    /// Its programs are run by this Node.js.
    pub(crate) fn run_by(self, node: PathBuf) -> Self {
        Self { node, ..self }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Runs one of its programs to its end.
    #[track_caller]
    pub(crate) fn run(&self, program: &str, arguments: &[&Path]) {
        let ran = self.command(program, arguments).output().expect("node can be run");
        assert!(ran.status.success(), "{program} failed: {ran:?}");
    }

    /// Starts one of its servers, which prints its port first.
    #[track_caller]
    pub(crate) fn serve(&self, program: &str, arguments: &[&Path]) -> NodeServer {
        let mut command = self.command(program, arguments);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("node can be run");
        let mut line = String::new();
        let output = child.stdout.take().expect("its standard output is ours");
        BufReader::new(output).read_line(&mut line).expect("it can be heard");
        let port = line.trim().parse().unwrap_or_else(|_| panic!("{program} tells no port: {line:?}"));
        NodeServer { port, child }
    }

    /// One of its programs, to be run.
    pub(crate) fn command(&self, program: &str, arguments: &[&Path]) -> Command {
        let mut command = Command::new(&self.node);
        command.arg(program).args(arguments).current_dir(&self.folder).stdin(Stdio::null());
        command
    }
}

/// A server in JavaScript. It is killed with its test.
pub(crate) struct NodeServer {
    pub(crate) port: u16,
    child: Child,
}

impl Drop for NodeServer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
