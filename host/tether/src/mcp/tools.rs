//! The tools as the protocol lists them, with hints that the host makes true.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rmcp::ErrorData;
use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::Value;
use tether_core::grant::Binding;
use tether_core::id::ToolName;
use tether_core::json::JsonText;
use tether_core::tool::{Offer, ToolEffect};

use super::{action, built_in, problem, words};

/// The tools of a host: fixed for its life.
pub(super) struct Tools {
    by_name: BTreeMap<String, Listed>,
    page_size: usize,
}

/// One of them.
pub(super) struct Listed {
    pub(super) tool: Tool,
    pub(super) does: Does,
    /// Whether some of its arguments are repeated in headers, which then must agree.
    pub(super) has_headers: bool,
}

/// What a call of a tool comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    /// It reads. Whether it promises what its output looks like.
    Reads { promises: bool },
    /// It proposes a change.
    Proposes,
    /// It is the host's own, and tells of actions.
    TellsOfActions,
}

impl Tools {
    /// What `offers` are, and the host's own; `page_size` of them on a page.
    pub(super) fn new(offers: &[Arc<Offer>], page_size: usize) -> Self {
        let listed = offers.iter().map(|offer| Listed::from(&**offer)).chain([built_in::listed()]);
        Self { by_name: listed.map(|listed| (listed.tool.name.to_string(), listed)).collect(), page_size }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Listed> {
        self.by_name.get(name)
    }

    /// A page, by name, and the cursor of the next one.
    pub(super) fn page(&self, cursor: Option<&str>) -> Result<(Vec<Tool>, Option<String>), ErrorData> {
        let after = match cursor {
            None => Bound::Unbounded,
            Some(cursor) => Bound::Excluded(name_of(cursor).ok_or_else(problem::unknown_cursor)?.to_string()),
        };
        let mut rest = self.by_name.range((after, Bound::Unbounded));
        let page: Vec<_> =
            rest.by_ref().take(self.page_size).map(|(_, listed)| listed.tool.clone()).collect();
        let last = page.last().filter(|_| rest.next().is_some());
        let next = last.map(|tool| URL_SAFE_NO_PAD.encode(tool.name.as_bytes()));
        Ok((page, next))
    }
}

/// The last name of the page before. One that is gone by now has its place in the order all
/// the same.
fn name_of(cursor: &str) -> Option<ToolName> {
    str::from_utf8(&URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()?.parse().ok()
}

impl From<&Offer> for Listed {
    fn from(offer: &Offer) -> Self {
        let described = &offer.tool;
        let own_output = described.output_schema.as_ref().map(schema);
        let (does, note, output, meta) = match described.effect {
            ToolEffect::Read => (Does::Reads { promises: own_output.is_some() }, "", own_output, None),
            ToolEffect::Write => {
                // Within ours, references in its own would lead elsewhere.
                let meta = own_output.map(|own| MetaObject(one("tether/resultSchema", Value::Object(own))));
                (Does::Proposes, words::WRITE_NOTE, Some(action::schema()), meta)
            }
        };
        let mut input = schema(&described.input_schema);
        // Arguments are always an object here, and clients insist on it.
        input.entry("type").or_insert_with(|| "object".into());
        let description = format!("{}{note}", described.description);
        let mut tool = Tool::new_with_raw(described.name.to_string(), Some(description.into()), input);
        tool.title = described.title.clone();
        tool.output_schema = output.map(Arc::new);
        tool.annotations = Some(hints(offer));
        tool.meta = meta;
        Self { tool, does, has_headers: described.input_schema.as_str().contains("x-mcp-header") }
    }
}

/// A schema as a tree; one that is no object (`true`) says nothing.
fn schema(text: &JsonText) -> JsonObject {
    match text.to_value() {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}

fn one(name: &str, value: Value) -> JsonObject {
    JsonObject::from_iter([(name.to_owned(), value)])
}

/// What the host sees to. What it cannot see to is not said.
fn hints(offer: &Offer) -> ToolAnnotations {
    let reads = offer.tool.effect == ToolEffect::Read;
    let (only_reads, is_open) = match &offer.binding {
        Binding::Component(bound) => {
            let destinations = &bound.grants.destinations;
            let only_safe =
                destinations.iter().all(|to| to.read_methods.iter().all(|method| method.is_safe()));
            (only_safe, !destinations.is_empty())
        }
        // What it does there is its own affair.
        Binding::Endpoint(_) => (false, true),
    };
    let sure = reads.then_some(only_reads).map(|sure| sure.then_some(()));
    let hint = |of_reads: bool, of_writes: bool| match sure {
        Some(sure) => sure.map(|()| of_reads),
        None => Some(of_writes),
    };
    let (read_only, destructive, idempotent) = (hint(true, false), hint(false, true), hint(true, false));
    ToolAnnotations::from_raw(None, read_only, destructive, idempotent, Some(is_open))
}

#[cfg(test)]
mod tests {
    use tether_core::digest::Digest;
    use tether_core::grant::{BoundComponent, BoundEndpoint};
    use tether_core::schema::Schema;

    use super::*;

    fn json(text: &str) -> JsonText {
        JsonText::parse(text).unwrap()
    }

    fn component(grants: &str) -> Binding {
        let (component, digest) = ("c".parse().unwrap(), Digest::of("c"));
        Binding::Component(BoundComponent { component, digest, grants: grants.parse().unwrap() })
    }

    fn offer(name: &str, effect: ToolEffect, binding: Binding) -> Offer {
        let input_schema = json(r#"{"properties":{"n":{"type":"integer"}}}"#);
        Offer {
            input: Arc::new(Schema::compile(&input_schema).unwrap()),
            tool: tether_core::tool::Tool {
                name: name.parse().unwrap(),
                title: Some("A title".into()),
                description: "It does.".into(),
                effect,
                input_schema,
                output_schema: Some(json(r#"{"type":"object","required":["n"]}"#)),
            },
            binding,
        }
    }

    #[track_caller]
    fn hinted(effect: ToolEffect, binding: Binding, expected: [Option<bool>; 4]) {
        let hints = hints(&offer("t", effect, binding));
        let said =
            [hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint];
        assert_eq!(said, expected);
    }

    #[test]
    fn hints_say_what_the_host_sees_to_and_nothing_else() {
        use ToolEffect::{Read, Write};
        let (yes, no) = (Some(true), Some(false));
        let to = |read_methods: &str| format!("destination https://a.test\tGET,POST\t{read_methods}\t\t\n");
        hinted(Read, component("database main sqlite\n"), [yes, no, yes, no]);
        hinted(Read, component(&to("")), [yes, no, yes, yes]);
        hinted(Read, component(&to("POST")), [None, None, None, yes]);
        hinted(Write, component(""), [no, yes, no, no]);
        hinted(Write, component(&to("")), [no, yes, no, yes]);
        let endpoint = || {
            Binding::Endpoint(BoundEndpoint { url: "https://a.test/".into(), definition: Digest::of("x") })
        };
        hinted(Read, endpoint(), [None, None, None, yes]);
        hinted(Write, endpoint(), [no, yes, no, yes]);
    }

    #[test]
    fn a_write_promises_an_action_and_says_so() {
        let tools = Tools::new(&[Arc::new(offer("w", ToolEffect::Write, component("")))], 9);
        let listed = tools.get("w").unwrap();
        assert_eq!(listed.does, Does::Proposes);
        let tool = serde_json::to_value(&listed.tool).unwrap();
        assert_eq!(tool["title"], "A title");
        assert_eq!(tool["description"], format!("It does.{}", words::WRITE_NOTE));
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert_eq!(tool["outputSchema"]["required"][1], "actionId");
        assert_eq!(tool["_meta"]["tether/resultSchema"]["required"][0], "n");
    }

    #[test]
    fn pages_hold_every_tool_once_and_in_order() {
        let offers: Vec<_> =
            ["d", "b", "a", "c"].map(|name| Arc::new(offer(name, ToolEffect::Read, component("")))).to_vec();
        for size in 1..=6 {
            let tools = Tools::new(&offers, size);
            let (mut names, mut cursor) = (Vec::new(), None);
            loop {
                let (page, next) = tools.page(cursor.as_deref()).unwrap();
                assert!(!page.is_empty() && page.len() <= size);
                names.extend(page.into_iter().map(|tool| tool.name.into_owned()));
                cursor = next;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(names, ["a", "b", "c", "d", "tether_actions"]);
        }
    }

    #[test]
    fn a_cursor_outlives_its_tool_and_another_text_is_none() {
        let tools = Tools::new(&[Arc::new(offer("a", ToolEffect::Read, component("")))], 9);
        let (page, _) = tools.page(Some(&URL_SAFE_NO_PAD.encode("az"))).unwrap();
        assert_eq!(page.len(), 1, "what comes after the one that is gone");
        for cursor in ["", "?", "a", "/w==", "YSBi", "w6Q", "AA", "YXo="] {
            assert!(tools.page(Some(cursor)).is_err(), "{cursor}");
        }
    }
}
