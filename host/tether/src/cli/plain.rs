//! Texts of others on a terminal.

/// The text with everything escaped that could steer a terminal or turn the
/// direction of reading: what a person confirms must look like what it is.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() || steers(character) {
            out.extend(character.escape_unicode());
        } else {
            out.push(character);
        }
    }
    out
}

/// Invisible characters that change how others are shown.
fn steers(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_shown_instead() {
        assert_eq!(plain("Tür 42 → 45,00 €"), "Tür 42 → 45,00 €");
        assert_eq!(plain("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(plain("\u{202e}x\u{9b}"), "\\u{202e}x\\u{9b}");
    }
}
