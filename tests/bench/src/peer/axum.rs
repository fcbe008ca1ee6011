//! The same look-up in a bare axum handler: no Wasm, no gateway, a connection kept for
//! each thread, a statement kept for each connection.

use std::cell::OnceCell;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use anyhow::Context;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

use super::Peer;

#[derive(Deserialize)]
struct Call {
    args: Arguments,
}

#[derive(Deserialize)]
struct Arguments {
    ticket_id: i64,
}

#[derive(Serialize)]
struct Ticket {
    id: i64,
    title: String,
    state: String,
    amount_cents: i64,
    currency: String,
}

/// Starts it in a process of its own.
pub(crate) fn start(database: &Path) -> anyhow::Result<Peer> {
    Peer::start(Command::new(std::env::current_exe()?).arg("--be-axum").arg(database))
}

/// Is it, until the process is killed.
pub(crate) fn serve(database: &Path) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let path = "/v1/tools/get_ticket/calls";
    let router = Router::new().route(path, post(get_ticket)).with_state(Arc::new(database.to_owned()));
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        println!("{}", listener.local_addr()?.port());
        axum::serve(listener, router).await.context("it serves until it is killed")
    })
}

async fn get_ticket(
    State(database): State<Arc<PathBuf>>,
    Json(call): Json<Call>,
) -> Result<Json<Ticket>, StatusCode> {
    match find(&database, call.args.ticket_id) {
        Ok(Some(ticket)) => Ok(Json(ticket)),
        Ok(None) => Err(StatusCode::NOT_FOUND),
        Err(_) => Err(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

/// Microseconds: no reason to leave the thread.
fn find(database: &Path, id: i64) -> rusqlite::Result<Option<Ticket>> {
    thread_local! {
        static CONNECTION: OnceCell<Connection> = const { OnceCell::new() };
    }
    CONNECTION.with(|kept| {
        let connection = match kept.get() {
            Some(connection) => connection,
            None => {
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                let opened = Connection::open_with_flags(database, flags)?;
                kept.get_or_init(|| opened)
            }
        };
        let sql = "SELECT id, title, state, amount_cents, currency FROM tickets WHERE id = ?";
        let read = |row: &rusqlite::Row<'_>| {
            Ok(Ticket {
                id: row.get(0)?,
                title: row.get(1)?,
                state: row.get(2)?,
                amount_cents: row.get(3)?,
                currency: row.get(4)?,
            })
        };
        connection.prepare_cached(sql)?.query_row([id], read).optional()
    })
}
