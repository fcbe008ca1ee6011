//! JSON Schema (2020-12) of arguments and results.

use std::fmt;

use crate::json::JsonText;

/// A compiled schema. References to other documents are not followed.
pub struct Schema(jsonschema::Validator);

/// The schema itself is wrong.
#[derive(Debug, thiserror::Error)]
#[error("it is not a valid JSON Schema: {0}")]
pub struct InvalidSchema(String);

/// One way in which a value does not fit its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// JSON pointer (RFC 6901) to the value that does not fit; empty for the
    /// whole.
    pub pointer: String,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pointer.as_str() {
            "" => f.write_str(&self.message),
            pointer => write!(f, "{pointer}: {}", self.message),
        }
    }
}

/// At most so many violations are told; the first few show what is wrong.
const MOST_VIOLATIONS: usize = 20;

impl Schema {
    /// Compiles `text`.
    pub fn compile(text: &JsonText) -> Result<Self, InvalidSchema> {
        jsonschema::draft202012::new(&text.to_value())
            .map(Self)
            .map_err(|error| InvalidSchema(error.to_string()))
    }

    /// Checks a value; the error lists up to 20 violations, never none.
    pub fn check(&self, value: &JsonText) -> Result<(), Vec<Violation>> {
        let value = value.to_value();
        if self.0.is_valid(&value) {
            return Ok(());
        }
        let violations = self.0.iter_errors(&value).take(MOST_VIOLATIONS);
        Err(violations
            .map(|error| Violation {
                pointer: error.instance_path().to_string(),
                message: error.masked().to_string(),
            })
            .collect())
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Schema")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_points_at_what_is_wrong() {
        let text = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["m"]}"#;
        let schema = Schema::compile(&JsonText::parse(text).unwrap()).unwrap();
        let violations = schema.check(&JsonText::parse(r#"{"n":"x"}"#).unwrap()).unwrap_err();
        let pointers: Vec<_> = violations.iter().map(|v| v.pointer.as_str()).collect();
        assert_eq!(violations.len(), 2, "{violations:?}");
        assert!(pointers.contains(&"") && pointers.contains(&"/n"), "{violations:?}");
    }

    #[test]
    fn a_schema_that_is_none_is_refused() {
        assert!(Schema::compile(&JsonText::parse(r#"{"type":"objekt"}"#).unwrap()).is_err());
    }
}
