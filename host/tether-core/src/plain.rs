//! Text that a stranger wrote, made fit for people.

/// `text` with whatever a terminal or a page could take for more than text
/// escaped, and cut to `most` characters (ending in `…` where it was longer).
pub fn plain(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut left = most;
    let mut end = 0;
    for character in text.chars() {
        let length = if is_hidden(character) { character.escape_default().count() } else { 1 };
        if length > left {
            out.truncate(end);
            out.push('…');
            return out;
        }
        left -= length;
        if is_hidden(character) {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
        // Up to here there is still room for the mark.
        if left > 0 {
            end = out.len();
        }
    }
    out
}

/// The whole text, as it may be shown to a person.
pub fn shown(text: &str) -> String {
    plain(text, usize::MAX)
}

/// The same of a text that may have several lines: they stay, with a line feed after each.
pub fn shown_in_lines(text: &str) -> String {
    let line = |line: &str| shown(line.strip_suffix('\r').unwrap_or(line));
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Control characters, and those that turn the direction of writing or show
/// nothing: they could make a text look like another.
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
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
