mod endpoints;
mod identities;
mod inbox;
mod mcp;
mod outbound;
mod rules;
mod webhooks;

use std::fs;
use std::time::Duration;

use super::*;
use crate::scratch::Scratch;

/// Loads the first of these files, by name and text, in a folder of their own.
fn load(files: &[(&str, &str)], environment: &[(&str, &str)]) -> Result<Config, String> {
    let folder = Scratch::new().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let path = folder.path().join(files[0].0);
    let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Config::load(Some(&path), environment, Flags::default()).map_err(|error| error.to_string())
}

fn load_file(name: &str, text: &str, environment: &[(&str, &str)]) -> Result<Config, String> {
    load(&[(name, text)], environment)
}

fn toml(text: &str) -> Result<Config, String> {
    load_file("tether.toml", text, &[])
}

fn environment(variables: &[(&str, &str)]) -> Result<Config, String> {
    load_file("tether.toml", "", variables)
}

#[track_caller]
fn wrong(config: Result<Config, String>, parts: &[&str]) {
    let error = config.expect_err("it is refused");
    for part in parts {
        assert!(error.contains(part), "{part:?} is missing in: {error}");
    }
}

#[test]
fn without_anything_there_are_the_documented_defaults() {
    let config = Config::load(None, [], Flags::default()).unwrap();
    assert_eq!(config.listen.to_string(), "127.0.0.1:8484");
    assert_eq!(config.data_dir, Path::new("tether-data"));
    assert_eq!(config.retry, RetryPolicy::default());
    assert_eq!(config.max_response_bytes, 262_144);
    assert_eq!(config.actions.max_attempts, 3);
    assert_eq!(config.actions.rules.default.expires_after, Duration::from_secs(86_400));
    assert_eq!(config.actions.keep_results, Duration::from_secs(30 * 86_400));
}

#[test]
fn the_documented_file_is_read() {
    let config = toml(
        r#"
        listen   = "127.0.0.1:9000"
        data_dir = "data"
        [tool_transport]
        timeout_seconds    = 2.5
        max_attempts       = 1
        max_response_bytes = 1024
        [actions]
        max_attempts  = 5
        expires_after = "90s"
        [[components]]
        path = "tickets.wasm"
        [components.databases]
        main = "sqlite"
        crm  = "sqlite:/srv/crm.db"
        log  = { sqlite = "logs/log.db", shared = true }
        [[components]]
        name = "other"
        path = "/opt/tickets.wasm"
        "#,
    )
    .unwrap();
    assert_eq!(config.retry, RetryPolicy::try_new(1, Duration::from_millis(2500)).unwrap());
    assert_eq!(config.max_response_bytes, 1024);
    assert_eq!(config.actions.max_attempts, 5);
    assert_eq!(config.actions.rules.default.expires_after, Duration::from_secs(90));
    let [tickets, other] = &config.components[..] else { panic!("two components") };
    // Relative paths start at the file.
    let base = config.data_dir.parent().unwrap();
    assert!(base.is_absolute());
    assert_eq!(tickets.path, base.join("tickets.wasm"));
    assert_eq!(tickets.name.as_str(), "tickets");
    let log = base.join("logs/log.db");
    assert_eq!(
        tickets.grants.to_string(),
        format!(
            "database crm sqlite:/srv/crm.db\ndatabase log shared sqlite:{}\ndatabase main sqlite\n",
            log.display()
        )
    );
    assert_eq!((other.name.as_str(), other.path.as_path()), ("other", Path::new("/opt/tickets.wasm")));
    assert_eq!(other.grants.to_string(), "database main sqlite\n");
}

#[test]
fn the_block_of_the_tool_endpoint_page_works_unchanged() {
    let text = r#"{"ToolTransport": {"TimeoutSeconds": 7, "MaxAttempts": 2, "MaxResponseBytes": 1000}}"#;
    let config = load_file("tether.json", text, &[]).unwrap();
    assert_eq!(config.retry, RetryPolicy::try_new(2, Duration::from_secs(7)).unwrap());
    assert_eq!(config.max_response_bytes, 1000);
}

#[test]
fn flags_go_before_the_environment_and_that_before_the_file() {
    let text = "listen = \"127.0.0.1:1\"\n[tool_transport]\nmax_attempts = 1\ntimeout_seconds = 1";
    let variables = [
        ("TETHER_LISTEN", "127.0.0.1:2"),
        ("TETHER_TOOL_TRANSPORT__TIMEOUT_SECONDS", "2"),
        ("TETHER_DATA_DIR", "elsewhere"),
    ];
    let config = load_file("tether.toml", text, &variables).unwrap();
    assert_eq!(config.listen.port(), 2);
    assert_eq!(config.data_dir, Path::new("elsewhere"));
    assert_eq!(config.retry, RetryPolicy::try_new(1, Duration::from_secs(2)).unwrap());

    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let flags = Flags {
        listen: Some("127.0.0.1:3".parse().unwrap()),
        data_dir: Some("flag".into()),
        components: vec!["a/tickets.wasm".into()],
    };
    let config = Config::load(None, variables, flags).unwrap();
    assert_eq!(config.listen.port(), 3);
    assert_eq!(config.data_dir, Path::new("flag"));
    assert_eq!(config.components[0].grants.to_string(), "database main sqlite\n");
}

#[test]
fn jitter_is_off_unless_it_is_asked_for() {
    let jittery = RetryPolicy::default().with_jitter(true);
    assert_eq!(toml("[tool_transport]\njitter = true").unwrap().retry, jittery);
    assert_eq!(environment(&[("TETHER_TOOL_TRANSPORT__JITTER", "true")]).unwrap().retry, jittery);
    wrong(toml("[tool_transport]\njitter = 0.5"), &["`tool_transport.jitter`", "true or false"]);
}

#[test]
fn a_variable_that_would_set_a_section_is_refused() {
    for name in ["TETHER_TOOL_TRANSPORT", "TETHER_COMPONENTS"] {
        wrong(environment(&[(name, "3")]), &[name, "one by one"]);
    }
}

#[test]
fn an_unknown_key_is_named_with_its_place_and_the_nearest_known_one() {
    let check = |text: &str, parts: &[&str]| wrong(toml(text), parts);
    check(
        "[tool_transport]\ntimeout_second = 20",
        &["`tool_transport.timeout_second`", "`timeout_seconds`?"],
    );
    check("[tool_transprt]\nmax_attempts = 1", &["`tool_transprt`", "`tool_transport`?"]);
    check("[[components]]\npath = \"a\"\npaht = \"b\"", &["`components[0].paht`", "`path`?"]);
    check("zzz = 1", &["`zzz`", "known here", "listen"]);
    check(
        "[[components]]\npath = \"a\"\n[components.databases]\nmain = { sqlite = \"x\", share = true }",
        &["`components[0].databases.main.share`", "`shared`?"],
    );
    wrong(
        environment(&[("TETHER_TOOL_TRANSPORT__TIMEOUT", "20")]),
        &["TETHER_TOOL_TRANSPORT__TIMEOUT sets no known key", "TETHER_TOOL_TRANSPORT__TIMEOUT_SECONDS?"],
    );
}

#[test]
fn variables_that_are_not_ours_are_let_be() {
    let config = environment(&[
        ("TETHER_LOG", "debug"),
        ("TETHER_URL", "http://x"),
        ("TETHER_PORT_8484_TCP_ADDR", "10.0.0.1"),
        ("OTHER__KEY", "x"),
    ]);
    config.unwrap();
}

#[test]
fn values_out_of_range_are_told_the_range() {
    let check = |text: &str, parts: &[&str]| wrong(toml(text), parts);
    check("[tool_transport]\nmax_attempts = 0", &["`tool_transport.max_attempts` is 0", "from 1 to 10"]);
    check("[tool_transport]\nmax_attempts = 11", &["is 11", "from 1 to 10"]);
    check("[tool_transport]\nmax_attempts = \"many\"", &["is \"many\"", "from 1 to 10"]);
    check("[tool_transport]\ntimeout_seconds = 0", &["is 0", "more than 0 and at most 3600"]);
    check("[tool_transport]\ntimeout_seconds = -1", &["is -1", "at most 3600"]);
    check("[tool_transport]\nmax_response_bytes = 0", &["from 1 to 64MiB"]);
    check("[actions]\nexpires_after = 24", &["is 24", "such as \"90s\""]);
    check("[actions]\nexpires_after = \"0s\"", &["from \"1s\" to \"365d\""]);
    check("[actions]\nkeep_results = \"1m\"", &["from \"1h\""]);
    check("[limits]\nmemory = \"1KiB\"", &["from 1MiB to 4GiB"]);
    check("listen = \"localhost\"", &["is \"localhost\"", "IP address and a port"]);
    check("tool_transport = 1", &["must be a section"]);
    check("[components]\npath = \"a\"", &["must be a list", "[[components]]"]);
    wrong(
        environment(&[("TETHER_ACTIONS__MAX_ATTEMPTS", "99")]),
        &["environment variable TETHER_ACTIONS__MAX_ATTEMPTS", "is \"99\"", "from 1 to 10"],
    );
}

#[test]
fn what_cannot_be_is_refused() {
    let check = |text: &str, parts: &[&str]| wrong(toml(text), parts);
    check("[[components]]\npath = \"a\"\n[components.databases]\nmain = \"postgres\"", &["sqlite:PATH"]);
    check(
        "[[components]]\npath = \"a\"\n[components.databases]\nmain = \"sqlite:/srv/{tenat}.db\"",
        &["components[0].databases.main", "`{tenat}`", "`{tenant}`"],
    );
    check(
        "[[components]]\npath = \"a\"\n[components.databases]\n\"a b\" = \"sqlite\"",
        &["`a b` cannot be its name"],
    );
}

#[test]
fn a_tenant_may_have_every_place_unless_it_is_told_otherwise() {
    let places = |text: &str| toml(text).unwrap().limits.max_concurrent_per_tenant;
    assert_eq!(places(""), 256);
    assert_eq!(places("[limits]\nmax_concurrent = 8"), 8);
    assert_eq!(places("[limits]\nmax_concurrent = 8\nmax_concurrent_per_tenant = 2"), 2);
}

#[test]
fn a_component_has_a_path_and_a_name_of_its_own() {
    wrong(toml("[[components]]\nname = \"a\""), &["`components[0].path` is missing"]);
    wrong(toml("[[components]]\npath = \"my tool.wasm\""), &["give it a `name`"]);
    wrong(
        toml("[[components]]\npath = \"a/t.wasm\"\n[[components]]\npath = \"b/t.wasm\""),
        &["two components", "`t`"],
    );
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    wrong(toml("listen = "), &["tether.toml", "line 1"]);
    wrong(load_file("t.json", "{\"listen\":1,\"listen\":2}", &[]), &["t.json", "occurs twice"]);
    wrong(
        load_file("t.json", "{\"MaxAttempts\":1,\"max_attempts\":2}", &[]),
        &["`max_attempts` is written twice"],
    );
    let missing = Config::load(Some(Path::new("/no/such/tether.toml")), [], Flags::default());
    wrong(missing.map_err(|error| error.to_string()), &["/no/such/tether.toml", "--config"]);
}

#[test]
fn every_key_is_documented() {
    let document = include_str!("../../../../docs/configuration.md");
    for section in [
        "",
        "[tool_transport]",
        "[actions]",
        "[[rules]]",
        "[http]",
        "[identities]",
        "[[identities.providers]]",
        "[inbox]",
        "[mcp]",
        "[limits]",
        "[[components]]",
        "[[components]]\n[[components.outbound]]",
        "[[endpoints]]",
        "[[webhooks]]",
    ] {
        // The error about an unknown key names all that are known.
        let error = toml(&format!("{section}\nzzz = 1")).unwrap_err();
        let (_, known) = error.split_once("known here: ").unwrap_or_else(|| panic!("{section}: {error}"));
        for key in known.split(", ") {
            let row = |line: &str| {
                line.split('|').nth(1).is_some_and(|keys| keys.contains(&format!("`{key}`")))
                    || line.contains(&format!("**`[{key}]`**"))
                    || line.contains(&format!("**`[[{key}]]`**"))
                    || line.contains(&format!(".{key}]]`**"))
            };
            assert!(document.lines().any(row), "docs/configuration.md has no row for `{key}` of {section:?}");
        }
    }
}

/// The blocks of this language in a document.
fn blocks<'a>(document: &'a str, language: &str) -> Vec<&'a str> {
    let begin = format!("\n```{language}\n");
    document.split(&*begin).skip(1).filter_map(|rest| rest.split("\n```").next()).collect()
}

#[test]
fn every_example_of_the_documents_is_read() {
    let configuration = include_str!("../../../../docs/configuration.md");
    let readme = include_str!("../../../../README.md");
    let tools = blocks(configuration, "json");
    let examples: Vec<_> =
        [configuration, readme].into_iter().flat_map(|text| blocks(text, "toml")).collect();
    assert!(tools.len() == 1 && examples.len() >= 5, "{} and {}", tools.len(), examples.len());
    for example in examples {
        let secrets = [("EXAMPLE_TOKEN", "secret"), ("PAY_TOKEN", "secret")];
        let config = load(&[("tether.toml", example), ("tools.json", tools[0])], &secrets);
        config.unwrap_or_else(|error| panic!("{error}\n{example}"));
    }
}
