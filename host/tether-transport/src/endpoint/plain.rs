//! Text that a stranger wrote, made fit for people.

/// The longest message that is passed on, in characters.
const LONGEST: usize = 1_000;

/// `text` with whatever a terminal or a page could take for more than text escaped, up
/// to 1,000 characters; where it was longer it ends in `…`.
pub(super) fn plain(text: &str) -> String {
    let (mut out, mut length) = (String::new(), 0);
    for character in text.trim().chars() {
        let shown: String =
            if is_hidden(character) { character.escape_default().collect() } else { character.into() };
        length += shown.chars().count();
        if length > LONGEST - 1 {
            return out + "…";
        }
        out.push_str(&shown);
    }
    out
}

/// Control characters, and those that turn the direction of writing or show nothing:
/// they could make a text look like another.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_acts_that_should_only_be_read() {
        assert_eq!(plain(" no such ticket: 1042 (€45.00)\n"), "no such ticket: 1042 (€45.00)");
        assert_eq!(plain("a\nb\u{1b}[2J \u{202e}"), r"a\nb\u{1b}[2J \u{202e}");
    }

    #[test]
    fn a_long_text_is_cut_and_says_so() {
        assert_eq!(plain(&"ä".repeat(999)).chars().count(), 999);
        let cut = plain(&"ä".repeat(5_000));
        assert!(cut.chars().count() == 1_000 && cut.ends_with('…'));
        assert!(plain(&"\u{1b}".repeat(1_000)).chars().count() <= 1_000);
    }
}
