//! The call of a read, which is also what a write can do besides writing.

use crate::bindings::tether::tool::database::Connection;
use crate::bindings::tether::tool::{transport, types};
use crate::database::{DatabaseError, FromRow, Value, at_most_one, exactly_one, raw, typed};
use crate::http::{HttpError, Request, Response};

/// The call of a read, or of a write's preview. It has no way to change a
/// database, and the host refuses its requests every unsafe method.
///
/// `main` is the component's own database for the caller's tenant; the
/// operator may grant others by name.
#[derive(Debug)]
pub struct Read {
    invocation: types::Invocation,
}

impl Read {
    pub(crate) fn new(invocation: types::Invocation) -> Self {
        Self { invocation }
    }

    /// The call's idempotency key: 32 hex digits, the same in every attempt.
    /// Of a write it is the id of the action that a person confirms.
    pub fn request_id(&self) -> &str {
        &self.invocation.request_id
    }

    /// The name of the tool that was called.
    pub fn tool(&self) -> &str {
        &self.invocation.tool
    }

    /// The tenant for whom the call is made.
    pub fn tenant(&self) -> &str {
        &self.invocation.tenant
    }

    /// Who asked for it; of a write, who proposed it.
    pub fn user(&self) -> &str {
        &self.invocation.user
    }

    /// Which attempt of the call this is, counted from 1.
    pub fn attempt(&self) -> u32 {
        self.invocation.attempt
    }

    /// Milliseconds that this attempt had for itself when it began; waiting in
    /// [`send`](Self::send) does not count.
    pub fn timeout_ms(&self) -> u32 {
        self.invocation.timeout_ms
    }

    /// The rows of a `SELECT` on committed data, outside any transaction of
    /// this call.
    ///
    /// # Errors
    ///
    /// What the database says; [`DatabaseError::Mismatch`] where a row is no `T`.
    pub fn query<T: FromRow>(
        &self,
        database: &str,
        sql: &str,
        parameters: Vec<Value>,
    ) -> Result<Vec<T>, DatabaseError> {
        typed(Connection::open(database)?.query(sql, &raw(parameters))?)
    }

    /// The only row.
    ///
    /// # Errors
    ///
    /// As [`query`](Self::query); [`DatabaseError::Mismatch`] also where there
    /// is no row, or more than one.
    pub fn query_one<T: FromRow>(
        &self,
        database: &str,
        sql: &str,
        parameters: Vec<Value>,
    ) -> Result<T, DatabaseError> {
        exactly_one(self.query(database, sql, parameters)?)
    }

    /// The only row, if there is one.
    ///
    /// # Errors
    ///
    /// As [`query`](Self::query); [`DatabaseError::Mismatch`] also where there
    /// is more than one.
    pub fn query_optional<T: FromRow>(
        &self,
        database: &str,
        sql: &str,
        parameters: Vec<Value>,
    ) -> Result<Option<T>, DatabaseError> {
        at_most_one(self.query(database, sql, parameters)?)
    }

    /// Sends a request under the host's policy: only to destinations that the
    /// operator granted, with the call's key, repeated by the host in a read
    /// and sent at most once in a write.
    ///
    /// A response of any status is `Ok`; see
    /// [`Response::error_for_status`].
    ///
    /// # Errors
    ///
    /// [`HttpError::NotSent`] and [`HttpError::OutcomeUnknown`] where no
    /// answer came, [`HttpError::Denied`] where the host did not send it.
    pub fn send(&self, request: Request) -> Result<Response, HttpError> {
        Ok(transport::send(&request.into())?.into())
    }
}
