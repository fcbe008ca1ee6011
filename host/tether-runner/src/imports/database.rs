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
use crate::guest::traffic::Held;

/// A granted database, open for one call.
pub struct OpenDatabase(Arc<dyn Connection>);

/// The transaction of a call.
pub struct OpenTransaction {
    work: Box<dyn Transaction>,
    main: bool,
    _held: Held,
}

/// Why an import did not do it: an answer for the guest, or the guest's end.
pub enum Fault {
    /// The database said no; the guest may go on.
    Sql(SqlError),
    /// The host refuses the output; the guest may go on.
    Output(wit::Error),
    /// It may not.
    Trap(wasmtime::Error),
}

impl From<SqlError> for Fault {
    fn from(error: SqlError) -> Self {
        Self::Sql(error)
    }
}

impl From<SqlError> for wit::Error {
    fn from(error: SqlError) -> Self {
        match error {
            SqlError::NotGranted => Self::NotGranted,
            SqlError::ReadOnly => Self::ReadOnly,
            SqlError::Constraint(message) => Self::Constraint(message),
            SqlError::Busy => Self::Busy,
            SqlError::TooLarge => Self::TooLarge,
            SqlError::StorageFull => Self::StorageFull,
            // The contract has no case for it; the host remembers it for the caller.
            SqlError::Unreachable(_) => Self::Other(error.to_string()),
            SqlError::Forbidden(message) => Self::Forbidden(message),
            SqlError::Other(message) => Self::Other(message),
        }
    }
}

impl From<OutputError> for Fault {
    fn from(error: OutputError) -> Self {
        Self::Output(match error {
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
            Fault::Sql(error) => {
                self.call()?.failed_in_database(&error);
                Ok(error.into())
            }
            Fault::Output(error) => Ok(error),
            Fault::Trap(trap) => Err(trap),
        }
    }
}

impl types::Host for Guest {}

impl wit::HostConnection for Guest {
    async fn open(&mut self, name: String) -> Result<Resource<OpenDatabase>, Fault> {
        let call = self.call()?;
        let name = name.parse::<DatabaseName>().map_err(|_| SqlError::NotGranted)?;
        fault::reached(Point::BeforeOpen);
        let connection = call.session.open(name).await?;
        fault::reached(Point::Opened);
        Ok(self.table.push(OpenDatabase(connection))?)
    }

    async fn query(
        &mut self,
        database: Resource<OpenDatabase>,
        sql: String,
        parameters: Vec<wit::Value>,
    ) -> Result<wit::RowSet, Fault> {
        let connection = &self.table.get(&database)?.0;
        fault::reached(Point::BeforeQuery);
        let rows = connection.query(sql, values(parameters)).await?;
        fault::reached(Point::Queried);
        Ok(rows.into())
    }

    async fn lookup(
        &mut self,
        database: Resource<OpenDatabase>,
        step: Option<String>,
    ) -> Result<Option<String>, Fault> {
        let step = step_name(step)?;
        fault::reached(Point::BeforeLookup);
        let found = self.table.get(&database)?.0.lookup(step).await?;
        fault::reached(Point::LookedUp);
        Ok(found.map(|output| output.as_str().to_owned()))
    }

    async fn begin(
        &mut self,
        database: Resource<OpenDatabase>,
        step: Option<String>,
    ) -> Result<wit::Begun, Fault> {
        // Held from here on: nothing may leave while the writer's turn is awaited.
        let held = self.call()?.hold()?;
        let step = step_name(step)?;
        let main = step.is_none();
        fault::reached(Point::BeforeBegin);
        let begun = self.table.get(&database)?.0.begin(step).await?;
        fault::reached(Point::Begun);
        match begun {
            Begun::Fresh(work) => {
                if main {
                    self.call()?.began_main();
                }
                Ok(wit::Begun::Fresh(self.table.push(OpenTransaction { work, main, _held: held })?))
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
        fault::reached(Point::BeforeStatement);
        let rows = transaction.work.query(sql, values(parameters)).await?;
        fault::reached(Point::StatementRun);
        Ok(rows.into())
    }

    async fn execute(
        &mut self,
        transaction: Resource<OpenTransaction>,
        sql: String,
        parameters: Vec<wit::Value>,
    ) -> Result<u64, Fault> {
        let transaction = self.table.get_mut(&transaction)?;
        fault::reached(Point::BeforeStatement);
        let changed = transaction.work.execute(sql, values(parameters)).await?;
        fault::reached(Point::StatementRun);
        Ok(changed)
    }

    async fn commit(&mut self, transaction: Resource<OpenTransaction>, output: String) -> Result<(), Fault> {
        let OpenTransaction { work, main, _held } = self.table.delete(transaction)?;
        // An output that is refused here undoes the transaction: it is dropped.
        let output = self.call()?.recordable(output, main)?;
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
