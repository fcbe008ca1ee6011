//! Text that a stranger wrote, made fit for people.

mod characters;

pub use characters::is_hidden;
use characters::{is_emoji, is_skin};

/// `text` with whatever a terminal or a page could take for more than text
/// escaped, and cut to `most` characters (ending in `…` where it was longer). Emoji stay whole.
pub fn plain(text: &str, most: usize) -> String {
    cut(characters(text), most)
}

/// The same of a name. In one, no emoji needs what shows nothing, and no blank is other than one
/// space between two words: two names that differ look different.
pub fn plain_name(name: &str, most: usize) -> String {
    let mut after_space = true;
    let characters = name.chars().map(|character| {
        let is_space = character == ' ';
        let blurs = if is_space { after_space } else { character.is_whitespace() };
        after_space = is_space;
        (character, blurs || is_hidden(character))
    });
    cut(characters, most)
}

/// `characters`, of which those are escaped that go with a `true`.
fn cut(characters: impl Iterator<Item = (char, bool)>, most: usize) -> String {
    let mut out = String::new();
    let mut left = most;
    let mut end = 0;
    for (character, hides) in characters {
        let spelled = hides.then(|| spelled_out(character));
        let length = spelled.as_ref().map_or(1, |text| text.chars().count());
        if length > left {
            out.truncate(end);
            out.push('…');
            return out;
        }
        left -= length;
        match spelled {
            Some(text) => out.push_str(&text),
            None => out.push(character),
        }
        // Up to here there is still room for the mark.
        if left > 0 {
            end = out.len();
        }
    }
    out
}

fn spelled_out(character: char) -> String {
    match character {
        ' ' => character.escape_unicode().collect(),
        _ => character.escape_default().collect(),
    }
}

/// The whole text, as it may be shown to a person.
pub fn shown(text: &str) -> String {
    plain(text, usize::MAX)
}

/// The whole name, as it may be shown to a person.
pub fn shown_name(name: &str) -> String {
    plain_name(name, usize::MAX)
}

/// The same of a text that may have several lines: they stay, with a line feed after each.
pub fn shown_in_lines(text: &str) -> String {
    let line = |line: &str| shown(line.strip_suffix('\r').unwrap_or(line));
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// The characters of `text`, with whether each is to be spelled out: where it is hidden, and is
/// not what holds an emoji together. That is one U+FE0F directly after an emoji, and one U+200D
/// from an emoji (with its U+FE0F or colour of skin) to the next.
pub fn characters(text: &str) -> impl Iterator<Item = (char, bool)> {
    let mut before = Before::Other;
    let mut rest = text.chars();
    std::iter::from_fn(move || {
        let character = rest.next()?;
        let (hides, now) = match (character, before) {
            ('\u{fe0f}', Before::Emoji) => (false, Before::Adorned),
            ('\u{200d}', Before::Emoji | Before::Adorned) if rest.clone().next().is_some_and(is_emoji) => {
                (false, Before::Other)
            }
            (_, Before::Emoji) if is_skin(character) => (false, Before::Adorned),
            _ if is_emoji(character) => (false, Before::Emoji),
            _ => (is_hidden(character), Before::Other),
        };
        before = now;
        Some((character, hides))
    })
}

/// What a character comes after.
#[derive(Clone, Copy)]
enum Before {
    Emoji,
    /// An emoji with all that it can have.
    Adorned,
    Other,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, most: usize, expected: &str) {
        assert_eq!(plain(text, most), expected);
    }

    #[test]
    fn nothing_acts_that_should_only_be_read() {
        check("Void ticket 1042 (€45.00) 👩‍🚀", 100, "Void ticket 1042 (€45.00) 👩‍🚀");
        check("a\nb\u{1b}[2J", 100, r"a\nb\u{1b}[2J");
        check("safe\u{202e}exe.pdf", 100, r"safe\u{202e}exe.pdf");
    }

    /// `Default_Ignorable_Code_Point` of Unicode 16, and what else draws nothing, range by range.
    const HIDDEN: &[(u32, u32)] = &[
        (0x0, 0x1f),
        (0x7f, 0x9f),
        (0xad, 0xad),
        (0x34f, 0x34f),
        (0x61c, 0x61c),
        (0x115f, 0x1160),
        (0x17b4, 0x17b5),
        (0x180b, 0x180f),
        (0x200b, 0x200f),
        (0x2028, 0x202e),
        (0x2060, 0x206f),
        (0x2800, 0x2800),
        (0x3164, 0x3164),
        (0xfe00, 0xfe0f),
        (0xfeff, 0xfeff),
        (0xffa0, 0xffa0),
        (0xfff0, 0xfffc),
        (0x13430, 0x13442),
        (0x16fe4, 0x16fe4),
        (0x1bca0, 0x1bca3),
        (0x1d159, 0x1d159),
        (0x1d173, 0x1d17a),
        (0xe0000, 0xe0fff),
    ];

    #[test]
    fn whatever_shows_nothing_is_spelled_out_and_nothing_else_is() {
        for character in '\0'..=char::MAX {
            let number = u32::from(character);
            let expected = HIDDEN.iter().any(|(first, last)| (*first..=*last).contains(&number));
            assert_eq!(is_hidden(character), expected, "U+{number:04X}");
        }
        check("alice\u{3164}", 100, r"alice\u{3164}");
        check("a\u{e0100}\u{fe00}\u{2800}", 100, r"a\u{e0100}\u{fe00}\u{2800}");
    }

    #[test]
    fn emoji_stay_whole() {
        for emoji in ["❤️", "👩‍🚀", "👨🏽‍⚕️", "🏳️‍🌈", "👁️‍🗨️", "👩‍❤️‍💋‍👨", "🇩🇪", "☕️☕️", "👍🏿", "🐦‍⬛"]
        {
            check(emoji, 100, emoji);
        }
    }

    #[test]
    fn nothing_is_hidden_between_emoji() {
        check("🚀\u{fe0f}\u{fe0f}", 100, "🚀\u{fe0f}\\u{fe0f}");
        check("🚀\u{200d}\u{200d}🚀", 100, r"🚀\u{200d}\u{200d}🚀");
        check("🚀\u{200d}", 100, r"🚀\u{200d}");
        check("🚀\u{200d}a\u{200d}🚀", 100, r"🚀\u{200d}a\u{200d}🚀");
        check("🚀\u{200d}\u{fe0f}🚀", 100, r"🚀\u{200d}\u{fe0f}🚀");
        check("👍🏿\u{fe0f}", 100, r"👍🏿\u{fe0f}");
        check("a\u{fe0f}1\u{fe0f}\u{20e3}", 100, "a\\u{fe0f}1\\u{fe0f}\u{20e3}");
        check("🚀\u{fe0e}\u{fe0f}", 100, r"🚀\u{fe0e}\u{fe0f}");
        check("🏴\u{e0067}\u{e007f}", 100, r"🏴\u{e0067}\u{e007f}");
    }

    #[test]
    fn a_name_hides_nothing_at_all() {
        assert_eq!(plain_name("ann\u{200d}", 100), r"ann\u{200d}");
        assert_eq!(plain_name("👩\u{200d}🚀❤\u{fe0f}", 100), r"👩\u{200d}🚀❤\u{fe0f}");
        assert_eq!(plain_name("äöüß", 3), "äö…");
        assert_eq!(plain_name("ann b", 100), "ann b");
        assert_eq!(plain_name("ann  b\u{a0}c", 100), r"ann \u{20}b\u{a0}c");
    }

    #[test]
    fn lines_stay_lines_and_nothing_else_of_them_acts() {
        let text = "first\n\r\nsafe\u{202e}exe\ra\u{2028}\u{85}\u{b}\u{c}\u{1b}[2J\n";
        let shown = "first\n\nsafe\\u{202e}exe\\ra\\u{2028}\\u{85}\\u{b}\\u{c}\\u{1b}[2J\n";
        assert_eq!(shown_in_lines(text), shown);
        assert_eq!(shown_in_lines(""), "");
    }

    #[test]
    fn a_text_is_cut_between_characters_and_says_so() {
        check("äöü", 3, "äöü");
        check("äöüß", 3, "äö…");
        check("ab\u{1b}c", 5, "ab…");
        check("a\n", 3, r"a\n");
        check("a\nb", 3, "a…");
    }
}
