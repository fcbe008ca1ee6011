//! Bytes as lower-case hex digits: ids, keys and digests are written so all the time.

use std::fmt;

/// Shows bytes as two lower-case hex digits each.
#[derive(Debug, Clone, Copy)]
pub struct Hex<'a>(pub &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        // Many digits at a time: one by one they would take longer than everything around.
        for bytes in self.0.chunks(32) {
            let mut digits = [0; 64];
            for (pair, byte) in digits.chunks_exact_mut(2).zip(bytes) {
                pair[0] = DIGITS[usize::from(byte >> 4)];
                pair[1] = DIGITS[usize::from(byte & 15)];
            }
            f.write_str(str::from_utf8(&digits[..2 * bytes.len()]).unwrap_or_default())?;
        }
        Ok(())
    }
}

/// The bytes that exactly `2 × N` lower-case hex digits stand for.
pub(crate) fn parse<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    if text.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let bytes: [u8; 40] = std::array::from_fn(|index| (index * 7) as u8);
        let text = Hex(&bytes).to_string();
        assert!(text.starts_with("00070e15") && text.len() == 80, "{text}");
        assert_eq!(parse(&text), Some(bytes));
        assert_eq!(Hex(&[]).to_string(), "");
    }

    #[test]
    fn nothing_else_is_read() {
        for text in ["", "0", "0g", "0G", "AB", "000", "é"] {
            assert_eq!(parse::<1>(text), None, "{text:?}");
        }
        assert_eq!(parse::<1>("af"), Some([0xaf]));
    }
}
