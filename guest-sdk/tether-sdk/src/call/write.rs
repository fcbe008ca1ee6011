//! The call of a write that a person confirmed.

use std::ops::Deref;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Read;
use crate::bindings::tether::tool::database::{Begun, Connection};
use crate::bindings::tether::tool::types;
use crate::database::{DatabaseError, Transaction};
use crate::error::{ToolError, failed};

/// The call of a confirmed write: all that [`Read`] can, and transactions.
/// A function that only reads takes `&Read`, and may be given a `&Write`.
///
/// A write that changes no database needs no transaction: it sends its request
/// and returns. Only the peer can then tell a repetition, by the call's key.
#[derive(Debug)]
pub struct Write {
    read: Read,
}

impl Deref for Write {
    type Target = Read;

    fn deref(&self) -> &Read {
        &self.read
    }
}

impl Write {
    pub(crate) fn new(invocation: types::Invocation) -> Self {
        Self { read: Read::new(invocation) }
    }

    /// Does the work of this write once, ever.
    ///
    /// The closure's output is recorded under the call's key in the same
    /// transaction as its changes: both survive, or neither. Where that
    /// committed in an earlier attempt, the closure does not run, and what it
    /// returned then is returned again. This is the main record: once it is
    /// there the action has succeeded with this output, so it comes last. After
    /// it the attempt can begin nothing and send nothing unsafe.
    ///
    /// Requests do not belong into the closure: the host sends none while a
    /// transaction is open.
    ///
    /// # Errors
    ///
    /// What the closure returns, and what the database says of beginning and
    /// committing. Nothing was changed then.
    pub fn once<T: Serialize + DeserializeOwned>(
        &self,
        database: &str,
        work: impl FnOnce(&Transaction) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        record(database, None, work)
    }

    /// Does one of several steps once, ever: as [`once`](Self::once), under a
    /// key of its own. A later attempt goes on where an earlier one ended.
    ///
    /// ```
    /// # use tether_sdk::prelude::*;
    /// # fn pay(call: &Write, amount: i64) -> Result<String, ToolError> {
    /// let order: i64 = call.step("main", "reserve", |tx| {
    ///     Ok(tx.query_one("INSERT INTO orders DEFAULT VALUES RETURNING id", params![])?)
    /// })?;
    /// let request = Request::post("https://pay.example/charges").json(&amount)?.step("charge");
    /// let receipt: String = call.send(request)?.error_for_status()?.json()?;
    /// call.once("main", |tx| {
    ///     tx.execute("UPDATE orders SET receipt = $1 WHERE id = $2", params![&receipt, order])?;
    ///     Ok(receipt)
    /// })
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`once`](Self::once).
    pub fn step<T: Serialize + DeserializeOwned>(
        &self,
        database: &str,
        step: &str,
        work: impl FnOnce(&Transaction) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        record(database, Some(step), work)
    }

    /// What an earlier attempt, or this one, recorded under a step; without
    /// beginning a transaction.
    ///
    /// # Errors
    ///
    /// What the database says; [`DatabaseError::Mismatch`] where the record is
    /// no `T`.
    pub fn recorded<T: DeserializeOwned>(
        &self,
        database: &str,
        step: &str,
    ) -> Result<Option<T>, DatabaseError> {
        let output = open(database)?.lookup(Some(step))?;
        output.map(|json| restore(&json)).transpose()
    }
}

fn record<T: Serialize + DeserializeOwned>(
    database: &str,
    step: Option<&str>,
    work: impl FnOnce(&Transaction) -> Result<T, ToolError>,
) -> Result<T, ToolError> {
    // Held to the end: a host may tie a transaction to its connection.
    let connection = open(database)?;
    let transaction = match connection.begin(step).map_err(DatabaseError::from)? {
        Begun::Recorded(json) => return Ok(restore(&json)?),
        Begun::Fresh(transaction) => Transaction::new(transaction),
    };
    let output = work(&transaction)?;
    let json = to_json(&output)?;
    transaction.commit(&json)?;
    Ok(output)
}

fn open(database: &str) -> Result<Connection, DatabaseError> {
    Ok(Connection::open(database)?)
}

fn restore<T: DeserializeOwned>(json: &str) -> Result<T, DatabaseError> {
    serde_json::from_str(json)
        .map_err(|error| DatabaseError::Mismatch(format!("the recorded output: {error}")))
}

/// The text that is recorded and answered: fields in the order of the type,
/// integers exact.
pub(crate) fn to_json(output: &impl Serialize) -> Result<String, ToolError> {
    serde_json::to_string(output).map_err(|error| failed("RESULT_INVALID", error.to_string()))
}
