//! Tools that change nothing. The host may run them again at any time.

use tether_sdk::prelude::*;

use crate::ticket::{State, Ticket, find, not_found};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetTicket {
    /// The ticket's number.
    ticket_id: i64,
}

/// Look up one ticket by its number.
#[tool(read, title = "Get ticket")]
pub fn get_ticket(call: &Read, args: GetTicket) -> Result<Ticket, ToolError> {
    find(call, args.ticket_id)?.ok_or_else(|| not_found(args.ticket_id))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListTickets {
    /// Only tickets in this state.
    state: Option<State>,
    /// How many at most.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: u32,
}

fn default_limit() -> u32 {
    20
}

#[derive(Serialize, JsonSchema)]
pub struct Tickets {
    tickets: Vec<Ticket>,
}

/// List tickets, the newest first.
#[tool(read, title = "List tickets")]
pub fn list_tickets(call: &Read, args: ListTickets) -> Result<Tickets, ToolError> {
    let tickets = call.query(
        "main",
        "SELECT id, title, state, amount_cents, currency FROM tickets
         WHERE $1 IS NULL OR state = $1 ORDER BY id DESC LIMIT $2",
        params![args.state.map(State::as_str), args.limit],
    )?;
    Ok(Tickets { tickets })
}
