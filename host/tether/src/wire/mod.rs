//! What goes over the wire as JSON. Only here are the names of fields known, and
//! no type of this module is known to the floors below.

mod action;
mod call;
pub mod evidence;
mod handler;
mod health;
mod history;
mod ledger;
mod manifest;
mod problem;
mod request;
pub mod seen;
mod splice;
#[cfg(test)]
mod tests;
mod time;
mod token;
mod tool;

pub use action::{Action, ActionList, Cause, Effect, Status, Viewed};
pub use call::{ReadAnswer, ReadStatus};
pub use handler::{Component, Endpoint};
pub use health::Health;
pub use history::{ActionStatus, History, HistoryEvent};
pub use ledger::{LedgerEntry, LedgerFact, SentAnswer};
pub use manifest::{Manifest, Migration};
pub use problem::{Problem, Violation};
pub use request::{CallRequest, ConfirmRequest, DeclineRequest, InvalidBody};
pub use time::Moment;
pub use token::{
    NewToken, SeenToken, SeenTokens, Token, TokenList, TokenRequest, TokenRole, life as token_life,
    token_body,
};
pub use tool::{Tool, ToolEffect, ToolList};
