//! What is told, and how it is worded.

mod over_time;

use serde_json::{Value, json};
use tether_core::action::{Action, Approval, Arguments, Claim, Preview, Proposal, Revision, State};
use tether_core::clock::Timestamp;
use tether_core::digest::Digest;
use tether_core::grant::{Binding, BoundEndpoint};
use tether_core::identity::{Actor, Channel};
use tether_core::json::JsonText;
use tether_core::ledger::Ledger;

use super::body::Notice;
use super::*;

const URL: &str = "https://tether.test/inbox/actions/0000000000000000000000000000002a";

/// In no other text of these tests.
const CANARY: &str = "canary-9b1c";

fn action(preview: &str) -> Action {
    let by = Claim { by: "ada".parse().unwrap(), key: Some(CANARY.parse().unwrap()) };
    Action {
        id: format!("{:032x}", 42).parse().unwrap(),
        revision: Revision(3),
        proposal: Proposal {
            tenant: "acme".parse().unwrap(),
            proposer: "agent-7".parse().unwrap(),
            tool: "void_ticket".parse().unwrap(),
            arguments: Arguments::Kept(JsonText::parse(format!("\"{CANARY}\"")).unwrap()),
            binding: Binding::Endpoint(BoundEndpoint {
                url: format!("https://a.test/{CANARY}"),
                definition: Digest::of("definition"),
            }),
            preview: Preview::Text(preview.to_owned()),
            created_at: Timestamp::EPOCH,
            max_attempts: 3,
            people: 2,
        },
        state: State::Pending {
            attempts_used: 1,
            expires_at: Timestamp::from_millis(9_000),
            last_failure: None,
            approvals: vec![Approval { claim: by, at: Timestamp::from_millis(2_000) }],
        },
        ledger: Ledger::default(),
    }
}

fn announced(from: Option<Status>, to: Status, actor: Option<&str>) -> Announced {
    let actor = actor.map(|user| Actor { user: user.parse().unwrap(), channel: Some(Channel::Inbox) });
    Announced {
        number: 7_777_777,
        tenant: "acme".parse().unwrap(),
        place: 5,
        hash: Digest::of("event"),
        action: format!("{:032x}", 42).parse().unwrap(),
        revision: Revision(2),
        event: HistoryEvent {
            at: Timestamp::from_millis(2_000),
            actor,
            from,
            to,
            attempt: 1,
            detail: CANARY.to_owned(),
        },
    }
}

fn approval() -> Announced {
    announced(Some(Status::Pending), Status::Pending, Some("ada"))
}

fn slack(announced: &Announced, preview: &str) -> Value {
    serde_json::from_slice(&slack::message(announced, &action(preview), URL)).unwrap()
}

#[test]
fn every_move_is_told_as_what_it_is_to_people() {
    use Status::{Declined, Executing, Expired, Failed, Pending, Succeeded};
    let check =
        |from, to, kind| assert_eq!(Kind::of(&announced(from, to, None).event), kind, "{from:?} {to:?}");
    check(None, Pending, Some(Kind::Proposed));
    for to in [Pending, Executing, Declined] {
        check(Some(Pending), to, Some(Kind::Decided));
    }
    check(Some(Pending), Expired, Some(Kind::Done));
    for to in [Pending, Succeeded, Failed] {
        check(Some(Executing), to, Some(Kind::Done));
    }
    for erased in [Succeeded, Failed, Declined, Expired] {
        check(Some(erased), erased, None);
    }
}

#[test]
fn a_hook_is_told_what_it_asked_for() {
    let hook = |kinds: &[Kind], tenant: Option<&str>| Webhook {
        name: "hook".to_owned(),
        address: Address::parse("https://a.test", tether_transport::errand::Reach::Operators).unwrap(),
        kinds: kinds.iter().copied().collect(),
        format: Format::Tether,
        key: None,
        tenant: tenant.map(|tenant| tenant.parse().unwrap()),
    };
    let wants = |kinds: &[Kind], tenant| hook(kinds, tenant).wants(&approval());
    assert_eq!(wants(&Kind::ALL, None), Some(Kind::Decided));
    assert_eq!(wants(&Kind::ALL, Some("acme")), Some(Kind::Decided));
    assert_eq!(wants(&Kind::ALL, Some("other")), None);
    assert_eq!(wants(&[Kind::Proposed, Kind::Done], None), None);
}

#[test]
fn a_notice_holds_what_programs_need_and_no_arguments() {
    let (announced, action) = (approval(), action("Void ticket 42"));
    let body = Notice::new(Kind::Decided, &announced, &action, URL).to_json();
    let expected = format!(
        "{{\"type\":\"decided\",\"at\":\"1970-01-01T00:00:02.000Z\",\
         \"actionId\":\"0000000000000000000000000000002a\",\"revision\":2,\"tenant\":\"acme\",\
         \"tool\":\"void_ticket\",\"status\":\"Pending\",\"proposedBy\":\"agent-7\",\"actor\":\"ada\",\
         \"channel\":\"inbox\",\"attemptsUsed\":1,\
         \"approvals\":[{{\"by\":\"ada\",\"at\":\"1970-01-01T00:00:02.000Z\"}}],\"approvalsNeeded\":2,\
         \"preview\":\"Void ticket 42\",\"url\":\"{URL}\",\
         \"chain\":{{\"place\":5,\"hash\":\"{}\"}}}}",
        announced.hash
    );
    assert_eq!(String::from_utf8(body).unwrap(), expected);
}

#[test]
fn nothing_that_is_told_holds_arguments_keys_or_sentences_of_handlers() {
    let (announced, action) = (approval(), action("Void ticket 42"));
    let tether = Notice::new(Kind::Decided, &announced, &action, URL).to_json();
    for body in [tether, slack::message(&announced, &action, URL)] {
        let body = String::from_utf8(body).unwrap();
        assert!(!body.contains(CANARY) && !body.contains("7777777"), "{body}");
    }
}

#[test]
fn a_message_says_what_happened_and_where_to_go() {
    let pending = Some(Status::Pending);
    let says =
        |announced: &Announced| slack(announced, "Void ticket 42")["blocks"][0]["text"]["text"].clone();
    for (announced, sentence) in [
        (announced(None, Status::Pending, Some("agent-7")), "waits for a decision, proposed by agent-7"),
        (approval(), "was approved by ada; it takes more people"),
        (announced(pending, Status::Executing, Some("ada")), "was confirmed by ada"),
        (announced(pending, Status::Declined, Some("ada")), "was declined by ada"),
        (announced(pending, Status::Expired, None), "has expired: nobody decided in time"),
        (announced(Some(Status::Executing), Status::Succeeded, None), "is done"),
        (announced(Some(Status::Executing), Status::Failed, None), "failed"),
        (announced(Some(Status::Executing), Status::Pending, None), "failed and can be confirmed again"),
    ] {
        assert_eq!(says(&announced), format!("void_ticket {sentence} (acme)"));
    }
    let message = slack(&approval(), "Void ticket 42");
    assert_eq!(message["blocks"][1]["text"]["text"], "Void ticket 42");
    assert_eq!(message["blocks"][2]["text"]["text"], format!("<{URL}|Open it in the inbox>"));
    let text = message["text"].as_str().unwrap();
    assert!(text.contains("Void ticket 42") && text.ends_with(URL), "{text}");
}

#[test]
fn what_a_stranger_wrote_calls_nobody_and_links_nowhere() {
    let preview = "<!channel> <https://evil.test|Void> @here & *bold*\u{202e}\n```";
    let announced = announced(Some(Status::Pending), Status::Executing, Some("<!here> @channel"));
    let message = slack(&announced, preview);
    for block in message["blocks"].as_array().unwrap() {
        let (kind, text) = (&block["text"]["type"], block["text"]["text"].as_str().unwrap());
        assert!(kind == "plain_text" || text == format!("<{URL}|Open it in the inbox>"), "{block}");
        assert!(!text.contains(['\u{202e}', '\n']), "{text:?}");
    }
    let text = message["text"].as_str().unwrap();
    assert!(!text.contains(['<', '>', '\u{202e}']), "{text}");
    assert!(!text.contains("@here") && !text.contains("@channel"), "{text}");
    assert!(text.contains("&lt;!channel&gt;") && text.contains("&amp; *bold*"), "{text}");
}

#[test]
fn no_address_in_the_words_for_notifications_is_a_link() {
    let preview = "[refund](https://evil.test/a) ![](http://evil.test) www.evil.test evil.test/b a@evil.test \
                   mailto:a@evil.test [x]: https://evil.test #town ~town-square [a][b] HTTPS://EVIL.TEST";
    let announced = announced(Some(Status::Pending), Status::Executing, Some("[ada](https://evil.test)"));
    let message = slack(&announced, preview);
    let text = message["text"].as_str().unwrap().strip_suffix(URL).unwrap().to_lowercase();
    for part in ["://", "](", "][", "]:", "evil.t", "www.e", "@evil", "mailto:a", "#town", "~town"] {
        assert!(!text.contains(part), "{part:?} is in {text:?}");
    }
    let read = text.replace('\u{200b}', "");
    assert!(read.contains(&preview.to_lowercase()), "it reads the same: {read}");
    for (key, off) in [
        ("mrkdwn", json!(false)),
        ("parse", json!("none")),
        ("link_names", json!(false)),
        ("unfurl_links", json!(false)),
        ("unfurl_media", json!(false)),
    ] {
        assert_eq!(message[key], off, "{key}");
    }
}

#[test]
fn amounts_and_times_stay_as_they_are() {
    let preview = "Void ticket 42 (open, 45.00 EUR, 12:30, due: today), v1.2.3 at 12:30:05.";
    let text = slack(&approval(), preview)["text"].clone();
    assert!(text.as_str().unwrap().contains(preview), "{text}");
}

#[test]
fn no_address_of_digits_is_a_link() {
    let preview =
        "tel:5551234 1.2.3.4 1.2.3.4:80 10.0.0.1. http://1.2.3.4/x evil.1test [::1]:80 1:2:3:4:5:6:7:8";
    let message = slack(&approval(), preview);
    let text = message["text"].as_str().unwrap().strip_suffix(URL).unwrap();
    for part in
        ["tel:5", "1.2", "2.3", "3.4", "4:8", "10.0", "0.0", "0.1", "://", "evil.1", "::", ":1", "]:", "1:2"]
    {
        assert!(!text.contains(part), "{part:?} is in {text:?}");
    }
    assert!(text.replace('\u{200b}', "").contains(preview), "it reads the same: {text}");
}

#[test]
fn a_name_with_what_shows_nothing_looks_like_no_other() {
    let announced = announced(Some(Status::Pending), Status::Declined, Some("ann\u{200d}❤\u{fe0f}"));
    let message = slack(&announced, "Void ticket 42");
    let sentence = r"declined by ann\u{200d}❤\u{fe0f} (acme)";
    assert!(message["blocks"][0]["text"]["text"].as_str().unwrap().ends_with(sentence), "{message}");
    assert!(message["text"].as_str().unwrap().contains(sentence), "{message}");
}

#[test]
fn a_long_preview_is_cut_to_what_a_message_holds() {
    let message = slack(&approval(), &"🚀&".repeat(5_000));
    let shown = message["blocks"][1]["text"]["text"].as_str().unwrap();
    assert_eq!(shown.chars().count(), 1_000);
    assert!(shown.ends_with('…'));
}
