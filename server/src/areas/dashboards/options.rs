//! The display options of widgets, the widget types they apply to, and their rules.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::definition::WidgetType;
use super::error::Invalid;
use crate::areas::dashboards::limits as own_limits;
use crate::limits;
use crate::platform::bounded::AtMost;
use crate::platform::json::integer_or_null;
use crate::platform::patterns;
use crate::platform::telemetry::duration;

/// The options of a widget. All are optional; each applies only to some types.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WidgetOptions {
    /// The range up to now that the widget covers: `<n>m`, `h`, `d` or `w`; defaults to 24h.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = "24h", regex(pattern = patterns::SPAN))]
    pub(super) time_range: Option<String>,
    /// How numbers are formatted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) format: Option<Format>,
    /// number, graph, bar, table: values from which on a number is displayed differently.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "thresholds")]
    #[schemars(length(max = own_limits::WIDGET_THRESHOLDS_MAX))]
    thresholds: Option<Vec<Threshold>>,
    /// number: what the value is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) comparison: Option<Comparison>,
    /// graph: the drawing style.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) style: Option<Style>,
    /// bar: the orientation of the bars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) orientation: Option<Orientation>,
    /// graph, bar, pie: whether a legend is displayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) show_legend: Option<bool>,
    /// bar, pie, table: the maximum number of items or rows, 1 to 1000; defaults to 10.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "integer_or_null"
    )]
    #[schemars(range(min = 1, max = limits::WIDGET_ITEMS_MAX))]
    pub(super) limit: Option<u32>,
    /// table: the columns of each row: keys of `group_by` (with or without `tags.`), `label`,
    /// `value`, or any aggregation. Defaults to the keys of `group_by` and `value`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "columns")]
    #[schemars(length(min = 1, max = limits::WIDGET_COLUMNS_MAX))]
    pub(super) columns: Option<Vec<String>>,
    /// table: the order of the rows; defaults to descending by `value`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sort: Option<Sort>,
    /// heatmap: the horizontal axis; defaults to the hour of the day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) x_axis: Option<Axis>,
    /// heatmap: the vertical axis; defaults to the day of the week.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) y_axis: Option<Axis>,
}

/// How numbers are formatted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WidgetFormat")]
pub(super) struct Format {
    /// A string before the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::WIDGET_FORMAT_CHARS_MAX))]
    prefix: Option<String>,
    /// A string after the number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::WIDGET_FORMAT_CHARS_MAX))]
    suffix: Option<String>,
    /// The number of digits after the decimal point.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "integer_or_null"
    )]
    #[schemars(range(max = limits::WIDGET_DECIMALS_MAX))]
    decimals: Option<u8>,
}

/// A value from which on a number is displayed differently, up to the next larger threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WidgetThreshold")]
struct Threshold {
    value: f64,
    level: ThresholdLevel,
    /// A string beside the line of a graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = limits::DASHBOARD_NAME_CHARS_MAX))]
    label: Option<String>,
}

/// What a number from a threshold on means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ThresholdLevel {
    Good,
    Warning,
    Critical,
}

/// What a number is compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WidgetComparison")]
pub(super) struct Comparison {
    /// `previous_period`: the same query over the preceding range of equal length.
    #[schemars(regex(pattern = "^previous_period$"))]
    r#type: String,
}

/// The drawing style of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "GraphStyle")]
pub(super) enum Style {
    Line,
    Area,
    Bar,
}

/// The orientation of bars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "BarOrientation")]
pub(super) enum Orientation {
    Horizontal,
    Vertical,
}

/// The order of a table's rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TableSort")]
pub(super) struct Sort {
    /// A column, as in `columns`.
    pub(super) field: String,
    /// Defaults to descending.
    #[serde(default)]
    pub(super) order: Order,
}

/// The direction of sorting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "SortOrder")]
pub(super) enum Order {
    Asc,
    #[default]
    Desc,
}

/// An axis of a heatmap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "HeatmapAxis")]
pub(super) enum Axis {
    /// 0 to 23, in UTC.
    HourOfDay,
    /// 1 (Monday) to 7, in UTC.
    DayOfWeek,
}

impl WidgetOptions {
    /// Checks that all options apply to the widget type and have valid values.
    pub(super) fn check(&self, kind: WidgetType) -> Result<(), Invalid> {
        use WidgetType::{Bar, Graph, Heatmap, Number, Pie, Table};
        let owners: [(&str, bool, &[WidgetType]); 10] = [
            ("thresholds", self.thresholds.is_some(), &[Number, Graph, Bar, Table]),
            ("comparison", self.comparison.is_some(), &[Number]),
            ("style", self.style.is_some(), &[Graph]),
            ("orientation", self.orientation.is_some(), &[Bar]),
            ("show_legend", self.show_legend.is_some(), &[Graph, Bar, Pie]),
            ("limit", self.limit.is_some(), &[Bar, Pie, Table]),
            ("columns", self.columns.is_some(), &[Table]),
            ("sort", self.sort.is_some(), &[Table]),
            ("x_axis", self.x_axis.is_some(), &[Heatmap]),
            ("y_axis", self.y_axis.is_some(), &[Heatmap]),
        ];
        for (name, is_given, kinds) in owners {
            if is_given && !kinds.contains(&kind) {
                let expected = format!("is not an option of widgets of type {}", kind.as_str());
                return Err(Invalid::field(format!("options.{name}"), expected));
            }
        }
        self.check_values()
    }

    fn check_values(&self) -> Result<(), Invalid> {
        self.range_ms()?;
        self.check_thresholds()?;
        if let Some(format) = &self.format {
            format.check()?;
        }
        if self.comparison.as_ref().is_some_and(|given| given.r#type != "previous_period") {
            return Err(Invalid::field("options.comparison.type", "must be previous_period"));
        }
        let max = limits::WIDGET_ITEMS_MAX;
        if self.limit.is_some() && !(1..=max).contains(&self.items_max()) {
            return Err(Invalid::field("options.limit", format!("must be between 1 and {max}")));
        }
        let (x, y) = self.axes();
        if x == y {
            let axis = if self.y_axis.is_some() { "options.y_axis" } else { "options.x_axis" };
            return Err(Invalid::field(axis, "must differ from the other axis"));
        }
        let max = limits::WIDGET_COLUMNS_MAX;
        match &self.columns {
            Some(columns) if !(1..=max).contains(&columns.len()) => {
                Err(Invalid::field("options.columns", format!("must have 1 to {max} columns")))
            }
            _ => Ok(()),
        }
    }

    fn check_thresholds(&self) -> Result<(), Invalid> {
        let thresholds = self.thresholds.as_deref().unwrap_or_default();
        let max = own_limits::WIDGET_THRESHOLDS_MAX;
        if thresholds.len() > max {
            let expected = format!("must have at most {max} thresholds");
            return Err(Invalid::field("options.thresholds", expected));
        }
        let max = limits::DASHBOARD_NAME_CHARS_MAX;
        for (i, threshold) in thresholds.iter().enumerate() {
            if threshold.label.as_deref().is_some_and(|text| text.chars().count() > max) {
                let expected = format!("must have at most {max} characters");
                return Err(Invalid::field(format!("options.thresholds[{i}].label"), expected));
            }
        }
        Ok(())
    }

    /// Returns the length of the range that the widget covers, in milliseconds.
    pub(super) fn range_ms(&self) -> Result<i64, Invalid> {
        let Some(text) = &self.time_range else { return Ok(limits::WIDGET_RANGE_DEFAULT_MS) };
        duration::parse(text, limits::WIDGET_RANGE_MS_MAX).ok_or_else(|| {
            let days = limits::WIDGET_RANGE_MS_MAX / DAY_MS;
            let expected =
                format!("must be a duration in m, h, d or w such as 24h, and at most {days}d");
            Invalid::field("options.time_range", expected)
        })
    }

    /// Returns the maximum number of items or rows.
    pub(super) fn items_max(&self) -> usize {
        self.limit.map_or(limits::WIDGET_ITEMS_DEFAULT, |limit| limit as usize)
    }

    /// Returns the horizontal and the vertical axis.
    pub(super) fn axes(&self) -> (Axis, Axis) {
        (self.x_axis.unwrap_or(Axis::HourOfDay), self.y_axis.unwrap_or(Axis::DayOfWeek))
    }
}

impl Format {
    fn check(&self) -> Result<(), Invalid> {
        let max = limits::WIDGET_FORMAT_CHARS_MAX;
        for (field, text) in [("prefix", &self.prefix), ("suffix", &self.suffix)] {
            if text.as_deref().is_some_and(|text| text.chars().count() > max) {
                let expected = format!("must have at most {max} characters");
                return Err(Invalid::field(format!("options.format.{field}"), expected));
            }
        }
        if self.decimals.is_some_and(|decimals| decimals > limits::WIDGET_DECIMALS_MAX) {
            let expected = format!("must be at most {}", limits::WIDGET_DECIMALS_MAX);
            return Err(Invalid::field("options.format.decimals", expected));
        }
        Ok(())
    }
}

/// Reads columns, but no more than one beyond the limit, which is enough to reject them.
fn columns<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    type Columns = AtMost<String, { limits::WIDGET_COLUMNS_MAX + 1 }>;
    Ok(Option::<Columns>::deserialize(deserializer)?.map(AtMost::first))
}

/// The same for thresholds.
fn thresholds<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<Threshold>>, D::Error> {
    type Thresholds = AtMost<Threshold, { own_limits::WIDGET_THRESHOLDS_MAX + 1 }>;
    Ok(Option::<Thresholds>::deserialize(deserializer)?.map(AtMost::first))
}

const DAY_MS: i64 = 86_400_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_an_integer_with_a_unit() {
        for (text, minutes) in [
            ("1m", Some(1)),
            ("90m", Some(90)),
            ("24h", Some(1_440)),
            ("7d", Some(10_080)),
            ("2w", Some(20_160)),
            ("3650d", Some(3_650 * 1_440)),
            ("3651d", None),
            ("0h", None),
            ("h", None),
            ("", None),
            ("24", None),
            ("24H", None),
            ("-1h", None),
            ("+1h", None),
            ("1.5h", None),
            ("1 h", None),
            ("1s", None),
            ("1y", None),
            ("1hé", None),
            ("99999999999999999999w", None),
            ("9223372036854775807w", None),
        ] {
            assert_eq!(
                duration::parse(text, limits::WIDGET_RANGE_MS_MAX),
                minutes.map(|m: i64| m * 60_000),
                "{text:?}"
            );
        }
        assert_eq!(WidgetOptions::default().range_ms(), Ok(DAY_MS));
    }
}
