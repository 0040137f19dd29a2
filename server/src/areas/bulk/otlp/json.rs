//! Translates the JSON mapping to the wire format, field by field and without building a tree. The
//! output is at most five times as large as the JSON, whatever it contains.
//!
//! Integers may be numbers or strings, enumerations numbers or names; `null` means that a field is
//! absent; unknown fields are skipped. The length of a message precedes it but is known only at its
//! end, so it is always encoded in the number of bytes that the longest length takes.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;

use super::error::OtlpError;
use super::schema::{Field, Kind, REQUEST};
use crate::platform::json::{InvalidJson, invalid_syntax, without_position};

/// The number of bytes in which the length of a message is encoded; enough for 32 GiB.
const LENGTH_BYTES: usize = 5;
/// The magnitude below which integers are exact as doubles.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Translates a request to the wire format.
pub(super) fn to_wire(body: &[u8]) -> Result<Vec<u8>, OtlpError> {
    let mut out = Vec::with_capacity(body.len() / 2);
    let mut reader = serde_json::Deserializer::from_slice(body);
    let message = MessageWriter { fields: &REQUEST, out: &mut out };
    let read = message.deserialize(&mut reader).and_then(|()| reader.end());
    read.map(|()| out).map_err(|error| OtlpError::Json(message_of(&error)))
}

/// Returns the error message for the sender.
fn message_of(error: &serde_json::Error) -> String {
    if error.classify() != Category::Data {
        return invalid_syntax(error).to_string();
    }
    let string = error.to_string();
    let reason = without_position(&string);
    // A type error that does not come from `ValueWriter` concerns the outermost value.
    if reason.starts_with("invalid type") {
        return InvalidJson::NotAnObject.to_string();
    }
    reason.to_owned()
}

/// Writes a JSON object as the fields of a message.
struct MessageWriter<'o> {
    fields: &'static [Field],
    out: &'o mut Vec<u8>,
}

impl<'de> DeserializeSeed<'de> for MessageWriter<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for MessageWriter<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(field) = map.next_key_seed(FieldName(self.fields))? {
            match field {
                Some(field) => {
                    map.next_value_seed(ValueWriter { field, in_list: false, out: self.out })?
                }
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Finds a field by its JSON name.
struct FieldName(&'static [Field]);

impl<'de> DeserializeSeed<'de> for FieldName {
    type Value = Option<&'static Field>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for FieldName {
    type Value = Option<&'static Field>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().find(|field| field.name == name))
    }
}

/// Writes the value of a field, or one value of a repeated field.
struct ValueWriter<'o> {
    field: &'static Field,
    in_list: bool,
    out: &'o mut Vec<u8>,
}

impl<'de> DeserializeSeed<'de> for ValueWriter<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueWriter<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a value that {} can have", self.field.name)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        if self.in_list { Err(self.wrong_type()) } else { Ok(()) }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        if self.in_list || !self.field.is_list {
            return Err(self.wrong_type());
        }
        while items
            .next_element_seed(ValueWriter { field: self.field, in_list: true, out: self.out })?
            .is_some()
        {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, map: A) -> Result<(), A::Error> {
        let Kind::Message(fields) = self.field.kind else { return Err(self.wrong_type()) };
        if self.in_list != self.field.is_list {
            return Err(self.wrong_type());
        }
        self.key(2);
        let start = self.out.len() + LENGTH_BYTES;
        self.out.resize(start, 0);
        MessageWriter { fields, out: self.out }.visit_map(map)?;
        let mut length = self.out.len() - start;
        for byte in self.out.iter_mut().skip(start - LENGTH_BYTES).take(LENGTH_BYTES - 1) {
            *byte = 0x80 | (length & 0x7f) as u8;
            length >>= 7;
        }
        let Ok(last @ 0..0x80) = u8::try_from(length) else { return Err(self.wrong_type()) };
        if let Some(byte) = self.out.get_mut(start - 1) {
            *byte = last;
        }
        Ok(())
    }

    fn visit_str<E: Error>(self, string: &str) -> Result<(), E> {
        self.scalar(Scalar::String(string))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.scalar(Scalar::Bool(value))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.scalar(Scalar::Whole(number.into()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.scalar(Scalar::Whole(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        self.scalar(Scalar::Double(number))
    }
}

impl Kind {
    /// Describes the JSON values of this kind, for error messages.
    fn expected(self) -> String {
        let expected = match self {
            Self::Message(_) => "an object",
            Self::String => "a string",
            Self::Bytes => "a string in base64",
            Self::Bool => "true or false",
            Self::Int | Self::Zigzag | Self::SignedFixed => "an integer",
            Self::Uint | Self::Fixed => "an integer of at least 0",
            Self::Double => "a number",
            Self::Enum(names) => return format!("one of {}, or its number", names.join(", ")),
        };
        expected.to_owned()
    }
}

impl ValueWriter<'_> {
    fn wrong_type<E: Error>(&self) -> E {
        let Field { name, kind, is_list, .. } = self.field;
        E::custom(if *is_list {
            format!("{name} must be an array, and each item {}", kind.expected())
        } else {
            format!("{name} must be {}", kind.expected())
        })
    }

    fn key(&mut self, wire: u32) {
        write_varint(self.out, u64::from(self.field.number << 3 | wire));
    }

    fn scalar<E: Error>(mut self, scalar: Scalar<'_>) -> Result<(), E> {
        let written = if self.in_list == self.field.is_list { self.write(scalar) } else { None };
        written.ok_or_else(|| self.wrong_type())
    }

    /// Writes the scalar. Returns `None` if the field cannot have this value.
    fn write(&mut self, scalar: Scalar<'_>) -> Option<()> {
        match self.field.kind {
            Kind::Message(_) => return None,
            Kind::String => self.bytes(scalar.as_str()?.as_bytes()),
            Kind::Bytes => self.bytes(&STANDARD.decode(scalar.as_str()?).ok()?),
            Kind::Bool => self.varint(match scalar {
                Scalar::Bool(value) => value.into(),
                _ => return None,
            }),
            Kind::Int => self.varint(i64::try_from(scalar.whole()?).ok()? as u64),
            Kind::Uint => self.varint(u64::try_from(scalar.whole()?).ok()?),
            Kind::Zigzag => {
                let number = i32::try_from(scalar.whole()?).ok()?;
                self.varint(u64::from((number << 1 ^ number >> 31) as u32));
            }
            Kind::Fixed => self.fixed(u64::try_from(scalar.whole()?).ok()?),
            Kind::SignedFixed => self.fixed(i64::try_from(scalar.whole()?).ok()? as u64),
            Kind::Double => self.fixed(scalar.double()?.to_bits()),
            Kind::Enum(names) => {
                let named =
                    scalar.as_str().and_then(|string| names.iter().position(|n| *n == string));
                let number =
                    named.map_or_else(|| scalar.whole(), |index| i128::try_from(index).ok());
                self.varint(u64::from(u32::try_from(number?).ok()?));
            }
        }
        Some(())
    }

    fn varint(&mut self, number: u64) {
        self.key(0);
        write_varint(self.out, number);
    }

    fn fixed(&mut self, bits: u64) {
        self.key(1);
        self.out.extend_from_slice(&bits.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.key(2);
        write_varint(self.out, bytes.len() as u64);
        self.out.extend_from_slice(bytes);
    }
}

/// A value that contains no other values.
#[derive(Clone, Copy)]
enum Scalar<'a> {
    String(&'a str),
    Bool(bool),
    Whole(i128),
    Double(f64),
}

impl<'a> Scalar<'a> {
    fn as_str(self) -> Option<&'a str> {
        match self {
            Self::String(string) => Some(string),
            _ => None,
        }
    }

    fn whole(self) -> Option<i128> {
        match self {
            Self::Whole(number) => Some(number),
            Self::String(string) => string.parse().ok(),
            Self::Double(number) if number.fract() == 0.0 && number.abs() < EXACT_MAX => {
                Some(number as i128)
            }
            _ => None,
        }
    }

    fn double(self) -> Option<f64> {
        match self {
            Self::Whole(number) => Some(number as f64),
            Self::Double(number) => Some(number),
            Self::String("NaN") => Some(f64::NAN),
            Self::String("Infinity") => Some(f64::INFINITY),
            Self::String("-Infinity") => Some(f64::NEG_INFINITY),
            Self::String(string) => string.parse().ok().filter(|number: &f64| number.is_finite()),
            Self::Bool(_) => None,
        }
    }
}

/// Appends a varint.
pub(super) fn write_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(0x80 | (number & 0x7f) as u8);
        number >>= 7;
    }
    out.push(number as u8);
}
