//! One statement of a component: its parameters in, its rows or changes out.

use rusqlite::types::ValueRef;
use rusqlite::{Row, Statement};
use tether_core::port::databases::{RowSet, SqlError, SqlLimits, Value};

use super::error::sql_error;
use super::guard::{Guarded, GuardedConnection, Purpose};

/// Counted for each value beside its text or bytes.
const VALUE_BYTES: usize = 8;

/// What a component's text begins with when it is prepared. Statements are kept by their
/// text, and those of the host were never judged: no text of a component is one of theirs.
const MARK: &str = "/*guest*/ ";

/// Longer texts are prepared each time: what is kept is bounded.
const LONGEST_KEPT: usize = 4 << 10;

/// A statement and its parameters, of a size within limits.
pub(super) struct Sql {
    marked: String,
    parameters: Vec<Value>,
}

impl Sql {
    /// # Errors
    ///
    /// `TooLarge` over `max_bytes`; a reason where SQLite would take a value for
    /// another one.
    pub(super) fn new(text: String, parameters: Vec<Value>, limits: &SqlLimits) -> Result<Self, SqlError> {
        let bytes = parameters.iter().map(size_of).fold(text.len(), usize::saturating_add);
        if bytes > limits.max_bytes {
            return Err(SqlError::TooLarge);
        }
        if text.contains('\0') {
            return Err(SqlError::Other("a statement holds no NUL character".to_owned()));
        }
        if let Some(why) = parameters.iter().find_map(changed_by_storing) {
            return Err(SqlError::Other(why.to_owned()));
        }
        Ok(Self { marked: [MARK, &text].concat(), parameters })
    }

    /// The statement's text.
    pub(super) fn text(&self) -> &str {
        &self.marked[MARK.len()..]
    }

    /// Runs it, and returns its rows.
    pub(super) fn query(
        &self,
        connection: &mut GuardedConnection,
        limits: &SqlLimits,
    ) -> Result<(RowSet, Change), SqlError> {
        self.run(connection, |statement| collect(statement, limits))
    }

    /// Runs it to its end; rows that it returns are not kept.
    pub(super) fn execute(&self, connection: &mut GuardedConnection) -> Result<Change, SqlError> {
        let skip = |statement: &mut Statement<'_>| {
            let mut rows = statement.raw_query();
            while rows.next()?.is_some() {}
            Ok(())
        };
        Ok(self.run(connection, skip)?.1)
    }

    fn run<T>(
        &self,
        connection: &mut GuardedConnection,
        step: impl FnOnce(&mut Statement<'_>) -> Result<T, Stopped>,
    ) -> Result<(T, Change), SqlError> {
        let guarded = Guarded::new(connection);
        let refused = |stopped| match (guarded.refusal(), stopped) {
            (Some(refusal), _) => refusal,
            (None, Stopped::Engine(error)) => sql_error(&guarded, error),
            (None, Stopped::Limit(error)) => error,
        };
        let before = guarded.total_changes();
        let mut statement = guarded.prepare_cached(&self.marked).map_err(|error| refused(error.into()))?;
        let vetted = match guarded.vet(self.text()) {
            Ok(_) if guarded.purpose() == Purpose::Read && !statement.readonly() => Err(SqlError::ReadOnly),
            vetted => vetted,
        };
        let defines = match vetted {
            Ok(defines) => defines,
            Err(refusal) => {
                statement.discard();
                return Err(refusal);
            }
        };
        bind(&mut statement, &self.parameters).map_err(refused)?;
        let found = step(&mut statement).map_err(refused)?;
        // A statement that touched no row leaves the count of the one before.
        let rows = if guarded.total_changes() == before { 0 } else { guarded.changes() };
        let changed = !statement.readonly() && (defines || guarded.total_changes() != before);
        if defines || self.marked.len() > LONGEST_KEPT {
            statement.discard();
        }
        Ok((found, Change { rows, changed }))
    }
}

/// What a statement did.
pub(super) struct Change {
    /// Rows that it inserted, updated or deleted itself.
    pub(super) rows: u64,
    /// Whether anything changed at all: rows of triggers and definitions included.
    pub(super) changed: bool,
}

/// Why a statement did not come to its end.
pub(super) enum Stopped {
    /// SQLite says so.
    Engine(rusqlite::Error),
    /// Tether says so.
    Limit(SqlError),
}

impl From<rusqlite::Error> for Stopped {
    fn from(error: rusqlite::Error) -> Self {
        Self::Engine(error)
    }
}

/// Binds `$1`, `$2`, … by number: to SQLite they are names.
fn bind(statement: &mut Statement<'_>, values: &[Value]) -> Result<(), Stopped> {
    let mut used = vec![false; values.len()];
    for index in 1..=statement.parameter_count() {
        let name = statement.parameter_name(index).unwrap_or("?");
        let number =
            number(name).ok_or_else(|| other(format!("parameters are written $1, $2, …, not {name}")))?;
        let value =
            values.get(number - 1).ok_or_else(|| other(format!("no value is given for ${number}")))?;
        used[number - 1] = true;
        match value {
            Value::Null => statement.raw_bind_parameter(index, rusqlite::types::Null)?,
            Value::Boolean(truth) => statement.raw_bind_parameter(index, truth)?,
            Value::Integer(integer) => statement.raw_bind_parameter(index, integer)?,
            Value::Real(real) => statement.raw_bind_parameter(index, real)?,
            Value::Text(text) => statement.raw_bind_parameter(index, text)?,
            Value::Blob(bytes) => statement.raw_bind_parameter(index, bytes)?,
        }
    }
    match used.iter().position(|used| !used) {
        Some(index) => {
            Err(other(format!("a value is given for ${}, which is not in the statement", index + 1)))
        }
        None => Ok(()),
    }
}

/// Why SQLite would store another value than this one, without a word.
fn changed_by_storing(value: &Value) -> Option<&'static str> {
    match value {
        Value::Real(real) if real.is_nan() => Some("a parameter is NaN, which SQLite stores as NULL"),
        Value::Real(real) if *real == 0.0 && real.is_sign_negative() => {
            Some("a parameter is -0.0, which SQLite stores as 0.0")
        }
        _ => None,
    }
}

/// The number in `$number`, 1 or more, written without anything else.
fn number(name: &str) -> Option<usize> {
    let digits = name.strip_prefix('$')?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| plain)
}

fn other(what: String) -> Stopped {
    Stopped::Limit(SqlError::Other(what))
}

fn collect(statement: &mut Statement<'_>, limits: &SqlLimits) -> Result<RowSet, Stopped> {
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let width = columns.len();
    let mut bytes: usize = columns.iter().map(String::len).sum();
    let mut found = RowSet { columns, rows: Vec::new() };
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        if found.rows.len() == limits.max_rows {
            return Err(Stopped::Limit(SqlError::TooLarge));
        }
        found
            .rows
            .push((0..width).map(|column| value(row, column, &mut bytes, limits)).collect::<Result<_, _>>()?);
    }
    Ok(found)
}

/// One value, its size counted before it is copied.
fn value(row: &Row<'_>, column: usize, bytes: &mut usize, limits: &SqlLimits) -> Result<Value, Stopped> {
    let value = row.get_ref(column)?;
    let length = match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => 0,
    };
    *bytes += VALUE_BYTES + length;
    if *bytes > limits.max_bytes {
        return Err(Stopped::Limit(SqlError::TooLarge));
    }
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(integer) => Value::Integer(integer),
        ValueRef::Real(real) => Value::Real(real),
        ValueRef::Text(text) => match str::from_utf8(text) {
            Ok(text) => Value::Text(text.to_owned()),
            Err(_) => return Err(other("a text in the answer is not UTF-8".to_owned())),
        },
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    })
}

fn size_of(value: &Value) -> usize {
    VALUE_BYTES
        + match value {
            Value::Null | Value::Boolean(_) | Value::Integer(_) | Value::Real(_) => 0,
            Value::Text(text) => text.len(),
            Value::Blob(bytes) => bytes.len(),
        }
}
