//! Parsing of one metric sample. If several fields are invalid, the first one in the order of the
//! API specification is reported.
//!
//! An absent field equals `null`; unknown fields are ignored. Names, tags and the type of an
//! existing metric are checked by the engine, once per series and not once per sample.

use smallvec::SmallVec;
use telltale_engine::{MetricType, Refusal, TimestampMs};

use super::super::error::{Field, InputError};
use super::super::model::{Measured, Point};
use crate::limits;
use crate::platform::json::{Json, Members, Value};
use crate::platform::time;

/// Number of tags of a sample stored inline; more tags are rare and need an allocation.
const TAGS_INLINE: usize = 8;

/// The unparsed fields of an item; `None` if absent.
#[derive(Default)]
struct Fields<'d> {
    name: Option<Value<'d>>,
    kind: Option<Value<'d>>,
    value: Option<Value<'d>>,
    timestamp: Option<Value<'d>>,
    tags: Option<Value<'d>>,
}

/// Parses one item and passes its sample to `take`, whose refusal is returned.
pub(super) fn read_input<T>(
    input: Value<'_>,
    now: TimestampMs,
    take: impl FnOnce(&Point<'_>) -> Result<T, Refusal>,
) -> Result<T, InputError> {
    let Json::Object(members) = input.json() else {
        return Err(InputError::NotAnObject);
    };
    let fields = Fields::sort(members)?;
    let name = fields.name()?;
    let kind = fields.kind()?;
    let value = fields.measured(kind)?;
    let time = fields.time(now)?;
    let with_tags = |tags: &[(&str, &str)]| Ok(take(&Point { name, kind, value, time, tags })?);
    match fields.tags.map(Value::json) {
        None | Some(Json::Null) => with_tags(&[]),
        Some(Json::Object(tags)) => read_tags(tags, with_tags),
        Some(_) => Err(InputError::TagsForm),
    }
}

impl<'d> Fields<'d> {
    fn sort(members: Members<'d>) -> Result<Self, InputError> {
        let mut fields = Self::default();
        for (key, value) in members {
            let (slot, field) = match key {
                "name" => (&mut fields.name, Field::Name),
                "type" => (&mut fields.kind, Field::Type),
                "value" => (&mut fields.value, Field::Value),
                "timestamp" => (&mut fields.timestamp, Field::Timestamp),
                "tags" => (&mut fields.tags, Field::Tags),
                _ => continue,
            };
            if slot.replace(value).is_some() {
                return Err(InputError::Twice(field));
            }
        }
        Ok(fields)
    }

    fn name(&self) -> Result<&'d str, InputError> {
        match self.name.map(Value::json) {
            None | Some(Json::Null | Json::Text("")) => Err(InputError::NameMissing),
            Some(Json::Text(name)) => Ok(name),
            Some(_) => Err(InputError::NameForm),
        }
    }

    fn kind(&self) -> Result<MetricType, InputError> {
        match self.kind.map(Value::json) {
            Some(Json::Text(text)) => MetricType::parse(text).ok_or(InputError::Type),
            _ => Err(InputError::Type),
        }
    }

    fn measured(&self, kind: MetricType) -> Result<Measured<'d>, InputError> {
        let measured = match self.value.map(Value::json) {
            Some(Json::Text(text)) => member(kind, text),
            Some(Json::Number(value)) => number(kind, value.as_f64()),
            _ => None,
        };
        measured.ok_or(InputError::Value(kind))
    }

    fn time(&self, now: TimestampMs) -> Result<TimestampMs, InputError> {
        match self.timestamp.map(Value::json) {
            None | Some(Json::Null) => Ok(now),
            Some(Json::Text(text)) => time::parse_recorded(text, now).map_err(InputError::Time),
            Some(_) => Err(InputError::TimeForm),
        }
    }
}

/// Returns a string as the value of a sample of this type; `None` if it is not valid.
#[inline]
pub(super) fn member(kind: MetricType, text: &str) -> Option<Measured<'_>> {
    // A character has at least one byte, so most members need not be counted.
    let max = limits::MEMBER_CHARS_MAX;
    let is_member = !text.is_empty() && (text.len() <= max || text.chars().count() <= max);
    (kind == MetricType::Set && is_member).then_some(Measured::Member(text))
}

/// Returns a number as the value of a sample of this type; `None` if it is not valid.
#[inline]
pub(super) fn number<'d>(kind: MetricType, value: f64) -> Option<Measured<'d>> {
    // JSON writers disagree about negative zero; adding zero makes it positive.
    (kind != MetricType::Set && value.is_finite()).then_some(Measured::Number(value + 0.0))
}

/// Converts the values of tags to strings and passes the pairs to `use_tags`.
fn read_tags<T>(
    tags: Members<'_>,
    use_tags: impl FnOnce(&[(&str, &str)]) -> Result<T, InputError>,
) -> Result<T, InputError> {
    // The strings of numeric tags, concatenated, with the index of the pair and the end of each
    // string.
    let mut numbers = String::new();
    let mut ends: SmallVec<[(usize, usize); TAGS_INLINE]> = SmallVec::new();
    let mut pairs: SmallVec<[(&str, &str); TAGS_INLINE]> = SmallVec::new();
    for (key, value) in tags {
        let text = match value.json() {
            Json::Text(text) => text,
            Json::Bool(true) => "true",
            Json::Bool(false) => "false",
            Json::Number(number) if number.as_f64().is_finite() => {
                number.write_to(&mut numbers);
                ends.push((pairs.len(), numbers.len()));
                ""
            }
            Json::Number(_) | Json::Null | Json::Array(_) | Json::Object(_) => {
                return Err(InputError::TagValue(key.to_owned()));
            }
        };
        pairs.push((key, text));
    }
    let mut start = 0;
    for &(pair, end) in &ends {
        if let (Some(pair), Some(text)) = (pairs.get_mut(pair), numbers.get(start..end)) {
            pair.1 = text;
        }
        start = end;
    }
    use_tags(&pairs)
}
