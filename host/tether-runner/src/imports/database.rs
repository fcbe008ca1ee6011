//! `tether:tool/database`: the component's view of the databases port.
//!
//! What a database may do is the port's to say. What one *call* may do is said
//! here: one transaction at a time, none after the main record, none in a read,
//! and no record of an output that the tool does not promise.

use std::sync::Arc;

use tether_core::fault::{self, Point};
use tether_core::id::{DatabaseName, StepName};
use tether_core::port::databases::{Begun, Connection, RowSet, SqlError, Transaction, Value};
use wasmtime::component::{Resource, ResourceTableError};

use crate::bindings::tether::tool::{database as wit, types};
use crate::guest::Guest;
use crate::guest::call::OutputError;

/// A granted database, open for one call.
pub struct OpenDatabase(Arc<dyn Connection>);

/// The transaction of a call.
pub struct OpenTransaction {
    work: Box<dyn Transaction>,
    main: bool,
}

/// Why an import did not do it: an answer for the guest, or the guest's end.
pub enum Fault {
    /// The guest may go on.
    Answer(wit::Error),
    /// It may not.
    Trap(wasmtime::Error),
}

impl From<SqlError> for Fault {
    fn from(error: SqlError) -> Self {
        Self::Answer(match error {
            SqlError::NotGranted => wit::Error::NotGranted,
            SqlError::ReadOnly => wit::Error::ReadOnly,
            SqlError::Constraint(message) => wit::Error::Constraint(message),
            SqlError::Busy => wit::Error::Busy,
            SqlError::TooLarge => wit::Error::TooLarge,
            SqlError::StorageFull => wit::Error::StorageFull,
            SqlError::Forbidden(message) => wit::Error::Forbidden(message),
            SqlError::Other(message) => wit::Error::Other(message),
        })
    }
}

impl From<OutputError> for Fault {
    fn from(error: OutputError) -> Self {
        Self::Answer(match error {
            OutputError::TooLarge { .. } => wit::Error::TooLarge,
            OutputError::Invalid(message) => wit::Error::InvalidOutput(message),
        })
    }
}

impl From<ResourceTableError> for Fault {
    fn from(error: ResourceTableError) -> Self {
        Self::Trap(error.into())
    }
}

impl From<wasmtime::Error> for Fault {
    fn from(error: wasmtime::Error) -> Self {
        Self::Trap(error)
    }
}

fn step_name(step: Option<String>) -> Result<Option<StepName>, SqlError> {
    let step = step.map(|step| step.parse::<StepName>()).transpose();
    step.map_err(|error| SqlError::Forbidden(error.to_string()))
}

impl wit::Host for Guest {
    fn convert_error(&mut self, fault: Fault) -> wasmtime::Result<wit::Error> {
        match fault {
            Fault::Answer(error) => {
                if matches!(error, wit::Error::ReadOnly) {
                    self.call()?.tried_to_write();
                }
                Ok(error)
            }
            Fault::Trap(trap) => Err(trap),
        }
    }
}

impl types::Host for Guest {}

impl wit::HostConnection for Guest {
    async fn open(&mut self, name: String) -> Result<Resource<OpenDatabase>, Fault> {
        let call = self.call()?;
        let name = name.parse::<DatabaseName>().map_err(|_| SqlError::NotGranted)?;
        let connection = call.session.open(name).await?;
        Ok(self.table.push(OpenDatabase(connection))?)
    }

    async fn query(
        &mut self,
        database: Resource<OpenDatabase>,
        sql: String,
        parameters: Vec<wit::Value>,
    ) -> Result<wit::RowSet, Fault> {
        let connection = &self.table.get(&database)?.0;
        Ok(connection.query(sql, values(parameters)).await?.into())
    }

    async fn lookup(
        &mut self,
        database: Resource<OpenDatabase>,
        step: Option<String>,
    ) -> Result<Option<String>, Fault> {
        let step = step_name(step)?;
        let found = self.table.get(&database)?.0.lookup(step).await?;
        Ok(found.map(|output| output.as_str().to_owned()))
    }

    async fn begin(
        &mut self,
        database: Resource<OpenDatabase>,
        step: Option<String>,
    ) -> Result<wit::Begun, Fault> {
        self.call()?.may_begin()?;
        let step = step_name(step)?;
        let main = step.is_none();
        match self.table.get(&database)?.0.begin(step).await? {
            Begun::Fresh(work) => {
                self.call()?.began(main);
                Ok(wit::Begun::Fresh(self.table.push(OpenTransaction { work, main })?))
            }
            Begun::Recorded(output) => {
                if main {
                    self.call()?.settle();
                }
                Ok(wit::Begun::Recorded(output.as_str().to_owned()))
            }
        }
    }

    async fn drop(&mut self, database: Resource<OpenDatabase>) -> wasmtime::Result<()> {
        self.table.delete(database)?;
        Ok(())
    }
}

impl wit::HostTransaction for Guest {
    async fn query(
        &mut self,
        transaction: Resource<OpenTransaction>,
        sql: String,
        parameters: Vec<wit::Value>,
    ) -> Result<wit::RowSet, Fault> {
        let transaction = self.table.get_mut(&transaction)?;
        Ok(transaction.work.query(sql, values(parameters)).await?.into())
    }

    async fn execute(
        &mut self,
        transaction: Resource<OpenTransaction>,
        sql: String,
        parameters: Vec<wit::Value>,
    ) -> Result<u64, Fault> {
        let transaction = self.table.get_mut(&transaction)?;
        Ok(transaction.work.execute(sql, values(parameters)).await?)
    }

    async fn commit(&mut self, transaction: Resource<OpenTransaction>, output: String) -> Result<(), Fault> {
        let OpenTransaction { work, main } = self.table.delete(transaction)?;
        let call = self.call()?;
        // An output that is refused here undoes the transaction: it is dropped.
        call.ended();
        let output = call.recordable(output, main)?;
        fault::reached(Point::BeforeCommit);
        work.commit(output).await?;
        fault::reached(Point::Committed);
        if main {
            self.call()?.settle();
        }
        Ok(())
    }

    async fn drop(&mut self, transaction: Resource<OpenTransaction>) -> wasmtime::Result<()> {
        self.table.delete(transaction)?;
        self.call()?.ended();
        Ok(())
    }
}

fn values(values: Vec<wit::Value>) -> Vec<Value> {
    values.into_iter().map(Value::from).collect()
}

impl From<wit::Value> for Value {
    fn from(value: wit::Value) -> Self {
        match value {
            wit::Value::Null => Self::Null,
            wit::Value::Boolean(value) => Self::Boolean(value),
            wit::Value::Integer(value) => Self::Integer(value),
            wit::Value::Real(value) => Self::Real(value),
            wit::Value::Text(value) => Self::Text(value),
            wit::Value::Blob(value) => Self::Blob(value),
        }
    }
}

impl From<Value> for wit::Value {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Boolean(value) => Self::Boolean(value),
            Value::Integer(value) => Self::Integer(value),
            Value::Real(value) => Self::Real(value),
            Value::Text(value) => Self::Text(value),
            Value::Blob(value) => Self::Blob(value),
        }
    }
}

impl From<RowSet> for wit::RowSet {
    fn from(found: RowSet) -> Self {
        let rows = found.rows.into_iter().map(|row| row.into_iter().map(Into::into).collect());
        Self { columns: found.columns, rows: rows.collect() }
    }
}
