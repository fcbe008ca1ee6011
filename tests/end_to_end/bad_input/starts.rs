//! Starts that cannot be.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use crate::support::{Setup, component};

/// A server of a file with these bytes does not start, and says this.
#[track_caller]
fn check_component(bytes: &[u8], parts: &[&str]) {
    let setup = Setup::of(&[]);
    let file = setup.folder().file("broken.wasm", bytes);
    let ran = setup.serving(file).refused();
    ran.check(2, &["error: component `broken`:"]);
    ran.check(2, parts);
}

#[test]
fn a_file_that_is_no_component_of_ours_says_what_it_is() {
    let whole = fs::read(component("tickets")).unwrap();
    check_component(&whole[..whole.len() / 2], &["damaged, incomplete", "build or copy it again"]);
    check_component(&whole[..6], &["it ends too soon"]);
    check_component(b"", &["no WebAssembly", "tether build"]);
    check_component(b"<html>not found</html>", &["no WebAssembly", "tether build"]);
    check_component(b"\0asm\x01\0\0\0", &["core WebAssembly module", "tether build"]);
    check_component(b"\0asm\x0d\0\x01\0", &["does not export `tether:tool/handler`", "tether-sdk"]);
}

#[test]
fn components_that_cannot_be_served_together_are_named() {
    let setup = Setup::of(&["tickets"]);
    let copy = setup.folder().file("copy.wasm", fs::read(component("tickets")).unwrap());
    setup.serving(copy).refused().check(2, &["offered by the component `tickets` as well"]);
    Setup::of(&["tickets", "tickets"]).refused().check(2, &["two components are named `tickets`"]);
    Setup::of(&[])
        .serving("nowhere/none.wasm")
        .refused()
        .check(2, &["cannot read nowhere/none.wasm", "check the path"]);
}

#[test]
fn a_tool_that_a_component_and_an_endpoint_offer_names_both() {
    let setup = Setup::of(&["tickets"]);
    let tool = r#"[{"name":"get_ticket","effect":"read","description":"x","inputSchema":{"type":"object"}}]"#;
    setup.folder().file("tools.json", tool);
    let config = "[[endpoints]]\nurl = \"http://127.0.0.1:9/x\"\ntools = \"tools.json\"\n";
    let ran = setup.config("tether.toml", config).refused();
    ran.check(2, &["`get_ticket`", "the component `tickets`", "the endpoint http://127.0.0.1:9/x"]);
}

#[test]
fn an_existing_database_that_is_missing_is_told_at_the_start() {
    let config = format!(
        "[[components]]\npath = {:?}\n[components.databases]\nmain = \"sqlite\"\ncrm = \"sqlite:nope/crm.db\"\n",
        component("tickets")
    );
    let ran = Setup::of(&[]).config("tether.toml", &config).refused();
    ran.check(2, &["`crm`", "`tickets`", "nope/crm.db", "never created"]);
}

#[test]
fn a_token_that_others_may_know_is_refused_with_the_way_out() {
    let mut server = Setup::of(&["tickets"]).start();
    server.kill();
    let token = server.file("token");
    fs::set_permissions(&token, fs::Permissions::from_mode(0o644)).unwrap();
    server.setup.refused().check(1, &["mode 644", "remove it", "chmod 600"]);
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&token, "short\n").unwrap();
    server.setup.refused().check(1, &["could be guessed", "remove it"]);
    fs::remove_file(&token).unwrap();
    server.restart();
    server.api.get("/v1/tools").check("200");
}

#[test]
fn a_lock_file_that_is_removed_lets_no_second_server_in() {
    let server = Setup::of(&["tickets"]).start();
    fs::remove_file(server.file("lock")).unwrap();
    let second = Setup::of(&["tickets"]).data_at(server.setup.data());
    second.refused().check(1, &["is in use by another tether", "--data-dir"]);
}

#[test]
fn a_data_folder_in_use_names_the_process_that_has_it() {
    let server = Setup::of(&["tickets"]).start();
    let holder = fs::read_to_string(server.file("lock")).unwrap();
    let second = Setup::of(&["tickets"]).data_at(server.setup.data());
    second.refused().check(1, &["is in use by another tether", holder.trim(), "--data-dir"]);
    server.api.call("get_ticket", r#"{"ticket_id":42}"#).check("200 Succeeded");
}

#[test]
fn a_lock_that_a_dead_process_left_stops_nobody() {
    let mut server = Setup::of(&["tickets"]).start();
    server.kill();
    assert!(server.file("lock").exists());
    server.restart();
    server.api.call("get_ticket", r#"{"ticket_id":42}"#).check("200 Succeeded");
}

#[test]
fn a_port_in_use_is_told_with_the_way_out() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let ran = Setup::of(&["tickets"]).listen(address).refused();
    ran.check(1, &[&address.to_string(), "another program listens there", "--listen"]);
}

#[test]
fn a_folder_that_cannot_be_written_is_told_with_the_way_out() {
    // Nobody, root included, can make a folder below a file.
    let setup = Setup::of(&["tickets"]);
    let file = setup.folder().file("file", "");
    let ran = setup.data_at(file.join("data")).refused();
    ran.check(1, &["file/data cannot be used", "--data-dir"]);
}

/// A configuration that is refused with these words.
#[track_caller]
fn check_config(text: &str, parts: &[&str]) {
    let ran = Setup::of(&["tickets"]).config("tether.toml", text).refused();
    ran.check(2, &["tether.toml"]);
    ran.check(2, parts);
}

#[test]
fn a_configuration_that_is_wrong_says_where_and_what_is_right() {
    check_config(
        "[tool_transport]\ntimeout_second = 5",
        &["`tool_transport.timeout_second`", "`timeout_seconds`"],
    );
    check_config("[tool_transports]\ntimeout_seconds = 5", &["did you mean `tool_transport`?"]);
    check_config("[actions]\nmax_attempts = 0", &["`actions.max_attempts` is 0", "from 1 to 10"]);
    check_config("[actions]\nexpires_after = \"soon\"", &["`actions.expires_after`", "\"24h\""]);
    check_config("listen = ", &["line 1"]);
    check_config("[[components]]\nname = \"x\"", &["path` is missing"]);
}

#[test]
fn a_variable_that_sets_nothing_names_the_nearest() {
    let setup = Setup::of(&["tickets"]).env("TETHER_TOOL_TRANSPORT__TIMEOUT_SECOND", "5");
    setup.refused().check(2, &["did you mean TETHER_TOOL_TRANSPORT__TIMEOUT_SECONDS?"]);
    let setup = Setup::of(&["tickets"]).env("TETHER_TOOL_TRANSPORT__TIMEOUT_SECONDS", "0");
    setup.refused().check(2, &["TETHER_TOOL_TRANSPORT__TIMEOUT_SECONDS is \"0\"", "more than 0"]);
}

#[test]
fn listening_beyond_loopback_is_refused() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:8484"] {
        Setup::of(&["tickets"])
            .listen(address)
            .refused()
            .check(2, &[address, "tether token create", "listen on 127.0.0.1"]);
    }
}
