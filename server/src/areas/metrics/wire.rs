//! The JSON of the area: answers as they are written, requests and query answers as they are described. The
//! bodies that carry points are read in [`super::ingest`], the answers to queries written in [`super::render`].

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Value, json};
use telltale_engine::{MetricDefinition, MetricType, limits};

use super::model::{Measured, Point};
use crate::http::Paging;
use crate::limits::{BATCH_ITEMS_MAX, MEMBER_CHARS_MAX};
use crate::platform::json::Plain;
use crate::platform::patterns;
use crate::platform::time::IsoTime;

/// A point that was stored.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "TrackedMetric")]
pub(super) struct Tracked {
    name: String,
    r#type: &'static str,
    value: TrackedValue,
    timestamp: IsoTime,
}

/// A number, or the member of a set.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
enum TrackedValue {
    Number(Plain),
    Member(String),
}

/// A metric definition.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Metric {
    name: String,
    r#type: &'static str,
    /// The tag keys seen.
    tags: Vec<String>,
    first_seen: IsoTime,
    last_seen: IsoTime,
}

/// A metric definition with its size.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MetricDetail {
    #[serde(flatten)]
    metric: Metric,
    /// Points that were stored, also those that have expired. A gauge's point that another one of the same series and time replaced does not
    /// count: at once while both are in memory, and from the merge of their window on when the first is on disk by then.
    data_points: u64,
}

/// A tag of a metric.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TagKey {
    key: String,
    /// How many different values it has.
    values: u64,
}

/// A value of a tag.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TagValue {
    value: String,
    /// How many series have it.
    series: u64,
}

/// A metric that is gone.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DeletedMetric {
    id: String,
    name: String,
    deleted: bool,
}

/// What a request to track one metric sends.
#[derive(Debug)]
pub enum MetricInput {}

/// One of a metric that is a number.
enum NumberInput {}

/// One of a set.
enum MemberInput {}

/// What a request to track a batch sends.
pub(super) enum BatchInput {}

/// What a query answers of one metric.
pub(super) enum QueryAnswer {}

impl From<&Point<'_>> for Tracked {
    fn from(point: &Point<'_>) -> Self {
        let value = match point.value {
            Measured::Number(number) => TrackedValue::Number(Plain(number)),
            Measured::Member(member) => TrackedValue::Member(member.to_owned()),
        };
        Self {
            name: point.name.to_owned(),
            r#type: point.kind.as_str(),
            value,
            timestamp: IsoTime(point.time),
        }
    }
}

impl From<MetricDefinition> for Metric {
    fn from(definition: MetricDefinition) -> Self {
        Self {
            name: definition.name.to_string(),
            r#type: definition.kind.as_str(),
            tags: definition.tag_keys,
            first_seen: IsoTime(definition.first_seen),
            last_seen: IsoTime(definition.last_seen),
        }
    }
}

impl From<MetricDefinition> for MetricDetail {
    fn from(definition: MetricDefinition) -> Self {
        let data_points = definition.data_points;
        Self { metric: definition.into(), data_points }
    }
}

impl From<(String, u64)> for TagKey {
    fn from((key, values): (String, u64)) -> Self {
        Self { key, values }
    }
}

impl From<(String, u64)> for TagValue {
    fn from((value, series): (String, u64)) -> Self {
        Self { value, series }
    }
}

impl DeletedMetric {
    /// The metric called `name` is gone.
    pub(super) fn new(name: &str) -> Self {
        Self { id: name.to_owned(), name: name.to_owned(), deleted: true }
    }
}

/// One page of a list that is whole in memory.
pub(super) fn page<T, W: From<T>>(all: Vec<T>, paging: Paging) -> crate::http::Page<W> {
    let meta = paging.meta(all.len());
    let data = all.into_iter().skip(paging.offset).take(paging.limit).map(W::from).collect();
    crate::http::Page { data, meta }
}

impl JsonSchema for MetricInput {
    fn schema_name() -> Cow<'static, str> {
        "MetricInput".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let number = generator.subschema_for::<NumberInput>();
        json_schema!({ "anyOf": [number, generator.subschema_for::<MemberInput>()] })
    }
}

impl JsonSchema for NumberInput {
    fn schema_name() -> Cow<'static, str> {
        "NumberMetricInput".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let types = MetricType::ALL.map(MetricType::as_str);
        let types: Vec<&str> = types.into_iter().filter(|name| *name != "set").collect();
        let value = json!({ "type": "number", "description": "Finite.", "examples": [42.5] });
        input(&types, &value)
    }
}

impl JsonSchema for MemberInput {
    fn schema_name() -> Cow<'static, str> {
        "SetMetricInput".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let value = json!({
            "type": "string",
            "minLength": 1,
            "maxLength": MEMBER_CHARS_MAX,
            "description": "The member, of which the set counts how many different ones there are.",
        });
        input(&["set"], &value)
    }
}

fn input(types: &[&str], value: &Value) -> Schema {
    json_schema!({
        "type": "object",
        "required": ["name", "type", "value"],
        "properties": {
            "name": { "type": "string", "maxLength": limits::NAME_CHARS_MAX, "pattern": patterns::LINE, "examples": ["cpu.usage"] },
            "type": { "type": "string", "enum": types },
            "value": value,
            "timestamp": {
                "anyOf": [{ "type": "string", "format": "date-time" }, { "type": "null" }],
                "description": "The time of receipt when absent. From 1970 to 24 hours from now."
            },
            "tags": {
                "type": ["object", "null"],
                "maxProperties": limits::TAGS_MAX,
                "propertyNames": { "minLength": 1, "maxLength": limits::TAG_KEY_CHARS_MAX, "pattern": patterns::NO_CONTROL },
                "additionalProperties": { "anyOf": [
                    { "type": "string", "maxLength": limits::TAG_VALUE_CHARS_MAX },
                    { "type": "number" },
                    { "type": "boolean" },
                ] },
                "examples": [{ "host": "web-1" }]
            }
        }
    })
}

impl JsonSchema for BatchInput {
    fn schema_name() -> Cow<'static, str> {
        "MetricBatchInput".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let item = generator.subschema_for::<MetricInput>();
        json_schema!({
            "type": "object",
            "required": ["metrics"],
            "properties": { "metrics": { "type": "array", "maxItems": BATCH_ITEMS_MAX, "items": item } }
        })
    }
}

impl JsonSchema for QueryAnswer {
    fn schema_name() -> Cow<'static, str> {
        "MetricQueryAnswer".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let points = json_schema!({
            "type": "array",
            "items": {
                "type": "object",
                "required": ["timestamp"],
                "properties": {
                    "timestamp": { "type": "string", "format": "date-time" },
                    "value": { "type": ["number", "null"], "description": "With one aggregation." }
                },
                "additionalProperties": {
                    "type": ["number", "null"],
                    "description": "With several aggregations: one number under the name of each."
                }
            }
        });
        json_schema!({
            "type": "object",
            "required": ["name", "interval"],
            "properties": {
                "name": { "type": "string" },
                "aggregation": { "type": "string", "description": "With one aggregation." },
                "interval": { "type": "string", "enum": ["1m", "5m", "1h", "1d"] },
                "meta": {
                    "type": "object",
                    "description": "Present where finer data has expired, so that the answer is coarser than `interval`.",
                    "properties": {
                        "resolution": {
                            "type": "array",
                            "description": "Parts of the range that are known by cells of `interval` only. A cell is one point, at its start, with all that lies in it; `rate` is by the seconds of the cell; `fill` adds no points within it. `from` and `to` of the query are rounded to whole cells where only cells are left.",
                            "items": {
                                "type": "object",
                                "required": ["from", "to", "interval"],
                                "properties": {
                                    "from": { "type": "string", "format": "date-time" },
                                    "to": { "type": "string", "format": "date-time", "description": "Exclusive." },
                                    "interval": { "type": "string", "enum": ["1m", "5m", "1h", "1d"] }
                                }
                            }
                        }
                    }
                },
                "series": points,
                "groups": {
                    "type": "object",
                    "description": "With `group_by`, instead of `series`: by the value of the tag.",
                    "additionalProperties": points
                }
            }
        })
    }
}
