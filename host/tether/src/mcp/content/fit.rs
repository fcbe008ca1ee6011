//! What the protocol asks of the members of a block beyond their types, which rmcp sees to.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{Annotations, ContentBlock, Icon, ResourceContents};

/// Whether a block is one of the protocol's.
pub(super) fn fits(block: &ContentBlock) -> bool {
    let (fits, annotations) = match block {
        ContentBlock::Text(text) => (true, &text.annotations),
        ContentBlock::Image(image) => (is_base64(&image.data), &image.annotations),
        ContentBlock::Audio(audio) => (is_base64(&audio.data), &audio.annotations),
        ContentBlock::Resource(embedded) => (is_resource(&embedded.resource), &embedded.annotations),
        ContentBlock::ResourceLink(link) => {
            let mut icons = link.icons.iter().flatten();
            (is_uri(&link.uri) && icons.all(|Icon { src, .. }| is_uri(src)), &link.annotations)
        }
        _ => return false,
    };
    fits && annotations.as_ref().is_none_or(tell_a_moment)
}

/// A priority is looked at as it was given.
fn tell_a_moment(annotations: &Annotations) -> bool {
    annotations.last_modified.as_deref().is_none_or(is_moment)
}

fn is_resource(resource: &ResourceContents) -> bool {
    match resource {
        ResourceContents::TextResourceContents { uri, .. } => is_uri(uri),
        ResourceContents::BlobResourceContents { uri, blob, .. } => is_uri(uri) && is_base64(blob),
        _ => false,
    }
}

fn is_base64(data: &str) -> bool {
    STANDARD.decode(data).is_ok()
}

/// Whether it has a scheme, and the characters of RFC 3986 only.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_escape = |at: usize| {
        rest.as_bytes().get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        && rest.bytes().enumerate().all(|(at, byte)| match byte {
            b'%' => is_escape(at),
            _ => byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=".contains(&byte),
        })
}

/// Whether it is a date of ISO 8601, with a time or without.
fn is_moment(text: &str) -> bool {
    match text.split_once('T') {
        None => is_date(text),
        Some((date, time)) => is_date(date) && is_time(time),
    }
}

fn is_date(text: &str) -> bool {
    let Some([year, month, day]) = numbers(text, '-', [4, 2, 2]) else { return false };
    let leaps = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 => 28 + u16::from(leaps),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    (1..=12).contains(&month) && (1..=days).contains(&day)
}

/// With the distance from UTC or without.
fn is_time(text: &str) -> bool {
    let (time, is_zone) = match (text.strip_suffix('Z'), text.rfind(['+', '-'])) {
        (Some(time), _) => (time, true),
        (None, Some(at)) => (&text[..at], is_distance(&text[at + 1..])),
        (None, None) => (text, true),
    };
    if is_zone && is_of_a_day(numbers(time, ':', [2, 2])) {
        return true;
    }
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let has_digits = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let is_clock = match numbers(time, ':', [2, 2, 2]) {
        // The last may be one that leaps.
        Some([hour, minute, second]) => is_of_a_day(Some([hour, minute])) && second <= 60,
        None => false,
    };
    is_zone && has_digits && is_clock
}

/// In hours, or in hours and minutes.
fn is_distance(text: &str) -> bool {
    let hours_only = numbers(text, ':', [2]).map(|[hours]| [hours, 0]);
    let together = numbers(text, ':', [4]).map(|[both]| [both / 100, both % 100]);
    is_of_a_day(numbers(text, ':', [2, 2]).or(together).or(hours_only))
}

fn is_of_a_day(time: Option<[u16; 2]>) -> bool {
    time.is_some_and(|[hour, minute]| hour < 24 && minute < 60)
}

/// Numbers of so many digits with this between them.
fn numbers<const N: usize>(text: &str, between: char, digits: [usize; N]) -> Option<[u16; N]> {
    let mut parts = text.split(between);
    let mut numbers = [0; N];
    for (number, digits) in numbers.iter_mut().zip(digits) {
        let part = parts.next().filter(|part| part.len() == digits)?;
        *number = part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())??;
    }
    parts.next().is_none().then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_and_no_blank() {
        for text in [
            "a:b",
            "https://a.test:80/x%20y?z=(1)#~",
            "file:///etc/x",
            "data:image/png;base64,aGk=",
            "urn:x:",
        ] {
            assert!(is_uri(text), "{text}");
        }
        for text in ["", "a", ":b", "1a:b", "/x", "a b:c", "a:b c", "a:%2", "a:%zz", "a:ä", "a:<b>", "a:b\n"]
        {
            assert!(!is_uri(text), "{text}");
        }
    }

    #[test]
    fn a_moment_is_a_date_that_there_was() {
        for text in [
            "2025-01-12T15:00:58Z",
            "2025-01-12T15:00:58.123456Z",
            "2025-01-12T15:00:58+01:00",
            "2025-01-12T15:00:58-11:30",
            "2025-01-12T15:00:58+0100",
            "2025-01-12T15:00:58+01",
            "2025-01-12T15:00Z",
            "2025-01-12T15:00",
            "2025-01-12T15:00:58",
            "1969-12-31",
            "2024-02-29",
            "2016-12-31T23:59:60Z",
        ] {
            assert!(is_moment(text), "{text}");
        }
        for text in [
            "",
            "yesterday",
            "Tue",
            "2025-02-29",
            "2025-13-01",
            "2025-00-01",
            "2025-1-1",
            "2025-01-12 15:00:58Z",
            "2025-01-12T",
            "2025-01-12T24:00:00Z",
            "2025-01-12T15:60:00Z",
            "2025-01-12T15:00:58.Z",
            "2025-01-12T15:00:58+1:00",
            "2025-01-12T15:00:58+010",
            "2025-01-12T15:00:58+2500",
            "2025-01-12T15:00.5Z",
            "2025-01-12T15Z",
            "2025-01-12T15:00:58+25:00",
            "2025-01-12T15:00:+8Z",
            "2025-01-12T15:00:58Zulu",
            "1736694058",
            "2025-01-12T1ä:00:58",
        ] {
            assert!(!is_moment(text), "{text}");
        }
    }
}
