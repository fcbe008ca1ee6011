//! JSON for people: on lines of its own, the values to the letter.

use std::fmt::Write as _;

use tether_core::json::JsonText;
use tether_core::plain::characters;

/// Deeper levels are not set in any further: they would be out of sight.
const DEEPEST: usize = 16;

/// Spaces for a level.
const STEP: usize = 2;

/// `json` with one member or item a line. Numbers, strings and the order of members stay
/// as they were written, but for characters that show nothing or turn the direction of
/// writing: those are escaped, as JSON writes them, so the value is the same. Text that
/// would grow more than fourfold by this keeps its own lines.
pub(super) fn laid_out(json: &JsonText) -> String {
    let text = json.as_str();
    let most = text.len().saturating_mul(4).saturating_add(1 << 16);
    lines(text, most).unwrap_or_else(|| spelled(text))
}

/// None where it would be longer than `most` bytes.
fn lines(text: &str, most: usize) -> Option<String> {
    let mut out = String::with_capacity(text.len() + text.len() / 2);
    let mut rest = text.trim_start_matches(BLANKS);
    let mut depth = 0_usize;
    while let Some(next) = rest.chars().next() {
        match next {
            '"' => {
                let length = string(rest);
                spell(&rest[..length], &mut out);
                rest = &rest[length..];
            }
            '{' | '[' => {
                out.push(next);
                rest = rest[1..].trim_start_matches(BLANKS);
                if rest.starts_with(['}', ']']) {
                    out.push_str(&rest[..1]);
                    rest = &rest[1..];
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(next);
                rest = &rest[1..];
            }
            ',' => {
                out.push(next);
                new_line(&mut out, depth);
                rest = &rest[1..];
            }
            ':' => {
                out.push_str(": ");
                rest = &rest[1..];
            }
            _ => {
                let end = rest.find([',', '}', ']', ' ', '\t', '\n', '\r']).unwrap_or(rest.len());
                spell(&rest[..end], &mut out);
                rest = &rest[end..];
            }
        }
        if out.len() > most {
            return None;
        }
        rest = rest.trim_start_matches(BLANKS);
    }
    Some(out)
}

const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', STEP * depth.min(DEEPEST)));
}

/// The length of the string that `text` begins with, in bytes, its quotes included.
fn string(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().enumerate().skip(1).find(|(_, byte)| {
        let closes = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        closes
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

fn spelled(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    spell(text, &mut out);
    out
}

/// Writes a piece of JSON, hidden characters as `\u202e`. But for blanks between values
/// they occur in strings only.
fn spell(piece: &str, out: &mut String) {
    let mut units = [0; 2];
    for (character, hides) in characters(piece) {
        if hides && !BLANKS.contains(&character) {
            for unit in character.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(character);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let json = JsonText::parse(text).unwrap();
        let shown = laid_out(&json);
        assert_eq!(shown, expected);
        let again = JsonText::parse(shown).unwrap();
        assert_eq!(again.fingerprint(), json.fingerprint(), "it is the same value");
    }

    #[test]
    fn one_member_a_line_and_every_value_to_the_letter() {
        check(
            r#"{"b":9007199254740993 , "a":[0.10,-0,1e2, []],"c":{},"d":"x, {y}: \"z\\"}"#,
            "{\n  \"b\": 9007199254740993,\n  \"a\": [\n    0.10,\n    -0,\n    1e2,\n    []\n  ],\n  \
             \"c\": {},\n  \"d\": \"x, {y}: \\\"z\\\\\"\n}",
        );
        check("{}", "{}");
        check(" true ", "true");
    }

    #[test]
    fn what_cannot_be_seen_is_spelled_out_and_means_the_same() {
        check(
            "{\"\u{202e}a\":\"safe\u{202e}exe\u{e0041}é\"}",
            "{\n  \"\\u202ea\": \"safe\\u202eexe\\udb40\\udc41é\"\n}",
        );
        check("{\"to\":\"alice\u{3164} 👩‍🚀\"}", "{\n  \"to\": \"alice\\u3164 👩‍🚀\"\n}");
    }

    #[test]
    fn what_would_grow_out_of_hand_keeps_its_lines() {
        let deep = format!("{}{}{}", "[".repeat(100), "1,\n".repeat(100_000) + "1", "]".repeat(100));
        let json = JsonText::parse(deep.clone()).unwrap();
        assert_eq!(laid_out(&json), deep);
    }
}
