//! What a form sent.

use std::fmt;

/// The fields of a form, as `application/x-www-form-urlencoded` writes them. Fields that
/// nobody asks for change nothing.
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    /// The longest form that is read, in bytes: a token, or a reason of 1,000 characters
    /// each of which takes twelve.
    pub(super) const LONGEST: usize = 64 << 10;

    /// None where it is no form.
    pub(super) fn parse(body: &[u8]) -> Option<Self> {
        let fields = body.split(|byte| *byte == b'&').filter(|field| !field.is_empty());
        let decoded = fields.map(|field| {
            let end = field.iter().position(|byte| *byte == b'=');
            let (name, value) = end.map_or((field, &[][..]), |end| (&field[..end], &field[end + 1..]));
            Some((decode(name)?, decode(value)?))
        });
        decoded.collect::<Option<_>>().map(Self)
    }

    /// A field's value; none where it is left out, or there more than once.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        let mut values = self.0.iter().filter(|(known, _)| known == name);
        let (_, value) = values.next()?;
        values.next().is_none().then_some(value.as_str())
    }
}

impl fmt::Debug for Form {
    /// The names only: a value may be a token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

fn decode(text: &[u8]) -> Option<String> {
    let digit = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let (high, low) = (digit(rest.next())?, digit(rest.next())?);
                u8::try_from(high * 16 + low).ok()?
            }
            other => *other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_decoded() {
        let form = Form::parse(b"reason=too+late%21+%E2%82%AC&csrf=ab&&empty=&bare").unwrap();
        assert_eq!(form.field("reason"), Some("too late! \u{20ac}"));
        assert_eq!(form.field("csrf"), Some("ab"));
        assert_eq!(form.field("empty"), Some(""));
        assert_eq!(form.field("bare"), Some(""));
        assert_eq!(form.field("other"), None);
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_not_read() {
        assert_eq!(Form::parse(b"csrf=a&csrf=b").unwrap().field("csrf"), None);
        for body in [&b"a=%"[..], b"a=%4", b"a=%zz", b"a=%+1", b"a=%ff"] {
            assert!(Form::parse(body).is_none(), "{body:?}");
        }
    }

    #[test]
    fn a_form_in_a_log_has_no_values() {
        let form = Form::parse(b"token=canary").unwrap();
        assert_eq!(format!("{form:?}"), "[\"token\"]");
    }
}
