//! Calls of reads.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::super::server::Server;
use super::client::{Client, STATELESS, comes_to, rest};

const BOTH: [&str; 2] = ["2025-11-25", STATELESS];

#[tokio::test]
async fn f24_a_read_answers_to_the_letter() {
    let server = Server::start().await;
    for revision in BOTH {
        let client = Client::new(&server, revision).await;
        for arguments in [
            r#"{"n":9007199254740993,"z" : 1.0,"a":[-0,1e2,0.10,18446744073709551616]}"#,
            r#"{"n":1,"text":"👩‍🚀 \u0041\/"}"#,
            "{}",
        ] {
            let answer = client.call("echo", arguments).await;
            assert_eq!(answer.said(), arguments);
            assert!(answer.text.contains(&format!(r#""structuredContent":{arguments}"#)), "{}", answer.text);
            assert_eq!(answer.result()["isError"], false);
            assert_eq!(answer.result()["_meta"]["tether/attempts"], 1);
        }
        let left_out = client.ask("tools/call", r#"{"name":"echo"}"#).await;
        assert_eq!(left_out.said(), "{}");
    }
}

#[tokio::test]
async fn a_line_break_between_members_is_a_blank_on_the_way() {
    let server = Server::start().await;
    for revision in BOTH {
        let client = Client::new(&server, revision).await;
        let answer = client.call("echo", "{\r\n\"n\":\n1}").await;
        assert_eq!(answer.said(), "{\r\n\"n\":\n1}");
        assert!(answer.text.contains(r#""structuredContent":{  "n": 1}"#), "{}", answer.text);
    }
}

#[tokio::test]
async fn a_result_of_250_kb_is_whole() {
    let server = Server::start().await;
    // As much as a body may hold, nearly: once as text, once as structured content.
    let arguments = format!(r#"{{"text":"{}"}}"#, "ä👩‍🚀".repeat(1 << 16));
    assert!(arguments.len() > 800_000);
    for revision in BOTH {
        let client = Client::new(&server, revision).await;
        let answer = client.call("echo", &arguments).await;
        assert!(
            answer.said() == arguments
                && answer.text.contains(&format!(r#""structuredContent":{arguments}"#))
        );
    }
}

#[tokio::test]
async fn f25_arguments_that_are_no_object_do_not_fit() {
    let server = Server::start().await;
    for revision in BOTH {
        let client = Client::new(&server, revision).await;
        for arguments in ["null", "[]", "5", "\"x\"", r#"{"n":"x"}"#] {
            let answer = client.call("echo", arguments).await;
            answer.has_failed("INVALID_ARGUMENTS");
            assert!(answer.said().ends_with("Calling again with the same arguments will not help."));
        }
    }
}

#[tokio::test]
async fn a_refusal_is_a_result_that_says_so() {
    let server = Server::start().await;
    for revision in BOTH {
        let client = Client::new(&server, revision).await;
        let answer = client.call("refuse", "{}").await;
        answer.has_failed("REFUSED");
        assert_eq!(answer.result()["_meta"]["tether/problem"]["handlerCode"], "NOT_TODAY");
        assert_eq!(answer.result()["_meta"]["tether/problem"]["status"], 422);
    }
}

#[tokio::test]
async fn f30_whoever_goes_away_ends_its_read() {
    let server = Server::start().await;
    for (number, revision) in BOTH.into_iter().enumerate() {
        let client = Client::new(&server, revision).await;
        let stream = client.started(client.fresh_id(), "wait", "{}").await;
        comes_to(|| server.handlers.waiting.load(Ordering::SeqCst), number + 1).await;
        drop(stream);
        comes_to(|| server.handlers.cancelled.load(Ordering::SeqCst), number + 1).await;
    }
}

#[tokio::test]
async fn a_read_that_is_called_off_ends_and_its_stream_with_it() {
    let server = Server::start().await;
    let client = Client::new(&server, BOTH[0]).await;
    let mut stream = client.started(77, "wait", "{}").await;
    comes_to(|| server.handlers.waiting.load(Ordering::SeqCst), 1).await;
    let off = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}"#;
    assert_eq!(client.post(off, &[]).await.status, 202);
    comes_to(|| server.handlers.cancelled.load(Ordering::SeqCst), 1).await;
    let ended = tokio::time::timeout(Duration::from_secs(10), rest(&mut stream)).await.expect("it ends");
    assert!(!ended.contains("\"result\""), "nobody is told: {ended}");
}

#[tokio::test]
async fn without_sessions_a_stream_is_closed_to_call_a_read_off() {
    let server = Server::start().await;
    let client = Client::new(&server, STATELESS).await;
    let stream = client.started(77, "wait", "{}").await;
    comes_to(|| server.handlers.waiting.load(Ordering::SeqCst), 1).await;
    // Ids are used again there: it could be anybody's.
    let off = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}"#;
    assert_eq!(client.post(off, &["Mcp-Method: notifications/cancelled"]).await.status, 202);
    assert_eq!(client.call("echo", "{}").await.said(), "{}");
    assert_eq!(server.handlers.cancelled.load(Ordering::SeqCst), 0);
    drop(stream);
    comes_to(|| server.handlers.cancelled.load(Ordering::SeqCst), 1).await;
}

#[tokio::test]
async fn two_requests_with_one_id_at_once_get_their_own_answers() {
    let server = Server::start().await;
    let client = Client::new(&server, BOTH[0]).await;
    let asked =
        (0..8).map(|_| client.ask_as(60, "tools/call", r#"{"name":"echo","arguments":{"n":1}}"#, &[]));
    let answers = tokio::time::timeout(Duration::from_secs(10), futures_all(asked));
    let answers = answers.await.expect("each is answered in its own stream");
    for answer in answers {
        assert_eq!(answer.said(), r#"{"n":1}"#, "{answer:?}");
    }
}

async fn futures_all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = futures.map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        let mut all = true;
        for (future, output) in &mut waiting {
            if output.is_none() {
                match future.as_mut().poll(context) {
                    std::task::Poll::Ready(done) => *output = Some(done),
                    std::task::Poll::Pending => all = false,
                }
            }
        }
        if all { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    waiting.into_iter().filter_map(|(_, output)| output).collect()
}
