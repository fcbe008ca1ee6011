//! A read: one SQL look-up.

use crate::load::{self, Line};
use crate::node;
use crate::peer::{self, express};
use crate::rounds::interleaved;
use crate::server::Setup;
use crate::stage::Stage;
use crate::table::{Goal, Table};

const CONNECTIONS: usize = 32;
const WORK: &str = "a read (one SQL look-up), 32 connections";
const EXPRESS: &str = "the same look-up in Express with better-sqlite3";
const AXUM: &str = "the same look-up in a bare axum handler";

pub(super) fn measure(stage: &Stage, table: &mut Table) -> anyhow::Result<()> {
    let server = Setup::new(stage, &[stage.component("tickets")?], stage.fresh("reads")).start()?;
    let database = stage.fresh_folder("reads-peers")?.join("tickets.db");
    peer::make_tickets(&database)?;
    let axum = peer::axum::start(&database)?;
    let express = express::start(stage, &database)?;

    // The very same bytes to each.
    let request = server.api.call("get_ticket", r#"{"ticket_id":42}"#);
    let rate = |address| {
        load::rate(address, CONNECTIONS, stage.round(), || {
            let request = request.clone();
            async move |line: &mut Line| line.ask(&request).await.map(drop)
        })
    };
    let (mut ours, mut bare) = (|| rate(server.address), || rate(axum.address));
    let [value, bare] = if let Some(express) = &express {
        let mut theirs = || rate(express.address);
        let [value, theirs, bare] = interleaved(stage.rounds(), [&mut ours, &mut theirs, &mut bare])?;
        table.add(WORK, value, Some((EXPRESS, theirs)), "1/s", Goal::RatioAtLeast(3.0));
        [value, bare]
    } else {
        table.skip(WORK, EXPRESS, "1/s", Goal::RatioAtLeast(3.0), node::MISSING);
        interleaved(stage.rounds(), [&mut ours, &mut bare])?
    };
    table.add(WORK, value, Some((AXUM, bare)), "1/s", Goal::RatioAtLeast(0.5));
    Ok(())
}
