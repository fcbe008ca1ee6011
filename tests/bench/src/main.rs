//! Tether beside others that do the same work: see `docs/benchmarks.md`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::stage::Stage;
use crate::table::Table;

mod component;
mod guests;
mod load;
mod node;
mod peer;
mod rounds;
mod rows;
mod server;
mod stage;
mod table;
mod work;

/// Measure Tether beside others that do the same work, and say which goals are met
#[derive(Debug, Parser)]
struct Arguments {
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,

    /// Take under two minutes: fewer and shorter rounds, 100,000 stored actions
    #[arg(long)]
    quick: bool,

    /// Only work whose name begins so: reads, writes, lone, stored, instances, memory, start
    #[arg(long, value_name = "WORK")]
    only: Vec<String>,

    /// Measure this binary, instead of one that is built
    #[arg(long, value_name = "FILE")]
    tether: Option<PathBuf>,

    /// Be the bare axum server over this database
    #[arg(long, value_name = "DATABASE", hide = true)]
    be_axum: Option<PathBuf>,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    if let Some(database) = &arguments.be_axum {
        peer::axum::serve(database)?;
        return Ok(ExitCode::SUCCESS);
    }
    let stage = Stage::set_up(arguments.quick, arguments.tether)?;
    let chosen = |name: &str| {
        arguments.only.is_empty() || arguments.only.iter().any(|start| name.starts_with(start.as_str()))
    };
    let mut table = Table::default();
    for (name, measure) in work::ALL {
        if chosen(name) {
            eprintln!("{name} …");
            measure(&stage, &mut table)?;
        }
    }
    if arguments.json {
        println!("{}", table.json());
    } else {
        print!("{table}");
    }
    Ok(ExitCode::SUCCESS)
}
