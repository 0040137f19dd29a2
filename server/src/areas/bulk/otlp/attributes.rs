//! From attributes to tags: which of them are tags, and what their values are as text.
//!
//! All attributes of a data point are tags; of its scope and resource those that the configuration names, where the data
//! point has none of the same key. Lists and maps are JSON, cut where tags end.

use std::borrow::Cow;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use smallvec::SmallVec;
use telltale_engine::limits::{TAG_VALUE_CHARS_MAX, TAGS_MAX};
use telltale_engine::{InvalidTags, Refusal, Tags};

use super::error::OtlpError;
use super::request::each;
use crate::areas::bulk::protobuf::{Damaged, Fields, Value};
use crate::http::OtlpAttributes;
use crate::limits::OTLP_VALUE_DEPTH_MAX;

/// Names that stand for what a scope is called and which version of it measured.
const SCOPE_NAME: &str = "otel.scope.name";
const SCOPE_VERSION: &str = "otel.scope.version";
/// Tags of a series that need no allocation; series with more are rare.
const TAGS_INLINE: usize = 16;
/// Doubles of at least this magnitude have an exponent, and so have those below the other.
const PLAIN: std::ops::Range<f64> = 1e-6..1e21;

/// A tag, not yet checked.
pub(super) type Tag<'b> = (Cow<'b, str>, Cow<'b, str>);

/// The attributes of a resource that are tags.
pub(super) fn of_resource<'b>(
    resource: Fields<'b>,
    chosen: &OtlpAttributes,
) -> Result<Vec<Tag<'b>>, OtlpError> {
    let mut tags = Vec::new();
    choose(&mut tags, resource, 1, &chosen.resource)?;
    Ok(tags)
}

/// The attributes of a scope that are tags.
pub(super) fn of_scope<'b>(
    scope: Fields<'b>,
    chosen: &OtlpAttributes,
) -> Result<Vec<Tag<'b>>, OtlpError> {
    let mut tags = Vec::new();
    if chosen.scope.is_empty() {
        return Ok(tags);
    }
    for field in scope {
        let (key, value) = match field? {
            (1, value) => (SCOPE_NAME, value.bytes()?),
            (2, value) => (SCOPE_VERSION, value.bytes()?),
            _ => continue,
        };
        if !value.is_empty() && chosen.scope.iter().any(|name| name == key) {
            tags.push((key.into(), utf8(value)?.into()));
        }
    }
    choose(&mut tags, scope, 3, &chosen.scope)?;
    Ok(tags)
}

/// Hands the tags of a data point to `use_tags` as the engine takes them, each key once: its own attributes, and what
/// its scope and then its resource have besides.
pub(super) fn with_tags<'b, T>(
    own: impl Iterator<Item = Result<&'b [u8], Damaged>>,
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
        tags.push((utf8(key)?.into(), text(value)?));
    }
    for (key, value) in scope.iter().chain(resource) {
        if tags.iter().all(|(taken, _)| taken != key) {
            tags.push((key.clone(), value.clone()));
        }
    }
    let tags: SmallVec<[(&str, &str); TAGS_INLINE]> =
        tags.iter().map(|(key, value)| (&**key, &**value)).collect();
    // The engine looks too, but under a lock that all writers share.
    Tags::check(&tags).map_err(Refusal::from)?;
    use_tags(&tags)
}

/// The attributes in the fields of this number that have one of these names, the first of each name.
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
            tags.push((utf8(key)?.into(), text(value)?));
        }
    }
    Ok(())
}

pub(super) fn utf8(bytes: &[u8]) -> Result<&str, OtlpError> {
    std::str::from_utf8(bytes).map_err(|_| OtlpError::NotUtf8)
}

/// The key and the value of an attribute.
fn pair(attribute: &[u8]) -> Result<(&[u8], &[u8]), Damaged> {
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

/// A value of any type.
enum AnyValue<'b> {
    Empty,
    Text(&'b str),
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
                (1, value) => Self::Text(utf8(value.bytes()?)?),
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

/// A value as the text of a tag.
fn text(value: &[u8]) -> Result<Cow<'_, str>, OtlpError> {
    Ok(match AnyValue::read(value)? {
        AnyValue::Empty => Cow::Borrowed(""),
        AnyValue::Text(text) => Cow::Borrowed(text),
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

/// Appends a value as JSON. When there is more text than a tag has, the rest is left out.
fn write_json(out: &mut String, value: &[u8], levels: usize) -> Result<(), OtlpError> {
    let inside = levels.checked_sub(1).ok_or(OtlpError::TooDeep)?;
    match AnyValue::read(value)? {
        AnyValue::Empty => out.push_str("null"),
        AnyValue::Text(text) => write_text(out, text),
        AnyValue::Bool(value) => out.push_str(if value { "true" } else { "false" }),
        // Writing to a string does not fail.
        AnyValue::Int(number) => drop(write!(out, "{number}")),
        AnyValue::Double(number) if number.is_finite() => out.push_str(&decimal(number)),
        AnyValue::Double(number) => write_text(out, &decimal(number)),
        AnyValue::Bytes(bytes) => write_text(out, &base64(bytes)),
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
                write_text(out, utf8(key)?);
                out.push(':');
                write_json(out, value, inside)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

/// Whether a text has as many bytes as the longest value of a tag.
fn is_full(out: &str) -> bool {
    out.len() > 4 * TAG_VALUE_CHARS_MAX
}

fn write_text(out: &mut String, text: &str) {
    let some: String = text.chars().take(TAG_VALUE_CHARS_MAX).collect();
    out.push_str(&serde_json::Value::from(some).to_string());
}

/// The shortest decimal that is this double.
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

/// Bytes as text; more of them than a tag has are cut where it is too long in any case.
fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes.get(..=TAG_VALUE_CHARS_MAX).unwrap_or(bytes))
}
