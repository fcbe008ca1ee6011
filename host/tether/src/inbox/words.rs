//! Moments, standings and strangers' words, as people read them.

use std::time::Duration;

use maud::{Markup, html};
use tether_core::action::Status;
use tether_core::clock::Timestamp;
use tether_core::identity::{Actor, Channel};
use tether_core::plain::{shown, shown_in_lines, shown_name};

use crate::wire::Moment;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// What a stranger wrote, as text and nothing else: markup is escaped, characters that
/// show nothing or turn the direction of writing are spelled out, and what is written
/// from right to left moves nothing around it.
pub(super) fn told(text: &str) -> Markup {
    html! { bdi { (shown(text)) } }
}

/// The same for what a person wrote in several lines. Each is isolated from the others as far
/// as the direction of writing goes.
pub(super) fn told_in_lines(text: &str) -> Markup {
    html! { bdi.lines { (shown_in_lines(text)) } }
}

/// The same for the name of somebody or something: two that differ look different.
pub(super) fn named(name: &str) -> Markup {
    html! { bdi { (shown_name(name)) } }
}

/// The same for a name or an address that programs read.
pub(super) fn code(text: &str) -> Markup {
    html! { code { (named(text)) } }
}

/// `30 Nov 2026, 10:33:02 UTC`, and for programs the same in RFC 3339.
pub(super) fn time(at: Timestamp) -> Markup {
    let moment = Moment::from(at).to_string();
    html! { time datetime=(moment) { (spelled(&moment)) } }
}

/// `moment` is RFC 3339, UTC.
fn spelled(moment: &str) -> String {
    let part = |range| moment.get(range).unwrap_or_default();
    let month = part(5..7).parse::<usize>().ok().and_then(|month| MONTHS.get(month.checked_sub(1)?));
    let month = month.copied().unwrap_or_default();
    format!("{} {month} {}, {} UTC", part(8..10).trim_start_matches('0'), part(0..4), part(11..19))
}

/// The same seen from `now`; the script keeps it true.
pub(super) fn age(at: Timestamp, now: Timestamp) -> Markup {
    html! { span.age { (distance(at, now)) } }
}

/// `5 minutes ago`, `in 23 hours`.
fn distance(at: Timestamp, now: Timestamp) -> String {
    let millis = at.as_millis().saturating_sub(now.as_millis());
    let span = length(Duration::from_millis(millis.unsigned_abs()));
    match span {
        None => "now".to_owned(),
        Some(span) if millis < 0 => format!("{span} ago"),
        Some(span) => format!("in {span}"),
    }
}

/// In the largest unit of which there is one, rounded down; none below a second.
fn length(span: Duration) -> Option<String> {
    let seconds = span.as_secs();
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")];
    let (size, unit) = units.into_iter().find(|(size, _)| seconds >= *size)?;
    Some(counted(seconds / size, unit))
}

/// `1 attempt`, `2 attempts`.
pub(super) fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Where an action stands, in a word.
pub(super) fn standing(status: Status) -> &'static str {
    match status {
        Status::Pending => "Waiting",
        Status::Executing => "Running",
        Status::Succeeded => "Done",
        Status::Failed => "Failed",
        Status::Declined => "Declined",
        Status::Expired => "Expired",
    }
}

/// The same with its colour.
pub(super) fn badge(status: Status) -> Markup {
    let colour = match status {
        Status::Pending => "waits",
        Status::Executing => "runs",
        Status::Succeeded => "done",
        Status::Failed => "failed",
        Status::Declined | Status::Expired => "over",
    };
    html! { span.badge.(colour) { (standing(status)) } }
}

/// Who did something, and by which door: `ana, in the inbox`.
pub(super) fn actor(actor: Option<&Actor>) -> Markup {
    let Some(Actor { user, channel }) = actor else { return html! { "the host" } };
    let door = channel.map(|channel| match channel {
        Channel::Api => ", over the API",
        Channel::Inbox => ", in the inbox",
        Channel::Mcp => ", over MCP",
    });
    html! { (named(user.as_str())) (door.unwrap_or_default()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_spelled_for_people_and_for_programs() {
        assert_eq!(
            time(Timestamp::from_millis(1_769_860_987_250)).into_string(),
            "<time datetime=\"2026-01-31T12:03:07.250Z\">31 Jan 2026, 12:03:07 UTC</time>"
        );
        assert_eq!(spelled("2026-12-01T00:00:00.000Z"), "1 Dec 2026, 00:00:00 UTC");
    }

    #[test]
    fn a_distance_is_told_in_its_largest_unit() {
        let check = |seconds: i64, expected: &str| {
            let (at, now) = (Timestamp::from_millis(seconds * 1000), Timestamp::EPOCH);
            assert_eq!(distance(at, now), expected);
        };
        check(0, "now");
        check(1, "in 1 second");
        check(-119, "1 minute ago");
        check(86_399, "in 23 hours");
        check(-3 * 86_400, "3 days ago");
    }

    #[test]
    fn what_a_stranger_wrote_stays_text() {
        let markup = told("<script>x</script> \"&\" safe\u{202e}exe").into_string();
        assert_eq!(markup, "<bdi>&lt;script&gt;x&lt;/script&gt; &quot;&amp;&quot; safe\\u{202e}exe</bdi>");
        assert_eq!(named("ann\u{200d}❤\u{fe0f}").into_string(), "<bdi>ann\\u{200d}❤\\u{fe0f}</bdi>");
        let markup = told_in_lines("<b>\n\u{202e}two\u{2028}").into_string();
        assert_eq!(markup, "<bdi class=\"lines\">&lt;b&gt;\n\\u{202e}two\\u{2028}</bdi>");
    }
}
