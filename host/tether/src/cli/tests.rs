use clap::{CommandFactory, Parser};

use super::Cli;

fn parse(line: &str) -> Result<Cli, String> {
    Cli::try_parse_from(line.split_whitespace()).map_err(|error| error.to_string())
}

#[test]
fn the_command_line_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn every_command_has_an_example_in_its_help() {
    fn check(command: &clap::Command) {
        if command.get_name() != "help" {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Example"), "`{}` has no example", command.get_name());
        }
        command.get_subcommands().for_each(check);
    }
    check(&Cli::command());
}

#[test]
fn every_command_prints_json_on_request() {
    fn check(command: &clap::Command) {
        if command.has_subcommands() {
            command.get_subcommands().for_each(check);
        } else if command.get_name() != "mcp" {
            // That one prints nothing else.
            let json = command.get_arguments().any(|argument| argument.get_id() == "json");
            assert!(json, "`{}` has no --json", command.get_name());
        }
    }
    check(&Cli::command());
}

#[test]
fn examples_are_taken() {
    for line in [
        "tether serve",
        "tether serve a.wasm b.wasm --config tether.toml --listen 127.0.0.1:0 --data-dir d --log-format json",
        "tether build examples/tickets",
        "tether inspect tickets.wasm --json",
        "tether call get_ticket --args {} --key k --url http://localhost:1 --token t --json",
        "tether mcp --url http://localhost:1 --token t --data-dir d",
        "tether actions list --status pending --limit 200",
        "tether actions show 9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918",
        "tether actions confirm 9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918 --yes",
        "tether actions decline 9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918 --reason no",
        "tether actions history 9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918",
        "tether token create --user ann --role agent --role approver --tenant acme --expires 12h --json",
        "tether token list --tenant acme --url http://localhost:1",
        "tether token revoke 9c1e7b6a0f5d4c3b8a7e6d5c4b3a2918",
        "tether audit verify --data-dir d --json",
    ] {
        parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
}

#[test]
fn wrong_values_are_named() {
    let check = |line: &str, part: &str| {
        let error = parse(line).unwrap_err();
        assert!(error.contains(part), "{line}: {error}");
    };
    check("tether serv", "serve");
    check("tether serve --listen localhost", "--listen");
    check("tether call a/b", "1 to 128 characters");
    check("tether actions show 42", "32 lower-case hex digits");
    check("tether actions list --limit 201", "1..=200");
    check("tether actions list --status Done", "Pending");
    check("tether token create --user ann --role owner", "there are agent, approver and admin");
    check("tether token create --user ann --role agent --expires 11y", "from 1m to 3650d");
}

#[test]
fn help_shows_no_token() {
    let command = Cli::command();
    let call = command.find_subcommand("call").unwrap();
    let token = call.get_arguments().find(|argument| argument.get_id() == "token").unwrap();
    assert!(token.is_hide_env_values_set());
}
