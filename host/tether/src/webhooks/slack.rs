//! What a notice says, for a channel of Slack.
//!
//! What strangers wrote stands in it as plain text, which Slack takes for nothing else.
//! `text` is what notifications show, and what other systems show that take Slack's
//! messages and know no blocks. There, characters that could mean more are defused.

use serde_json::{Value, json};
use tether_core::action::{Action, Preview, Status};
use tether_core::plain::plain;
use tether_core::port::announcements::Announced;

/// Characters of a stranger's text; Slack takes 3,000 in a section.
const MOST: usize = 1_000;

/// Characters of a name.
const MOST_OF_A_NAME: usize = 128;

/// The message, as it is sent.
pub(super) fn message(announced: &Announced, action: &Action, url: &str) -> Vec<u8> {
    let headline = headline(announced, action);
    let preview = match &action.proposal.preview {
        Preview::Text(text) => Some(plain(text, MOST)),
        Preview::None | Preview::Unavailable(_) | Preview::Erased => None,
    };
    let mut blocks = vec![section(&headline)];
    blocks.extend(preview.as_deref().map(section));
    blocks.push(json!({
        "type": "section",
        "text": { "type": "mrkdwn", "text": format!("<{}|Open it in the inbox>", escaped(url)) }
    }));
    let lines = [Some(defused(&headline)), preview.as_deref().map(defused), Some(escaped(url))];
    let text = lines.into_iter().flatten().collect::<Vec<_>>().join("\n");
    json!({ "text": text, "blocks": blocks }).to_string().into_bytes()
}

fn section(text: &str) -> Value {
    json!({ "type": "section", "text": { "type": "plain_text", "emoji": false, "text": text } })
}

/// What happened, in one sentence.
fn headline(announced: &Announced, action: &Action) -> String {
    let (proposal, event) = (&action.proposal, &announced.event);
    let name = |text: &str| plain(text, MOST_OF_A_NAME);
    let tool = name(proposal.tool.as_str());
    let by = || match &event.actor {
        Some(actor) => format!(" by {}", name(actor.user.as_str())),
        None => String::new(),
    };
    let what = match (event.from, event.to) {
        (None, _) => {
            format!("{tool} waits for a decision, proposed by {}", name(proposal.proposer.as_str()))
        }
        (Some(Status::Pending), Status::Pending) => {
            format!("{tool} was approved{}; it takes more people", by())
        }
        (_, Status::Pending) => format!("{tool} failed and can be confirmed again"),
        (_, Status::Executing) => format!("{tool} was confirmed{}", by()),
        (_, Status::Succeeded) => format!("{tool} is done"),
        (_, Status::Failed) => format!("{tool} failed"),
        (_, Status::Declined) => format!("{tool} was declined{}", by()),
        (_, Status::Expired) => format!("{tool} has expired: nobody decided in time"),
    };
    format!("{what} ({})", name(proposal.tenant.as_str()))
}

/// Without what Slack takes for links, mentions and calls to everybody.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The same for systems that call people whose name follows an `@`.
fn defused(text: &str) -> String {
    escaped(text).replace('@', "@\u{200b}")
}
