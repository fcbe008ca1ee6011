//! What a notice says, for a channel of Slack.
//!
//! What strangers wrote stands in it as plain text, which Slack takes for nothing else: it
//! parses `mrkdwn` alone
//! (<https://docs.slack.dev/reference/block-kit/composition-objects/text-object>).
//! `text` is what notifications show, and what other systems show that take Slack's
//! messages and know no blocks. There, whatever could be more than text is defused: the
//! fields that turn Slack's parsing off are not heeded for incoming webhooks everywhere, and
//! other systems know other marks.

use serde_json::{Value, json};
use tether_core::action::{Action, Preview, Status};
use tether_core::plain::{plain, plain_name};
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
    let message = json!({
        "text": text,
        "blocks": blocks,
        "mrkdwn": false,
        "parse": "none",
        "link_names": false,
        "unfurl_links": false,
        "unfurl_media": false,
    });
    message.to_string().into_bytes()
}

fn section(text: &str) -> Value {
    json!({ "type": "section", "text": { "type": "plain_text", "emoji": false, "text": text } })
}

/// What happened, in one sentence.
fn headline(announced: &Announced, action: &Action) -> String {
    let (proposal, event) = (&action.proposal, &announced.event);
    let name = |text: &str| plain_name(text, MOST_OF_A_NAME);
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

/// Shows nothing, and ends a name, an address or a mark.
const NOTHING: char = '\u{200b}';

/// The same for systems that call people by `@name`, lead to channels by `#name` or `~name`,
/// make links of `[text](address)` or of whatever looks like an address.
fn defused(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, letter) in text.char_indices() {
        out.push(letter);
        let is_mark = match letter {
            '@' | '#' | '~' | ']' => true,
            '.' | ':' => {
                let (before, after) = (&text[..at], &text[at + 1..]);
                after.starts_with(|next: char| !next.is_whitespace()) && !is_in_a_number(before, after)
            }
            _ => false,
        };
        if is_mark {
            out.push(NOTHING);
        }
    }
    escaped(&out)
}

/// Whether the dot or colon between these is one of at most two within digits. Amounts and
/// times of day are no addresses; `1.2.3.4:80` is one.
fn is_in_a_number(before: &str, after: &str) -> bool {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let is_of_it = |letter: char| is_digit(letter) || matches!(letter, '.' | ':');
    let (start, end) = (before.trim_end_matches(is_of_it), after.trim_start_matches(is_of_it));
    let (head, tail) = (&before[start.len()..], &after[..after.len() - end.len()]);
    // What ends a sentence is not within.
    let (head, tail) = (head.trim_start_matches(['.', ':']), tail.trim_end_matches(['.', ':']));
    let others = head.chars().chain(tail.chars()).filter(|letter| !is_digit(*letter)).count();
    head.ends_with(is_digit) && tail.starts_with(is_digit) && others < 2
}
