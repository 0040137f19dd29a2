//! Parses envelopes: a line of JSON about the envelope, then items, each a line of JSON and a
//! payload.
//!
//! ```text
//! envelope = headers { LF item } [ LF ]
//! item     = headers LF payload
//! ```
//!
//! A payload has the number of bytes given by `length` in the item's headers, followed by a line
//! feed or the end of the envelope. Without `length` it ends at the next line feed. A carriage
//! return is an ordinary byte. Empty lines between items are skipped.
//!
//! Items of unsupported types are returned without parsing their payload.

use memchr::memchr;

use crate::limits;
use crate::platform::json::{Json, Number, Value, with_document};

/// An envelope whose headers have been parsed; iterates over its items.
#[derive(Debug)]
pub(super) struct Envelope<'b> {
    /// The id of its events that have none of their own.
    pub(super) event_id: Option<String>,
    /// The DSN that it was sent to, which names a key.
    pub(super) dsn: Option<String>,
    items: Items<'b>,
}

/// One item.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item<'b> {
    /// The type of the payload.
    pub(super) kind: String,
    /// The payload.
    pub(super) payload: &'b [u8],
}

/// Reasons for which bytes are not a valid envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// The first line is not an object.
    #[error("the first line of an envelope must be a JSON object")]
    Headers,
    /// A line of headers is too long.
    #[error(
        "the headers of an envelope and of its items may have at most {} bytes each",
        limits::ENVELOPE_HEADER_BYTES_MAX
    )]
    HeadersTooLong,
    /// The headers of an item are not an object with a `type`.
    #[error("an item of an envelope must begin with a JSON object that has a type")]
    ItemHeaders,
    /// An item ends before its `length`.
    #[error("an item of an envelope is shorter than its length says")]
    Short,
    /// An item continues after its `length`.
    #[error("an item of an envelope is longer than its length says")]
    Long,
    /// There are too many items.
    #[error("an envelope may have at most {} items", limits::ENVELOPE_ITEMS_MAX)]
    TooManyItems,
}

#[derive(Debug)]
struct Items<'b> {
    rest: &'b [u8],
    items_read: usize,
    failed: bool,
}

impl<'b> Envelope<'b> {
    /// Parses the headers of an envelope.
    pub(super) fn open(bytes: &'b [u8]) -> Result<Self, EnvelopeError> {
        let (line, rest) = line(bytes)?;
        let read = with_document(line, |headers| {
            let Json::Object(members) = headers.json() else { return None };
            let mut found = (None, None);
            for (name, value) in members {
                match (name, value.json()) {
                    ("event_id", Json::Text(text)) => found.0 = Some(text.to_owned()),
                    ("dsn", Json::Text(text)) => found.1 = Some(text.to_owned()),
                    _ => {}
                }
            }
            Some(found)
        });
        let (event_id, dsn) = read.ok().flatten().ok_or(EnvelopeError::Headers)?;
        Ok(Self { event_id, dsn, items: Items { rest, items_read: 0, failed: false } })
    }
}

impl<'b> Iterator for Envelope<'b> {
    type Item = Result<Item<'b>, EnvelopeError>;

    /// Returns the next item; `None` after an error.
    fn next(&mut self) -> Option<Self::Item> {
        self.items.next()
    }
}

impl<'b> Items<'b> {
    fn next(&mut self) -> Option<Result<Item<'b>, EnvelopeError>> {
        while let [b'\n', rest @ ..] = self.rest {
            self.rest = rest;
        }
        if self.failed || self.rest.is_empty() {
            return None;
        }
        let read = self.read();
        self.failed = read.is_err();
        Some(read)
    }

    fn read(&mut self) -> Result<Item<'b>, EnvelopeError> {
        self.items_read += 1;
        if self.items_read > limits::ENVELOPE_ITEMS_MAX {
            return Err(EnvelopeError::TooManyItems);
        }
        let (headers, rest) = line(self.rest)?;
        let (kind, length) = with_document(headers, item_headers)
            .ok()
            .flatten()
            .ok_or(EnvelopeError::ItemHeaders)?;
        let payload = match length {
            Some(length) => rest.get(..length).ok_or(EnvelopeError::Short)?,
            None => rest.get(..memchr(b'\n', rest).unwrap_or(rest.len())).unwrap_or_default(),
        };
        self.rest = match rest.get(payload.len()..) {
            None | Some([]) => &[],
            Some([b'\n', rest @ ..]) => rest,
            Some(_) => return Err(EnvelopeError::Long),
        };
        Ok(Item { kind, payload })
    }
}

/// Returns the type of an item, and the length of its payload if given.
pub(super) fn item_headers(headers: Value<'_>) -> Option<(String, Option<usize>)> {
    let Json::Object(members) = headers.json() else { return None };
    let (mut kind, mut length) = (None, None);
    for (name, value) in members {
        match (name, value.json()) {
            ("type", Json::Text(text)) => kind = Some(text.to_owned()),
            // An invalid length becomes one that no payload has.
            ("length", Json::Number(Number::Unsigned(n))) => {
                length = Some(usize::try_from(n).unwrap_or(usize::MAX));
            }
            ("length", Json::Number(_)) => length = Some(usize::MAX),
            _ => {}
        }
    }
    Some((kind?, length))
}

/// Returns the first line without its line feed, and the rest.
fn line(bytes: &[u8]) -> Result<(&[u8], &[u8]), EnvelopeError> {
    let end = memchr(b'\n', bytes).unwrap_or(bytes.len());
    if end > limits::ENVELOPE_HEADER_BYTES_MAX {
        return Err(EnvelopeError::HeadersTooLong);
    }
    let (line, rest) = bytes.split_at_checked(end).unwrap_or((bytes, &[]));
    Ok((line, rest.strip_prefix(b"\n").unwrap_or(rest)))
}
