//! The definition of a widget: type, title, position, query and options. Requests, responses,
//! exports and stored documents all use this same JSON.
//!
//! [`Definition::check`] enforces the rules; code below it relies on them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use telltale_engine::MetricType;

use super::error::{Invalid, Rule};
use super::options::WidgetOptions;
use crate::areas::saved_queries::{QueryPlan, SavedQuery};
use crate::limits;
use crate::platform::json::integer_u32;

/// The definition of a widget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "WidgetDefinition")]
pub(super) struct Definition {
    pub(super) r#type: WidgetType,
    pub(super) title: String,
    pub(super) position: Position,
    pub(super) query: SavedQuery,
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
