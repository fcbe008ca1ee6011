//! Whose yes falls because of how the host was started.

use serde_json::json;

use crate::support::{Api, Server, Setup};

/// The API with a fresh token of this user, which `by` makes.
fn with_token(by: &Api, user: &str, role: &str) -> Api {
    let made = by.post("/v1/tokens", &json!({"user": user, "roles": [role]}).to_string());
    Api { token: made.check("201").str("token").to_owned(), ..by.clone() }
}

/// The same after a restart.
fn now(server: &Server, before: Api) -> Api {
    Api { address: server.api.address, ..before }
}

#[test]
fn the_yes_of_the_operator_falls_with_the_hosts_own_token() {
    let people = "[actions]\npeople = 2\n";
    let mut server = Setup::of(&["probe"]).config("tether.toml", people).start();
    let [bot, ann, eve] = [("bot", "agent"), ("ann", "approver"), ("eve", "admin")]
        .map(|(user, role)| with_token(&server.api, user, role));
    let id = bot.propose("probe_write", r#"{"note":"by two"}"#);
    server.api.confirm(&id, "{}").check("200 Pending");

    server.setup.folder().file("tether.toml", format!("{people}[identities]\nfirst_token = false\n"));
    server.restart();
    let [ann, eve] = [ann, eve].map(|before| now(&server, before));
    let answer = ann.confirm(&id, "{}");
    let told = answer.check("409 Conflict ACTION_OUTDATED").str("errorMessage");
    assert!(told.starts_with("operator said yes, and may not decide about it any more."), "{told}");
    assert_eq!(server.effects(), []);
    // With a token of that name it counts again.
    let _ = with_token(&eve, "operator", "approver");
    ann.confirm(&id, "{}").check("200 Succeeded");
    assert_eq!(server.effects_of(&id), 1);
}
