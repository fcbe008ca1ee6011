//! Tokens, made on the command line.

use serde_json::Value;

use crate::support::{Api, Ran, Server, Setup, lend, tether};

/// `tether token` in the folder of `setup`, where no gateway has it.
fn in_folder(setup: &Setup, arguments: &[&str]) -> Ran {
    let data = setup.data().to_string_lossy();
    tether(setup.folder().path(), &[&["token"], arguments, &["--data-dir", &data]].concat())
}

/// `tether token` over the API of `server`.
fn over_api(server: &Server, arguments: &[&str]) -> Ran {
    let url = format!("http://{}", server.api.address);
    in_folder(&server.setup, &[arguments, &["--url", &url]].concat())
}

/// The API with another token.
fn with(server: &Server, token: &str) -> Api {
    Api { token: token.to_owned(), ..server.api.clone() }
}

#[test]
fn tokens_are_made_listed_and_revoked_over_the_api() {
    let server = Setup::of(&["probe"]).start();
    let made = over_api(&server, &["create", "--user", "ann", "--role", "approver", "--expires", "2h"]);
    made.check(0, &["ann of default: approver, until ", "shown this once"]);
    let token = made.stdout.trim();
    assert!(token.starts_with("tether_"), "{made:?}");
    with(&server, token).get("/v1/actions").check("200");
    with(&server, token).get("/v1/tools").check("403 FORBIDDEN");

    let listed = over_api(&server, &["list", "--json"]);
    listed.check(0, &[]);
    assert!(!listed.stdout.contains(token), "a token is told once");
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let id = listed["tokens"][0]["tokenId"].as_str().unwrap();
    let revoked = over_api(&server, &["revoke", id]);
    revoked.check(0, &[]);
    assert!(revoked.stdout.contains("revoked 20"), "{revoked:?}");
    with(&server, token).get("/v1/actions").check("401 UNAUTHENTICATED");
    over_api(&server, &["revoke", &"0".repeat(32)]).check(1, &["NOT_FOUND", "no such token"]);

    // Somebody else's token asks as somebody else.
    let other = ["create", "--user", "x", "--role", "agent", "--token", token];
    over_api(&server, &other).check(1, &["UNAUTHENTICATED"]);
}

#[test]
fn the_first_tokens_are_made_before_the_first_start_and_then_it_listens_anywhere() {
    let setup = Setup::of(&["probe"]).listen("0.0.0.0:0");
    lend(setup.data());
    setup.refused().check(2, &["0.0.0.0:0", "tether token create"]);
    let made = in_folder(&setup, &["create", "--user", "bot", "--role", "agent", "--tenant", "acme"]);
    made.check(0, &["bot of acme: agent"]);
    let token = made.stdout.trim().to_owned();
    let listed = in_folder(&setup, &["list"]);
    assert!(listed.stdout.contains("bot of acme: agent, until "), "{listed:?}");

    let mut server = setup.start();
    let agent = with(&server, &token);
    let action = agent.call("probe_nothing", "{}");
    assert_eq!(action.check("202 Pending").str("tenant"), "acme");
    // The operator is another tenant's.
    server.api.action(action.str("actionId")).check("404 ACTION_NOT_FOUND");
    // While the gateway has the folder it is asked itself.
    over_api(&server, &["list"]).check(0, &[]);
    server.kill();

    let id = listed.stdout.split(' ').next().unwrap();
    in_folder(&server.setup, &["revoke", id]).check(0, &[]);
    // The last one is revoked: nobody it was made for could come.
    server.setup.refused().check(2, &["0.0.0.0:0", "not revoked or over", "tether token create"]);
    in_folder(&server.setup, &["create", "--user", "ann", "--role", "approver"]).check(0, &[]);
    server.restart();
    with(&server, &token).get("/v1/tools").check("401 UNAUTHENTICATED");
}

#[test]
fn no_file_holds_a_token() {
    let setup = Setup::of(&[]);
    let made = in_folder(&setup, &["create", "--user", "ann", "--role", "admin", "--role", "agent"]);
    made.check(0, &["ann of default: agent admin"]);
    let token = made.stdout.trim().as_bytes().to_owned();
    let files = std::fs::read_dir(setup.data()).unwrap().flatten().filter(|file| file.path().is_file());
    let mut count = 0;
    for file in files {
        count += 1;
        let bytes = std::fs::read(file.path()).unwrap();
        // With what it begins with, and without.
        for part in [&token[..], &token[7..]] {
            assert!(!bytes.windows(part.len()).any(|window| window == part), "{file:?}");
        }
    }
    assert!(count > 0);
}

#[test]
fn what_is_no_token_is_said_at_once() {
    let setup = Setup::of(&[]);
    in_folder(&setup, &["create", "--user", "ann"]).check(2, &["--role"]);
    in_folder(&setup, &["create", "--user", "ann", "--role", "boss"]).check(2, &["\"boss\" is no role"]);
    let forever = ["create", "--user", "ann", "--role", "agent", "--expires", "forever"];
    in_folder(&setup, &forever).check(2, &["from 1m to 3650d"]);
    in_folder(&setup, &["revoke", "42"]).check(2, &["32 lower-case hex digits"]);
    // To look into a folder makes none.
    in_folder(&setup, &["list"]).check(2, &["there is no token"]);
    assert!(!setup.data().exists());
}

#[test]
fn where_no_gateway_answers_it_is_said_what_else_there_is() {
    let setup = Setup::of(&[]);
    // Nobody listens there any more.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{free}");
    let create = ["create", "--user", "ann", "--role", "agent"];
    let told = ["tether serve", "without --url and --token", "data folder"];
    in_folder(&setup, &[&create[..], &["--url", &url, "--token", "t"]].concat()).check(1, &told);
    // With no token to send there, either.
    in_folder(&setup, &[&create[..], &["--url", &url]].concat()).check(2, &["there is no token", told[1]]);
    in_folder(&setup, &create).check(0, &["shown this once"]);
}

#[test]
fn without_the_first_token_somebody_else_must_be_able_to_come_in() {
    let setup = Setup::of(&["probe"]).config("tether.toml", "[identities]\nfirst_token = false\n");
    lend(setup.data());
    setup.refused().check(2, &["first_token", "tether token create"]);
    let made = in_folder(&setup, &["create", "--user", "bot", "--role", "agent"]);
    made.check(0, &[]);
    let server = setup.start();
    assert_eq!(server.api.token, "", "no token is announced");
    assert!(!server.setup.data().join("token").exists());
    with(&server, made.stdout.trim()).get("/v1/tools").check("200");
}
