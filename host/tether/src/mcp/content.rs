//! A tool's output as the protocol's content.

use std::collections::BTreeMap;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject};
use serde_json::value::{RawValue, Value};
use tether_core::json::JsonText;
use tether_gateway::Answer;

use super::splice::Splices;
use super::words;

mod fit;
mod same;

/// An output that brings its own blocks: see `docs/mcp.md`.
struct Envelope<'a> {
    blocks: Vec<ContentBlock>,
    structured: Option<&'a str>,
}

/// The result of a read. `promises`: the tool has a schema of its output, so that the whole
/// of it is structured content. `objects_only`: the revision knows no other structured
/// content.
pub(super) fn of_output(
    output: &JsonText,
    promises: bool,
    objects_only: bool,
    splices: &Splices,
) -> CallToolResult {
    let text = output.as_str();
    let (mut blocks, structured) = match envelope(text) {
        Some(envelope) if !promises => (envelope.blocks, envelope.structured),
        Some(envelope) => (envelope.blocks, Some(text)),
        None => (vec![ContentBlock::text(words::output_of(text))], Some(text)),
    };
    let (structured, as_text) = match structured {
        Some(text) if objects_only && !text.trim_start().starts_with('{') => (None, Some(text)),
        structured => (structured, None),
    };
    // An output without blocks of its own is text already.
    if let Some(structured) = as_text.filter(|structured| *structured != text) {
        blocks.push(ContentBlock::text(words::output_of(structured)));
    }
    let mut result = CallToolResult::success(blocks);
    result.structured_content = structured.map(|text| splices.put(text));
    result
}

/// What programs may want to know of a read.
pub(super) fn meta(answer: &Answer) -> MetaObject {
    let id = Value::String(answer.request_id.to_string());
    MetaObject(JsonObject::from_iter([
        ("tether/requestId".to_owned(), id),
        ("tether/attempts".to_owned(), answer.attempts.into()),
    ]))
}

/// The blocks that an output brings, if it is an envelope.
pub(super) fn blocks_of(output: &str) -> Option<Vec<ContentBlock>> {
    envelope(output).map(|envelope| envelope.blocks)
}

/// What does not fit in any respect is an ordinary output: it never fails a call.
fn envelope(output: &str) -> Option<Envelope<'_>> {
    // Most outputs are none, and need not be looked through.
    if !output.trim_start().starts_with('{') || !output.contains("mcpContent") {
        return None;
    }
    let mut members: BTreeMap<String, &RawValue> = serde_json::from_str(output).ok()?;
    let given = members.remove("mcpContent")?.get();
    let blocks: Vec<ContentBlock> = serde_json::from_str(given).ok()?;
    let structured = members.remove("structuredContent").map(RawValue::get);
    let fits = members.is_empty() && blocks.iter().all(fit::fits) && same::arrives(given, &blocks);
    fits.then_some(Envelope { blocks, structured })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result on the wire, with its texts put in.
    fn written(output: &str, promises: bool, objects_only: bool) -> String {
        let splices = Splices::new();
        let output = JsonText::parse(output).unwrap();
        let result = of_output(&output, promises, objects_only, &splices);
        let text = serde_json::to_string(&result).unwrap();
        String::from_utf8(splices.fill(text.into()).to_vec()).unwrap()
    }

    #[track_caller]
    fn check(output: &str, promises: bool, objects_only: bool, content: &str, structured: &str) {
        let structured = if structured.is_empty() {
            String::new()
        } else {
            format!(r#""structuredContent":{structured},"#)
        };
        let expected =
            format!(r#"{{"resultType":"complete","content":{content},{structured}"isError":false}}"#);
        assert_eq!(written(output, promises, objects_only), expected);
    }

    #[test]
    fn an_output_is_text_and_structured_content_to_the_letter() {
        let output = r#"{"n":9007199254740993,"m" : 1.0}"#;
        let text = r#"[{"type":"text","text":"{\"n\":9007199254740993,\"m\" : 1.0}"}]"#;
        check(output, true, true, text, output);
        check(output, false, false, text, output);
        check("\"a\\nb\"", false, false, r#"[{"type":"text","text":"a\nb"}]"#, "\"a\\nb\"");
        check("-0", false, false, r#"[{"type":"text","text":"-0"}]"#, "-0");
        check("null", false, false, r#"[{"type":"text","text":"null"}]"#, "null");
    }

    #[test]
    fn older_revisions_get_objects_only() {
        check("[1]", false, true, r#"[{"type":"text","text":"[1]"}]"#, "");
        check("{}", false, true, r#"[{"type":"text","text":"{}"}]"#, "{}");
        let (x, no_object) = (r#"{"type":"text","text":"x"}"#, r#"{"type":"text","text":"[1, 2.0]"}"#);
        let output = format!(r#"{{"mcpContent":[{x}],"structuredContent":[1, 2.0]}}"#);
        check(&output, false, true, &format!("[{x},{no_object}]"), "");
        check(&output, false, false, &format!("[{x}]"), "[1, 2.0]");
        check(r#"{"mcpContent":[],"structuredContent":"x"}"#, false, true, &format!("[{x}]"), "");
        check(r#"{"mcpContent":[],"structuredContent":{}}"#, false, true, "[]", "{}");
    }

    #[test]
    fn an_envelope_is_passed_on() {
        let blocks = r#"[{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"text","text":"x"}]"#;
        check(&format!(r#"{{"mcpContent":{blocks}}}"#), false, false, blocks, "");
        let output = format!(r#"{{"mcpContent":{blocks},"structuredContent":{{"n":1.0}}}}"#);
        check(&output, false, false, blocks, r#"{"n":1.0}"#);
        check(&output, true, false, blocks, &output);
        for block in [
            r#"{"type":"audio","data":"aGk=","mimeType":"audio/wav"}"#,
            r#"{"type":"resource","resource":{"uri":"a:b","mimeType":"text/plain","text":"x"}}"#,
            r#"{"type":"resource","resource":{"uri":"a:b","blob":"aGk="}}"#,
            r#"{"type":"resource_link","uri":"a:b","name":"x"}"#,
            r#"{"type":"resource_link","uri":"https://a.test/x?y#z","name":"x","size":9007199254740993}"#,
            r#"{"type":"text","text":"x","_meta":{"m":1.5,"n":9007199254740993},"annotations":{"priority":0.3}}"#,
        ] {
            let blocks = format!("[{block}]");
            check(&format!(r#"{{"mcpContent":{blocks}}}"#), false, false, &blocks, "");
        }
    }

    #[test]
    fn a_number_may_be_written_otherwise_where_it_is_the_same() {
        let of = |annotations: &str, meta: &str| {
            format!(
                r#"[{{"type":"text","text":"-\"0.10 \\ 1e2","_meta":{meta},"annotations":{annotations}}}]"#
            )
        };
        for (given, sent) in
            [("1", "1.0"), ("0", "0.0"), ("1e-1", "0.1"), ("0.3333333333333333", "0.33333334")]
        {
            let priority = |number: &str| of(&format!(r#"{{"priority":{number}}}"#), "{}");
            check(&format!(r#"{{"mcpContent":{}}}"#, priority(given)), false, false, &priority(sent), "");
        }
        for (given, sent) in [("1.50", "1.5"), ("1e2", "100.0"), ("-0", "-0.0"), ("12.5E-1", "1.25")] {
            let meta = |number: &str| of("{}", &format!(r#"{{"a":[true,{number}]}}"#));
            check(&format!(r#"{{"mcpContent":{}}}"#, meta(given)), false, false, &meta(sent), "");
        }
    }

    #[test]
    fn what_is_no_envelope_is_an_output_like_any_other() {
        for output in [
            r#"{"mcpContent":[{"type":"image","data":"a?","mimeType":"image/png"}]}"#,
            r#"{"mcpContent":[{"type":"film"}]}"#,
            // Beyond what the protocol lets a member be.
            r#"{"mcpContent":[{"type":"text","text":"x","annotations":{"priority":1.5}}]}"#,
            r#"{"mcpContent":[{"type":"text","text":"x","annotations":{"priority":-0.1}}]}"#,
            r#"{"mcpContent":[{"type":"text","text":"x","annotations":{"lastModified":"yesterday"}}]}"#,
            r#"{"mcpContent":[{"type":"image","data":"aGk=","mimeType":"image/png","annotations":{"priority":2}}]}"#,
            r#"{"mcpContent":[{"type":"audio","data":"aGk=","mimeType":"audio/wav","annotations":{"lastModified":""}}]}"#,
            r#"{"mcpContent":[{"type":"resource","annotations":{"priority":7},"resource":{"uri":"a:b","text":""}}]}"#,
            r#"{"mcpContent":[{"type":"resource_link","uri":"a:b","name":"x","annotations":{"priority":7}}]}"#,
            r#"{"mcpContent":[{"type":"resource_link","uri":"","name":"x"}]}"#,
            r#"{"mcpContent":[{"type":"resource_link","uri":"no address","name":"x"}]}"#,
            r#"{"mcpContent":[{"type":"resource_link","uri":"a:b","name":"x","icons":[{"src":""}]}]}"#,
            r#"{"mcpContent":[{"type":"resource","resource":{"uri":"","text":"x"}}]}"#,
            r#"{"mcpContent":[{"type":"text","text":"x","annotations":{"priority":1.00000001}}]}"#,
            r#"{"mcpContent":[{"type":"text","text":"x","annotations":{"priority":-1e-50}}]}"#,
            // What would be lost or changed on the way.
            r#"{"mcpContent":[{"type":"text","text":"x","_meta":{"n":123456789012345678901234567890}}]}"#,
            r#"{"mcpContent":[{"type":"text","text":"x","_meta":{"n":[-0.12345678901234567890123]}}]}"#,
            r#"{"mcpContent":[{"type":"resource","resource":{"uri":"a:b","text":"x","blob":"aGk="}}]}"#,
            r#"{"mcpContent":[{"type":"text","text":"x","colour":"red"}]}"#,
            r#"{"mcpContent":[{"type":"text","text":"x","annotations":{"colour":"red"}}]}"#,
            r#"{"mcpContent":[{"type":"text","text":"x","annotations":null}]}"#,
            r#"{"mcpContent":[],"more":1}"#,
            r#"{"mcpContent":{}}"#,
            r#"{"mcpContents":[]}"#,
        ] {
            let text = serde_json::to_string(output).unwrap();
            let content = format!(r#"[{{"type":"text","text":{text}}}]"#);
            check(output, false, false, &content, output);
        }
    }
}
