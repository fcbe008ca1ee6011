//! SQL parameters.

use crate::bindings::tether::tool::database;

/// One SQL parameter, made by [`params!`](crate::params) or `into()`.
///
/// There is no conversion from `u64`, `usize` or the 128-bit integers: an SQL
/// integer has 64 bits and a sign. Use `i64::try_from`, and decide what a
/// number that does not fit means.
#[derive(Clone, Debug)]
pub struct Value(database::Value);

/// SQL parameters, in the order of `$1`, `$2`, …
///
/// ```
/// use tether_sdk::{Value, params};
///
/// let note: Option<&str> = None;
/// let mut parameters: Vec<Value> = params![42, "open", note, 1.5, true];
/// parameters.push(b"bytes".as_slice().into());
/// assert_eq!(parameters.len(), 6);
/// ```
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        <::std::vec::Vec<$crate::Value>>::from([$($crate::Value::from($value)),*])
    };
}

/// The same list as the contract spells it.
pub(crate) fn raw(parameters: Vec<Value>) -> Vec<database::Value> {
    parameters.into_iter().map(|value| value.0).collect()
}

macro_rules! from {
    ($($type:ty => |$value:ident| $variant:expr),* $(,)?) => {$(
        impl From<$type> for Value {
            fn from($value: $type) -> Self {
                use database::Value::*;
                Self($variant)
            }
        }
    )*};
}

from! {
    bool => |value| Boolean(value),
    i8 => |value| Integer(value.into()),
    i16 => |value| Integer(value.into()),
    i32 => |value| Integer(value.into()),
    i64 => |value| Integer(value),
    u8 => |value| Integer(value.into()),
    u16 => |value| Integer(value.into()),
    u32 => |value| Integer(value.into()),
    f32 => |value| Real(value.into()),
    f64 => |value| Real(value),
    String => |value| Text(value),
    &String => |value| Text(value.clone()),
    &str => |value| Text(value.to_owned()),
    Vec<u8> => |value| Blob(value),
    &[u8] => |value| Blob(value.to_vec()),
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self(database::Value::Null), Into::into)
    }
}
