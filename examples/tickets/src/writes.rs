//! Tools that change something. A person confirms each call before it runs.

use tether_sdk::prelude::*;

use crate::ticket::{State, find, not_found, price};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VoidTicket {
    /// The ticket's number.
    ticket_id: i64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Voided {
    ticket_id: i64,
}

/// Void an open ticket, for good.
#[tool(write, title = "Void ticket", preview = preview_void)]
pub fn void_ticket(call: &Write, args: VoidTicket) -> Result<Voided, ToolError> {
    let VoidTicket { ticket_id } = args;
    call.once("main", |tx| {
        // The condition is part of the change: whatever the preview saw may
        // have changed since.
        let changed = tx.execute(
            "UPDATE tickets SET state = 'void' WHERE id = $1 AND state = 'open'",
            params![ticket_id],
        )?;
        if changed == 1 {
            return Ok(Voided { ticket_id });
        }
        let state: Option<State> =
            tx.query_optional("SELECT state FROM tickets WHERE id = $1", params![ticket_id])?;
        Err(state.map_or_else(|| not_found(ticket_id), |state| not_open(ticket_id, state)))
    })
}

/// Refuses what could only fail, before anybody is asked.
fn preview_void(call: &Read, args: VoidTicket) -> Result<Option<String>, ToolError> {
    let ticket = find(call, args.ticket_id)?.ok_or_else(|| not_found(args.ticket_id))?;
    if ticket.state != State::Open {
        return Err(not_open(ticket.id, ticket.state));
    }
    let (state, price) = (ticket.state.as_str(), price(ticket.amount_cents, &ticket.currency));
    Ok(Some(format!("Void ticket {} ({state}, {price})", ticket.id)))
}

fn not_open(id: i64, state: State) -> ToolError {
    let state = state.as_str();
    refused("TICKET_NOT_OPEN", format!("ticket {id} is {state}, not open"))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenTicket {
    /// What the ticket is for.
    #[schemars(length(min = 1, max = 200))]
    title: String,
    /// The price in whole cents.
    #[schemars(range(min = 0))]
    amount_cents: i64,
    /// ISO 4217, such as `EUR`.
    #[schemars(regex(pattern = "^[A-Z]{3}$"))]
    currency: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Opened {
    ticket_id: i64,
}

/// Open a new ticket.
#[tool(write, title = "Open ticket", preview = preview_open)]
pub fn open_ticket(call: &Write, args: OpenTicket) -> Result<Opened, ToolError> {
    call.once("main", |tx| {
        let ticket_id = tx.query_one(
            "INSERT INTO tickets (title, amount_cents, currency) VALUES ($1, $2, $3) RETURNING id",
            params![args.title, args.amount_cents, args.currency],
        )?;
        Ok(Opened { ticket_id })
    })
}

fn preview_open(_call: &Read, args: OpenTicket) -> Result<Option<String>, ToolError> {
    let price = price(args.amount_cents, &args.currency);
    Ok(Some(format!("Open ticket “{}” ({price})", args.title)))
}
