//! Splits a body into lines, and a line into series, fields and timestamp.
//!
//! ```text
//! measurement,tag=value,… field=value,… timestamp⏎
//! └────── series ───────┘
//! ```
//!
//! Measurement and tags are one slice here, and field keys are not parsed: a known series is looked
//! up by its raw bytes. The body is scanned once, so parsing takes time linear in its length,
//! whatever it contains. After an error, parsing resumes after the next line break. A line break
//! within a string belongs to the string; if a string is not terminated anywhere in the body, only
//! the line on which it starts is rejected.
//!
//! Most lines of a body have the same field keys in the same order, so a key is first compared with
//! the one at the same place of an earlier line, which was searched and hashed before. So is the
//! series with that of the line before: many agents send a line for each field.
//!
//! Slices are taken at positions that were found in the same bytes, so they always exist.

use telltale_engine::{KeyPartHash, SeriesKeyHash};

use super::error::LineError;
use super::number::{boolean, ends, number};
use super::series::field_key;
use super::timestamp::Timestamp;
use crate::limits::BULK_LINE_BYTES_MAX;
use crate::platform::decimal::whole;

/// The maximum number of characters of a field key in an error message.
const KEY_CHARS_SHOWN_MAX: usize = 100;

/// A line, without its fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line<'b> {
    pub(super) series: SeriesText<'b>,
    pub(super) time: Timestamp,
    /// The number of string fields.
    pub(super) strings: u32,
}

/// A measurement and its tags, as sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SeriesText<'b> {
    pub(super) text: &'b [u8],
    pub(super) hash: SeriesKeyHash,
}

/// A numeric field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Field<'b> {
    pub(super) key: FieldKey<'b>,
    pub(super) value: f64,
}

/// A field key, as sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FieldKey<'b> {
    pub(super) text: &'b [u8],
    pub(super) hash: KeyPartHash,
}

/// The position of a line reader in a body.
#[derive(Debug)]
pub(super) struct Scanner<'b> {
    body: &'b [u8],
    at: usize,
    /// The number of line breaks before `at`.
    lines: usize,
    /// The series of the line before.
    series: Option<SeriesText<'b>>,
    /// The key that was last found at each place of a line.
    keys: Vec<FieldKey<'b>>,
}

impl<'b> Scanner<'b> {
    /// Creates a scanner that resumes at the [position](Self::position) of another one.
    pub(super) fn new(body: &'b [u8], (at, lines): (usize, usize)) -> Self {
        Self { body, at, lines, series: None, keys: Vec::new() }
    }

    /// Returns the byte offset at which the next line starts, and the number of lines before it.
    pub(super) fn position(&self) -> (usize, usize) {
        (self.at, self.lines)
    }

    /// Returns the next line that is neither empty nor a comment, with its number, from 1, and
    /// replaces the contents of `fields` with its numeric fields. Returns `None` at the end of the
    /// body.
    #[inline]
    pub(super) fn next(
        &mut self,
        fields: &mut Vec<Field<'b>>,
    ) -> Option<(usize, Result<Line<'b>, LineError>)> {
        loop {
            match self.peek()? {
                b'\n' => {
                    self.at += 1;
                    self.lines += 1;
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'#' => self.skip_line(),
                _ => break,
            }
        }
        let number = self.lines + 1;
        fields.clear();
        let line = self.line(fields);
        if line.is_err() {
            self.skip_line();
        }
        Some((number, line))
    }

    #[inline]
    fn line(&mut self, fields: &mut Vec<Field<'b>>) -> Result<Line<'b>, LineError> {
        let start = self.at;
        let series = self.series()?;
        self.spaces();
        if matches!(self.peek(), None | Some(b'\n' | b'\r')) {
            return Err(LineError::FieldsMissing);
        }
        let mut strings = 0;
        let mut place = 0;
        loop {
            let key = self.key(place)?;
            place += 1;
            match self.peek() {
                Some(b'"') => {
                    field_key(key.text)?;
                    self.string(key.text)?;
                    strings += 1;
                }
                _ => fields.push(Field { key, value: self.value(key.text)? }),
            }
            if self.at - start > BULK_LINE_BYTES_MAX {
                return Err(LineError::TooLong);
            }
            if self.peek() != Some(b',') {
                break;
            }
            self.at += 1;
        }
        let time = self.timestamp()?;
        self.line_break()?;
        Ok(Line { series, time, strings })
    }

    /// Reads up to the first unescaped space.
    #[inline]
    fn series(&mut self) -> Result<SeriesText<'b>, LineError> {
        if let Some(known) = self.series
            && let Some(after) = self.rest().strip_prefix(known.text)
            && after.first() == Some(&b' ')
        {
            self.at += known.text.len();
            return Ok(known);
        }
        let text = self.new_series()?;
        let series = SeriesText { text, hash: SeriesKeyHash::of(text) };
        self.series = Some(series);
        Ok(series)
    }

    #[inline]
    fn new_series(&mut self) -> Result<&'b [u8], LineError> {
        let rest = self.rest();
        let mut from = 0;
        loop {
            let searched = rest.get(from..).unwrap_or_default();
            let found = memchr::memchr2(b' ', b'\n', searched).map(|found| from + found);
            let (series, after) = rest.split_at(found.unwrap_or(rest.len()));
            if after.first() != Some(&b' ') {
                return Err(LineError::FieldsMissing);
            }
            if series.last() == Some(&b'\\') {
                from = series.len() + 1;
                continue;
            }
            self.at += series.len();
            return Ok(series);
        }
    }

    /// Reads the key of the field at `place` of its line, up to the first unescaped equals sign.
    #[inline]
    fn key(&mut self, place: usize) -> Result<FieldKey<'b>, LineError> {
        if let Some(known) = self.keys.get(place)
            && let Some(after) = self.rest().strip_prefix(known.text)
            && after.first() == Some(&b'=')
        {
            self.at += known.text.len() + 1;
            return Ok(*known);
        }
        let text = self.new_key()?;
        let key = FieldKey { text, hash: KeyPartHash::of(text) };
        match self.keys.get_mut(place) {
            Some(known) => *known = key,
            None => self.keys.push(key),
        }
        Ok(key)
    }

    fn new_key(&mut self) -> Result<&'b [u8], LineError> {
        let rest = self.rest();
        let mut from = 0;
        loop {
            let searched = rest.get(from..).unwrap_or_default();
            let found = memchr::memchr2(b'=', b'\n', searched).map(|found| from + found);
            let (key, after) = rest.split_at(found.unwrap_or(rest.len()));
            if after.first() != Some(&b'=') {
                return Err(LineError::FieldForm);
            }
            if key.last() == Some(&b'\\') {
                from = key.len() + 1;
                continue;
            }
            self.at += key.len() + 1;
            return Ok(key);
        }
    }

    #[inline]
    fn value(&mut self, key: &[u8]) -> Result<f64, LineError> {
        let rest = self.rest();
        let read = match rest.first() {
            Some(b'0'..=b'9' | b'-' | b'.') => number(rest),
            Some(b',' | b' ' | b'\n' | b'\r') | None => return Err(LineError::FieldForm),
            Some(_) => boolean(rest),
        };
        let (value, length) = read.ok_or_else(|| LineError::Value(excerpt(key)))?;
        self.at += length;
        Ok(value)
    }

    /// Skips a string that starts at the current position with its opening quote.
    fn string(&mut self, key: &[u8]) -> Result<(), LineError> {
        let inside = self.rest().get(1..).unwrap_or_default();
        let mut quotes = memchr::memchr_iter(b'"', inside);
        let closes = |end: &usize| {
            let before = inside.get(..*end).unwrap_or_default();
            before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0
        };
        let Some(end) = quotes.find(closes) else {
            return Err(LineError::Unterminated(excerpt(key)));
        };
        let string = inside.get(..end).unwrap_or_default();
        self.at += end + 2;
        self.lines += memchr::memchr_iter(b'\n', string).count();
        if std::str::from_utf8(string).is_err() {
            return Err(LineError::NotUtf8);
        }
        if ends(self.rest().first()) { Ok(()) } else { Err(LineError::Value(excerpt(key))) }
    }

    #[inline]
    fn timestamp(&mut self) -> Result<Timestamp, LineError> {
        self.spaces();
        let rest = self.rest();
        let (negative, digits) = match rest.split_first() {
            None | Some((b'\n' | b'\r', _)) => return Ok(Timestamp::Absent),
            Some((b'-', digits)) => (true, digits),
            Some(_) => (false, rest),
        };
        let (time, length) = match whole(digits) {
            Some((units, length)) if !negative || units == 0 => (Timestamp::Units(units), length),
            Some((_, length)) => (Timestamp::Beyond, length),
            None => {
                let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
                (Timestamp::Beyond, length)
            }
        };
        if length == 0 {
            return Err(LineError::TimeForm);
        }
        self.at += usize::from(negative) + length;
        self.spaces();
        Ok(time)
    }

    #[inline]
    fn line_break(&mut self) -> Result<(), LineError> {
        if self.peek() == Some(b'\r') {
            self.at += 1;
        }
        match self.peek() {
            None => Ok(()),
            Some(b'\n') => {
                self.at += 1;
                self.lines += 1;
                Ok(())
            }
            Some(_) => Err(LineError::TimeForm),
        }
    }

    /// Moves past the next line break.
    fn skip_line(&mut self) {
        match memchr::memchr(b'\n', self.rest()) {
            Some(end) => {
                self.at += end + 1;
                self.lines += 1;
            }
            None => self.at = self.body.len(),
        }
    }

    #[inline]
    fn spaces(&mut self) {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.body.get(self.at).copied()
    }

    #[inline]
    fn rest(&self) -> &'b [u8] {
        self.body.get(self.at..).unwrap_or_default()
    }
}

/// Returns a field key for an error message, truncated.
#[cold]
fn excerpt(key: &[u8]) -> String {
    let some = key.get(..4 * KEY_CHARS_SHOWN_MAX).unwrap_or(key);
    String::from_utf8_lossy(some).chars().take(KEY_CHARS_SHOWN_MAX).collect()
}
