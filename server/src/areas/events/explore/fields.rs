//! The fields that events have, from a sample.

use std::collections::BTreeMap;

use serde_json::Value;
use telltale_engine::{Error, Event, EventFilter, MemoryOwner, ResultMemory};

use super::properties::{each_value, number, shown};
use super::sample::{SampleSize, read_newest};
use crate::app::App;
use crate::areas::events::error::EventsError;
use crate::areas::events::limits::{EXAMPLE_CHARS_MAX, FIELDS_EVENTS_MAX, FIELDS_MAX};

/// The fields of the events of a sample.
#[derive(Debug, Default)]
pub(super) struct Fields {
    /// By name: `value`, `user_id`, `tags.<key>` or `properties.<path>`.
    pub(super) by_name: BTreeMap<String, Field>,
    /// The values that are not listed: of fields beyond the limit, or with keys that a path cannot
    /// name.
    pub(super) left_out: u64,
    pub(super) size: SampleSize,
    /// The memory of the names and examples: a path may be as long as the properties.
    pub(super) memory: ResultMemory,
    bytes: u64,
}

/// A field.
#[derive(Debug)]
pub(super) struct Field {
    /// The number of events of each type.
    pub(super) types: BTreeMap<FieldType, u64>,
    /// Its value in the newest event that has it, cut to a bounded length.
    pub(super) example: String,
}

/// Approximate bytes of a field besides its name and example.
const FIELD_BYTES: usize = 2 * size_of::<(String, Field)>() + 256;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FieldType {
    String,
    Number,
    Boolean,
    Array,
    Null,
}

impl FieldType {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Array => "array",
            Self::Null => "null",
        }
    }

    fn of(value: &Value) -> Self {
        match value {
            Value::String(_) => Self::String,
            Value::Number(_) => Self::Number,
            Value::Bool(_) => Self::Boolean,
            // Objects are entered, not listed.
            Value::Array(_) | Value::Object(_) => Self::Array,
            Value::Null => Self::Null,
        }
    }
}

/// Returns the fields of the newest matching events.
pub(super) fn fields(app: &App, filter: &EventFilter) -> Result<Fields, EventsError> {
    let mut fields = Fields::default();
    let memory = app.engine().memory();
    let mut share = memory.share(MemoryOwner::Queries);
    let size = read_newest(app, filter, FIELDS_EVENTS_MAX, |event| {
        fields.add_columns(event);
        if let Some(properties) = &event.properties {
            let without_path = each_value(properties, memory, |path, value| {
                fields.add(&format!("properties.{path}"), FieldType::of(value), || shown(value));
            })?;
            fields.left_out += without_path;
        }
        let new = fields.bytes.saturating_sub(share.bytes());
        Ok(share.grow(new).map_err(Error::from)?)
    })?;
    Ok(Fields { size, memory: share.into(), ..fields })
}

impl Fields {
    fn add_columns(&mut self, event: &Event) {
        if let Some(user) = &event.user {
            self.add("user_id", FieldType::String, || user.clone());
        }
        if let Some(value) = event.value {
            self.add("value", FieldType::Number, || number(value));
        }
        for (key, value) in &event.tags {
            self.add(&format!("tags.{key}"), FieldType::String, || value.clone());
        }
    }

    fn add(&mut self, name: &str, kind: FieldType, example: impl FnOnce() -> String) {
        if let Some(field) = self.by_name.get_mut(name) {
            *field.types.entry(kind).or_default() += 1;
        } else if self.by_name.len() < FIELDS_MAX {
            let example: String = example().chars().take(EXAMPLE_CHARS_MAX).collect();
            self.bytes += (FIELD_BYTES + name.len() + example.len()) as u64;
            let field = Field { types: BTreeMap::from([(kind, 1)]), example };
            self.by_name.insert(name.to_owned(), field);
        } else {
            self.left_out += 1;
        }
    }
}
