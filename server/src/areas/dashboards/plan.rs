//! What a widget displays of the result of its query: the bucket width of a graph, the columns of
//! a table. Widgets that cannot display theirs are rejected here.

use telltale_engine::TimeRange;

use super::definition::WidgetType;
use super::error::Invalid;
use super::options::WidgetOptions;
use crate::areas::saved_queries::{Measure, QueryPlan};
use crate::limits;
use crate::platform::telemetry::buckets::BucketWidth;

/// The content of a table column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// The value of the n-th grouping key.
    Key(usize),
    /// All grouping keys joined into one string.
    Label,
    /// A number.
    Measure(Measure),
}

impl QueryPlan {
    /// Checks that a widget of this type with these options can display the result.
    pub(super) fn check_for(
        &self,
        kind: WidgetType,
        options: &WidgetOptions,
    ) -> Result<(), Invalid> {
        match kind {
            WidgetType::Number | WidgetType::Heatmap if !self.group_names.is_empty() => {
                let expected = format!("is not supported by widgets of type {}", kind.as_str());
                Err(Invalid::query("group_by", expected))
            }
            WidgetType::Graph => {
                self.width(TimeRange::new(0, options.range_ms()?))?;
                Ok(())
            }
            WidgetType::Table => {
                self.columns(options)?;
                self.order(options)?;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Returns the bucket width of a graph over `range`.
    pub(super) fn width(&self, range: TimeRange) -> Result<BucketWidth, Invalid> {
        let width = self.interval.unwrap_or_else(|| BucketWidth::automatic(range));
        let max = limits::QUERY_BUCKETS_MAX;
        if width.buckets(range) > max {
            let expected = format!("must give at most {max} buckets over the range");
            return Err(Invalid::query("interval", expected));
        }
        Ok(width)
    }

    /// Returns the columns of a table, with their names.
    pub(super) fn columns(
        &self,
        options: &WidgetOptions,
    ) -> Result<Vec<(String, Column)>, Invalid> {
        let Some(columns) = &options.columns else {
            let keys = self.group_names.iter().enumerate();
            let mut columns: Vec<(String, Column)> =
                keys.map(|(i, name)| (name.clone(), Column::Key(i))).collect();
            if columns.is_empty() {
                columns.push(("label".to_owned(), Column::Label));
            }
            columns.push(("value".to_owned(), Column::Measure(self.measure)));
            return Ok(columns);
        };
        let mut named: Vec<(String, Column)> = Vec::with_capacity(columns.len());
        for (i, name) in columns.iter().enumerate() {
            let field = format!("options.columns[{i}]");
            if named.iter().any(|(known, _)| known == name) {
                return Err(Invalid::field(field, "must not be the same as another column"));
            }
            let column = self.column(name).ok_or_else(|| self.unknown_column(field))?;
            named.push((name.clone(), column));
        }
        Ok(named)
    }

    /// Returns the column by which a table is sorted; the value by default.
    pub(super) fn order(&self, options: &WidgetOptions) -> Result<Column, Invalid> {
        let Some(sort) = &options.sort else { return Ok(Column::Measure(self.measure)) };
        let field = || self.unknown_column("options.sort.field".to_owned());
        self.column(&sort.field).ok_or_else(field)
    }

    /// Returns the column with this name; grouping keys take precedence over aggregations of the
    /// same name.
    fn column(&self, name: &str) -> Option<Column> {
        let is_key = |key: &str| name == key || name.strip_prefix("tags.") == Some(key);
        if let Some(i) = self.group_names.iter().position(|key| is_key(key)) {
            return Some(Column::Key(i));
        }
        match name {
            "label" => Some(Column::Label),
            "value" => Some(Column::Measure(self.measure)),
            other => self.source.measure(other).map(Column::Measure),
        }
    }

    fn unknown_column(&self, field: String) -> Invalid {
        let keys: String = self.group_names.iter().map(|name| format!("{name}, ")).collect();
        let expected = format!("must be one of {keys}label, value, {}", self.source.measures());
        Invalid::field(field, expected)
    }
}

#[cfg(test)]
mod tests {
    use telltale_engine::{Aggregation, MetricType};

    use super::*;

    #[test]
    fn column_names_refer_to_keys_before_aggregations() {
        use serde_json::json;
        let query =
            serde_json::from_value(json!({"metric": "a", "group_by": "tags.count,tags.host"}))
                .unwrap();
        let plan = QueryPlan::new(&query, Some(MetricType::Distribution)).unwrap();
        assert_eq!(plan.column("count"), Some(Column::Key(0)));
        assert_eq!(plan.column("tags.host"), Some(Column::Key(1)));
        assert_eq!(plan.column("p99"), Some(Column::Measure(Measure::Metric(Aggregation::P99))));
        assert_eq!(plan.column("rate"), None);
    }
}
