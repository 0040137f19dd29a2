//! Parses, unescapes and validates the series part of a line: measurement, tags and field keys.
//!
//! A backslash escapes a separator that follows it; before any other character, including another
//! backslash, it is a literal backslash. Whether a byte is a separator therefore depends only on
//! the byte before it.

use std::borrow::Cow;

use smallvec::SmallVec;
use telltale_engine::{InvalidTags, Refusal, Tags, limits};

use super::error::LineError;

/// The number of tags that need no heap allocation; few series have more.
const TAGS_INLINE: usize = 16;
/// The characters that can be escaped in measurements.
const MEASUREMENT: &[char] = &[',', ' '];
/// The characters that can be escaped in tag keys, tag values and field keys.
const KEY: &[char] = &[',', '=', ' '];

/// The key and value of a tag.
pub(super) type Tag<'b> = (Cow<'b, str>, Cow<'b, str>);

/// A measurement and its tags, in the order sent.
#[derive(Debug)]
pub(super) struct Series<'b> {
    pub(super) measurement: Cow<'b, str>,
    pub(super) tags: SmallVec<[Tag<'b>; TAGS_INLINE]>,
}

impl<'b> Series<'b> {
    /// Parses the part of a line before its fields.
    pub(super) fn parse(text: &'b [u8]) -> Result<Self, LineError> {
        let (measurement, mut rest) = split(text, b',');
        if measurement.is_empty() {
            return Err(LineError::MeasurementMissing);
        }
        let measurement = unescape(measurement, MEASUREMENT)?;
        let mut tags = SmallVec::new();
        while let Some(text) = rest {
            if tags.len() == limits::TAGS_MAX {
                return Err(Refusal::from(InvalidTags::TooMany).into());
            }
            let (tag, after) = split(text, b',');
            tags.push(parse_tag(tag)?);
            rest = after;
        }
        Ok(Self { measurement, tags })
    }

    /// Passes the tags to `use_tags` in the form the engine takes, after checking them for
    /// duplicate keys and other violations.
    pub(super) fn with_tags<T>(
        &self,
        use_tags: impl FnOnce(&[(&str, &str)]) -> Result<T, LineError>,
    ) -> Result<T, LineError> {
        let tags: SmallVec<[(&str, &str); TAGS_INLINE]> =
            self.tags.iter().map(|(key, value)| (&**key, &**value)).collect();
        // The engine checks too, but under a lock that all writers share.
        Tags::check(&tags).map_err(Refusal::from)?;
        use_tags(&tags)
    }

    /// Returns the metric name for a field.
    pub(super) fn metric(&self, field: &[u8]) -> Result<Cow<'_, str>, LineError> {
        let field = field_key(field)?;
        if field == "value" {
            return Ok(Cow::Borrowed(&self.measurement));
        }
        Ok(Cow::Owned(format!("{}.{field}", self.measurement)))
    }
}

/// Parses a field key.
pub(super) fn field_key(text: &[u8]) -> Result<Cow<'_, str>, LineError> {
    let is_whole = |separator| split(text, separator).1.is_none();
    if text.is_empty() || !is_whole(b',') || !is_whole(b' ') {
        return Err(LineError::FieldForm);
    }
    unescape(text, KEY)
}

fn parse_tag(text: &[u8]) -> Result<Tag<'_>, LineError> {
    let (key, value) = split(text, b'=');
    match value {
        Some(value) if !key.is_empty() && !value.is_empty() && split(value, b'=').1.is_none() => {
            Ok((unescape(key, KEY)?, unescape(value, KEY)?))
        }
        _ => Err(LineError::TagForm),
    }
}

/// Splits at the first unescaped separator; the second slice is `None` if there is none.
fn split(text: &[u8], separator: u8) -> (&[u8], Option<&[u8]>) {
    let mut before = 0;
    for (at, byte) in text.iter().enumerate() {
        if *byte == separator && before != b'\\' {
            let (head, tail) = text.split_at(at);
            return (head, tail.get(1..));
        }
        before = *byte;
    }
    (text, None)
}

fn unescape<'b>(text: &'b [u8], escaped: &[char]) -> Result<Cow<'b, str>, LineError> {
    let text = std::str::from_utf8(text).map_err(|_| LineError::NotUtf8)?;
    if !text.contains('\\') {
        return Ok(Cow::Borrowed(text));
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let next = if c == '\\' { rest.next_if(|next| escaped.contains(next)) } else { None };
        plain.push(next.unwrap_or(c));
    }
    Ok(Cow::Owned(plain))
}
