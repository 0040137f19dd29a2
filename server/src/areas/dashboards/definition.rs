//! What a widget is: its type, title, place, question and options. The same JSON in requests, answers, exports
//! and documents, which is why it stands apart from all of them.
//!
//! [`Definition::check`] holds the rules; below it a definition is trusted.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use telltale_engine::MetricType;

use super::error::{Invalid, Rule};
use super::options::WidgetOptions;
use super::plan::Plan;
use crate::limits;
use crate::platform::bounded::FirstMembers;
use crate::platform::json::whole_u32;

/// What a widget is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "WidgetDefinition")]
pub(super) struct Definition {
    pub(super) r#type: WidgetType,
    pub(super) title: String,
    pub(super) position: Position,
    pub(super) query: WidgetQuery,
    pub(super) options: WidgetOptions,
}

/// How a widget shows its answer.
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

/// A place on a grid of 12 columns, in columns and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WidgetPosition")]
pub(super) struct Position {
    /// Columns to the left of it.
    #[schemars(range(max = limits::GRID_COLUMNS - 1))]
    #[serde(deserialize_with = "whole_u32")]
    pub(super) x: u32,
    /// Rows above it.
    #[schemars(range(max = limits::GRID_ROWS_MAX - 1))]
    #[serde(deserialize_with = "whole_u32")]
    pub(super) y: u32,
    /// Columns.
    #[schemars(range(min = 1, max = limits::GRID_COLUMNS))]
    #[serde(deserialize_with = "whole_u32")]
    pub(super) width: u32,
    /// Rows.
    #[schemars(range(min = 1, max = limits::GRID_ROWS_MAX))]
    #[serde(deserialize_with = "whole_u32")]
    pub(super) height: u32,
}

/// What a widget asks: exactly one of `metric` and `event`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WidgetQuery {
    /// The metric. It need not exist yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) metric: Option<String>,
    /// The name of the events, or how it begins, with a `*` behind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) event: Option<String>,
    /// One that the metric's type has; for events count, sum, avg, min, max, p50, p95, p99, unique_users. The
    /// default of the type, or count, when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) aggregation: Option<String>,
    /// The number of events that is aggregated: `value`, or a path in their properties.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) field: Option<String>,
    /// The width of a graph's buckets: 1m, 5m, 1h, 1d; the finest that gives at most 1500 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) interval: Option<String>,
    /// `tags.<key>`; for metrics up to 4 of them joined with `,`; for events also `user_id` or `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) group_by: Option<String>,
    /// Only what has these tags: `v`, `a,b` (one of them), `!v` (not it), `v*` (begins so), by key.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "tags")]
    pub(super) tags: Option<BTreeMap<String, String>>,
}

/// Reads tags, of which one too many is enough to refuse them.
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

    /// The type called `text`.
    pub(super) fn parse(text: &str) -> Result<Self, Invalid> {
        let found = Self::ALL.into_iter().find(|(_, name)| *name == text);
        found.map(|(kind, _)| kind).ok_or_else(|| Invalid {
            rule: Rule::WidgetType,
            field: "type".to_owned(),
            expected: "must be one of number, graph, bar, pie, table, heatmap".to_owned(),
        })
    }

    /// The name on the wire.
    pub(super) fn as_str(self) -> &'static str {
        Self::ALL.into_iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }
}

impl Position {
    /// Refuses a place that does not lie on the grid.
    pub(super) fn check(self) -> Result<(), Invalid> {
        let (columns, rows) = (limits::GRID_COLUMNS, limits::GRID_ROWS_MAX);
        for (field, size, max) in [("width", self.width, columns), ("height", self.height, rows)] {
            if !(1..=max).contains(&size) {
                let expected = format!("must be between 1 and {max}");
                return Err(Invalid::field(format!("position.{field}"), expected));
            }
        }
        // Not sums of what was sent: those may overflow.
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
    /// Refuses what cannot be shown. `kind` is the type of the metric asked for, where it exists.
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
        let plan = Plan::new(&self.query, kind)?;
        self.options.check(self.r#type)?;
        plan.check_for(self.r#type, &self.options)
    }
}

impl WidgetQuery {
    /// Refuses texts that are too long to be anything.
    fn check(&self) -> Result<(), Invalid> {
        let texts = [
            ("metric", &self.metric),
            ("event", &self.event),
            ("aggregation", &self.aggregation),
            ("field", &self.field),
            ("interval", &self.interval),
            ("group_by", &self.group_by),
        ];
        let max = limits::WIDGET_TEXT_CHARS_MAX;
        let is_long = |text: &str| text.chars().count() > max;
        for (field, text) in texts {
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
