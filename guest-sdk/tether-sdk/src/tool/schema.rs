//! JSON Schema 2020-12 of an author's types, each whole in itself.

use schemars::Schema;
use schemars::generate::{Contract, SchemaGenerator, SchemaSettings};
use schemars::transform::RecursiveTransform;

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
    settings.with_transform(RecursiveTransform(without_widths)).into_generator()
}

/// `uint16` and the like are schemars' own: clients warn of formats that they do not know.
fn without_widths(schema: &mut Schema) {
    let of_numbers =
        |format: &str| ["int", "uint", "float", "double"].iter().any(|kind| format.starts_with(kind));
    if schema.get("format").and_then(|format| format.as_str()).is_some_and(of_numbers) {
        schema.remove("format");
    }
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{input_schema, output_schema};
    use crate::prelude::*;

    fn parsed(schema: &str) -> Value {
        serde_json::from_str(schema).expect("a schema is JSON")
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Order {
        /// What is ordered.
        item: Item,
        #[serde(default)]
        note: Option<String>,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Item {
        Bread,
        Salt,
    }

    #[test]
    fn a_schema_is_an_object_of_2020_12_and_refers_to_nothing() {
        let text = input_schema::<Order>();
        let schema = parsed(&text);
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(schema["required"], json!(["item"]));
        assert_eq!(schema["properties"]["item"]["enum"], json!(["bread", "salt"]));
        assert_eq!(schema["properties"]["item"]["description"], "What is ordered.");
        assert!(!text.contains("$ref"), "{text}");
    }

    #[test]
    fn numbers_have_no_format_and_keep_their_bounds() {
        #[derive(Deserialize, JsonSchema)]
        #[expect(dead_code, reason = "only its schema is of interest")]
        struct Numbers {
            small: u16,
            large: Option<i64>,
            broken: f32,
        }

        let properties = parsed(&input_schema::<Numbers>())["properties"].take();
        assert_eq!(properties["small"], json!({"type": "integer", "minimum": 0, "maximum": 65535}));
        assert_eq!(properties["large"], json!({"type": ["integer", "null"]}));
        assert_eq!(properties["broken"], json!({"type": "number"}));
    }

    #[test]
    fn an_output_promises_what_is_written_not_what_may_be_read() {
        let schema = parsed(&output_schema::<Result<Order, ToolError>>());
        assert_eq!(schema["required"], json!(["item", "note"]));
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "by")]
    #[expect(dead_code, reason = "only its schema is of interest")]
    enum Search {
        Number { number: i64 },
        Title { title: String },
    }

    #[test]
    fn a_choice_of_structs_is_an_object() {
        assert_eq!(parsed(&input_schema::<Search>())["type"], "object");
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is of interest")]
    struct Tree {
        branches: Vec<Tree>,
    }

    #[test]
    fn a_recursive_type_refers_to_itself_alone() {
        let schema = parsed(&input_schema::<Tree>());
        let reference = schema["properties"]["branches"]["items"]["$ref"].as_str();
        assert!(reference.is_some_and(|reference| reference.starts_with('#')), "{schema}");
    }

    #[test]
    #[should_panic = "make it a struct"]
    fn a_lone_value_cannot_be_arguments() {
        input_schema::<String>();
    }
}
