//! What Tether stands beside.

pub(crate) mod axum;
pub(crate) mod disk;
pub(crate) mod express;
pub(crate) mod sqlite;

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::Context;
use rusqlite::Connection;

/// The tickets that `examples/tickets` begins with.
const TICKETS: &str = include_str!("../../../../examples/tickets/migrations/0001-tickets.sql");

/// A server that stands beside Tether. It is killed when it is dropped.
pub(crate) struct Peer {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Peer {
    /// Starts a program that prints the port that it listens on.
    fn start(command: &mut Command) -> anyhow::Result<Self> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let output = child.stdout.take().context("its standard output is ours")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let port: u16 = line.trim().parse().with_context(|| format!("it tells no port: {line:?}"))?;
        Ok(Self { child, address: ([127, 0, 0, 1], port).into() })
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Makes the database that Tether makes for `tickets`, without what Tether adds.
pub(crate) fn make_tickets(path: &Path) -> anyhow::Result<()> {
    let database = Connection::open(path)?;
    database.pragma_update(None, "journal_mode", "wal")?;
    Ok(database.execute_batch(TICKETS)?)
}
