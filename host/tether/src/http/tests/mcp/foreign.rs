//! Bodies near good ones: each is answered, and no failure of the host.

use std::time::Duration;

use tether_near::near;
use tether_near::proptest::test_runner::{Config, TestRunner};
use tokio::runtime::Runtime;
use tokio::time::timeout;

use super::super::server::Server;
use super::client::{Client, STATELESS};

const BODIES: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"n":1},"_meta":{"tether/idempotencyKey":"k","progressToken":3,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"write","arguments":{"n":1},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"url":{}}}},"requestState":"page:0"}}"#,
    r#"{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"cursor":"YQ","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":9,"method":"tasks/get","params":{"taskId":"0","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#,
    r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"result":{}}]"#,
];

#[test]
fn a_body_near_a_good_one_is_answered() {
    let runtime = Runtime::new().unwrap();
    let server = runtime.block_on(Server::start());
    let revisions = ["2025-03-26", "2025-11-25", STATELESS];
    let clients = revisions.map(|revision| runtime.block_on(Client::new(&server, revision)));
    let config = Config { failure_persistence: None, ..Config::with_cases(150) };
    let answered = TestRunner::new(config).run(&near(BODIES), |body| {
        for client in &clients {
            for more in [&[][..], &["Mcp-Method: tools/call", "Mcp-Name: echo"]] {
                let answer = runtime.block_on(async {
                    let answer = timeout(Duration::from_secs(10), client.post(&body, more));
                    answer.await.expect("it is answered")
                });
                assert!(answer.status < 500, "{body}: {answer:?}");
            }
        }
        Ok(())
    });
    answered.unwrap();
}
