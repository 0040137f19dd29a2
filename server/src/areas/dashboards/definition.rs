//! The definition of a widget: type, title, position, query and options. Requests, responses,
//! exports and stored documents all use this same JSON.
//!
//! [`Definition::check`] enforces the rules; code below it relies on them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use telltale_engine::MetricType;

use super::error::{Invalid, Rule};
use super::options::WidgetOptions;
use super::plan::QueryPlan;
use crate::limits;
use crate::platform::bounded::FirstMembers;
use crate::platform::json::integer_u32;

/// The definition of a widget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "WidgetDefinition")]
pub(super) struct Definition {
    pub(super) r#type: WidgetType,
    pub(super) title: String,
    pub(super) position: Position,
    pub(super) query: WidgetQuery,
    pub(super) options: WidgetOptions,
}

/// How a widget displays the result of its query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum WidgetType {
    Number,
    Graph,
    Bar,
    Pie,
    Table,
    Heatmap,
}

/// A position and size on a grid of 12 columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WidgetPosition")]
pub(super) struct Position {
    /// The number of columns to the left of the widget.
    #[schemars(range(max = limits::GRID_COLUMNS - 1))]
    #[serde(deserialize_with = "integer_u32")]
    pub(super) x: u32,
    /// The number of rows above the widget.
    #[schemars(range(max = limits::GRID_ROWS_MAX - 1))]
    #[serde(deserialize_with = "integer_u32")]
    pub(super) y: u32,
    /// The width in columns.
    #[schemars(range(min = 1, max = limits::GRID_COLUMNS))]
    #[serde(deserialize_with = "integer_u32")]
    pub(super) width: u32,
    /// The height in rows.
    #[schemars(range(min = 1, max = limits::GRID_ROWS_MAX))]
    #[serde(deserialize_with = "integer_u32")]
    pub(super) height: u32,
}

/// The query of a widget, for exactly one of `metric` and `event`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WidgetQuery {
    /// The name of the metric, which need not exist yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) metric: Option<String>,
    /// The name of the events, or a prefix of it followed by `*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) event: Option<String>,
    /// For a metric, an aggregation of its type; for events, one of count, sum, avg, min, max, p50,
    /// p95, p99, unique_users. Defaults to the default of the metric type, or count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) aggregation: Option<String>,
    /// The number of each event to aggregate: `value`, or a path in the properties.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) field: Option<String>,
    /// The bucket width of a graph: 1m, 5m, 1h or 1d. Defaults to the finest that gives at most
    /// 1500 buckets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) interval: Option<String>,
    /// `tags.<key>`; for metrics, up to 4 of these separated by commas; for events, also `user_id`
    /// or `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) group_by: Option<String>,
    /// Filters by tag key: `v` (equal), `a,b` (one of), `!v` (not equal), `v*` (prefix).
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "tags")]
    pub(super) tags: Option<BTreeMap<String, String>>,
}

/// Reads tags, but no more than one beyond the limit, which is enough to reject them.
fn tags<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BTreeMap<String, String>>, D::Error> {
    type Tags = FirstMembers<String, { limits::QUERY_FILTERS_MAX + 1 }>;
    Ok(Option::<Tags>::deserialize(deserializer)?.map(|FirstMembers(tags)| tags))
}

impl WidgetType {
    /// All types.
    const ALL: [(Self, &'static str); 6] = [
        (Self::Number, "number"),
        (Self::Graph, "graph"),
        (Self::Bar, "bar"),
        (Self::Pie, "pie"),
        (Self::Table, "table"),
        (Self::Heatmap, "heatmap"),
    ];

    /// Parses the name of a type.
    pub(super) fn parse(text: &str) -> Result<Self, Invalid> {
        let found = Self::ALL.into_iter().find(|(_, name)| *name == text);
        found.map(|(kind, _)| kind).ok_or_else(|| Invalid {
            rule: Rule::WidgetType,
            field: "type".to_owned(),
            expected: "must be one of number, graph, bar, pie, table, heatmap".to_owned(),
        })
    }

    /// Returns the name used in JSON.
    pub(super) fn as_str(self) -> &'static str {
        Self::ALL.into_iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }
}

impl Position {
    /// Checks that the position is within the grid.
    pub(super) fn check(self) -> Result<(), Invalid> {
        let (columns, rows) = (limits::GRID_COLUMNS, limits::GRID_ROWS_MAX);
        for (field, size, max) in [("width", self.width, columns), ("height", self.height, rows)] {
            if !(1..=max).contains(&size) {
                let expected = format!("must be between 1 and {max}");
                return Err(Invalid::field(format!("position.{field}"), expected));
            }
        }
        // Subtracts instead of adding, because sums of the values sent may overflow.
        for (field, at, size, max) in
            [("x", self.x, self.width, columns), ("y", self.y, self.height, rows)]
        {
            if at > max - size {
                let expected =
                    format!("must be at most {}, so that the widget fits on the grid", max - size);
                return Err(Invalid::field(format!("position.{field}"), expected));
            }
        }
        Ok(())
    }
}

impl Definition {
    /// Checks that the widget can be displayed. `kind` is the type of its metric, if that exists.
    pub(super) fn check(&self, kind: Option<MetricType>) -> Result<(), Invalid> {
        let max = limits::DASHBOARD_NAME_CHARS_MAX;
        if self.title.is_empty() {
            return Err(Invalid::missing("title"));
        }
        if self.title.chars().count() > max {
            return Err(Invalid::field("title", format!("must have at most {max} characters")));
        }
        self.position.check()?;
        self.query.check()?;
        let plan = QueryPlan::new(&self.query, kind)?;
        self.options.check(self.r#type)?;
        plan.check_for(self.r#type, &self.options)
    }
}

impl WidgetQuery {
    /// Checks the lengths of all strings.
    fn check(&self) -> Result<(), Invalid> {
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
                return Err(Invalid::query(field, format!("must have at most {max} characters")));
            }
        }
        let tags = self.tags.iter().flatten();
        if tags.clone().count() > limits::QUERY_FILTERS_MAX {
            let max = limits::QUERY_FILTERS_MAX;
            return Err(Invalid::query("tags", format!("must have at most {max} keys")));
        }
        for (key, value) in tags {
            if key.is_empty() || is_long(key) || is_long(value) {
                let expected = format!("must have keys and values of at most {max} characters");
                return Err(Invalid::query("tags", expected));
            }
        }
        Ok(())
    }
}
