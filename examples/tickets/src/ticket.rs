//! A ticket, as the database keeps it and as tools show it.

use tether_sdk::prelude::*;

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Ticket {
    pub id: i64,
    pub title: String,
    pub state: State,
    /// Whole cents: a sum of money is never a floating-point number.
    pub amount_cents: i64,
    /// ISO 4217, such as `EUR`.
    pub currency: String,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Open,
    Closed,
    Void,
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

/// An amount for people, such as `45.00 EUR`.
pub fn price(amount_cents: i64, currency: &str) -> String {
    format!("{}.{:02} {currency}", amount_cents / 100, amount_cents % 100)
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

#[cfg(test)]
mod tests {
    use super::price;

    #[test]
    fn a_price_has_two_decimals() {
        assert_eq!(price(4_500, "EUR"), "45.00 EUR");
        assert_eq!(price(5, "CHF"), "0.05 CHF");
    }
}
