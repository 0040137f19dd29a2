//! The properties of an event: a JSON object stored in one canonical form.
//!
//! The canonical form has no white space. Keys keep the order in which they were sent; of duplicate
//! keys only the last occurrence is kept, with its value. Strings are escaped only where JSON
//! requires it. 64-bit integers are kept as they are; every other number is the shortest
//! representation of the nearest double. So equal content in equal order has equal bytes, and
//! properties that are split into columns can be rebuilt byte for byte.

use std::collections::HashSet;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::limits;

/// Keys of an object up to which duplicates are found by pairwise comparison; more keys are hashed.
const KEYS_COMPARED_MAX: usize = 16;

/// A JSON object in canonical form, of at most [`limits::PROPERTIES_BYTES_MAX`] bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties(String);

/// Why input is not valid as properties.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidProperties {
    /// Not a JSON object, or it contains a number beyond the range of a double.
    #[error("properties must be a JSON object: {0}")]
    NotAnObject(String),
    /// More than [`limits::PROPERTIES_BYTES_MAX`] bytes.
    #[error("properties must have at most {} bytes", limits::PROPERTIES_BYTES_MAX)]
    TooLarge,
    /// Objects and arrays nested deeper than [`limits::PROPERTIES_NESTING_MAX`].
    #[error(
        "properties must not be nested more than {} levels deep",
        limits::PROPERTIES_NESTING_MAX
    )]
    TooDeep,
}

impl Properties {
    /// Parses a JSON object.
    pub fn parse(text: &str) -> Result<Self, InvalidProperties> {
        let mut writer = PropertiesWriter::default();
        let mut source = serde_json::Deserializer::from_str(text);
        let not_an_object = |e: serde_json::Error| InvalidProperties::NotAnObject(e.to_string());
        Transcribe(&mut writer).deserialize(&mut source).map_err(not_an_object)?;
        source.end().map_err(not_an_object)?;
        writer.finish()
    }

    /// Returns the canonical JSON.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Writes properties value by value, for callers that have parsed JSON themselves. The calls must
/// form one JSON object; otherwise [`Self::finish`] returns an error.
#[derive(Debug)]
pub struct PropertiesWriter {
    /// The JSON written so far; an object once it is complete.
    properties: Properties,
    /// The open objects and arrays, outermost first.
    open: Vec<OpenContainer>,
    /// The keys of all open objects.
    keys: Vec<KeySpan>,
    deepest: usize,
    /// The largest length of the JSON in bytes, including members with duplicate keys that were
    /// removed later.
    longest: usize,
    /// Whether the next value follows another one in the same object or array.
    after_value: bool,
    /// Whether a key without a value was written last.
    after_key: bool,
    /// Whether the calls do not form a JSON object.
    malformed: bool,
}

/// An object or array that is not closed yet.
#[derive(Clone, Copy, Debug)]
struct OpenContainer {
    /// The closing character: `}` or `]`.
    end: u8,
    /// The index in [`PropertiesWriter::keys`] of its first key.
    first_key: usize,
    /// A bloom filter of the keys, by their length, first and last character.
    key_bits: u64,
    /// Whether two keys have the same bit; if not, all keys differ.
    may_repeat: bool,
}

impl OpenContainer {
    fn add_key(&mut self, key: &str) {
        let key = key.as_bytes();
        let [first, last] = [key.first(), key.last()].map(|byte| byte.copied().unwrap_or(0));
        let bit = 1 << ((usize::from(first) * 7 + usize::from(last) * 3 + key.len()) % 64);
        self.may_repeat |= self.key_bits & bit != 0;
        self.key_bits |= bit;
    }
}

/// The span of a key in the JSON, including both quotes.
#[derive(Clone, Copy, Debug)]
struct KeySpan {
    start: usize,
    end: usize,
}

impl Default for PropertiesWriter {
    fn default() -> Self {
        Self {
            properties: Properties(String::new()),
            open: Vec::new(),
            keys: Vec::new(),
            deepest: 0,
            longest: 0,
            after_value: false,
            after_key: false,
            malformed: false,
        }
    }
}

impl PropertiesWriter {
    fn value(&mut self) {
        match self.open.last().map(|open| open.end) {
            // Only one object may be at the top level.
            None => self.malformed |= !self.properties.0.is_empty(),
            Some(b'}') => self.malformed |= !self.after_key,
            Some(_) if self.after_value => self.properties.0.push(','),
            Some(_) => {}
        }
        self.after_key = false;
        self.after_value = true;
    }

    fn begin(&mut self, begin: char, end: u8) {
        self.malformed |= self.open.is_empty() && begin != '{';
        self.value();
        self.properties.0.push(begin);
        let first_key = self.keys.len();
        self.open.push(OpenContainer { end, first_key, key_bits: 0, may_repeat: false });
        self.deepest = self.deepest.max(self.open.len());
        self.after_value = false;
    }

    fn end(&mut self, end: u8) {
        let ended = self.open.pop();
        self.malformed |= ended.is_none_or(|open| open.end != end) || self.after_key;
        self.longest = self.longest.max(self.properties.0.len());
        if let Some(OpenContainer { end: b'}', first_key, may_repeat, .. }) = ended {
            if may_repeat {
                self.keep_last_of_each(first_key);
            }
            self.keys.truncate(first_key);
        }
        self.properties.0.push(char::from(end));
        self.after_value = true;
    }

    fn scalar(&mut self) {
        self.malformed |= self.open.is_empty();
        self.value();
    }

    /// Removes all but the last member of each key from the object being closed, whose keys start
    /// at `first_key`.
    #[cold]
    fn keep_last_of_each(&mut self, first_key: usize) {
        // Duplicate keys of input that is refused anyway do not matter. Without this limit on size
        // and depth, every member could be moved once for each enclosing object.
        let is_refused = self.longest > limits::PROPERTIES_BYTES_MAX
            || self.deepest > limits::PROPERTIES_NESTING_MAX;
        let keys = self.keys.get(first_key..).filter(|_| !is_refused).unwrap_or_default();
        if let Some(kept) = members_to_keep(&self.properties.0, keys) {
            let start = keys.first().map_or(0, |key| key.start);
            let mut text = std::mem::take(&mut self.properties.0).into_bytes();
            let mut at = start;
            for (from, to) in kept {
                if at > start {
                    // The comma between members.
                    text[at] = b',';
                    at += 1;
                }
                text.copy_within(from..to, at);
                at += to - from;
            }
            text.truncate(at);
            // Whole members of valid UTF-8 are valid UTF-8.
            let text = String::from_utf8(text);
            self.malformed |= text.is_err();
            self.properties.0 = text.unwrap_or_default();
        }
    }

    /// Opens an object.
    pub fn begin_object(&mut self) {
        self.begin('{', b'}');
    }

    /// Closes the innermost open object.
    pub fn end_object(&mut self) {
        self.end(b'}');
    }

    /// Opens an array.
    pub fn begin_array(&mut self) {
        self.begin('[', b']');
    }

    /// Closes the innermost open array.
    pub fn end_array(&mut self) {
        self.end(b']');
    }

    /// Writes the key of the next value.
    pub fn key(&mut self, key: &str) {
        let object = self.open.last_mut().filter(|open| open.end == b'}');
        self.malformed |= object.is_none() || self.after_key;
        if let Some(object) = object {
            object.add_key(key);
        }
        if self.after_value {
            self.properties.0.push(',');
        }
        let start = self.properties.0.len();
        self.quoted(key);
        if start <= limits::PROPERTIES_BYTES_MAX {
            self.keys.push(KeySpan { start, end: self.properties.0.len() });
        }
        self.properties.0.push(':');
        self.after_key = true;
    }

    /// Writes a string.
    pub fn string(&mut self, value: &str) {
        self.scalar();
        self.quoted(value);
    }

    /// Writes an integer.
    pub fn integer(&mut self, value: i64) {
        self.scalar();
        self.properties.0.push_str(itoa::Buffer::new().format(value));
    }

    /// Writes an integer that may exceed `i64`.
    pub fn unsigned(&mut self, value: u64) {
        self.scalar();
        self.properties.0.push_str(itoa::Buffer::new().format(value));
    }

    /// Writes a number, which must be finite.
    pub fn float(&mut self, value: f64) {
        self.scalar();
        self.malformed |= !value.is_finite();
        if value.is_finite() {
            self.properties.0.push_str(ryu::Buffer::new().format_finite(value));
        }
    }

    /// Writes `true` or `false`.
    pub fn boolean(&mut self, value: bool) {
        self.scalar();
        self.properties.0.push_str(if value { "true" } else { "false" });
    }

    /// Writes `null`.
    pub fn null(&mut self) {
        self.scalar();
        self.properties.0.push_str("null");
    }

    /// Clears the writer and keeps its memory, for reuse.
    pub fn clear(&mut self) {
        self.properties.0.clear();
        self.open.clear();
        self.keys.clear();
        self.deepest = 0;
        self.longest = 0;
        self.after_value = false;
        self.after_key = false;
        self.malformed = false;
    }

    /// Returns the complete properties, borrowed from the writer.
    pub fn written(&self) -> Result<&Properties, InvalidProperties> {
        if self.deepest > limits::PROPERTIES_NESTING_MAX {
            return Err(InvalidProperties::TooDeep);
        }
        let text = &self.properties.0;
        if text.len().max(self.longest) > limits::PROPERTIES_BYTES_MAX {
            return Err(InvalidProperties::TooLarge);
        }
        if self.malformed || !self.open.is_empty() || text.is_empty() {
            return Err(InvalidProperties::NotAnObject(
                "the written parts do not form an object".into(),
            ));
        }
        Ok(&self.properties)
    }

    /// Returns the complete properties.
    pub fn finish(self) -> Result<Properties, InvalidProperties> {
        self.written()?;
        Ok(self.properties)
    }

    fn quoted(&mut self, text: &str) {
        let out = &mut self.properties.0;
        out.push('"');
        let special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
        let mut rest = text;
        // Characters that need an escape are one byte long, so splitting beside them is valid.
        while let Some(at) = rest.as_bytes().iter().position(special) {
            let (plain, tail) = rest.split_at(at);
            let (escaped, after) = tail.split_at(1);
            out.push_str(plain);
            escape(out, escaped);
            rest = after;
        }
        out.push_str(rest);
        out.push('"');
    }
}

/// Returns the members to keep of an object that ends at the end of `text`, as ranges of it, or
/// `None` if no key occurs twice.
fn members_to_keep(text: &str, keys: &[KeySpan]) -> Option<Vec<(usize, usize)>> {
    let bytes_of = |key: &KeySpan| text.as_bytes().get(key.start..key.end);
    let has_equal = if keys.len() <= KEYS_COMPARED_MAX {
        (1..keys.len()).any(|i| keys[..i].iter().any(|key| bytes_of(key) == bytes_of(&keys[i])))
    } else {
        let mut seen = HashSet::with_capacity(keys.len());
        !keys.iter().all(|key| seen.insert(bytes_of(key)))
    };
    if !has_equal {
        return None;
    }
    let ends = keys.iter().skip(1).map(|next| next.start - 1).chain([text.len()]);
    let members: Vec<(&KeySpan, usize)> = keys.iter().zip(ends).collect();
    let mut seen = HashSet::with_capacity(keys.len());
    let last_of_each = members.iter().rev().filter(|(key, _)| seen.insert(bytes_of(key)));
    let mut kept: Vec<(usize, usize)> = last_of_each.map(|(key, end)| (key.start, *end)).collect();
    kept.reverse();
    Some(kept)
}

/// Appends the escape sequence of a character.
fn escape(out: &mut String, character: &str) {
    let short = match character {
        "\"" => "\\\"",
        "\\" => "\\\\",
        "\n" => "\\n",
        "\r" => "\\r",
        "\t" => "\\t",
        "\u{8}" => "\\b",
        "\u{c}" => "\\f",
        other => {
            for byte in other.bytes() {
                out.push_str(&format!("\\u{byte:04x}"));
            }
            return;
        }
    };
    out.push_str(short);
}

/// Returns the shortest representation of a finite double.
pub(crate) fn format_float(value: f64, buffer: &mut ryu::Buffer) -> &str {
    buffer.format_finite(value)
}

/// Copies what a deserializer reads to a writer.
struct Transcribe<'w>(&'w mut PropertiesWriter);

impl<'de> DeserializeSeed<'de> for Transcribe<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Transcribe<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.0.begin_object();
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            self.0.key(&key);
            map.next_value_seed(Transcribe(self.0))?;
        }
        self.0.end_object();
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        self.0.begin_array();
        while seq.next_element_seed(Transcribe(self.0))?.is_some() {}
        self.0.end_array();
        Ok(())
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<(), E> {
        self.0.string(value);
        Ok(())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<(), E> {
        self.0.integer(value);
        Ok(())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
        self.0.unsigned(value);
        Ok(())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<(), E> {
        self.0.float(value);
        Ok(())
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<(), E> {
        self.0.boolean(value);
        Ok(())
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.0.null();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_removed_and_order_is_kept() {
        let parsed = Properties::parse(
            " { \"b\" : [ 1 , 2.50, -0.0, 1e3, null ],\n \"a\": {\"x\": true} } ",
        );
        assert_eq!(parsed.unwrap().as_str(), r#"{"b":[1,2.5,-0.0,1000.0,null],"a":{"x":true}}"#);
    }

    #[test]
    fn the_canonical_form_is_stable() {
        let text = r#"{"q\"\\\n\u0001é":"\t/","n":18446744073709551615,"m":-9223372036854775808,"f":1e300}"#;
        let once = Properties::parse(text).unwrap();
        assert_eq!(Properties::parse(once.as_str()).unwrap(), once);
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(text).unwrap(),
            serde_json::from_str::<serde_json::Value>(once.as_str()).unwrap()
        );
    }

    #[test]
    fn input_other_than_an_object_is_refused() {
        for text in ["[]", "1", "\"x\"", "null", "{", "{}x", "{\"a\":1e999}", ""] {
            assert!(
                matches!(Properties::parse(text), Err(InvalidProperties::NotAnObject(_))),
                "{text}"
            );
        }
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(64), "]".repeat(64));
        assert_eq!(Properties::parse(&deep), Err(InvalidProperties::TooDeep));
        let large = format!("{{\"a\":\"{}\"}}", "x".repeat(limits::PROPERTIES_BYTES_MAX));
        assert_eq!(Properties::parse(&large), Err(InvalidProperties::TooLarge));
    }

    #[test]
    fn of_duplicate_keys_the_last_one_is_kept() {
        for (text, expected) in [
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
            (r#"{"a":1,"b":2,"a":3}"#, r#"{"b":2,"a":3}"#),
            (r#"{"a":1,"\u0061":2,"b":0}"#, r#"{"a":2,"b":0}"#),
            (r#"{"":1,"":{"x":1,"x":[{"y":1,"y":2}]}}"#, r#"{"":{"x":[{"y":2}]}}"#),
            (r#"{"a":{"b":1,"b":2},"a":{"c":"é,\"","c":"é"},"d":1}"#, r#"{"a":{"c":"é"},"d":1}"#),
            (r#"[0]"#, ""),
            (r#"{"a":{"a":1},"b":{"a":1}}"#, r#"{"a":{"a":1},"b":{"a":1}}"#),
            (r#"{"a":1,"aa":2,"\"a":3}"#, r#"{"a":1,"aa":2,"\"a":3}"#),
        ] {
            let parsed = Properties::parse(text);
            assert_eq!(parsed.as_ref().map_or("", Properties::as_str), expected, "{text}");
        }
        let members = |keys: std::ops::Range<u32>| {
            keys.map(|key| format!("\"{key}\":{key}")).collect::<Vec<_>>().join(",")
        };
        let twice = format!("{{{},{}}}", members(0..100), members(50..150));
        let once = format!("{{{}}}", [members(0..50), members(50..150)].join(","));
        assert_eq!(Properties::parse(&twice).unwrap().as_str(), once);
        assert_eq!(Properties::parse(&once).unwrap().as_str(), once);
        // The size limit applies to the input, including duplicate keys.
        let half = "x".repeat(limits::PROPERTIES_BYTES_MAX / 2);
        let large = format!(r#"{{"a":"{half}","a":"{half}"}}"#);
        assert_eq!(Properties::parse(&large), Err(InvalidProperties::TooLarge));
        let around = |inner: String| format!(r#"{{"a":1,"a":{inner}}}"#);
        let nested = |levels: usize| (1..levels).fold("{}".to_owned(), |inner, _| around(inner));
        let deepest = Properties::parse(&nested(limits::PROPERTIES_NESTING_MAX)).unwrap();
        assert_eq!(deepest.as_str().matches(r#""a""#).count(), limits::PROPERTIES_NESTING_MAX - 1);
        let too_deep = Properties::parse(&nested(limits::PROPERTIES_NESTING_MAX + 1));
        assert_eq!(too_deep, Err(InvalidProperties::TooDeep));
    }

    proptest::proptest! {
        #[test]
        fn the_canonical_form_equals_the_parsed_tree(
            pairs in proptest::collection::vec(("[abé\"]{0,1}", "(1|\"x\"|\\{\"a\":1,\"a\":2\\}|\\[\\])"), 0..40),
        ) {
            let member = |(key, value): &(String, String)| {
                format!("{}:{value}", serde_json::to_string(key).unwrap())
            };
            let text = format!("{{{}}}", pairs.iter().map(member).collect::<Vec<_>>().join(","));
            let ours = Properties::parse(&text).unwrap();
            let tree: serde_json::Value = serde_json::from_str(&text).unwrap();
            proptest::prop_assert_eq!(
                serde_json::from_str::<serde_json::Value>(ours.as_str()).unwrap(), tree.clone()
            );
            proptest::prop_assert_eq!(&Properties::parse(ours.as_str()).unwrap(), &ours);
            proptest::prop_assert_eq!(ours.as_str().len(), tree.to_string().len());
        }
    }

    #[test]
    fn a_writer_can_be_reused() {
        let mut writer = PropertiesWriter::default();
        for (number, expected) in
            [(1.5, Some(r#"{"a":1.5}"#)), (f64::NAN, None), (2.0, Some(r#"{"a":2.0}"#))]
        {
            writer.clear();
            writer.begin_object();
            writer.key("a");
            writer.float(number);
            writer.end_object();
            assert_eq!(writer.written().ok().map(Properties::as_str), expected);
        }
        writer.clear();
        assert!(writer.written().is_err());
    }

    #[test]
    fn parts_that_do_not_form_an_object_are_refused() {
        let refused = |write: fn(&mut PropertiesWriter)| {
            let mut writer = PropertiesWriter::default();
            write(&mut writer);
            assert!(writer.finish().is_err());
        };
        refused(|_| {});
        refused(|w| w.begin_object());
        refused(|w| w.integer(1));
        refused(|w| {
            w.begin_object();
            w.integer(1);
            w.end_object();
        });
        refused(|w| {
            w.begin_object();
            w.key("a");
            w.end_object();
        });
        refused(|w| {
            w.begin_object();
            w.end_array();
        });
        refused(|w| {
            w.begin_object();
            w.key("a");
            w.float(f64::NAN);
            w.end_object();
        });
        refused(|w| {
            w.begin_object();
            w.end_object();
            w.begin_object();
            w.end_object();
        });
    }
}
