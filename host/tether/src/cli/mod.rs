//! The command line: one file for each command.

mod actions;
mod audit;
mod build;
mod call;
mod demo;
mod gateway;
mod inspect;
mod mcp;
mod serve;
mod show;
#[cfg(test)]
mod tests;
mod token;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tether_runner::{LoadError, LoadProblem};

use crate::config::ConfigError;

/// A tool host that does a confirmed write once
#[derive(Debug, Parser)]
#[command(name = "tether", version, arg_required_else_help = true, after_help = EXAMPLE)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLE: &str = "\
Example:
  tether serve tickets.wasm
  tether call get_ticket --args '{\"ticket_id\": 42}'

Exit codes: 0 it worked, 1 it did not, 2 wrong usage or configuration.";

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Serve),
    Demo(demo::Demo),
    Build(build::Build),
    Inspect(inspect::Inspect),
    Call(call::Call),
    Mcp(mcp::Mcp),
    Actions(actions::Actions),
    Token(token::Token),
    Audit(audit::Audit),
}

/// The command line, or what it names, is wrong: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Usage(String);

/// Runs a command to its exit code. What goes wrong is said on standard error.
pub fn run(cli: Cli) -> ExitCode {
    #[cfg(debug_assertions)]
    crate::fault::obey_environment();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&anyhow::Error::new(error).context("cannot start threads")),
    };
    let done = runtime.block_on(async {
        match cli.command {
            Command::Serve(command) => command.run().await,
            Command::Demo(command) => command.run().await,
            Command::Build(command) => command.run().await,
            Command::Inspect(command) => command.run().await,
            Command::Call(command) => command.run().await,
            Command::Mcp(command) => command.run().await,
            Command::Actions(command) => command.run().await,
            Command::Token(command) => command.run().await,
            Command::Audit(command) => command.run().await,
        }
    });
    // What still blocks, such as a read of standard input, holds up nobody.
    runtime.shutdown_background();
    done.unwrap_or_else(|error| failed(&error))
}

fn failed(error: &anyhow::Error) -> ExitCode {
    // One line: what is wrong, then why.
    let why: Vec<_> = error.chain().skip(1).map(ToString::to_string).collect();
    let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join(": ")) };
    eprintln!("error: {error}{why}");
    ExitCode::from(if is_usage(error) { 2 } else { 1 })
}

/// Whether what was said wrong is for whoever said it to mend: the command line, the
/// configuration, or a component that they name.
fn is_usage(error: &anyhow::Error) -> bool {
    let of_component = error.downcast_ref::<LoadError>().map(|error| &error.problem);
    error.is::<Usage>()
        || error.is::<ConfigError>()
        || of_component.is_some_and(|problem| !matches!(problem, LoadProblem::NotKept { .. }))
}

/// Prints a line. A reader that went away, as in `| head`, is no failure.
fn say(line: impl AsRef<str>) {
    let _ = writeln!(io::stdout(), "{}", line.as_ref());
}
