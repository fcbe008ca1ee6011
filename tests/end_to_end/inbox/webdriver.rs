//! A headless Chromium, driven over WebDriver.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use base64::Engine as _;
use serde_json::{Value, json};

use crate::support::{Folder, PATIENCE};

/// What a reference to an element is called in WebDriver.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A driver of its own with one window. Both end with the test.
pub(super) struct WebDriver {
    child: Child,
    port: u16,
    session: String,
    /// Where the browser keeps what it keeps. Gone last.
    _folder: Folder,
}

/// An element of the page.
#[derive(Debug, Clone)]
pub(super) struct Element(String);

impl WebDriver {
    /// None, and a printed reason, where there is no Chromium with its driver.
    pub(super) fn start() -> Option<Self> {
        for program in ["chromium", "chromedriver"] {
            let found = Command::new(program).arg("--version").output();
            if !found.is_ok_and(|output| output.status.success()) {
                eprintln!("skipped: this test needs {program}, which is not installed");
                return None;
            }
        }
        let folder = Folder::new();
        let (child, port) = Self::process(&folder);
        let mut driver = Self { child, port, session: String::new(), _folder: folder };
        let capabilities = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"binary": which("chromium"), "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--no-first-run", "--disable-extensions", "--disable-crash-reporter", "--window-size=1280,900",
            ]},
        }}});
        let started = driver.send("POST", "/session", &capabilities).expect("Chromium can be started");
        started["sessionId"].as_str().unwrap_or_default().clone_into(&mut driver.session);
        Some(driver)
    }

    /// The driver's process, and its port. It takes a port that is free on one loopback
    /// address, and ends where the same one is taken on the other, as by a neighbour's
    /// connection: then there is another port to take.
    fn process(folder: &Folder) -> (Child, u16) {
        let mut said = Vec::new();
        for _ in 0..20 {
            let mut child = Command::new("chromedriver")
                .arg("--port=0")
                .env("HOME", folder.path())
                .env("TMPDIR", folder.path())
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .spawn()
                .expect("the driver can be started");
            let output = child.stdout.take().expect("its standard output is ours");
            let mut lines = BufReader::new(output).lines().map_while(Result::ok);
            let port = lines.by_ref().inspect(|line| said.push(line.clone())).find_map(|line| {
                line.split_once("started successfully on port ")?.1.trim_end_matches('.').parse().ok()
            });
            if let Some(port) = port {
                // Nothing may stop it from talking on.
                std::thread::spawn(move || lines.for_each(drop));
                return (child, port);
            }
            child.wait().expect("it has ended");
        }
        panic!("the driver never told its port: {said:#?}");
    }

    /// A command about the window; its value, or why there is none.
    pub(super) fn ask(&self, method: &str, command: &str, body: &Value) -> Result<Value, String> {
        self.send(method, &format!("/session/{}{command}", self.session), body)
    }

    #[track_caller]
    pub(super) fn post(&self, command: &str, body: &Value) -> Value {
        self.ask("POST", command, body).unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    #[track_caller]
    pub(super) fn get(&self, command: &str) -> Value {
        self.ask("GET", command, &Value::Null).unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    /// A command of Chromium's own protocol.
    #[track_caller]
    pub(super) fn cdp(&self, command: &str, parameters: &Value) -> Value {
        self.post("/goog/cdp/execute", &json!({"cmd": command, "params": parameters}))
    }

    #[track_caller]
    pub(super) fn go(&self, url: &str) {
        self.post("/url", &json!({"url": url}));
    }

    #[track_caller]
    pub(super) fn url(&self) -> String {
        self.get("/url").as_str().unwrap_or_default().to_owned()
    }

    /// What a function with this body returns, in the page.
    #[track_caller]
    pub(super) fn run(&self, body: &str) -> Value {
        self.post("/execute/sync", &json!({"script": body, "args": []}))
    }

    /// The first element that fits, if there is one.
    pub(super) fn find(&self, selector: &str) -> Option<Element> {
        let found =
            self.ask("POST", "/element", &json!({"using": "css selector", "value": selector})).ok()?;
        found[ELEMENT].as_str().map(|id| Element(id.to_owned()))
    }

    #[track_caller]
    pub(super) fn element(&self, selector: &str) -> Element {
        self.find(selector).unwrap_or_else(|| panic!("there is no {selector} in {}", self.text()))
    }

    #[track_caller]
    pub(super) fn click(&self, selector: &str) {
        let Element(id) = self.element(selector);
        self.post(&format!("/element/{id}/click"), &json!({}));
    }

    #[track_caller]
    pub(super) fn type_into(&self, selector: &str, text: &str) {
        let Element(id) = self.element(selector);
        self.post(&format!("/element/{id}/value"), &json!({"text": text}));
    }

    /// Presses and releases keys, one after the other, wherever the focus is.
    #[track_caller]
    pub(super) fn press(&self, keys: &[&str]) {
        let strokes: Vec<_> = keys
            .iter()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": key})))
            .collect();
        self.post("/actions", &json!({"actions": [{"type": "key", "id": "keys", "actions": strokes}]}));
    }

    /// What a reader of the page sees.
    #[track_caller]
    pub(super) fn text(&self) -> String {
        self.element_text("body")
    }

    #[track_caller]
    pub(super) fn element_text(&self, selector: &str) -> String {
        let found = self.post("/element", &json!({"using": "css selector", "value": selector}));
        let id = found[ELEMENT].as_str().unwrap_or_default();
        self.get(&format!("/element/{id}/text")).as_str().unwrap_or_default().to_owned()
    }

    /// The page as a PNG: the whole of it, or what is in view.
    #[track_caller]
    pub(super) fn picture(&self, whole: bool) -> Vec<u8> {
        let what = json!({"format": "png", "captureBeyondViewport": whole});
        let taken = self.cdp("Page.captureScreenshot", &what);
        let encoded = taken["data"].as_str().unwrap_or_default();
        base64::engine::general_purpose::STANDARD.decode(encoded).expect("a picture is in base 64")
    }

    /// What the browser complained about since the last look: a policy that was violated,
    /// a script that failed, something that was not there.
    #[track_caller]
    pub(super) fn complaints(&self) -> Vec<String> {
        let entries = self.post("/se/log", &json!({"type": "browser"}));
        let entries = entries.as_array().cloned().unwrap_or_default();
        entries.iter().map(|entry| entry["message"].as_str().unwrap_or_default().to_owned()).collect()
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let answer = self.exchange(method, path, body).map_err(|error| error.to_string())?;
        let value = &answer["value"];
        match value.get("error").and_then(Value::as_str) {
            Some(error) => Err(format!("{error}: {}", value["message"].as_str().unwrap_or_default())),
            None => Ok(value.clone()),
        }
    }

    fn exchange(&self, method: &str, path: &str, body: &Value) -> std::io::Result<Value> {
        let body = if method == "GET" || method == "DELETE" { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}",
            self.port
        )?;
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else {
                // The status comes before the headers, the blank line after them.
                if line.starts_with("HTTP/") { continue } else { break }
            };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        let mut bytes = vec![0; length];
        reader.read_exact(&mut bytes)?;
        Ok(serde_json::from_slice(&bytes)?)
    }
}

impl Drop for WebDriver {
    fn drop(&mut self) {
        // Chromium ends with its window, the driver when it is told.
        let _ = self.ask("DELETE", "", &Value::Null);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where a program is that is there.
fn which(program: &str) -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).map(|folder| folder.join(program));
    let found = places.filter(|place| place.is_file()).map(|place| place.display().to_string()).next();
    found.unwrap_or_else(|| program.to_owned())
}
