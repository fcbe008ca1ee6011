//! What was sent, in words: for the gateway's answers and for the terminal.

use tether_core::ledger::{Answer, Effect, Entry, Fact, Ledger};

use super::time::Moment;

/// `POST https://api.example.com/refunds left at 12:03:07Z, no answer`: what `request`
/// (method and URL) was, when it left (RFC 3339), and how it went.
pub fn sent(request: &str, at: &str, went: Went) -> String {
    // The time of the day; the rest is beside it.
    let time = at.get(11..19).map_or_else(|| at.to_owned(), |time| format!("{time}Z"));
    match went {
        Went::NoAnswer => format!("{request} left at {time}, no answer"),
        Went::Never => format!("{request} did not leave at {time}"),
        Went::Answered(status) => format!("{request} left at {time}, answered {status}"),
    }
}

/// How a request went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Went {
    /// It may have left, and no whole answer came back.
    NoAnswer,
    /// It never left.
    Never,
    /// It was answered, with this status.
    Answered(u16),
}

impl From<Answer> for Went {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::InDoubt => Self::NoAnswer,
            Answer::NotSent => Self::Never,
            Answer::Status(status) => Self::Answered(status),
        }
    }
}

/// What a person checks before an action of unknown effect is repeated: the requests
/// that nobody answered, or where there is none, those that were answered.
pub(crate) fn check(effect: Effect, ledger: &Ledger) -> Option<String> {
    if effect != Effect::Unknown {
        return None;
    }
    let all = |wanted: fn(Answer) -> bool| -> Vec<_> {
        ledger.entries().iter().filter_map(|entry| told(entry, wanted)).collect()
    };
    let in_doubt = all(|answer| answer == Answer::InDoubt);
    if in_doubt.is_empty() {
        let answered = all(|answer| answer != Answer::NotSent).join("; ");
        return Some(format!("{answered}. Check what the peer did before you repeat this."));
    }
    Some(format!(
        "{}. Check whether the peer acted; not to be repeated before it must have given up.",
        in_doubt.join("; ")
    ))
}

/// A request that may change something, if it went as `wanted`.
fn told(entry: &Entry, wanted: fn(Answer) -> bool) -> Option<String> {
    let Fact::Sent { request, answer } = &entry.fact else { return None };
    if request.method.is_safe() || !wanted(*answer) {
        return None;
    }
    let url = format!("{} {}{}", request.method, request.origin, request.path);
    Some(sent(&url, &Moment::from(entry.at).to_string(), Went::from(*answer)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tether_core::clock::Timestamp;
    use tether_core::ledger::Request;

    use super::*;

    fn entry(method: &str, path: &str, answer: Answer) -> Entry {
        let (origin, path) = ("https://api.example.com".to_owned(), path.to_owned());
        let request = Request { method: method.parse().unwrap(), origin, path, step: None };
        let at = Timestamp::EPOCH.after(Duration::from_secs(12 * 3600 + 3 * 60 + 7));
        Entry { at, attempt: 1, fact: Fact::Sent { request, answer } }
    }

    #[track_caller]
    fn checks(entries: Vec<Entry>, expected: Option<&str>) {
        let ledger = Ledger::new(entries);
        assert_eq!(check(ledger.effect(false), &ledger).as_deref(), expected);
    }

    #[test]
    fn what_is_in_doubt_is_to_be_checked() {
        checks(
            vec![
                entry("POST", "/refunds", Answer::InDoubt),
                entry("POST", "/mails", Answer::Status(200)),
                entry("GET", "/tickets", Answer::InDoubt),
            ],
            Some(
                "POST https://api.example.com/refunds left at 12:03:07Z, no answer. Check whether the peer \
                 acted; not to be repeated before it must have given up.",
            ),
        );
        checks(
            vec![entry("POST", "/refunds", Answer::Status(500)), entry("POST", "/x", Answer::NotSent)],
            Some(
                "POST https://api.example.com/refunds left at 12:03:07Z, answered 500. Check what the peer \
                 did before you repeat this.",
            ),
        );
    }

    #[test]
    fn what_is_known_needs_no_check() {
        checks(vec![], None);
        checks(vec![entry("POST", "/refunds", Answer::NotSent), entry("GET", "/x", Answer::InDoubt)], None);
    }
}
