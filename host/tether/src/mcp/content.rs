//! A tool's output as the protocol's content.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject, ResourceContents};
use serde_json::value::{RawValue, Value};
use tether_core::json::JsonText;
use tether_gateway::Answer;

use super::splice::Splices;
use super::words;

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
    let (blocks, structured) = match envelope(text) {
        Some(envelope) if !promises => (envelope.blocks, envelope.structured),
        Some(envelope) => (envelope.blocks, Some(text)),
        None => (vec![ContentBlock::text(words::output_of(text))], Some(text)),
    };
    let mut result = CallToolResult::success(blocks);
    let structured = structured.filter(|text| !objects_only || text.trim_start().starts_with('{'));
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
    let blocks: Vec<ContentBlock> = serde_json::from_str(members.remove("mcpContent")?.get()).ok()?;
    let structured = members.remove("structuredContent").map(RawValue::get);
    (members.is_empty() && blocks.iter().all(is_whole)).then_some(Envelope { blocks, structured })
}

/// Whether bytes in it are what they say they are.
fn is_whole(block: &ContentBlock) -> bool {
    let data = match block {
        ContentBlock::Image(image) => &image.data,
        ContentBlock::Audio(audio) => &audio.data,
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::BlobResourceContents { blob, .. } => blob,
            _ => return true,
        },
        _ => return true,
    };
    STANDARD.decode(data).is_ok()
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
        ] {
            let blocks = format!("[{block}]");
            check(&format!(r#"{{"mcpContent":{blocks}}}"#), false, false, &blocks, "");
        }
    }

    #[test]
    fn what_is_no_envelope_is_an_output_like_any_other() {
        for output in [
            r#"{"mcpContent":[{"type":"image","data":"a?","mimeType":"image/png"}]}"#,
            r#"{"mcpContent":[{"type":"film"}]}"#,
            r#"{"mcpContent":[],"more":1}"#,
            r#"{"mcpContent":{}}"#,
            r#"{"mcpContents":[]}"#,
        ] {
            assert!(written(output, false, false).contains(r#""content":[{"type":"text""#), "{output}");
        }
    }
}
