//! The tools of an endpoint, from a JSON file: a list of objects.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::path::Path;

use serde_json::value::RawValue;
use tether_core::id::ToolName;
use tether_core::json::JsonText;
use tether_core::schema::Schema;
use tether_core::tool::{Tool, ToolEffect};

use super::ConfigError;
use super::section::nearest;

/// The members of a tool.
const MEMBERS: [&str; 6] = ["name", "title", "effect", "description", "inputSchema", "outputSchema"];

/// Characters of a tool's texts: as many as a component's may have.
const LONGEST_TITLE: usize = 200;
const LONGEST_DESCRIPTION: usize = 10_000;

/// Reads the tools of `path`.
pub(super) fn read(path: &Path) -> Result<Vec<Tool>, ConfigError> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        ConfigError(format!("cannot read the tools of an endpoint, {}: {error}", path.display()))
    })?;
    tools(text).map_err(|wrong| ConfigError(format!("{}: {wrong}", path.display())))
}

/// What is wrong, with its place within the file.
type Wrong = String;

fn tools(text: String) -> Result<Vec<Tool>, Wrong> {
    // Finds what serde would let pass, such as a member name that occurs twice.
    let text = JsonText::parse(text).map_err(|error| error.to_string())?;
    let items: Vec<&RawValue> = serde_json::from_str(text.as_str())
        .map_err(|_| "it must be a list of tools: `[{\"name\": …}, …]`".to_owned())?;
    if items.is_empty() {
        return Err("it lists no tool".to_owned());
    }
    let mut names = BTreeSet::new();
    let mut tools = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        let tool = Members::of(index, item)?.tool()?;
        if !names.insert(tool.name.clone()) {
            return Err(format!("`[{index}].name`: an earlier tool is named `{}` as well", tool.name));
        }
        tools.push(tool);
    }
    Ok(tools)
}

/// The members of one tool, taken one by one.
struct Members<'a> {
    index: usize,
    values: BTreeMap<String, &'a RawValue>,
}

impl<'a> Members<'a> {
    fn of(index: usize, item: &'a RawValue) -> Result<Self, Wrong> {
        let values: BTreeMap<String, &RawValue> =
            serde_json::from_str(item.get()).map_err(|_| format!("`[{index}]` must be an object"))?;
        if let Some(unknown) = values.keys().find(|name| !MEMBERS.contains(&name.as_str())) {
            let advice = match nearest(unknown, MEMBERS) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => format!("known here: {}", MEMBERS.join(", ")),
            };
            return Err(format!("`[{index}].{unknown}` is not a known member; {advice}"));
        }
        Ok(Self { index, values })
    }

    fn tool(self) -> Result<Tool, Wrong> {
        let name = self.needed("name", self.text("name")?)?;
        let name: ToolName = name.parse().map_err(|error| self.wrong("name", error))?;
        let effect = match self.needed("effect", self.text("effect")?)?.as_str() {
            "read" => ToolEffect::Read,
            "write" => ToolEffect::Write,
            other => return Err(self.wrong("effect", format!("{other:?} must be \"read\" or \"write\""))),
        };
        let title = self.short("title", LONGEST_TITLE)?;
        let description = self.needed("description", self.short("description", LONGEST_DESCRIPTION)?)?;
        let input_schema = self.needed("inputSchema", self.schema("inputSchema")?)?;
        if input_schema.to_value().get("type").is_none_or(|kind| kind != "object") {
            return Err(
                self.wrong("inputSchema", "it must be the schema of an object, with \"type\": \"object\"")
            );
        }
        let output_schema = self.schema("outputSchema")?;
        Ok(Tool { name, title, description, effect, input_schema, output_schema })
    }

    /// An error about a member.
    fn wrong(&self, member: &str, message: impl Display) -> Wrong {
        format!("`[{}].{member}`: {message}", self.index)
    }

    fn needed<T>(&self, member: &str, value: Option<T>) -> Result<T, Wrong> {
        value.ok_or_else(|| self.wrong(member, "it is missing"))
    }

    fn text(&self, member: &str) -> Result<Option<String>, Wrong> {
        let Some(value) = self.values.get(member) else { return Ok(None) };
        let text: Option<String> = serde_json::from_str(value.get()).ok();
        let text = text.filter(|text| !text.trim().is_empty());
        text.map(Some).ok_or_else(|| self.wrong(member, "it must be a text that is not empty"))
    }

    /// A text of at most so many characters.
    fn short(&self, member: &str, most: usize) -> Result<Option<String>, Wrong> {
        match self.text(member)? {
            Some(text) if text.chars().count() > most => {
                Err(self.wrong(member, format!("it has more than {most} characters")))
            }
            text => Ok(text),
        }
    }

    fn schema(&self, member: &str) -> Result<Option<JsonText>, Wrong> {
        let Some(value) = self.values.get(member) else { return Ok(None) };
        let text = JsonText::parse(value.get()).map_err(|error| self.wrong(member, error))?;
        Schema::compile(&text).map_err(|error| self.wrong(member, error))?;
        Ok(Some(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"{"type":"object"}"#;

    fn list(members: &str) -> String {
        format!(r#"[{{"name":"a","effect":"read","description":"A","inputSchema":{SCHEMA}{members}}}]"#)
    }

    #[test]
    fn a_tool_is_read_with_its_schemas_to_the_letter() {
        let text = r#"[{"name":"void_ticket","title":"Void","effect":"write","description":"Voids.",
                        "inputSchema":{"type" : "object"},"outputSchema":{"maximum":9007199254740993}}]"#;
        let [tool] = &tools(text.to_owned()).unwrap()[..] else { panic!("one tool") };
        assert_eq!((tool.name.as_str(), tool.title.as_deref()), ("void_ticket", Some("Void")));
        assert_eq!((tool.effect, tool.description.as_str()), (ToolEffect::Write, "Voids."));
        assert_eq!(tool.input_schema.as_str(), r#"{"type" : "object"}"#);
        assert_eq!(tool.output_schema.as_ref().unwrap().as_str(), r#"{"maximum":9007199254740993}"#);
        assert_eq!(tools(list("")).unwrap()[0].output_schema, None);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let check = |text: String, parts: &[&str]| {
            let wrong = tools(text.clone()).expect_err(&text);
            for part in parts {
                assert!(wrong.contains(part), "{part:?} is missing in: {wrong}");
            }
        };
        check("[".into(), &["not valid JSON"]);
        check("{}".into(), &["a list of tools"]);
        check("[]".into(), &["no tool"]);
        check("[1]".into(), &["`[0]` must be an object"]);
        check(list(r#","name":"b""#), &["\"name\" occurs twice"]);
        check(list(r#","input_schema":{}"#), &["`[0].input_schema`", "did you mean `inputSchema`?"]);
        check(list(r#","zzz":1"#), &["`[0].zzz`", "known here: name, title"]);
        check(list(r#","title":3"#), &["`[0].title`", "must be a text"]);
        check(list(&format!(r#","title":"{}""#, "x".repeat(201))), &["`[0].title`", "more than 200"]);
        check(
            list(r#","outputSchema":{"type":"objekt"}"#),
            &["`[0].outputSchema`", "not a valid JSON Schema"],
        );
        check("[{}]".into(), &["`[0].name`: it is missing"]);
        let one = |member: &str, value: &str| {
            let members = [
                ("name", r#""a""#),
                ("effect", r#""read""#),
                ("description", r#""A""#),
                ("inputSchema", SCHEMA),
            ];
            let changed = members
                .map(|(name, before)| format!(r#""{name}":{}"#, if name == member { value } else { before }));
            format!("[{{{}}}]", changed.join(","))
        };
        check(one("name", r#""a b""#), &["`[0].name`", "1 to 128 characters"]);
        check(one("effect", r#""Read""#), &["`[0].effect`", "\"Read\"", "\"read\" or \"write\""]);
        check(one("description", r#"" ""#), &["`[0].description`", "not empty"]);
        check(one("inputSchema", "{}"), &["`[0].inputSchema`", "\"type\": \"object\""]);
        check(one("inputSchema", "null"), &["`[0].inputSchema`"]);
        let twice = format!("[{0},{0}]", one("name", r#""a""#).trim_matches(['[', ']']));
        check(twice, &["`[1].name`", "`a` as well"]);
    }
}
