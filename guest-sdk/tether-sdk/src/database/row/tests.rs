//! Rows as an author's types.

use std::fmt::Debug;

use super::{FromRow, Row, at_most_one, exactly_one, typed};
use crate::bindings::tether::tool::database::{RowSet, Value};
use crate::prelude::*;

fn row(columns: &[(&str, Value)]) -> Row {
    Row {
        columns: columns.iter().map(|(name, _)| name.to_string()).collect(),
        values: columns.iter().map(|(_, value)| value.clone()).collect(),
    }
}

#[track_caller]
fn reads<T: FromRow + PartialEq + Debug>(columns: &[(&str, Value)], expected: T) {
    assert_eq!(T::from_row(row(columns)), Ok(expected));
}

#[track_caller]
fn fails<T: FromRow + Debug>(columns: &[(&str, Value)], why: &str) {
    match T::from_row(row(columns)) {
        Err(DatabaseError::Mismatch(message)) => assert!(message.contains(why), "{message}"),
        other => panic!("{other:?}"),
    }
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Open,
    Void,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Id(i64);

#[derive(Debug, PartialEq, Deserialize)]
struct Ticket {
    id: Id,
    state: State,
    paid: bool,
    note: Option<String>,
}

fn ticket() -> Vec<(&'static str, Value)> {
    vec![
        ("extra", Value::Real(0.5)),
        ("id", Value::Integer(i64::MAX)),
        ("state", Value::Text("void".into())),
        ("paid", Value::Integer(1)),
        ("note", Value::Null),
    ]
}

#[test]
fn a_struct_takes_columns_by_name() {
    let expected = Ticket { id: Id(i64::MAX), state: State::Void, paid: true, note: None };
    reads(&ticket(), expected);
}

#[test]
fn a_column_that_does_not_fit_is_named() {
    let mut columns = ticket();
    columns[1].1 = Value::Text("seven".into());
    fails::<Ticket>(&columns, "column `id`: invalid type: string \"seven\"");
    columns[1].0 = "number";
    fails::<Ticket>(&columns, "missing field `id`");
}

#[test]
fn anything_else_takes_the_only_column() {
    reads(&[("n", Value::Integer(-1))], -1_i64);
    reads(&[("n", Value::Integer(2))], Id(2));
    reads(&[("n", Value::Integer(3))], 3.0_f64);
    reads(&[("n", Value::Null)], None::<String>);
    reads(&[("n", Value::Text("open".into()))], State::Open);
    reads(&[("n", Value::Blob(vec![0, 255]))], vec![0_u8, 255]);
    reads(&[("n", Value::Boolean(true))], true);
    fails::<i64>(&[("a", Value::Null), ("b", Value::Null)], "2 columns");
}

#[test]
fn a_tuple_takes_columns_in_order() {
    let columns = [("b", Value::Text("two".into())), ("a", Value::Real(1.5))];
    reads(&columns, ("two".to_owned(), 1.5));
    fails::<(String,)>(&columns, "expected 1 element");
}

#[test]
fn a_number_is_never_bent_to_fit() {
    fails::<u8>(&[("n", Value::Integer(256))], "256");
    fails::<u64>(&[("n", Value::Integer(-1))], "-1");
    fails::<i64>(&[("n", Value::Real(1.0))], "floating point");
    fails::<i64>(&[("n", Value::Text("1".into()))], "string");
    fails::<bool>(&[("n", Value::Integer(2))], "2");
}

#[test]
fn a_row_gives_columns_by_name() {
    let row = row(&ticket());
    assert_eq!(row.get("paid"), Ok(true));
    assert_eq!(row.get::<Option<i64>>("note"), Ok(None));
    assert_eq!(row.get::<i64>("nope"), Err(DatabaseError::Mismatch("no column `nope`".into())));
}

#[test]
fn one_row_means_one() {
    assert_eq!(exactly_one(vec![1]), Ok(1));
    assert_eq!(at_most_one(Vec::<i64>::new()), Ok(None));
    assert!(matches!(exactly_one(Vec::<i64>::new()), Err(DatabaseError::Mismatch(_))));
    assert!(matches!(at_most_one(vec![1, 2]), Err(DatabaseError::Mismatch(_))));
}

#[test]
fn every_row_of_an_answer_is_read() {
    let set =
        RowSet { columns: vec!["n".into()], rows: vec![vec![Value::Integer(1)], vec![Value::Integer(2)]] };
    assert_eq!(typed(set), Ok(vec![1_i64, 2]));
}
