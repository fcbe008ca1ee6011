//! Clients that others wrote, over HTTP and over `tether mcp`: each lists, reads, proposes,
//! waits for a person who decides over HTTP, and fetches the result. Effects are counted in
//! the tool's database.

mod inspector;
mod installed;
mod visit;

pub(super) use installed::javascript;

use installed::python;
use visit::{Over, check_a_visit};

#[test]
fn the_typescript_client_of_sessions() {
    check_a_visit(Over::Http, "", || Some(javascript()?.command("session.mjs", &[])));
    check_a_visit(Over::Stdio, "", || Some(javascript()?.command("session.mjs", &[])));
}

#[test]
fn the_typescript_client_without_sessions() {
    check_a_visit(Over::Http, "", || Some(javascript()?.command("stateless.mjs", &[])));
    check_a_visit(Over::Stdio, "", || Some(javascript()?.command("stateless.mjs", &[])));
}

#[test]
fn the_python_client_in_a_session() {
    check_a_visit(Over::Http, "legacy", || python("client.py"));
    check_a_visit(Over::Stdio, "legacy", || python("client.py"));
}

#[test]
fn the_python_client_that_finds_out_what_the_server_speaks() {
    check_a_visit(Over::Http, "auto", || python("client.py"));
    check_a_visit(Over::Stdio, "auto", || python("client.py"));
}
