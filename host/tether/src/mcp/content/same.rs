//! Whether what rmcp sends of the blocks is what was given: what it does not know, it leaves
//! out, and what it reads as a number, it may round.

use rmcp::model::ContentBlock;
use serde_json::Value;

/// What a number begins with in a tree, where all of them are strings.
const NUMBER: char = '#';

/// Whether everything of `given` arrives. A priority may lose digits, as rmcp keeps few.
pub(super) fn arrives(given: &str, blocks: &[ContentBlock]) -> bool {
    let Ok(sent) = serde_json::to_string(blocks) else { return false };
    let (Some(Value::Array(mut given)), Some(Value::Array(mut sent))) = (tree(given), tree(&sent)) else {
        return false;
    };
    given.len() == sent.len()
        && given.iter_mut().zip(&mut sent).all(|(given, sent)| {
            let (priority, rounded) = (take_priority(given), take_priority(sent));
            priority.is_some() == rounded.is_some()
                && priority.is_none_or(|priority| is_in_range(&priority))
                && is_same(given, sent)
        })
}

fn take_priority(block: &mut Value) -> Option<Value> {
    block.get_mut("annotations")?.as_object_mut()?.remove("priority")
}

fn is_in_range(priority: &Value) -> bool {
    number(priority).and_then(|text| text.parse::<f64>().ok()).is_some_and(|it| (0.0..=1.0).contains(&it))
}

/// Whether both say the same, however their numbers are written.
fn is_same(given: &Value, sent: &Value) -> bool {
    match (given, sent) {
        (Value::Array(given), Value::Array(sent)) => {
            given.len() == sent.len() && given.iter().zip(sent).all(|(given, sent)| is_same(given, sent))
        }
        (Value::Object(given), Value::Object(sent)) => {
            let is_sent = |(name, given)| sent.get(name).is_some_and(|sent| is_same(given, sent));
            given.len() == sent.len() && given.iter().all(is_sent)
        }
        (given, sent) if given == sent => true,
        (given, sent) => {
            number(given).zip(number(sent)).is_some_and(|(given, sent)| decimal(given) == decimal(sent))
        }
    }
}

fn number(value: &Value) -> Option<&str> {
    value.as_str()?.strip_prefix(NUMBER)
}

/// Whether it is below zero, its digits without zeros around them, and the power of ten of the
/// last of them.
fn decimal(number: &str) -> Option<(bool, String, i64)> {
    let (digits, power) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{}{fraction}", whole.trim_start_matches('-'));
    let significant = all.trim_end_matches('0');
    let zeros = i64::try_from(all.len() - significant.len()).ok()?;
    let power = power.parse::<i64>().ok()?.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    let power = if significant.is_empty() { 0 } else { power.checked_add(zeros)? };
    Some((whole.starts_with('-'), significant.trim_start_matches('0').to_owned(), power))
}

/// `json` as a tree that has its numbers as they are written.
fn tree(json: &str) -> Option<Value> {
    let mut quoted = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find(|first: char| first == '"' || first == '-' || first.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        quoted.push_str(before);
        let is_string = from.starts_with('"');
        let length = if is_string { length_of_string(from) } else { length_of_number(from) };
        let (text, after) = from.split_at(length);
        if is_string {
            quoted.push_str(text);
        } else {
            quoted.extend(['"', NUMBER]);
            quoted.push_str(text);
            quoted.push('"');
        }
        rest = after;
    }
    quoted.push_str(rest);
    serde_json::from_str(&quoted).ok()
}

fn length_of_number(text: &str) -> usize {
    text.find(|of: char| !of.is_ascii_digit() && !"+-.eE".contains(of)).unwrap_or(text.len())
}

/// With both of its quotes.
fn length_of_string(text: &str) -> usize {
    let mut is_escaped = true;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' if !is_escaped => return at + 1,
            b'\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    text.len()
}
