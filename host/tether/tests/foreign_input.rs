//! Whatever an operator's files and environment hold, they are read or refused: no
//! text of theirs ends the process. 2,000 cases each.

use std::fs;
use std::path::{Path, PathBuf};

use tether::config::{Config, Flags};
use tether_near::near;
use tether_near::proptest::prelude::*;

const TOML: &[&str] = &[
    r#"
listen = "127.0.0.1:0"
data_dir = "data"
[tool_transport]
timeout_seconds = 2.5
max_attempts = 3
max_response_bytes = "256KiB"
[actions]
expires_after = "24h"
[[components]]
path = "tickets.wasm"
[components.databases]
main = "sqlite"
crm = { sqlite = "/srv/crm.db", shared = true }
[[components.outbound]]
origin = "https://*.example.com:8443"
methods = ["GET", "POST"]
read_methods = ["QUERY"]
addresses = ["10.0.0.0/8"]
headers = { Authorization = "Bearer ${TOKEN}", X-A = "$$" }
"#,
    "[[components]]\npath = \"a.wasm\"\n[[components.outbound]]\norigin = \"http://[::1]:80\"\n",
    "[[endpoints]]\nurl = \"https://tools.example.com/tether\"\ntools = \"tools.json\"\nheaders = { A = \"${file:secret}\" }\n",
    r#"
[http]
trusted_proxies = ["10.0.0.0/8", "::1"]
[identities]
first_token = false
[[identities.providers]]
issuer = "https://login.example.com"
audience = ["tether"]
algorithms = ["RS256", "EdDSA"]
leeway = "30s"
tenant = { claim = "/org/id", allowed = ["acme"] }
roles = { claim = "groups", agent = ["bots"], approver = ["support"], admin = [] }
"#,
];

const JSON: &[&str] = &[
    r#"{"ToolTransport":{"TimeoutSeconds":20,"MaxAttempts":3,"MaxResponseBytes":262144}}"#,
    r#"{"components":[{"path":"a.wasm","databases":{"main":"sqlite"}}],"limits":{"memory":"64MiB"}}"#,
];

const TOOLS: &[&str] = &[
    r#"[{"name":"add_note","effect":"write","description":"Adds.","inputSchema":{"type":"object"}}]"#,
    r#"[{"name":"count","title":"T","effect":"read","description":"","inputSchema":{},"outputSchema":{"type":"integer"}}]"#,
];

const VALUES: &[&str] = &["127.0.0.1:8484", "2.5", "64MiB", "24h", "true", "-0", "1e400"];

/// A folder of this process's own, with a secret in it.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("foreign-{name}"));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("secret"), "a secret\n").unwrap();
    folder
}

/// Reads it; an error says something.
fn load(file: Option<&Path>, environment: &[(&str, &str)]) -> Result<(), TestCaseError> {
    let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    if let Err(error) = Config::load(file, environment, Flags::default()) {
        prop_assert!(!error.to_string().is_empty());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn a_configuration_in_toml(text in near(TOML)) {
        let folder = folder("toml");
        fs::write(folder.join("tools.json"), TOOLS[0]).unwrap();
        let file = folder.join("tether.toml");
        fs::write(&file, text).unwrap();
        load(Some(&file), &[("TOKEN", "secret")])?;
    }

    #[test]
    fn a_configuration_in_json(text in near(JSON)) {
        let file = folder("json").join("tether.json");
        fs::write(&file, text).unwrap();
        load(Some(&file), &[])?;
    }

    #[test]
    fn the_tools_of_an_endpoint(text in near(TOOLS)) {
        let folder = folder("tools");
        fs::write(folder.join("tools.json"), text).unwrap();
        let file = folder.join("tether.toml");
        fs::write(&file, TOML[2]).unwrap();
        load(Some(&file), &[])?;
    }

    #[test]
    fn the_environment(value in near(VALUES)) {
        for name in [
            "TETHER_LISTEN",
            "TETHER_DATA_DIR",
            "TETHER_TOOL_TRANSPORT__TIMEOUT_SECONDS",
            "TETHER_TOOL_TRANSPORT__JITTER",
            "TETHER_ACTIONS__EXPIRES_AFTER",
            "TETHER_LIMITS__MEMORY",
        ] {
            load(None, &[(name, value.as_str())])?;
        }
    }
}
