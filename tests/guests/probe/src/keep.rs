//! Writes that keep what they are given, to see whether it arrives unchanged.

use tether_sdk::prelude::*;

use crate::reads::Verbatim;
use crate::writes::effect;

/// Leaves its arguments as a note, and gives them back, both to the letter.
#[tool(write)]
pub fn probe_keep(call: &Write, args: Verbatim) -> Result<Verbatim, ToolError> {
    call.once("main", |tx| {
        effect(call, tx, args.text())?;
        Ok(args)
    })
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Numbers {
    integer: Option<i64>,
    real: Option<f64>,
}

/// Leaves two numbers in the table `numbers`, and gives back what it then holds.
#[tool(write)]
pub fn probe_numbers(call: &Write, args: Numbers) -> Result<Numbers, ToolError> {
    call.once("main", |tx| {
        let (integer, real) = tx.query_one(
            "INSERT INTO numbers (key, integer, real) VALUES ($1, $2, $3) RETURNING integer, real",
            params![call.request_id(), args.integer, args.real],
        )?;
        Ok(Numbers { integer, real })
    })
}
