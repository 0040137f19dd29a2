//! The query of a metric or of events that a document contains: a dashboard's widget, an alert
//! rule. Requests, responses and stored documents all use this same JSON.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::error::InvalidQuery;
use crate::limits;
use crate::platform::bounded::FirstMembers;

/// A query of exactly one of `metric` and `event`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WidgetQuery")]
pub struct SavedQuery {
    /// The name of the metric, which need not exist yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// The name of the events, or a prefix of it followed by `*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// For a metric, an aggregation of its type; for events, one of count, sum, avg, min, max, p50,
    /// p95, p99, unique_users. Defaults to the default of the metric type, or count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregation: Option<String>,
    /// The number of each event to aggregate: `value`, or a path in the properties.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The bucket width of a graph: a number of seconds, minutes, hours or days, such as `10s` or
    /// `6h`. Defaults to the finest of 1m, 5m, 1h and 1d that gives at most 1500 buckets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<String>,
    /// `tags.<key>`; for metrics, up to 4 of these separated by commas; for events, also `user_id`
    /// or `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_by: Option<String>,
    /// Filters by tag key: `v` (equal), `a,b` (one of), `!v` (not equal), `v*` (prefix).
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "tags")]
    pub tags: Option<BTreeMap<String, String>>,
}

/// Reads tags, but no more than one beyond the limit, which is enough to reject them.
fn tags<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BTreeMap<String, String>>, D::Error> {
    type Tags = FirstMembers<String, { limits::QUERY_FILTERS_MAX + 1 }>;
    Ok(Option::<Tags>::deserialize(deserializer)?.map(|FirstMembers(tags)| tags))
}

impl SavedQuery {
    /// Checks the lengths of all strings.
    pub fn check(&self) -> Result<(), InvalidQuery> {
        let strings = [
            ("metric", &self.metric),
            ("event", &self.event),
            ("aggregation", &self.aggregation),
            ("field", &self.field),
            ("interval", &self.interval),
            ("group_by", &self.group_by),
        ];
        let max = limits::WIDGET_TEXT_CHARS_MAX;
        let is_long = |text: &str| text.chars().count() > max;
        for (field, text) in strings {
            if text.as_deref().is_some_and(is_long) {
                return Err(InvalidQuery::new(
                    field,
                    format!("must have at most {max} characters"),
                ));
            }
        }
        let tags = self.tags.iter().flatten();
        if tags.clone().count() > limits::QUERY_FILTERS_MAX {
            let max = limits::QUERY_FILTERS_MAX;
            return Err(InvalidQuery::new("tags", format!("must have at most {max} keys")));
        }
        for (key, value) in tags {
            if key.is_empty() || is_long(key) || is_long(value) {
                let expected = format!("must have keys and values of at most {max} characters");
                return Err(InvalidQuery::new("tags", expected));
            }
        }
        Ok(())
    }
}
