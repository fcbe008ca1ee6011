//! A write: proposed, then confirmed.

use std::cell::Cell;
use std::rc::Rc;

use anyhow::ensure;
use serde::Deserialize;

use crate::load::{self, Line};
use crate::node;
use crate::peer::express;
use crate::peer::{self, sqlite::Loop};
use crate::rounds::interleaved;
use crate::server::{Api, Server, Setup};
use crate::stage::Stage;
use crate::table::{Goal, Table};

const CONNECTIONS: usize = 64;
const WORK: &str = "propose and confirm of a write, 64 connections";
const EXPRESS: &str = "a bare write in Express: no proposal, no gateway";

const ARGUMENTS: &str = r#"{"title":"Concert, row 8","amount_cents":4500,"currency":"EUR"}"#;

pub(super) fn measure(stage: &Stage, table: &mut Table) -> anyhow::Result<()> {
    let server = Setup::new(stage, &[stage.component("tickets")?], stage.fresh("writes")).start()?;
    load::converse(server.address, async |line| execute(&server.api, line).await)?;
    let folder = stage.fresh_folder("writes-peers")?;
    let mut plain = Loop::make(&folder.join("plain.db"), &server.data)?;
    let beside = format!("plain SQLite, one commit after the other, {} rows each", plain.rows());
    let database = folder.join("tickets.db");
    peer::make_tickets(&database)?;
    let express = express::start(stage, &database)?;

    let mut ours = || rate(stage, &server);
    let mut plain = || plain.rate(stage.round());
    let beside_plain = |table: &mut Table, value, plain| {
        table.add(WORK, value, Some((&beside, plain)), "1/s", Goal::RatioAtLeast(1.0));
    };
    let Some(express) = &express else {
        let [value, plain] = interleaved(stage.rounds(), [&mut ours, &mut plain])?;
        beside_plain(table, value, plain);
        table.skip(WORK, EXPRESS, "1/s", Goal::RatioAtLeast(3.0), node::MISSING);
        return Ok(());
    };
    let keys = Rc::new(Cell::new(0));
    let mut theirs = || {
        load::rate(express.address, CONNECTIONS, stage.round(), || {
            let keys = Rc::clone(&keys);
            async move |line: &mut Line| {
                keys.set(keys.get() + 1);
                line.ask(&bare_write(keys.get())).await.map(drop)
            }
        })
    };
    let [value, plain, theirs] = interleaved(stage.rounds(), [&mut ours, &mut plain, &mut theirs])?;
    beside_plain(table, value, plain);
    table.add(WORK, value, Some((EXPRESS, theirs)), "1/s", Goal::RatioAtLeast(3.0));
    Ok(())
}

fn rate(stage: &Stage, server: &Server) -> anyhow::Result<f64> {
    load::rate(server.address, CONNECTIONS, stage.round(), || {
        let api = server.api.clone();
        async move |line: &mut Line| execute(&api, line).await
    })
}

/// Proposes a write, and confirms it.
async fn execute(api: &Api, line: &mut Line) -> anyhow::Result<()> {
    let action = propose(api, line).await?;
    confirm(api, line, &action).await
}

/// Proposes to open a ticket; the action's id.
pub(super) async fn propose(api: &Api, line: &mut Line) -> anyhow::Result<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Proposed {
        action_id: String,
    }
    let answer = line.ask(&api.call("open_ticket", ARGUMENTS)).await?;
    Ok(serde_json::from_slice::<Proposed>(answer)?.action_id)
}

/// Confirms an action, which must succeed by that.
pub(super) async fn confirm(api: &Api, line: &mut Line, action: &str) -> anyhow::Result<()> {
    #[derive(Deserialize)]
    struct Confirmed {
        status: String,
    }
    let answer = line.ask(&api.confirm(action)).await?;
    let Confirmed { status } = serde_json::from_slice(answer)?;
    ensure!(status == "Succeeded", "a confirmation came to {status}: {}", String::from_utf8_lossy(answer));
    Ok(())
}

/// A call of an endpoint, as Tether would send it.
fn bare_write(number: u64) -> Vec<u8> {
    let key = format!("{number:032x}");
    let body = format!(
        r#"{{"request_id":"{key}","tool":"open_ticket","tenant":"default","user":"operator","args":{ARGUMENTS}}}"#
    );
    load::post("/tools", &[("x-tether-idempotency-key", &key)], &body)
}
