//! A ticket, as the database keeps it and as tools show it.

use std::fmt;

use tether_sdk::prelude::*;

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Ticket {
    pub id: i64,
    pub title: String,
    pub state: State,
    #[serde(flatten)]
    pub price: Price,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Open,
    Closed,
    Void,
}

/// Whole cents: sums of money are never floating-point numbers.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Price {
    pub amount_cents: i64,
    /// ISO 4217, such as `EUR`.
    pub currency: String,
}

impl State {
    pub fn as_str(self) -> &'static str {
        match self {
            State::Open => "open",
            State::Closed => "closed",
            State::Void => "void",
        }
    }
}

/// Such as `45.00 EUR`, for people.
impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, cents) = (self.amount_cents / 100, self.amount_cents % 100);
        write!(f, "{whole}.{cents:02} {}", self.currency)
    }
}

/// The ticket of that number, if there is one.
pub fn find(call: &Read, id: i64) -> Result<Option<Ticket>, DatabaseError> {
    call.query_optional(
        "main",
        "SELECT id, title, state, amount_cents, currency FROM tickets WHERE id = $1",
        params![id],
    )
}

pub fn not_found(id: i64) -> ToolError {
    refused("TICKET_NOT_FOUND", format!("there is no ticket {id}"))
}
