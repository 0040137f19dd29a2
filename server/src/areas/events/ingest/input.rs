//! Parsing of one event. If several fields are invalid, the first one in the order of the API
//! specification is reported.
//!
//! An absent field equals `null`; unknown fields are ignored. Lengths and characters of names,
//! users and tags are checked by the engine.

use smallvec::SmallVec;
use telltale_engine::limits::RESERVED_PREFIX;
use telltale_engine::{
    InvalidEvent, MetricName, NewEvent, Properties, PropertiesWriter, TimestampMs,
};

use super::super::error::{Field, InputError};
use crate::platform::json::{Json, Members, Number, Value};
use crate::platform::time;

/// Number of tags of an event stored inline; more tags are rare and need an allocation.
pub(super) const TAGS_INLINE: usize = 8;

/// Buffers reused for all items of a batch.
#[derive(Default)]
pub(super) struct Buffers {
    /// The properties of the item, in canonical form.
    properties: PropertiesWriter,
    /// The decimal string of a user that was sent as a number.
    user: String,
}

/// The unparsed fields of an item; `None` if absent.
#[derive(Default)]
struct Fields<'d> {
    name: Option<Value<'d>>,
    timestamp: Option<Value<'d>>,
    user: Option<Value<'d>>,
    value: Option<Value<'d>>,
    properties: Option<Value<'d>>,
    tags: Option<Value<'d>>,
}

/// Parses one item and passes its event to `take`, whose refusal is returned.
pub(super) fn read_input<T>(
    input: Value<'_>,
    now: TimestampMs,
    buffers: &mut Buffers,
    take: impl FnOnce(&NewEvent<'_>) -> Result<T, InvalidEvent>,
) -> Result<T, InputError> {
    let Json::Object(members) = input.json() else {
        return Err(InputError::NotAnObject);
    };
    let fields = Fields::sort(members)?;
    let name = fields.name()?;
    let time = fields.time(now)?;
    let user = fields.user(&mut buffers.user)?;
    let value = fields.value()?;
    let properties = fields.properties(&mut buffers.properties)?;
    let with_tags =
        |tags: &[(&str, &str)]| Ok(take(&NewEvent { name, time, user, value, tags, properties })?);
    match fields.tags.map(Value::json) {
        None | Some(Json::Null) => with_tags(&[]),
        Some(Json::Object(tags)) => with_tags(&pairs(tags)?),
        Some(_) => Err(InputError::TagsForm),
    }
}

impl<'d> Fields<'d> {
    fn sort(members: Members<'d>) -> Result<Self, InputError> {
        let mut fields = Self::default();
        for (key, value) in members {
            let (slot, field) = match key {
                "name" => (&mut fields.name, Field::Name),
                "timestamp" => (&mut fields.timestamp, Field::Timestamp),
                "user_id" => (&mut fields.user, Field::User),
                "value" => (&mut fields.value, Field::Value),
                "properties" => (&mut fields.properties, Field::Properties),
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
            // Error groups are derived from these events, so clients must not write them.
            Some(Json::Text(name)) if name.starts_with(RESERVED_PREFIX) => {
                // The error message contains the name, so its length is checked first.
                MetricName::check(name).map_err(InvalidEvent::Name)?;
                Err(InputError::NameReserved(name.to_owned()))
            }
            Some(Json::Text(name)) => Ok(name),
            Some(_) => Err(InputError::NameForm),
        }
    }

    fn time(&self, now: TimestampMs) -> Result<TimestampMs, InputError> {
        match self.timestamp.map(Value::json) {
            None | Some(Json::Null) => Ok(now),
            Some(Json::Text(text)) => time::parse_recorded(text, now).map_err(InputError::Time),
            Some(_) => Err(InputError::TimeForm),
        }
    }

    /// Returns the user; a number is converted to a string in `buffer`.
    fn user<'b>(&self, buffer: &'b mut String) -> Result<Option<&'b str>, InputError>
    where
        'd: 'b,
    {
        match self.user.map(Value::json) {
            None | Some(Json::Null) => Ok(None),
            Some(Json::Text(text)) => Ok(Some(text)),
            Some(Json::Number(number)) if number.as_f64().is_finite() => {
                buffer.clear();
                number.write_to(buffer);
                Ok(Some(buffer))
            }
            Some(_) => Err(InputError::UserForm),
        }
    }

    fn value(&self) -> Result<Option<f64>, InputError> {
        match self.value.map(Value::json) {
            None | Some(Json::Null) => Ok(None),
            // JSON writers disagree about negative zero; adding zero makes it positive.
            Some(Json::Number(number)) if number.as_f64().is_finite() => {
                Ok(Some(number.as_f64() + 0.0))
            }
            Some(_) => Err(InputError::Value),
        }
    }

    fn properties<'b>(
        &self,
        writer: &'b mut PropertiesWriter,
    ) -> Result<Option<&'b Properties>, InputError> {
        match self.properties.map(Value::json) {
            None | Some(Json::Null) => Ok(None),
            Some(Json::Object(members)) => {
                writer.clear();
                write_object(writer, members)?;
                Ok(Some(writer.written()?))
            }
            Some(_) => Err(InputError::PropertiesForm),
        }
    }
}

/// Copies an object. The recursion is limited by the maximum depth of documents.
fn write_object(writer: &mut PropertiesWriter, members: Members<'_>) -> Result<(), InputError> {
    writer.begin_object();
    for (key, value) in members {
        writer.key(key);
        write_value(writer, value)?;
    }
    writer.end_object();
    Ok(())
}

fn write_value(writer: &mut PropertiesWriter, value: Value<'_>) -> Result<(), InputError> {
    match value.json() {
        Json::Null => writer.null(),
        Json::Bool(value) => writer.boolean(value),
        Json::Number(Number::Unsigned(value)) => writer.unsigned(value),
        Json::Number(Number::Signed(value)) => writer.integer(value),
        Json::Number(Number::Float(value)) if value.is_finite() => writer.float(value),
        Json::Number(Number::Float(_)) => return Err(InputError::PropertyNumber),
        Json::Text(text) => writer.string(text),
        Json::Array(elements) => {
            writer.begin_array();
            for element in elements {
                write_value(writer, element)?;
            }
            writer.end_array();
        }
        Json::Object(members) => write_object(writer, members)?,
    }
    Ok(())
}

/// Returns the tags as pairs, in the order sent.
fn pairs<'d>(tags: Members<'d>) -> Result<SmallVec<[(&'d str, &'d str); TAGS_INLINE]>, InputError> {
    let mut pairs = SmallVec::new();
    for (key, value) in tags {
        let Json::Text(text) = value.json() else {
            return Err(InputError::TagValue(key.to_owned()));
        };
        pairs.push((key, text));
    }
    Ok(pairs)
}
