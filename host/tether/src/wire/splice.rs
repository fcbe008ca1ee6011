//! Stored JSON text, put into an answer to the letter.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use tether_core::json::JsonText;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{Object, Schema, SchemaType};
use utoipa::{PartialSchema, ToSchema};

/// A JSON value that is never parsed and written again: numbers beyond 2⁵³ and
/// the order of keys survive.
#[derive(Debug, Clone)]
pub struct Spliced(JsonText);

impl From<JsonText> for Spliced {
    fn from(text: JsonText) -> Self {
        Self(text)
    }
}

impl Serialize for Spliced {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(self.0.as_str()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl PartialSchema for Spliced {
    /// Any value.
    fn schema() -> RefOr<Schema> {
        Object::builder().schema_type(SchemaType::AnyValue).into()
    }
}

impl ToSchema for Spliced {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_kept() {
        let text = "{\"b\":9007199254740993, \"a\":[0.10,-0,1e2]}";
        let spliced = Spliced(JsonText::parse(text).unwrap());
        assert_eq!(serde_json::to_string(&spliced).unwrap(), text);
    }
}
