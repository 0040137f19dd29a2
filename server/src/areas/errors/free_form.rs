//! What SDKs send along in no form of ours: copied with the values of secret keys removed, no deeper, longer and larger than
//! it may be.

use telltale_engine::PropertiesWriter;

use super::occurrence::truncate;
use super::scrub::{FILTERED, Scrubber};
use crate::limits;
use crate::platform::json::{Elements, Json, Members, Number, Value, with_document};

/// Bytes that a value takes beside its text: quotes, a comma, a colon.
const VALUE_BYTES: usize = 4;

/// Copies values into a writer until so many bytes are used up.
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

    /// Copies a value that stands at this depth.
    pub(super) fn value(&mut self, value: Value<'_>, depth: usize) {
        self.spend(VALUE_BYTES);
        match value.json() {
            Json::Null => self.writer.null(),
            Json::Bool(value) => self.writer.boolean(value),
            Json::Number(Number::Unsigned(value)) => self.writer.unsigned(value),
            Json::Number(Number::Signed(value)) => self.writer.integer(value),
            Json::Number(Number::Float(value)) if value.is_finite() => self.writer.float(value),
            Json::Number(Number::Float(_)) => self.writer.null(),
            Json::Text(text) if self.may_hold_secrets(text) => self.document(text, depth),
            Json::Text(text) => self.string(text),
            Json::Array(_) | Json::Object(_) if depth >= limits::ERROR_DEPTH_MAX => {
                self.writer.string("…");
            }
            Json::Array(elements) => self.array(elements, depth),
            Json::Object(members) => self.object(members, depth),
        }
    }

    /// Copies the last values of a list, which may stand under `values`.
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

    /// Whether a text looks like a document, as bodies of requests and values of variables often are, and has one of the
    /// words in it that secret keys are known by.
    fn may_hold_secrets(&self, text: &str) -> bool {
        let is_document = match unquoted(text).as_bytes() {
            [b'{', ..] => true,
            // Lines of logs begin like this too; values of secret keys in a list are quoted.
            [b'[', rest @ ..] => memchr::memchr2(b'"', b'\'', rest).is_some(),
            _ => false,
        };
        is_document && self.scrubber.is_secret(text)
    }

    /// A text that is a document, copied as such. Of one that cannot be read, as those are that an agent has cut, nobody knows
    /// where its secrets are.
    fn document(&mut self, text: &str, depth: usize) {
        if with_document(text.as_bytes(), |document| self.value(document, depth)).is_err() {
            self.writer.string(FILTERED);
            self.spend(FILTERED.len());
        }
    }

    /// A text, which may be an address or a query with secrets in it.
    fn string(&mut self, text: &str) {
        let whole = truncate(text, self.chars_max);
        let scrubbed = self.scrubber.scrub_query(whole);
        let fits = truncate(&scrubbed, self.bytes_left.max(1));
        self.writer.string(fits);
        self.spend(fits.len());
    }

    fn spend(&mut self, bytes: usize) {
        self.bytes_left = self.bytes_left.saturating_sub(bytes);
    }
}

/// A list of a secret key and its value, as headers are sent.
fn secret_pair<'d>(mut pair: Elements<'d>, scrubber: &Scrubber) -> Option<(&'d str, &'static str)> {
    let (2, Json::Text(key)) = (pair.len(), pair.next()?.json()) else { return None };
    scrubber.is_secret(key).then_some((key, FILTERED))
}

/// A text without what stands before the value where a language printed it as it is written in programs: quotes, as often as
/// it was printed, and in Python a letter that tells of which kind it is.
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
