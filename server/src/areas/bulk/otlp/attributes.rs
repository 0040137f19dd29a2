//! Converts attributes to tags: selects the attributes that become tags and formats their values as
//! strings.
//!
//! All attributes of a data point become tags; of its scope and resource, those that the
//! configuration names, unless the data point has an attribute with the same key. Lists and maps
//! are formatted as JSON, truncated to the maximum length of a tag value.

use std::borrow::Cow;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use smallvec::SmallVec;
use telltale_engine::limits::{TAG_VALUE_CHARS_MAX, TAGS_MAX};
use telltale_engine::{InvalidTags, Refusal, Tags};

use super::error::OtlpError;
use super::request::each;
use super::settings::OtlpSettings;
use crate::areas::bulk::protobuf::{Fields, Malformed, Value};
use crate::limits::OTLP_VALUE_DEPTH_MAX;

/// The names by which the configuration selects the scope's name and version.
const SCOPE_NAME: &str = "otel.scope.name";
const SCOPE_VERSION: &str = "otel.scope.version";
/// The number of tags that need no heap allocation; few series have more.
const TAGS_INLINE: usize = 16;
/// The magnitudes of doubles that are formatted without an exponent.
const PLAIN: std::ops::Range<f64> = 1e-6..1e21;

/// The key and value of a tag, not yet validated.
pub(super) type Tag<'b> = (Cow<'b, str>, Cow<'b, str>);

/// Returns the tags of a resource: its selected attributes.
pub(super) fn of_resource<'b>(
    resource: Fields<'b>,
    chosen: &OtlpSettings,
) -> Result<Vec<Tag<'b>>, OtlpError> {
    let mut tags = Vec::new();
    choose(&mut tags, resource, 1, &chosen.resource_attributes)?;
    Ok(tags)
}

/// Returns the tags of a scope: its selected attributes, and its name and version if selected.
pub(super) fn of_scope<'b>(
    scope: Fields<'b>,
    chosen: &OtlpSettings,
) -> Result<Vec<Tag<'b>>, OtlpError> {
    let mut tags = Vec::new();
    if chosen.scope_attributes.is_empty() {
        return Ok(tags);
    }
    for field in scope {
        let (key, value) = match field? {
            (1, value) => (SCOPE_NAME, value.bytes()?),
            (2, value) => (SCOPE_VERSION, value.bytes()?),
            _ => continue,
        };
        if !value.is_empty() && chosen.scope_attributes.iter().any(|name| name == key) {
            tags.push((key.into(), utf8(value)?.into()));
        }
    }
    choose(&mut tags, scope, 3, &chosen.scope_attributes)?;
    Ok(tags)
}

/// Passes the tags of a data point to `use_tags` in the form the engine takes, after checking for
/// duplicate keys: its own attributes, then those of its scope, then those of its resource whose
/// keys are not taken yet.
pub(super) fn with_tags<'b, T>(
    own: impl Iterator<Item = Result<&'b [u8], Malformed>>,
    scope: &[Tag<'b>],
    resource: &[Tag<'b>],
    use_tags: impl FnOnce(&[(&str, &str)]) -> Result<T, OtlpError>,
) -> Result<T, OtlpError> {
    let mut tags: SmallVec<[Tag<'b>; TAGS_INLINE]> = SmallVec::new();
    for attribute in own {
        if tags.len() == TAGS_MAX {
            return Err(Refusal::from(InvalidTags::TooMany).into());
        }
        let (key, value) = pair(attribute?)?;
        tags.push((utf8(key)?.into(), tag_value(value)?));
    }
    for (key, value) in scope.iter().chain(resource) {
        if tags.iter().all(|(taken, _)| taken != key) {
            tags.push((key.clone(), value.clone()));
        }
    }
    let tags: SmallVec<[(&str, &str); TAGS_INLINE]> =
        tags.iter().map(|(key, value)| (&**key, &**value)).collect();
    // The engine checks too, but under a lock that all writers share.
    Tags::check(&tags).map_err(Refusal::from)?;
    use_tags(&tags)
}

/// Appends the attributes in fields with this number whose names are listed, the first of each
/// name.
fn choose<'b>(
    tags: &mut Vec<Tag<'b>>,
    fields: Fields<'b>,
    number: u32,
    names: &[String],
) -> Result<(), OtlpError> {
    if names.is_empty() {
        return Ok(());
    }
    for attribute in each(fields, number) {
        let (key, value) = pair(attribute?)?;
        let Some(name) = names.iter().find(|name| name.as_bytes() == key) else { continue };
        if tags.iter().all(|(taken, _)| taken != name) {
            tags.push((utf8(key)?.into(), tag_value(value)?));
        }
    }
    Ok(())
}

pub(super) fn utf8(bytes: &[u8]) -> Result<&str, OtlpError> {
    std::str::from_utf8(bytes).map_err(|_| OtlpError::NotUtf8)
}

/// Returns the key and value of an attribute.
fn pair(attribute: &[u8]) -> Result<(&[u8], &[u8]), Malformed> {
    let (mut key, mut value) = (&[][..], &[][..]);
    for field in Fields::of(attribute) {
        match field? {
            (1, found) => key = found.bytes()?,
            (2, found) => value = found.bytes()?,
            _ => {}
        }
    }
    Ok((key, value))
}

/// A parsed `AnyValue`.
enum AnyValue<'b> {
    Empty,
    String(&'b str),
    Bool(bool),
    Int(i64),
    Double(f64),
    List(Fields<'b>),
    Map(Fields<'b>),
    Bytes(&'b [u8]),
}

impl<'b> AnyValue<'b> {
    fn read(bytes: &'b [u8]) -> Result<Self, OtlpError> {
        let mut any = Self::Empty;
        for field in Fields::of(bytes) {
            any = match field? {
                (1, value) => Self::String(utf8(value.bytes()?)?),
                (2, value) => Self::Bool(value.varint()? != 0),
                (3, value) => Self::Int(value.varint()?.cast_signed()),
                (4, Value::Fixed64(bits)) => Self::Double(f64::from_bits(bits)),
                (5, value) => Self::List(Fields::of(value.bytes()?)),
                (6, value) => Self::Map(Fields::of(value.bytes()?)),
                (7, value) => Self::Bytes(value.bytes()?),
                _ => continue,
            };
        }
        Ok(any)
    }
}

/// Formats a value as a tag value.
fn tag_value(value: &[u8]) -> Result<Cow<'_, str>, OtlpError> {
    Ok(match AnyValue::read(value)? {
        AnyValue::Empty => Cow::Borrowed(""),
        AnyValue::String(string) => Cow::Borrowed(string),
        AnyValue::Bool(value) => Cow::Borrowed(if value { "true" } else { "false" }),
        AnyValue::Int(number) => Cow::Owned(number.to_string()),
        AnyValue::Double(number) => Cow::Owned(decimal(number)),
        AnyValue::Bytes(bytes) => Cow::Owned(base64(bytes)),
        AnyValue::List(_) | AnyValue::Map(_) => {
            let mut json = String::new();
            write_json(&mut json, value, OTLP_VALUE_DEPTH_MAX)?;
            if let Some((end, _)) = json.char_indices().nth(TAG_VALUE_CHARS_MAX) {
                json.truncate(end);
            }
            Cow::Owned(json)
        }
    })
}

/// Appends a value as JSON. Stops early once a tag value cannot hold more.
fn write_json(out: &mut String, value: &[u8], levels: usize) -> Result<(), OtlpError> {
    let inside = levels.checked_sub(1).ok_or(OtlpError::TooDeep)?;
    match AnyValue::read(value)? {
        AnyValue::Empty => out.push_str("null"),
        AnyValue::String(string) => write_string(out, string),
        AnyValue::Bool(value) => out.push_str(if value { "true" } else { "false" }),
        // Writing to a string does not fail.
        AnyValue::Int(number) => drop(write!(out, "{number}")),
        AnyValue::Double(number) if number.is_finite() => out.push_str(&decimal(number)),
        AnyValue::Double(number) => write_string(out, &decimal(number)),
        AnyValue::Bytes(bytes) => write_string(out, &base64(bytes)),
        AnyValue::List(items) => {
            out.push('[');
            for (index, item) in each(items, 1).enumerate() {
                if is_full(out) {
                    return Ok(());
                }
                out.push_str(if index > 0 { "," } else { "" });
                write_json(out, item?, inside)?;
            }
            out.push(']');
        }
        AnyValue::Map(items) => {
            out.push('{');
            for (index, item) in each(items, 1).enumerate() {
                if is_full(out) {
                    return Ok(());
                }
                let (key, value) = pair(item?)?;
                out.push_str(if index > 0 { "," } else { "" });
                write_string(out, utf8(key)?);
                out.push(':');
                write_json(out, value, inside)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

/// Returns whether the output is longer in bytes than any tag value can be.
fn is_full(out: &str) -> bool {
    out.len() > 4 * TAG_VALUE_CHARS_MAX
}

fn write_string(out: &mut String, string: &str) {
    let some: String = string.chars().take(TAG_VALUE_CHARS_MAX).collect();
    out.push_str(&serde_json::Value::from(some).to_string());
}

/// Returns the shortest decimal that parses to this double.
fn decimal(number: f64) -> String {
    if number == 0.0 {
        "0".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else if number.is_nan() || PLAIN.contains(&number.abs()) {
        number.to_string()
    } else {
        format!("{number:e}")
    }
}

/// Encodes bytes as base64. Long input is truncated to a length whose encoding still exceeds the
/// maximum length of a tag value.
fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes.get(..=TAG_VALUE_CHARS_MAX).unwrap_or(bytes))
}
