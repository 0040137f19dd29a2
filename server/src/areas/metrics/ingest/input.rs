//! One metric input: what each of its fields may be. The first field that breaks a rule, in the order of the
//! contract's table, is the one that is told.
//!
//! Absent and `null` are the same; fields that nobody knows are passed over. Names, tags and the type of a known
//! metric are the engine's to check, once per series and not once per point.

use smallvec::SmallVec;
use telltale_engine::{MetricType, Refusal, TimestampMs};

use super::super::error::{Field, InputError};
use super::super::model::{Measured, Point};
use crate::limits;
use crate::platform::json::{Json, Members, Value};
use crate::platform::time;

/// Tags of a point that need no allocation; points with more are rare.
const TAGS_INLINE: usize = 8;

/// The fields of one input, not yet looked at; what is `None` is absent or null.
#[derive(Default)]
struct Fields<'d> {
    name: Option<Value<'d>>,
    kind: Option<Value<'d>>,
    value: Option<Value<'d>>,
    timestamp: Option<Value<'d>>,
    tags: Option<Value<'d>>,
}

/// Reads one input and hands its point to `take`, whose refusal is passed on.
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

/// A text as the value of a point of this type, if it may be one.
#[inline]
pub(super) fn member(kind: MetricType, text: &str) -> Option<Measured<'_>> {
    // A character has a byte or more, so most members are short enough without counting.
    let max = limits::MEMBER_CHARS_MAX;
    let is_member = !text.is_empty() && (text.len() <= max || text.chars().count() <= max);
    (kind == MetricType::Set && is_member).then_some(Measured::Member(text))
}

/// A number as the value of a point of this type, if it may be one.
#[inline]
pub(super) fn number<'d>(kind: MetricType, value: f64) -> Option<Measured<'d>> {
    // Adding zero turns negative zero, which JSON writers disagree about, into zero.
    (kind != MetricType::Set && value.is_finite()).then_some(Measured::Number(value + 0.0))
}

/// Turns the values of tags into text and hands the pairs to `use_tags`.
fn read_tags<T>(
    tags: Members<'_>,
    use_tags: impl FnOnce(&[(&str, &str)]) -> Result<T, InputError>,
) -> Result<T, InputError> {
    // Texts of the tags that are numbers, one after another, and for each the pair it belongs to and its end.
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
