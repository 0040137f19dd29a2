//! Copies free-form JSON that SDKs send into the properties of an event: with the values of secret
//! keys redacted, and limited in depth, string length and total size.

use telltale_engine::PropertiesWriter;

use super::occurrence::truncate;
use super::scrub::{FILTERED, Scrubber};
use crate::limits;
use crate::platform::json::{Elements, Json, Members, Number, Value, with_document};

/// Bytes that each value takes besides its string: quotes, a comma, a colon.
const VALUE_BYTES: usize = 4;

/// A copier of JSON values with a budget of bytes.
pub(super) struct FreeForm<'w> {
    writer: &'w mut PropertiesWriter,
    scrubber: &'w Scrubber,
    chars_max: usize,
    bytes_left: usize,
}

impl<'w> FreeForm<'w> {
    pub(super) fn new(
        writer: &'w mut PropertiesWriter,
        scrubber: &'w Scrubber,
        chars_max: usize,
        bytes: usize,
    ) -> Self {
        Self { writer, scrubber, chars_max, bytes_left: bytes }
    }

    /// Copies a value at the given nesting depth.
    pub(super) fn value(&mut self, value: Value<'_>, depth: usize) {
        self.spend(VALUE_BYTES);
        match value.json() {
            Json::Null => self.writer.null(),
            Json::Bool(value) => self.writer.boolean(value),
            Json::Number(Number::Unsigned(value)) => self.writer.unsigned(value),
            Json::Number(Number::Signed(value)) => self.writer.integer(value),
            Json::Number(Number::Float(value)) if value.is_finite() => self.writer.float(value),
            Json::Number(Number::Float(_)) => self.writer.null(),
            Json::Text(text) if self.may_hold_secrets(text) => self.embedded_json(text, depth),
            Json::Text(text) => self.string(text),
            Json::Array(_) | Json::Object(_) if depth >= limits::ERROR_DEPTH_MAX => {
                self.writer.string("…");
            }
            Json::Array(elements) => self.array(elements, depth),
            Json::Object(members) => self.object(members, depth),
        }
    }

    /// Copies the last `count` elements of a list, or of the list in the field `values` of an
    /// object.
    pub(super) fn last_of(&mut self, value: Value<'_>, count: usize) {
        let list = match value.json() {
            Json::Object(mut members) => {
                members.find(|(name, _)| *name == "values").map(|(_, values)| values)
            }
            _ => Some(value),
        };
        self.writer.begin_array();
        if let Some(Json::Array(elements)) = list.map(Value::json) {
            let skipped = elements.len().saturating_sub(count);
            for element in elements.skip(skipped) {
                if self.bytes_left == 0 {
                    break;
                }
                self.value(element, 2);
            }
        }
        self.writer.end_array();
    }

    fn array(&mut self, elements: Elements<'_>, depth: usize) {
        self.writer.begin_array();
        if let Some((key, value)) = secret_pair(elements, self.scrubber) {
            self.writer.string(truncate(key, self.chars_max));
            self.writer.string(value);
        } else {
            for element in elements {
                if self.bytes_left == 0 {
                    break;
                }
                self.value(element, depth + 1);
            }
        }
        self.writer.end_array();
    }

    fn object(&mut self, members: Members<'_>, depth: usize) {
        self.writer.begin_object();
        for (key, value) in members {
            if self.bytes_left == 0 {
                break;
            }
            self.spend(key.len());
            self.writer
                .key(truncate(&self.scrubber.scrub(truncate(key, self.chars_max)), self.chars_max));
            if self.scrubber.is_secret(key) && !matches!(value.json(), Json::Null) {
                self.writer.string(FILTERED);
            } else {
                self.value(value, depth + 1);
            }
        }
        self.writer.end_object();
    }

    /// Returns whether a string looks like JSON, as request bodies and values of variables often
    /// do, and contains a word of the secret keys.
    fn may_hold_secrets(&self, text: &str) -> bool {
        let is_document = match unquoted(text).as_bytes() {
            [b'{', ..] => true,
            // Log lines also begin with `[`, but only lists with quoted strings can contain secret
            // keys.
            [b'[', rest @ ..] => memchr::memchr2(b'"', b'\'', rest).is_some(),
            _ => false,
        };
        is_document && self.scrubber.is_secret(text)
    }

    /// Copies a string of JSON as a JSON value. If it cannot be parsed, for example because the SDK
    /// truncated it, the positions of its secrets are unknown, so all of it is redacted.
    fn embedded_json(&mut self, text: &str, depth: usize) {
        if with_document(text.as_bytes(), |document| self.value(document, depth)).is_err() {
            self.writer.string(FILTERED);
            self.spend(FILTERED.len());
        }
    }

    /// Copies a string, which may be a URL or a query string with secrets in it.
    fn string(&mut self, text: &str) {
        let whole = truncate(text, self.chars_max);
        let scrubbed = self.scrubber.scrub_query(whole);
        let fits = truncate_bytes(&scrubbed, self.bytes_left.max(1));
        self.writer.string(fits);
        self.spend(fits.len());
    }

    fn spend(&mut self, bytes: usize) {
        self.bytes_left = self.bytes_left.saturating_sub(bytes);
    }
}

/// Returns the longest beginning of a string that has at most `bytes_max` bytes.
fn truncate_bytes(text: &str, bytes_max: usize) -> &str {
    let (fits, _) = text.split_at(text.floor_char_boundary(bytes_max));
    fits
}

/// Returns the key and the redacted value if the list is a pair of a secret key and its value, the
/// form in which SDKs send headers.
fn secret_pair<'d>(mut pair: Elements<'d>, scrubber: &Scrubber) -> Option<(&'d str, &'static str)> {
    let (2, Json::Text(key)) = (pair.len(), pair.next()?.json()) else { return None };
    scrubber.is_secret(key).then_some((key, FILTERED))
}

/// Strips what a language prints before a string literal: quotes, possibly escaped several times,
/// and the prefix letter of Python.
fn unquoted(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let bare = rest.strip_prefix(['b', 'u', 'r']).unwrap_or(rest);
        let inner = bare.trim_start_matches('\\');
        match inner.strip_prefix(['"', '\'']) {
            Some(inner) => rest = inner.trim_start(),
            None => return rest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_is_counted_in_bytes() {
        let scrubber = Scrubber::new(&[]);
        for (letter, kept) in [("e", 96), ("é", 96), ("€", 96), ("𝄞", 96)] {
            let list = format!("[\"{}\", 1]", letter.repeat(200));
            let mut writer = PropertiesWriter::default();
            writer.begin_object();
            writer.key("x");
            with_document(list.as_bytes(), |list| {
                // The list and its first element cost four bytes each.
                FreeForm::new(&mut writer, &scrubber, 1_000, 104).value(list, 1);
            })
            .unwrap();
            writer.end_object();
            let expected = format!("{{\"x\":[\"{}\"]}}", letter.repeat(kept / letter.len()));
            assert_eq!(writer.written().unwrap().as_str(), expected, "{letter}");
        }
    }
}
