//! A box office's tickets: two reads, and two writes that a person confirms.
//!
//! Copy this folder to begin a component of your own.

mod reads;
mod ticket;
mod writes;

use reads::{get_ticket, list_tickets};
use tether_sdk::prelude::*;
use writes::{open_ticket, void_ticket};

tether_sdk::component! {
    tools: [get_ticket, list_tickets, open_ticket, void_ticket],
    migrations: [
        migration("main", "0001-tickets", include_str!("../migrations/0001-tickets.sql")),
    ],
}
