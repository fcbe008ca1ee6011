//! Rows and values as serde sees them.

use std::fmt;

use serde::de::value::SeqDeserializer;
use serde::de::{self, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::{DatabaseError, Row};
use crate::bindings::tether::tool::database::Value;

/// A value that is not what a type expects; what serde says of it.
#[derive(Debug)]
pub(super) struct Mismatch(String);

impl Mismatch {
    pub(super) fn at(self, column: &str) -> Self {
        Self(format!("column `{column}`: {}", self.0))
    }
}

impl From<Mismatch> for DatabaseError {
    fn from(mismatch: Mismatch) -> Self {
        Self::Mismatch(mismatch.0)
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Mismatch {}

impl de::Error for Mismatch {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// One value.
#[derive(Clone, Copy)]
pub(super) struct Cell<'a>(pub(super) &'a Value);

impl<'de> Deserializer<'de> for Cell<'_> {
    type Error = Mismatch;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Boolean(value) => visitor.visit_bool(*value),
            Value::Integer(value) => visitor.visit_i64(*value),
            Value::Real(value) => visitor.visit_f64(*value),
            Value::Text(value) => visitor.visit_str(value),
            Value::Blob(value) => visitor.visit_seq(SeqDeserializer::new(value.iter().copied())),
        }
    }

    /// SQLite keeps truth as the integers 0 and 1.
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.0 {
            Value::Integer(0) => visitor.visit_bool(false),
            Value::Integer(1) => visitor.visit_bool(true),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.0 {
            Value::Blob(value) => visitor.visit_bytes(value),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        match self.0 {
            Value::Text(value) => {
                value.as_str().into_deserializer().deserialize_enum(name, variants, visitor)
            }
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string
        unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Mismatch> for Cell<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// One row: a map of its columns, a sequence of them, or its only column.
pub(super) struct WholeRow<'a>(pub(super) &'a Row);

impl<'a> WholeRow<'a> {
    fn only(&self) -> Result<Cell<'a>, Mismatch> {
        match &*self.0.values {
            [value] => Ok(Cell(value)),
            values => Err(de::Error::custom(format_args!("{} columns, where one is expected", values.len()))),
        }
    }

    fn map<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_map(Columns { row: self.0, next: 0 })
    }

    fn sequence<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        let mut values = SeqDeserializer::new(self.0.values.iter().map(Cell));
        let value = visitor.visit_seq(&mut values)?;
        values.end()?;
        Ok(value)
    }
}

/// A row as a map. Serde has one too; this one says which column was wrong.
struct Columns<'a> {
    row: &'a Row,
    next: usize,
}

impl<'de> MapAccess<'de> for Columns<'_> {
    type Error = Mismatch;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Mismatch> {
        let Some(name) = self.row.columns.get(self.next) else {
            return Ok(None);
        };
        self.next += 1;
        seed.deserialize(name.as_str().into_deserializer()).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Mismatch> {
        let current = self.next - 1;
        seed.deserialize(Cell(&self.row.values[current]))
            .map_err(|error| error.at(&self.row.columns[current]))
    }
}

/// The shapes that take the only column.
macro_rules! only_column {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
            self.only()?.$method(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for WholeRow<'_> {
    type Error = Mismatch;

    only_column! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_i128 deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_u128 deserialize_f32 deserialize_f64 deserialize_char deserialize_str
        deserialize_string deserialize_bytes deserialize_byte_buf deserialize_option
        deserialize_seq deserialize_unit deserialize_identifier
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        self.map(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        self.map(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_unit()
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        self.map(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _length: usize, visitor: V) -> Result<V::Value, Mismatch> {
        self.sequence(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _length: usize,
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        self.sequence(visitor)
    }

    /// What it wraps decides, a struct or the only column.
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        self.only()?.deserialize_unit_struct(name, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        self.only()?.deserialize_enum(name, variants, visitor)
    }
}
