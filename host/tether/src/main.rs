//! `tether`: see `tether --help`.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    tether::cli::run(tether::cli::Cli::parse())
}
