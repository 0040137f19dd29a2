//! The JSON types of the area: small response types, and the schemas of requests and other
//! responses. Events are parsed in [`super::ingest`], lists and counts are written in
//! [`super::render`].

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use telltale_engine::{EventId, NewEvent, limits};

use super::model::ID_PREFIX;
use crate::limits::BATCH_ITEMS_MAX;
use crate::platform::ids;
use crate::platform::json::Plain;
use crate::platform::patterns;
use crate::platform::time::IsoTime;

/// An event that was stored.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "TrackedEvent")]
pub(super) struct Tracked {
    id: String,
    name: String,
    timestamp: IsoTime,
    user_id: Option<String>,
    value: Option<Plain>,
}

/// Statistics of a number of the matching events.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EventStats")]
pub(super) struct Stats {
    /// The number of events that have the field; if it is 0, the other fields are null.
    count: u64,
    sum: Option<Plain>,
    avg: Option<Plain>,
    min: Option<Plain>,
    max: Option<Plain>,
    p50: Option<Plain>,
    p95: Option<Plain>,
    p99: Option<Plain>,
}

/// The schema of one event.
#[derive(Debug)]
pub enum EventInput {}

/// The schema of a batch.
pub(super) enum BatchInput {}

/// The schema of a list.
pub(super) enum ListAnswer {}

/// The schema of a count.
pub(super) enum CountAnswer {}

impl Tracked {
    /// Returns the response for the event stored under this id.
    pub(super) fn new(id: EventId, event: &NewEvent<'_>) -> Self {
        Self {
            id: ids::prefixed(ID_PREFIX, id.0),
            name: event.name.to_owned(),
            timestamp: IsoTime(event.time),
            user_id: event.user.map(str::to_owned),
            value: event.value.map(Plain),
        }
    }
}

impl Stats {
    /// Builds the statistics from numbers in the order of [`super::query::STATISTICS`].
    ///
    /// # Panics
    /// If there are others: each aggregation of a query has a number, and a count is never absent.
    pub(super) fn new(numbers: &[Option<f64>]) -> Self {
        let [Some(count), sum, avg, min, max, p50, p95, p99] = *numbers else {
            unreachable!("the numbers are not those of the statistics: {numbers:?}")
        };
        let plain = |number: Option<f64>| number.filter(|_| count > 0.0).map(Plain);
        Self {
            count: count as u64,
            sum: plain(sum),
            avg: plain(avg),
            min: plain(min),
            max: plain(max),
            p50: plain(p50),
            p95: plain(p95),
            p99: plain(p99),
        }
    }
}

impl JsonSchema for EventInput {
    fn schema_name() -> Cow<'static, str> {
        "EventInput".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": { "type": "string", "maxLength": limits::NAME_CHARS_MAX, "pattern": patterns::LINE, "examples": ["order.paid"] },
                "timestamp": {
                    "anyOf": [{ "type": "string", "format": "date-time" }, { "type": "null" }],
                    "description": "Default: the time of receipt. From 1970 to 24 hours in the future."
                },
                "user_id": {
                    "type": ["string", "number", "null"],
                    "minLength": 1,
                    "maxLength": limits::USER_CHARS_MAX,
                    "description": "A number is stored as its decimal string.",
                    "examples": ["u-1"]
                },
                "value": { "type": ["number", "null"], "description": "Finite.", "examples": [49.9] },
                "properties": {
                    "type": ["object", "null"],
                    "description": "Any JSON object of up to 64 KiB and 64 levels. Key order is preserved; white space and the notation of numbers are not.",
                    "examples": [{ "cart": { "total": 49.9 } }]
                },
                "tags": {
                    "type": ["object", "null"],
                    "maxProperties": limits::TAGS_MAX,
                    "propertyNames": { "minLength": 1, "maxLength": limits::TAG_KEY_CHARS_MAX, "pattern": patterns::NO_CONTROL },
                    "additionalProperties": { "type": "string", "maxLength": limits::TAG_VALUE_CHARS_MAX },
                    "examples": [{ "region": "eu" }]
                }
            }
        })
    }
}

impl JsonSchema for BatchInput {
    fn schema_name() -> Cow<'static, str> {
        "EventBatchInput".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let item = generator.subschema_for::<EventInput>();
        json_schema!({
            "type": "object",
            "required": ["events"],
            "properties": { "events": { "type": "array", "maxItems": BATCH_ITEMS_MAX, "items": item } }
        })
    }
}

/// Returns the schema of a stored event.
pub(super) fn event_schema() -> Schema {
    json_schema!({
        "type": "object",
        "required": ["id", "name", "timestamp", "user_id", "value", "properties", "tags"],
        "properties": {
            "id": { "type": "string", "examples": ["evt_01KDYH0GVE0000000000000001"] },
            "name": { "type": "string" },
            "timestamp": { "type": "string", "format": "date-time" },
            "user_id": { "type": ["string", "null"] },
            "value": { "type": ["number", "null"] },
            "properties": { "type": "object" },
            "tags": { "type": "object", "additionalProperties": { "type": "string" } }
        }
    })
}

impl JsonSchema for ListAnswer {
    fn schema_name() -> Cow<'static, str> {
        "EventList".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let event = event_schema();
        json_schema!({
            "type": "object",
            "required": ["data", "meta"],
            "properties": {
                "data": { "type": "array", "items": event },
                "meta": {
                    "type": "object",
                    "required": ["total", "limit", "offset"],
                    "properties": {
                        "total": { "type": "integer", "description": "The exact number of matching events, independent of the page." },
                        "limit": { "type": "integer" },
                        "offset": { "type": "integer" },
                        "next_cursor": { "type": "string", "description": "Absent on the last page." }
                    }
                }
            }
        })
    }
}

impl JsonSchema for CountAnswer {
    fn schema_name() -> Cow<'static, str> {
        "EventCount".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let series = json_schema!({
            "type": "array",
            "items": {
                "type": "object",
                "required": ["timestamp", "count"],
                "properties": {
                    "timestamp": { "type": "string", "format": "date-time" },
                    "count": { "type": "integer" },
                    "distinct": { "type": "integer", "description": "With `distinct`: the number of distinct values." }
                }
            }
        });
        json_schema!({
            "type": "object",
            "required": ["data"],
            "properties": { "data": {
                "type": "object",
                "required": ["total"],
                "properties": {
                    "total": { "type": "integer" },
                    "distinct": { "type": "integer", "description": "With `distinct`: the number of distinct values." },
                    "series": {
                        "description": "With `group_by` and `interval`: one series for each group, under its value.",
                        "anyOf": [series, { "type": "object", "additionalProperties": series }]
                    },
                    "groups": {
                        "type": "object",
                        "description": "With `group_by`: the count of each group, under the value of the tag or field.",
                        "additionalProperties": { "type": "integer" }
                    },
                    "distinct_groups": {
                        "type": "object",
                        "description": "With `distinct` and `group_by`: the number of distinct values in each group.",
                        "additionalProperties": { "type": "integer" }
                    }
                }
            } }
        })
    }
}
