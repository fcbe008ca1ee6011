//! Texts near messages and outputs: read or refused, and to the letter where they are let in.

use rmcp::model::ClientJsonRpcMessage;
use tether_core::json::JsonText;
use tether_near::near;
use tether_near::proptest::prelude::*;

use super::message::{Kind, Message, Posted};
use super::parameters;
use super::splice::Splices;

const MESSAGES: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"n":1.0},"_meta":{"tether/idempotencyKey":"k","progressToken":3}}}"#,
    r#"{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"cursor":"YQ"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"no"}}"#,
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}"#,
    r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"result":{}}]"#,
];

const OUTPUTS: &[&str] = &[
    r#"{"n":9007199254740993,"m" : 1.0,"o":[-0,1e2,"\u0041\n"]}"#,
    r#"[1,"a:0",{"b":null}]"#,
    "\"ä\"",
    "-0.10",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn what_is_read_of_a_message_rmcp_reads_as_well(text in near(MESSAGES)) {
        let messages = match Posted::read(text) {
            Ok(Posted::One(message)) => vec![*message],
            Ok(Posted::Batch(messages)) => messages.into_iter().flatten().collect(),
            Err(_) => return Ok(()),
        };
        let answers = |message: &&Message| matches!(message.kind, Kind::Response(_));
        let fitting = messages.iter().filter(|message| !answers(message) && parameters::wrong(message).is_none());
        for message in fitting {
            for with_arguments in [false, true] {
                let forwarded = message.forwarded(with_arguments);
                let read = serde_json::from_slice::<ClientJsonRpcMessage>(&forwarded);
                prop_assert!(read.is_ok(), "{:?}: {}", forwarded, read.unwrap_err());
            }
        }
    }

    #[test]
    fn an_output_goes_out_to_the_letter(outputs in prop::collection::vec(near(OUTPUTS), 1..4)) {
        let outputs: Vec<_> = outputs.into_iter().filter(|text| JsonText::parse(text.as_str()).is_ok()).collect();
        let splices = Splices::new();
        let values: Vec<_> = outputs.iter().map(|text| splices.put(text)).collect();
        let piece = serde_json::json!({"result": {"structuredContent": values}}).to_string();
        let filled = splices.fill(format!("data: {piece}\n\n").into());
        let expected: Vec<_> = outputs.iter().map(|text| text.replace(['\n', '\r'], " ")).collect();
        let expected = format!("data: {{\"result\":{{\"structuredContent\":[{}]}}}}\n\n", expected.join(","));
        prop_assert_eq!(filled, expected);
    }
}
