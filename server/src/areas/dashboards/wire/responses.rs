//! Response bodies: the model as JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::json;
use telltale_engine::TimeRange;

use super::lines::LinesView;
use super::requests::EXPORT_VERSION;
use crate::areas::dashboards::data::{Cell, Data, Item, Point, Rendered, TableValue};
use crate::areas::dashboards::definition::{Definition, WidgetType};
use crate::areas::dashboards::model::{Dashboard, GraphForm, Summary, Widget};
use crate::areas::dashboards::variables::{Overlay, Variable};
use crate::http::{ApiError, Paging};
use crate::platform::json::Plain;
use crate::platform::time::IsoTime;

/// A dashboard in a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DashboardSummary")]
pub(in crate::areas::dashboards) struct SummaryView {
    id: String,
    name: String,
    description: Option<String>,
    created_at: IsoTime,
    updated_at: IsoTime,
    widgets_count: usize,
}

/// A dashboard with its widgets.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Dashboard")]
pub(in crate::areas::dashboards) struct DashboardView {
    id: String,
    name: String,
    description: Option<String>,
    created_at: IsoTime,
    updated_at: IsoTime,
    /// The user who made the last change; absent if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_by: Option<String>,
    /// Changes with every change of the dashboard; absent from the response to a repeated request
    /// that created the dashboard.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    /// What readers choose; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    variables: Vec<Variable>,
    /// The events that are drawn over graphs; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    overlays: Vec<Overlay>,
    widgets: Vec<WidgetView>,
}

/// A widget; includes its values when its dashboard is read.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Widget")]
pub(in crate::areas::dashboards) struct WidgetView {
    id: String,
    #[serde(flatten)]
    definition: Definition,
    created_at: IsoTime,
    #[serde(flatten)]
    data: Option<DataView>,
}

/// The values of a widget over a range.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WidgetShown")]
pub(in crate::areas::dashboards) struct WidgetDataView {
    id: String,
    r#type: WidgetType,
    /// The start of the range, inclusive.
    from: IsoTime,
    /// The end of the range, exclusive.
    to: IsoTime,
    #[serde(flatten)]
    data: DataView,
}

/// The values of a widget, depending on its type; or `error` if they cannot be computed.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum DataView {
    /// number, with `comparison`. `change_percent` is null if the previous value is missing or 0.
    Compared { value: Option<Plain>, previous_value: Option<Plain>, change_percent: Option<Plain> },
    /// number
    Number { value: Option<Plain> },
    /// graph
    Series { series: Vec<PointView> },
    /// graph with `group_by`
    Groups { groups: BTreeMap<String, Vec<PointView>> },
    /// graph, with `format=columns`
    Columns { columns: LinesView },
    /// bar, pie
    Items { items: Vec<ItemView> },
    /// table
    Rows { rows: Vec<Row> },
    /// heatmap
    Cells { cells: Vec<CellView> },
    /// any
    Failed { error: Failure },
}

/// A point of a graph.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WidgetPoint")]
pub(super) struct PointView {
    timestamp: IsoTime,
    value: Plain,
}

/// A labelled number.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WidgetItem")]
pub(super) struct ItemView {
    label: String,
    value: Plain,
}

/// A cell of a heatmap.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WidgetCell")]
pub(super) struct CellView {
    x: u32,
    y: u32,
    value: Plain,
}

/// The error of a widget.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WidgetFailure")]
pub(super) struct Failure {
    code: &'static str,
    message: String,
}

/// A row of a table: the value of each column, by name.
#[derive(Debug)]
pub(super) struct Row(Vec<(String, TableValue)>);

/// A dashboard for import.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DashboardExport")]
pub(in crate::areas::dashboards) struct ExportView {
    version: u32,
    name: String,
    description: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    variables: Vec<Variable>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    overlays: Vec<Overlay>,
    widgets: Vec<Definition>,
}

impl From<Summary> for SummaryView {
    fn from(summary: Summary) -> Self {
        Self {
            id: summary.id.into(),
            name: summary.name,
            description: summary.description,
            created_at: IsoTime(summary.created_at),
            updated_at: IsoTime(summary.updated_at),
            widgets_count: summary.widgets_count,
        }
    }
}

impl DashboardView {
    /// Converts a dashboard, without the values of its widgets.
    pub(in crate::areas::dashboards) fn plain(dashboard: &Dashboard) -> Self {
        Self::with(dashboard, dashboard.widgets.iter().map(|_| None))
    }

    /// Adds the version.
    pub(in crate::areas::dashboards) fn at(self, version: u64) -> Self {
        Self { version: Some(version), ..self }
    }

    /// Converts a dashboard, with the result of each widget.
    pub(in crate::areas::dashboards) fn rendered(
        dashboard: &Dashboard,
        rendered: Vec<Rendered>,
        form: GraphForm,
    ) -> Self {
        let data = rendered.into_iter().map(|data| Some(DataView::of(data, form)));
        Self::with(dashboard, data)
    }

    fn with(dashboard: &Dashboard, data: impl Iterator<Item = Option<DataView>>) -> Self {
        let widgets = dashboard.widgets.iter().zip(data);
        Self {
            id: dashboard.id.clone().into(),
            name: dashboard.name.clone(),
            description: dashboard.description.clone(),
            created_at: IsoTime(dashboard.created_at),
            updated_at: IsoTime(dashboard.updated_at),
            updated_by: dashboard.updated_by.clone(),
            version: None,
            variables: dashboard.variables.clone(),
            overlays: dashboard.overlays.clone(),
            widgets: widgets.map(|(widget, data)| WidgetView::new(widget, data)).collect(),
        }
    }

    /// Converts the widgets of a dashboard, without values.
    pub(in crate::areas::dashboards) fn widgets(dashboard: &Dashboard) -> Vec<WidgetView> {
        Self::plain(dashboard).widgets
    }
}

impl WidgetView {
    fn new(widget: &Widget, data: Option<DataView>) -> Self {
        Self {
            id: widget.id.clone().into(),
            definition: widget.definition.clone(),
            created_at: IsoTime(widget.created_at),
            data,
        }
    }
}

impl From<&Widget> for WidgetView {
    fn from(widget: &Widget) -> Self {
        Self::new(widget, None)
    }
}

impl WidgetDataView {
    /// Converts the result of `widget` over a range.
    pub(in crate::areas::dashboards) fn new(
        widget: &Widget,
        range: TimeRange,
        (rendered, form): (Rendered, GraphForm),
    ) -> Self {
        Self {
            id: widget.id.clone().into(),
            r#type: widget.definition.r#type,
            from: IsoTime(range.start),
            to: IsoTime(range.end),
            data: DataView::of(rendered, form),
        }
    }
}

impl From<Dashboard> for ExportView {
    fn from(dashboard: Dashboard) -> Self {
        Self {
            version: EXPORT_VERSION,
            name: dashboard.name,
            description: dashboard.description,
            variables: dashboard.variables,
            overlays: dashboard.overlays,
            widgets: dashboard.widgets.into_iter().map(|widget| widget.definition).collect(),
        }
    }
}

impl DataView {
    /// Converts the result of a widget, graphs to this form.
    fn of(rendered: Rendered, form: GraphForm) -> Self {
        let columns = match (form, &rendered) {
            (GraphForm::Columns, Ok(Data::Series(points))) => {
                LinesView::new(std::iter::once((None, &points[..])))
            }
            (GraphForm::Columns, Ok(Data::Groups(groups))) => {
                LinesView::new(groups.iter().map(|(label, points)| (Some(&**label), &points[..])))
            }
            _ => None,
        };
        columns.map_or_else(|| rendered.into(), |columns| Self::Columns { columns })
    }
}

impl From<Rendered> for DataView {
    fn from(rendered: Rendered) -> Self {
        match rendered {
            Ok(data) => data.into(),
            Err(error) => Self::Failed { error: Failure::from(&error) },
        }
    }
}

impl From<&ApiError> for Failure {
    fn from(error: &ApiError) -> Self {
        Self { code: error.code().as_str(), message: error.message().to_owned() }
    }
}

impl From<Data> for DataView {
    fn from(data: Data) -> Self {
        match data {
            Data::Number(value) => Self::Number { value: value.map(Plain) },
            Data::Compared { value, previous } => Self::Compared {
                value: value.map(Plain),
                previous_value: previous.map(Plain),
                change_percent: change_percent(value, previous).map(Plain),
            },
            Data::Series(points) => Self::Series { series: line(points) },
            Data::Groups(groups) => Self::Groups {
                groups: groups.into_iter().map(|(label, points)| (label, line(points))).collect(),
            },
            Data::Items(items) => {
                let view = |Item { label, value }| ItemView { label, value: Plain(value) };
                Self::Items { items: items.into_iter().map(view).collect() }
            }
            Data::Rows(rows) => Self::Rows { rows: rows.into_iter().map(Row).collect() },
            Data::Cells(cells) => {
                let view = |Cell { x, y, value }| CellView { x, y, value: Plain(value) };
                Self::Cells { cells: cells.into_iter().map(view).collect() }
            }
        }
    }
}

fn line(points: Vec<Point>) -> Vec<PointView> {
    let view =
        |Point { start, value }| PointView { timestamp: IsoTime(start), value: Plain(value) };
    points.into_iter().map(view).collect()
}

/// Returns the change from `previous` to `value` as a percentage of `previous`.
fn change_percent(value: Option<f64>, previous: Option<f64>) -> Option<f64> {
    let (value, previous) = (value?, previous?);
    (previous != 0.0).then(|| (value - previous) / previous.abs() * 100.0)
}

/// Returns one page of the list.
pub(in crate::areas::dashboards) fn page(
    all: Vec<Summary>,
    paging: Paging,
) -> crate::http::Page<SummaryView> {
    let meta = paging.meta(all.len());
    let page = all.into_iter().skip(paging.offset).take(paging.limit);
    crate::http::Page { data: page.map(SummaryView::from).collect(), meta }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl Serialize for TableValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::String(word) => serializer.serialize_str(word),
            Self::Number(number) => number.map(Plain).serialize(serializer),
        }
    }
}

/// A single object with all properties as optional, because generated clients in typed languages
/// would otherwise get one type per alternative.
impl JsonSchema for DataView {
    fn schema_name() -> Cow<'static, str> {
        "WidgetValues".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let number = json!({ "type": ["number", "null"] });
        let points = json!(generator.subschema_for::<Vec<PointView>>());
        json_schema!({
            "type": "object",
            "properties": {
                "value": number,
                "previous_value": number,
                "change_percent": number,
                "series": points,
                "groups": { "type": "object", "additionalProperties": points },
                "columns": generator.subschema_for::<LinesView>(),
                "items": generator.subschema_for::<Vec<ItemView>>(),
                "rows": generator.subschema_for::<Vec<Row>>(),
                "cells": generator.subschema_for::<Vec<CellView>>(),
                "error": generator.subschema_for::<Failure>(),
            },
        })
    }
}

impl JsonSchema for Row {
    fn schema_name() -> Cow<'static, str> {
        "TableRow".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "The value of each column, by name.",
            "additionalProperties": { "type": ["string", "number", "null"] }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_change_is_a_percentage_of_the_previous_value() {
        for (value, previous, expected) in [
            (Some(150.0), Some(100.0), Some(50.0)),
            (Some(50.0), Some(100.0), Some(-50.0)),
            (Some(0.0), Some(4.0), Some(-100.0)),
            (Some(5.0), Some(-10.0), Some(150.0)),
            (Some(5.0), Some(0.0), None),
            (Some(5.0), None, None),
            (None, Some(5.0), None),
        ] {
            assert_eq!(change_percent(value, previous), expected, "{value:?} {previous:?}");
        }
    }
}
