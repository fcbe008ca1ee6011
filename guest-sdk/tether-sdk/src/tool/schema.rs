//! JSON Schema 2020-12 of an author's types, each whole in itself.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};

use super::{Arguments, Outcome};

/// The schema of a tool's arguments.
///
/// # Panics
///
/// Where `A` is no struct or map: the contract asks for an object.
pub fn input_schema<A: Arguments>() -> String {
    let mut schema = of::<A>(SchemaSettings::draft2020_12().for_deserialize());
    object(&mut schema, &A::schema_name());
    schema.as_value().to_string()
}

/// The schema of a tool's output.
pub fn output_schema<R: Outcome>() -> String {
    let schema = of::<R::Output>(SchemaSettings::draft2020_12().for_serialize());
    schema.as_value().to_string()
}

/// Types are written where they are used, not referred to: models, and some
/// clients that show them tools, are better with that. Recursive types alone
/// refer to `$defs`.
fn of<T: JsonSchema>(mut settings: SchemaSettings) -> Schema {
    settings.inline_subschemas = true;
    settings.into_generator().into_root_schema_for::<T>()
}

/// Arguments are an object. A choice between structs does not say so at its
/// root, so it is said there.
fn object(schema: &mut Schema, name: &str) {
    let kind = schema.ensure_object().entry("type").or_insert_with(|| "object".into());
    assert!(
        *kind == "object",
        "`{name}` cannot be the arguments of a tool: they are one JSON object, so make it a struct"
    );
}
