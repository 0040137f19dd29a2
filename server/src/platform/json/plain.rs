//! Plain documents: what most programs send most of the time, read without making a tree of it.
//!
//! A document is plain when its strings have no escapes: then a string ends at the next quote, and every text borrows from
//! the body. A reader that meets anything it does not expect
//! gives up; the [general reader](super::with_document) has the last word on what is JSON and what is wrong with it.

use super::number::{any_number, number_len};
use crate::platform::decimal::Decimal;

/// A place in a plain document. Its readers answer none, and stop anywhere, where something else stands than they read;
/// white space before it is passed over.
#[derive(Clone, Debug)]
pub struct Cursor<'b> {
    text: &'b str,
    at: usize,
    /// The next line break or tab, unless it lies before the cursor: it may stand between values and not in strings.
    /// Other control characters stand nowhere.
    next_break: usize,
}

/// A value with nothing inside.
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
    /// The beginning of a document, if it is plain.
    pub fn new(body: &'b [u8]) -> Option<Self> {
        // Without a way out the loop becomes one over vectors.
        let (odd, breaks) = body.iter().fold((false, false), |(odd, breaks), byte| {
            let is_break = matches!(byte, b'\n' | b'\r' | b'\t');
            (odd | (*byte == b'\\') | (*byte < b' ') & !is_break, breaks | is_break)
        });
        let text = if odd { None } else { std::str::from_utf8(body).ok() };
        text.map(|text| Self { text, at: 0, next_break: if breaks { 0 } else { usize::MAX } })
    }

    /// The byte where the next value begins.
    pub fn at(&mut self) -> usize {
        self.peek();
        self.at
    }

    /// What was read since the cursor was at the byte `start`.
    pub fn since(&self, start: usize) -> Option<&'b str> {
        self.text.get(start..self.at)
    }

    /// Passes over `byte`.
    #[inline]
    pub fn eat(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Whether `byte` comes next; passes over it then.
    #[inline]
    pub fn ate(&mut self, byte: u8) -> bool {
        self.eat(byte).is_some()
    }

    /// Whether nothing is left.
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

    /// Reads a value that has nothing inside.
    #[inline]
    pub fn scalar(&mut self) -> Option<Scalar<'b>> {
        match self.peek()? {
            b'"' => self.string().map(Scalar::Text),
            b'-' | b'0'..=b'9' => self.number().map(Scalar::Number),
            _ => self.literal(),
        }
    }

    /// Reads an object and hands the key of each member to `member`, which reads its value.
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

    /// Reads an array whose elements `element` reads.
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

    /// Takes everything up to the next `byte`, that included, whatever it is.
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

    /// Reads a number of many digits, or with an exponent.
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

    /// Whether a line break or tab lies between two places; looks for the next one where it is not known.
    fn breaks_within(&mut self, start: usize, end: usize) -> bool {
        if self.next_break < start {
            let rest = self.text.as_bytes().get(start..).unwrap_or_default();
            let found = memchr::memchr3(b'\n', b'\r', b'\t', rest);
            self.next_break = found.map_or(usize::MAX, |found| start + found);
        }
        self.next_break < end
    }

    /// The next byte that is no white space.
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

/// Where the first quote is. Most strings are short: the call of a search over vectors would take longer than they.
#[inline]
fn quote(text: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    if let Some(eight) = text.first_chunk() {
        // Zero where a quote stands. Taking one from each byte sets the high bit of the lowest zero and, whatever was
        // borrowed, of none below it.
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

    /// The scalar that a document is, if it is plain and one.
    fn scalar(document: &str) -> Option<Scalar<'_>> {
        let mut cursor = Cursor::new(document.as_bytes())?;
        let scalar = cursor.scalar()?;
        cursor.ended().then_some(scalar)
    }

    #[test]
    fn scalars_are_those_of_json() {
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
    fn members_and_elements_are_handed_over_in_their_order() {
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
        fn line_breaks_stand_between_values_only(texts in prop::collection::vec("[a-z]{0,9}[\n\t]?[a-z]{0,3}", 1..5)) {
            let body: String = texts.iter().map(|text| format!("\n\"{text}\"\t")).collect();
            let mut cursor = Cursor::new(body.as_bytes()).unwrap();
            for text in &texts {
                let expected = if text.contains(['\n', '\t']) { None } else { Some(text.as_str()) };
                prop_assert_eq!(cursor.string(), expected);
            }
        }

        /// Whatever is read here is JSON, and the same value.
        #[test]
        fn nothing_is_read_that_json_has_not(document in "[-+0-9.eE]{1,24}|\"[a-zé\\\\ ]{0,8}\"|[a-z]{4,5}") {
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
