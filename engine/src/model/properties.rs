//! The properties of an event: a JSON object kept as text in one canonical form.
//!
//! Without white space; keys in the order they were sent; strings escaped only where JSON must; integers of 64 bits as
//! they are, every other number as the shortest text of the nearest double. So equal content of equal order is
//! equal bytes, and what takes a column apart and puts it together again can promise to give back the same bytes.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::limits;

/// A JSON object in canonical form, of at most [`limits::PROPERTIES_BYTES_MAX`] bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties(String);

/// Why something is not an event's properties.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidProperties {
    /// Not a JSON object, or with a number that no double comes near.
    #[error("properties must be a JSON object: {0}")]
    NotAnObject(String),
    /// More than [`limits::PROPERTIES_BYTES_MAX`] bytes.
    #[error("properties have at most {} bytes", limits::PROPERTIES_BYTES_MAX)]
    TooLarge,
    /// Objects and arrays deeper in each other than [`limits::PROPERTIES_NESTING_MAX`].
    #[error("properties are nested at most {} deep", limits::PROPERTIES_NESTING_MAX)]
    TooDeep,
}

impl Properties {
    /// Reads a JSON object from text.
    pub fn parse(text: &str) -> Result<Self, InvalidProperties> {
        let mut writer = PropertiesWriter::default();
        let mut source = serde_json::Deserializer::from_str(text);
        let not_an_object = |e: serde_json::Error| InvalidProperties::NotAnObject(e.to_string());
        Transcribe(&mut writer).deserialize(&mut source).map_err(not_an_object)?;
        source.end().map_err(not_an_object)?;
        writer.finish()
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Writes properties piece by piece, for those who have parsed JSON in a form of their own. What is written must make
/// one JSON object; [`Self::finish`] refuses what does not.
#[derive(Debug)]
pub struct PropertiesWriter {
    /// What is written so far; an object once it ends.
    properties: Properties,
    /// What stands open: `}` or `]` each.
    open: Vec<u8>,
    deepest: usize,
    /// Whether a value here would follow another one.
    after_value: bool,
    /// Whether a key stands here without its value.
    after_key: bool,
    /// Whether pieces came in an order that makes no object.
    broken: bool,
}

impl Default for PropertiesWriter {
    fn default() -> Self {
        Self {
            properties: Properties(String::new()),
            open: Vec::new(),
            deepest: 0,
            after_value: false,
            after_key: false,
            broken: false,
        }
    }
}

impl PropertiesWriter {
    fn value(&mut self) {
        match self.open.last() {
            // Only one object may stand at the top.
            None => self.broken |= !self.properties.0.is_empty(),
            Some(b'}') => self.broken |= !self.after_key,
            Some(_) if self.after_value => self.properties.0.push(','),
            Some(_) => {}
        }
        self.after_key = false;
        self.after_value = true;
    }

    fn begin(&mut self, begin: char, end: u8) {
        self.broken |= self.open.is_empty() && begin != '{';
        self.value();
        self.properties.0.push(begin);
        self.open.push(end);
        self.deepest = self.deepest.max(self.open.len());
        self.after_value = false;
    }

    fn end(&mut self, end: u8) {
        self.broken |= self.open.pop() != Some(end) || self.after_key;
        self.properties.0.push(char::from(end));
        self.after_value = true;
    }

    fn scalar(&mut self) {
        self.broken |= self.open.is_empty();
        self.value();
    }

    /// Begins an object.
    pub fn begin_object(&mut self) {
        self.begin('{', b'}');
    }

    /// Ends the object that was begun last.
    pub fn end_object(&mut self) {
        self.end(b'}');
    }

    /// Begins an array.
    pub fn begin_array(&mut self) {
        self.begin('[', b']');
    }

    /// Ends the array that was begun last.
    pub fn end_array(&mut self) {
        self.end(b']');
    }

    /// The key of the value that comes next.
    pub fn key(&mut self, key: &str) {
        self.broken |= self.open.last() != Some(&b'}') || self.after_key;
        if self.after_value {
            self.properties.0.push(',');
        }
        self.quoted(key);
        self.properties.0.push(':');
        self.after_key = true;
    }

    /// A string.
    pub fn string(&mut self, value: &str) {
        self.scalar();
        self.quoted(value);
    }

    /// An integer.
    pub fn integer(&mut self, value: i64) {
        self.scalar();
        self.properties.0.push_str(itoa::Buffer::new().format(value));
    }

    /// An integer that may be beyond `i64`.
    pub fn unsigned(&mut self, value: u64) {
        self.scalar();
        self.properties.0.push_str(itoa::Buffer::new().format(value));
    }

    /// A number; must be finite.
    pub fn float(&mut self, value: f64) {
        self.scalar();
        self.broken |= !value.is_finite();
        if value.is_finite() {
            self.properties.0.push_str(ryu::Buffer::new().format_finite(value));
        }
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, value: bool) {
        self.scalar();
        self.properties.0.push_str(if value { "true" } else { "false" });
    }

    /// `null`.
    pub fn null(&mut self) {
        self.scalar();
        self.properties.0.push_str("null");
    }

    /// Forgets what was written and keeps the memory: one writer does for many events.
    pub fn clear(&mut self) {
        self.properties.0.clear();
        self.open.clear();
        self.deepest = 0;
        self.after_value = false;
        self.after_key = false;
        self.broken = false;
    }

    /// The properties, lent until the writer goes on.
    pub fn written(&self) -> Result<&Properties, InvalidProperties> {
        if self.deepest > limits::PROPERTIES_NESTING_MAX {
            return Err(InvalidProperties::TooDeep);
        }
        let text = &self.properties.0;
        if text.len() > limits::PROPERTIES_BYTES_MAX {
            return Err(InvalidProperties::TooLarge);
        }
        if self.broken || !self.open.is_empty() || text.is_empty() {
            return Err(InvalidProperties::NotAnObject("the pieces make no object".into()));
        }
        Ok(&self.properties)
    }

    /// The properties.
    pub fn finish(self) -> Result<Properties, InvalidProperties> {
        self.written()?;
        Ok(self.properties)
    }

    fn quoted(&mut self, text: &str) {
        let out = &mut self.properties.0;
        out.push('"');
        let special = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
        let mut rest = text;
        // What needs an escape is one byte, so both sides of it are text.
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

/// Appends a character that cannot stand in JSON as it is.
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

/// The shortest text that reads as this double.
pub(crate) fn float_text(value: f64) -> String {
    ryu::Buffer::new().format_finite(value).to_owned()
}

/// Copies what a deserializer reads into a writer.
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
    fn white_space_goes_and_order_stays() {
        let parsed = Properties::parse(
            " { \"b\" : [ 1 , 2.50, -0.0, 1e3, null ],\n \"a\": {\"x\": true} } ",
        );
        assert_eq!(parsed.unwrap().as_str(), r#"{"b":[1,2.5,-0.0,1000.0,null],"a":{"x":true}}"#);
    }

    #[test]
    fn canonical_text_is_its_own_canonical_form() {
        let text = r#"{"q\"\\\n\u0001é":"\t/","n":18446744073709551615,"m":-9223372036854775808,"f":1e300}"#;
        let once = Properties::parse(text).unwrap();
        assert_eq!(Properties::parse(once.as_str()).unwrap(), once);
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(text).unwrap(),
            serde_json::from_str::<serde_json::Value>(once.as_str()).unwrap()
        );
    }

    #[test]
    fn what_is_no_object_is_refused() {
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
    fn a_writer_does_for_many() {
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
    fn pieces_that_make_no_object_are_refused() {
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
