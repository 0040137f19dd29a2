//! Plain documents, which most clients send most of the time, read without building a tree.
//!
//! A document is plain if its strings have no escapes: then a string ends at the next quote, and
//! all strings borrow from the body. The reader gives up at anything unexpected; the [general
//! reader](super::with_document) then decides whether the body is JSON and what is wrong with it.

use super::number::{any_number, number_len};
use crate::platform::decimal::Decimal;

/// A position in a plain document. The methods skip leading white space. They return `None`, at an
/// arbitrary position, if they find something else than they read.
#[derive(Clone, Debug)]
pub struct Cursor<'b> {
    text: &'b str,
    at: usize,
    /// The next line break or tab, unless it precedes the cursor. They are valid between values and
    /// not in strings. Other control characters are never valid.
    next_break: usize,
}

/// A value that is neither an object nor an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar<'b> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A finite number.
    Number(f64),
    /// A string.
    Text(&'b str),
}

impl<'b> Cursor<'b> {
    /// Returns a cursor at the beginning of a document, if it is plain.
    pub fn new(body: &'b [u8]) -> Option<Self> {
        // Without an early exit the loop can be vectorized.
        let (odd, breaks) = body.iter().fold((false, false), |(odd, breaks), byte| {
            let is_break = matches!(byte, b'\n' | b'\r' | b'\t');
            (odd | (*byte == b'\\') | (*byte < b' ') & !is_break, breaks | is_break)
        });
        let text = if odd { None } else { std::str::from_utf8(body).ok() };
        text.map(|text| Self { text, at: 0, next_break: if breaks { 0 } else { usize::MAX } })
    }

    /// Returns the position of the next value.
    pub fn at(&mut self) -> usize {
        self.peek();
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

    /// Returns whether nothing is left.
    pub fn ended(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Reads a string.
    #[inline]
    pub fn string(&mut self) -> Option<&'b str> {
        self.eat(b'"')?;
        let start = self.at;
        let end = start + quote(self.rest())?;
        self.at = end + 1;
        if self.next_break < end && self.breaks_within(start, end) {
            return None;
        }
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
        let all = [("null", Scalar::Null), ("true", Scalar::Bool), ("false", Scalar::Bool)];
        let (literal, value) =
            all.into_iter().find(|(literal, _)| self.rest().starts_with(literal.as_bytes()))?;
        self.at += literal.len();
        Some(value)
    }

    /// Returns whether a line break or tab lies between two positions. Searches for the next one if
    /// it is not known.
    fn breaks_within(&mut self, start: usize, end: usize) -> bool {
        if self.next_break < start {
            let rest = self.text.as_bytes().get(start..).unwrap_or_default();
            let found = memchr::memchr3(b'\n', b'\r', b'\t', rest);
            self.next_break = found.map_or(usize::MAX, |found| start + found);
        }
        self.next_break < end
    }

    /// Returns the next byte that is not white space.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
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

/// Returns the position of the first quote. Most strings are short, so that a call of a vectorized
/// search would take longer.
#[inline]
fn quote(text: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    if let Some(eight) = text.first_chunk() {
        // Zero at each quote. Subtracting one from each byte sets the high bit of the lowest zero
        // and, despite borrows, of no byte below it.
        let differences = u64::from_le_bytes(*eight) ^ (ONES * u64::from(b'"'));
        let quotes = differences.wrapping_sub(ONES) & !differences & HIGH_BITS;
        if quotes != 0 {
            return Some(quotes.trailing_zeros() as usize / 8);
        }
    }
    memchr::memchr(b'"', text)
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
            (" false\r\n", Some(Scalar::Bool)),
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
        fn the_first_quote_is_found(text in prop::collection::vec(prop::sample::select(b"a!#\"\xa2".to_vec()), 0..20)) {
            prop_assert_eq!(quote(&text), text.iter().position(|byte| *byte == b'"'));
        }

        #[test]
        fn line_breaks_are_allowed_between_values_only(texts in prop::collection::vec("[a-z]{0,9}[\n\t]?[a-z]{0,3}", 1..5)) {
            let body: String = texts.iter().map(|text| format!("\n\"{text}\"\t")).collect();
            let mut cursor = Cursor::new(body.as_bytes()).unwrap();
            for text in &texts {
                let expected = if text.contains(['\n', '\t']) { None } else { Some(text.as_str()) };
                prop_assert_eq!(cursor.string(), expected);
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
                Some(Scalar::Bool) => prop_assert!(expected.is_some_and(|value| value.is_boolean())),
            }
        }
    }
}
