//! The fields that events have, from a sample.

use std::collections::BTreeMap;

use serde_json::Value;
use telltale_engine::{Event, EventFilter};

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
}

/// A field.
#[derive(Debug)]
pub(super) struct Field {
    /// The number of events of each type.
    pub(super) types: BTreeMap<FieldType, u64>,
    /// Its value in the newest event that has it, cut to a bounded length.
    pub(super) example: String,
}

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
    let size = read_newest(app, filter, FIELDS_EVENTS_MAX, |event| {
        fields.add_columns(event);
        let Some(properties) = &event.properties else { return Ok(()) };
        let without_path = each_value(properties, memory, |path, value| {
            fields.add(&format!("properties.{path}"), FieldType::of(value), || shown(value));
        })?;
        fields.left_out += without_path;
        Ok(())
    })?;
    Ok(Fields { size, ..fields })
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
            let example = example().chars().take(EXAMPLE_CHARS_MAX).collect();
            let field = Field { types: BTreeMap::from([(kind, 1)]), example };
            self.by_name.insert(name.to_owned(), field);
        } else {
            self.left_out += 1;
        }
    }
}
