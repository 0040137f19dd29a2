//! The JSON types of the area: response types, and the schemas of requests and query responses.
//! Samples are parsed in [`super::ingest`], query responses are written in [`super::render`].

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Value, json};
use telltale_engine::{DefinitionPage, MetricDefinition, MetricType, limits};

use super::model::{Measured, MetricName, Point};
use crate::http::Paging;
use crate::limits::{BATCH_ITEMS_MAX, MEMBER_CHARS_MAX};
use crate::platform::json::Plain;
use crate::platform::patterns;
use crate::platform::telemetry::buckets::WIDTH_PATTERN;
use crate::platform::time::IsoTime;

/// A sample that was stored.
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
    /// The tag keys of the metric's series.
    tags: Vec<String>,
    first_seen: IsoTime,
    last_seen: IsoTime,
    /// The number of its series. Only in a list, and only with the parameter `search`.
    #[serde(skip_serializing_if = "Option::is_none")]
    series: Option<u64>,
}

/// A metric definition with its number of samples.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MetricDetail {
    #[serde(flatten)]
    metric: Metric,
    /// The number of samples stored, including expired ones. A gauge sample replaced by another of
    /// the same series and timestamp is not counted: at once if both are in the head, otherwise
    /// once their time window is compacted.
    data_points: u64,
}

/// A tag key of a metric.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TagKey {
    key: String,
    /// The number of distinct values.
    values: u64,
}

/// A value of a tag.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TagValue {
    value: String,
    /// The number of series that have it.
    series: u64,
}

/// A metric that was deleted.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DeletedMetric {
    id: String,
    name: String,
    deleted: bool,
}

/// The schema of one sample.
#[derive(Debug)]
pub enum MetricInput {}

/// The schema of a sample of a metric whose values are numbers.
enum NumberInput {}

/// The schema of a sample of a set.
enum MemberInput {}

/// The schema of a batch.
pub(super) enum BatchInput {}

/// The schema of the query response of one metric.
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
            series: None,
        }
    }
}

impl Metric {
    /// Returns the definition with its number of series.
    fn with_series(definition: MetricDefinition) -> Self {
        let series = Some(definition.series);
        Self { series, ..Self::from(definition) }
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
    /// Returns the response for the deleted metric `name`.
    pub(super) fn new(name: &MetricName) -> Self {
        Self { id: name.to_string(), name: name.to_string(), deleted: true }
    }
}

/// Returns a page of definitions; with their numbers of series if they were searched for.
pub(super) fn definitions(
    found: DefinitionPage,
    paging: Paging,
    search: Option<&str>,
) -> crate::http::Page<Metric> {
    let view = match search {
        Some(_) => Metric::with_series,
        None => Metric::from,
    };
    let data = found.definitions.into_iter().map(view).collect();
    crate::http::Page { data, meta: paging.meta(found.total) }
}

/// Returns one page of a list that is in memory.
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
            "description": "The member. A set counts its distinct members.",
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
                "description": "Default: the time of receipt. From 1970 to 24 hours in the future."
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
                    "value": { "type": ["number", "null"], "description": "Present with one aggregation." }
                },
                "additionalProperties": {
                    "type": ["number", "null"],
                    "description": "With several aggregations: one number for each, under its name."
                }
            }
        });
        json_schema!({
            "type": "object",
            "required": ["name", "interval"],
            "properties": {
                "name": { "type": "string" },
                "type": { "type": "string", "description": "The type of the metric. With `format=columns`." },
                "aggregation": { "type": "string", "description": "Present with one aggregation, unless `format=columns`." },
                "aggregations": { "type": "array", "items": { "type": "string" }, "description": "With `format=columns`." },
                "interval": { "type": "string", "pattern": WIDTH_PATTERN },
                "meta": meta_schema(),
                "times": {
                    "type": "array",
                    "description": "With `format=columns`: the starts of all buckets, in milliseconds since 1970.",
                    "items": { "type": "integer" }
                },
                "series": points,
                "groups": {
                    "anyOf": [
                        {
                            "type": "object",
                            "description": "With `group_by`, instead of `series`: one list for each tag value.",
                            "additionalProperties": points
                        },
                        columns_schema()
                    ]
                }
            }
        })
    }
}

/// Returns the schema of the groups of a response as columns.
fn columns_schema() -> Schema {
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["tags", "values"],
            "properties": {
                "tags": { "type": "object", "additionalProperties": { "type": "string" } },
                "values": {
                    "type": "object",
                    "description": "For each aggregation, one value for each of `times`; null where a bucket is empty.",
                    "additionalProperties": { "type": "array", "items": { "type": ["number", "null"] } }
                }
            }
        }
    })
}

/// Returns the schema of what a response says about itself.
fn meta_schema() -> Schema {
    json_schema!({
        "type": "object",
        "description": "Present with `top` and with `format=columns`, and if finer data has expired, so that parts of the response are coarser than `interval`.",
        "properties": {
            "groups": { "type": "integer", "minimum": 0, "description": "The number of groups that have data in the range. With `top` or `format=columns`." },
            "shown": { "type": "integer", "minimum": 0, "description": "The number of groups in the response. With `top` or `format=columns`." },
            "resolution": {
                "type": "array",
                "description": "Parts of the range for which only aggregates over cells of width `interval` remain. A cell is one point at its start that aggregates all samples in it; `rate` is per second of the cell; `fill` adds no points within it. Where only cells remain, `from` and `to` of the query are rounded to whole cells.",
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
    })
}
