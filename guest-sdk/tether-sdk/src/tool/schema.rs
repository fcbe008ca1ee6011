//! JSON Schema 2020-12 of an author's types, each whole in itself.

use schemars::Schema;
use schemars::generate::{Contract, SchemaGenerator, SchemaSettings};

use super::{Arguments, Outcome};

/// The schema of a tool's arguments.
///
/// # Panics
///
/// Where `A` is no struct or map: the contract asks for an object.
pub fn input_schema<A: Arguments>() -> String {
    let mut schema = generator(Contract::Deserialize).into_root_schema_for::<A>();
    require_object(&mut schema, &A::schema_name());
    text(&schema)
}

/// The schema of a tool's output.
pub fn output_schema<R: Outcome>() -> String {
    text(&generator(Contract::Serialize).into_root_schema_for::<R::Output>())
}

/// Types are written where they are used, not referred to: models, and some
/// clients that show them tools, are better with that. Recursive types alone
/// refer to `$defs`.
fn generator(contract: Contract) -> SchemaGenerator {
    let mut settings = SchemaSettings::draft2020_12();
    settings.contract = contract;
    settings.inline_subschemas = true;
    settings.into_generator()
}

/// Arguments are an object. A choice between structs does not say so at its
/// root, so it is said there.
fn require_object(schema: &mut Schema, name: &str) {
    let kind = schema.ensure_object().entry("type").or_insert_with(|| "object".into());
    assert!(
        *kind == "object",
        "`{name}` cannot be the arguments of a tool: they are one JSON object, so make it a struct"
    );
}

fn text(schema: &Schema) -> String {
    schema.as_value().to_string()
}
