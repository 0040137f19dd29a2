//! Plain documents, which most clients send most of the time, read without building a tree.
//!
//! A document is plain if its strings have no escapes: then a string ends at the next quote, and
//! all strings borrow from the body. The reader gives up at anything unexpected; the [general
//! reader](super::with_document) then decides whether the body is JSON and what is wrong with it.
//! Every byte is looked at once, except by the check that the whole is UTF-8.

use super::number::{any_number, number_len};
use super::read::Number;
use crate::platform::decimal::Decimal;

/// Digits of an integer that every 64-bit type has room for.
const SHORT_DIGITS_MAX: usize = 18;

/// A position in a plain document. The methods skip leading white space. They return `None`, at an
/// arbitrary position, if they find something else than they read.
#[derive(Clone, Debug)]
pub struct Cursor<'b> {
    text: &'b str,
    at: usize,
}

/// A value that is neither an object nor an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar<'b> {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean(bool),
    /// A finite number.
    Number(f64),
    /// A string.
    Text(&'b str),
}

impl<'b> Cursor<'b> {
    /// Returns a cursor at the beginning of a document, if it is UTF-8.
    pub fn new(body: &'b [u8]) -> Option<Self> {
        std::str::from_utf8(body).ok().map(|text| Self { text, at: 0 })
    }

    /// Returns the position of the next value.
    pub fn at(&mut self) -> usize {
        self.peek();
        self.at
    }

    /// Returns the position, which white space may follow.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Returns what was read since the position `start`.
    pub fn since(&self, start: usize) -> Option<&'b str> {
        self.text.get(start..self.at)
    }

    /// Reads `byte`.
    #[inline]
    pub fn eat(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Reads `byte` if it is next, and returns whether it was.
    #[inline]
    pub fn ate(&mut self, byte: u8) -> bool {
        self.eat(byte).is_some()
    }

    /// Reads `text` if it is next, without skipping white space, and returns whether it was.
    #[inline]
    pub fn skipped(&mut self, text: &str) -> bool {
        let is_next = self.rest().starts_with(text.as_bytes());
        if is_next {
            self.at += text.len();
        }
        is_next
    }

    /// Returns whether `byte` is next.
    #[inline]
    pub fn is_at(&mut self, byte: u8) -> bool {
        self.peek() == Some(byte)
    }

    /// Returns whether nothing is left.
    pub fn ended(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Reads a string without escapes.
    #[inline]
    pub fn string(&mut self) -> Option<&'b str> {
        self.eat(b'"')?;
        let start = self.at;
        let end = start + plain_len(self.rest())?;
        self.at = end + 1;
        self.text.get(start..end)
    }

    /// Reads a scalar value.
    #[inline]
    pub fn scalar(&mut self) -> Option<Scalar<'b>> {
        match self.peek()? {
            b'"' => self.string().map(Scalar::Text),
            b'-' | b'0'..=b'9' => self.number().map(Scalar::Number),
            _ => self.literal(),
        }
    }

    /// Reads an object. Calls `member` with each key to read the value.
    #[inline]
    pub fn members(
        &mut self,
        mut member: impl FnMut(&mut Self, &'b str) -> Option<()>,
    ) -> Option<()> {
        self.eat(b'{')?;
        if self.ate(b'}') {
            return Some(());
        }
        loop {
            let key = self.string()?;
            self.eat(b':')?;
            member(self, key)?;
            if !self.ate(b',') {
                return self.eat(b'}');
            }
        }
    }

    /// Reads an array. Calls `element` to read each element.
    pub fn elements(&mut self, mut element: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.eat(b'[')?;
        if self.ate(b']') {
            return Some(());
        }
        loop {
            element(self)?;
            if !self.ate(b',') {
                return self.eat(b']');
            }
        }
    }

    /// Returns everything up to and including the next `byte`, unchecked.
    #[inline]
    pub fn through(&mut self, byte: u8) -> Option<&'b str> {
        let start = self.at();
        self.at += memchr::memchr(byte, self.rest())? + 1;
        self.since(start)
    }

    /// Reads a number with the precision of the document, except for an integer of more than 18
    /// digits and zero with a sign.
    #[inline]
    pub fn exact_number(&mut self) -> Option<Number> {
        self.peek()?;
        let rest = self.rest();
        let sign = usize::from(rest.first() == Some(&b'-'));
        let decimal = Decimal::read(rest.get(sign..)?);
        let is_float = decimal.decimals().is_some()
            || matches!(rest.get(sign + decimal.bytes()), Some(b'e' | b'E'));
        if is_float {
            return self.number().map(Number::Float);
        }
        let digits = decimal.whole();
        let number = i64::try_from(decimal.mantissa()).ok()?;
        let leading_zero = digits > 1 && rest.get(sign) == Some(&b'0');
        if digits == 0 || digits > SHORT_DIGITS_MAX || leading_zero || (sign == 1 && number == 0) {
            return None;
        }
        self.at += sign + digits;
        Some(if sign == 1 {
            Number::Signed(-number)
        } else {
            Number::Unsigned(number.cast_unsigned())
        })
    }

    fn number(&mut self) -> Option<f64> {
        let rest = self.rest();
        let sign = usize::from(rest.first() == Some(&b'-'));
        let digits = rest.get(sign..)?;
        let decimal = Decimal::read(digits);
        let leading_zero = decimal.whole() > 1 && digits.first() == Some(&b'0');
        if decimal.whole() == 0 || leading_zero || decimal.decimals() == Some(0) {
            return None;
        }
        let end = sign + decimal.bytes();
        let value = match (rest.get(end), decimal.value()) {
            (Some(b'e' | b'E'), _) | (_, None) => return self.long_number(),
            (_, Some(value)) => value,
        };
        self.at += end;
        Some(if sign == 1 { -value } else { value })
    }

    /// Reads a number with many digits, or with an exponent.
    #[cold]
    fn long_number(&mut self) -> Option<f64> {
        let rest = self.rest();
        let length = number_len(rest);
        let value = any_number(rest.get(..length)?)?;
        self.at += length;
        value.is_finite().then_some(value)
    }

    fn literal(&mut self) -> Option<Scalar<'b>> {
        let all = [
            ("null", Scalar::Null),
            ("true", Scalar::Boolean(true)),
            ("false", Scalar::Boolean(false)),
        ];
        let (literal, value) =
            all.into_iter().find(|(literal, _)| self.rest().starts_with(literal.as_bytes()))?;
        self.at += literal.len();
        Some(value)
    }

    /// Returns the next byte that is not white space, without reading it.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.rest().first() {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    #[inline]
    fn rest(&self) -> &'b [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }
}

/// Sets the value of a member; `None` if the member occurs a second time.
#[inline]
pub fn set_once<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    slot.replace(value).is_none().then_some(())
}

/// Returns the length of the text before the next quote; `None` if an escape or a control character
/// comes first. Most strings are short, so that a call of a vectorized search would take longer.
#[inline]
fn plain_len(text: &[u8]) -> Option<usize> {
    let (mut at, mut rest) = (0, text);
    while let Some((eight, after)) = rest.split_first_chunk() {
        let marks = special_bytes(u64::from_le_bytes(*eight));
        if marks != 0 {
            at += marks.trailing_zeros() as usize / 8;
            return (text.get(at) == Some(&b'"')).then_some(at);
        }
        (at, rest) = (at + eight.len(), after);
    }
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | ..b' ');
    at += rest.iter().position(special)?;
    (text.get(at) == Some(&b'"')).then_some(at)
}

/// Returns a word whose lowest bit that is set lies in the first byte that is a quote, a backslash
/// or a control character; zero if there is none.
#[inline]
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    // Subtracting `limit` from each byte sets the high bit of the lowest byte that is smaller and,
    // despite borrows, of no byte below it.
    let below =
        |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word & HIGH_BITS;
    let equal = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    equal(b'"') | equal(b'\\') | below(word, b' ')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Parses a document that is a plain scalar.
    fn scalar(document: &str) -> Option<Scalar<'_>> {
        let mut cursor = Cursor::new(document.as_bytes())?;
        let scalar = cursor.scalar()?;
        cursor.ended().then_some(scalar)
    }

    #[test]
    fn scalars_follow_the_json_grammar() {
        for (document, expected) in [
            ("null", Some(Scalar::Null)),
            (" false\r\n", Some(Scalar::Boolean(false))),
            ("\"é/\"", Some(Scalar::Text("é/"))),
            ("-12.50", Some(Scalar::Number(-12.5))),
            ("0", Some(Scalar::Number(0.0))),
            ("1E+2", Some(Scalar::Number(100.0))),
            ("123456789012345678901234567890", Some(Scalar::Number(1.234_567_890_123_456_8e29))),
            ("", None),
            ("nul", None),
            ("truee", None),
            ("\"a\\n\"", None),
            ("\"a\tb\"", None),
            ("\n\t\"a\"\r\n", Some(Scalar::Text("a"))),
            ("\u{b}1", None),
            ("\"a", None),
            ("01", None),
            ("1.", None),
            (".5", None),
            ("-", None),
            ("+1", None),
            ("1e", None),
            ("1e400", None),
            ("1.2.3", None),
            ("0x1", None),
        ] {
            assert_eq!(scalar(document), expected, "{document:?}");
        }
    }

    #[test]
    fn members_and_elements_are_read_in_order() {
        let read = |text: &str| {
            let (mut cursor, mut seen) = (Cursor::new(text.as_bytes())?, Vec::new());
            cursor.members(|cursor, key| {
                cursor.elements(|cursor| {
                    seen.push((key.to_owned(), cursor.scalar()? == Scalar::Null));
                    Some(())
                })
            })?;
            cursor.ended().then_some(seen)
        };
        let seen = [("a".to_owned(), false), ("a".to_owned(), true), ("b".to_owned(), true)];
        assert_eq!(read(r#"{"a":[1,null],"b" : [ null ] }"#).as_deref(), Some(&seen[..]));
        assert_eq!(read("{}"), Some(Vec::new()));
        for text in ["", "{", "{}}", r#"{"a"}"#, r#"{"a":[1],}"#, r#"{"a":[1,]}"#, r#"{"a":[1}"#] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn strings_end_at_the_first_quote_unless_something_special_comes_first(
            text in prop::collection::vec(prop::sample::select(b"aaaaaaaa !#[]~\x1f\"\\\x7f\x80\xa2\xdc".to_vec()), 0..20),
        ) {
            let special = text.iter().position(|byte| matches!(byte, b'"' | b'\\' | ..b' '));
            prop_assert_eq!(plain_len(&text), special.filter(|at| text[*at] == b'"'));
        }

        #[test]
        fn line_breaks_are_allowed_between_values_only(texts in prop::collection::vec("[a-z]{0,9}[\n\t]?[a-z]{0,3}", 1..5)) {
            let body: String = texts.iter().map(|text| format!("\n\"{text}\"\t")).collect();
            let mut cursor = Cursor::new(body.as_bytes()).unwrap();
            for text in &texts {
                let expected = if text.contains(['\n', '\t']) { None } else { Some(text.as_str()) };
                prop_assert_eq!(cursor.string(), expected);
                if expected.is_none() {
                    break;
                }
            }
        }

        /// Whatever is read is JSON with the same value.
        #[test]
        fn only_valid_json_is_read(document in "[-+0-9.eE]{1,24}|\"[a-zé\\\\ ]{0,8}\"|[a-z]{4,5}") {
            let expected: Option<serde_json::Value> = serde_json::from_str(&document).ok();
            match scalar(&document) {
                None => {}
                Some(Scalar::Number(n)) => {
                    let expected = expected.and_then(|value| value.as_f64()).unwrap();
                    prop_assert_eq!(n, expected);
                }
                Some(Scalar::Text(text)) => prop_assert_eq!(expected, Some(text.into())),
                Some(Scalar::Null) => prop_assert_eq!(expected, Some(serde_json::Value::Null)),
                Some(Scalar::Boolean(value)) => prop_assert_eq!(expected, Some(value.into())),
            }
        }
    }
}
