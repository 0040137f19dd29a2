//! The JSON of the area, and the way to the model and back.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::data::{Cell, Data, Item, Point, Rendered, Text};
use super::definition::{Definition, Position, WidgetQuery, WidgetType};
use super::error::Invalid;
use super::model::{self, Change, Dashboard, Draft, Move, Sketch, Summary, Widget, WidgetChange};
use super::options::WidgetOptions;
use crate::http::{ApiError, Paging};
use crate::limits;
use crate::platform::json::Plain;
use crate::platform::time::IsoTime;

/// The version of exports that is written and read.
const EXPORT_VERSION: u32 = 1;

/// What a new dashboard shall be.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DashboardInput {
    /// Required.
    name: Option<String>,
    description: Option<String>,
}

/// What shall change of a dashboard; absent fields stay.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DashboardPatch {
    #[serde(default, deserialize_with = "given")]
    name: Option<Option<String>>,
    /// `null` clears it.
    #[serde(default, deserialize_with = "given")]
    description: Option<Option<String>>,
}

/// What a new widget shall be.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WidgetInput {
    /// Required.
    #[schemars(with = "Option<WidgetType>")]
    r#type: Option<Value>,
    /// Required.
    title: Option<String>,
    /// The start of the next free row, 4 columns and 3 rows, when absent.
    position: Option<Position>,
    /// Required.
    #[schemars(with = "Option<WidgetQuery>")]
    query: Option<Value>,
    options: Option<WidgetOptions>,
}

/// What shall change of a widget; absent fields stay, `query` and `options` are replaced whole.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WidgetPatch {
    #[serde(default, deserialize_with = "given")]
    title: Option<Option<String>>,
    /// `null` puts the widget into the next free row.
    #[serde(default, deserialize_with = "given")]
    position: Option<Option<Position>>,
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<WidgetQuery>")]
    query: Option<Option<Value>>,
    /// `null` clears all of them.
    #[serde(default, deserialize_with = "given")]
    options: Option<Option<WidgetOptions>>,
}

/// Where widgets shall lie; those that are not named stay.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LayoutInput {
    widgets: Vec<MoveInput>,
}

/// Where one widget shall lie.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MoveInput {
    id: String,
    x: u32,
    y: u32,
    width: u32,
    height: u32,
}

/// What a copy shall be called.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CopyInput {
    /// The name of the original and `(copy)` when absent.
    name: Option<String>,
}

/// A dashboard as it was exported; the answer of the export with its `data` will do as well.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ImportInput {
    /// 1, which is also meant when absent.
    version: Option<u32>,
    /// Required.
    name: Option<String>,
    description: Option<String>,
    widgets: Option<Vec<WidgetInput>>,
    /// All of the above, instead of them.
    data: Option<Box<Self>>,
}

/// A dashboard in a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DashboardSummary")]
pub(super) struct SummaryView {
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
pub(super) struct DashboardView {
    id: String,
    name: String,
    description: Option<String>,
    created_at: IsoTime,
    updated_at: IsoTime,
    widgets: Vec<WidgetView>,
}

/// A widget; in a dashboard that is read, with what it shows.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Widget")]
pub(super) struct WidgetView {
    id: String,
    #[serde(flatten)]
    definition: Definition,
    created_at: IsoTime,
    #[serde(flatten)]
    data: Option<DataView>,
}

/// What a widget shows.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WidgetData")]
pub(super) struct WidgetDataView {
    id: String,
    r#type: WidgetType,
    /// The beginning of the range, inclusive.
    from: IsoTime,
    /// The end of the range, exclusive.
    to: IsoTime,
    #[serde(flatten)]
    data: DataView,
}

/// The values of a widget, by its type; `error` in place of them when it cannot be computed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "WidgetValues")]
enum DataView {
    /// number, with `comparison`. The change is null when there is nothing to compare with, or 0.
    Compared { value: Option<Plain>, previous_value: Option<Plain>, change_percent: Option<Plain> },
    /// number
    Number { value: Option<Plain> },
    /// graph
    Series { series: Vec<PointView> },
    /// graph with `group_by`
    Groups { groups: BTreeMap<String, Vec<PointView>> },
    /// bar, pie
    Items { items: Vec<ItemView> },
    /// table
    Rows { rows: Vec<Row> },
    /// heatmap
    Cells { cells: Vec<CellView> },
    /// any
    Failed { error: Failure },
}

/// A number of a graph.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WidgetPoint")]
struct PointView {
    timestamp: IsoTime,
    value: Plain,
}

/// A labelled number.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WidgetItem")]
struct ItemView {
    label: String,
    value: Plain,
}

/// A cell of a heatmap.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WidgetCell")]
struct CellView {
    x: u32,
    y: u32,
    value: Plain,
}

/// Why a widget has no values.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "WidgetFailure")]
struct Failure {
    code: &'static str,
    message: String,
}

/// A row of a table: what stands under each column, by its name.
#[derive(Debug)]
struct Row(Vec<(String, Text)>);

/// A dashboard to be imported elsewhere, or again.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DashboardExport")]
pub(super) struct ExportView {
    version: u32,
    name: String,
    description: Option<String>,
    widgets: Vec<Definition>,
}

/// Tells `null` from an absent field.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl DashboardInput {
    pub(super) fn into_draft(self) -> Result<Draft, Invalid> {
        Ok(Draft {
            name: model::name(self.name)?,
            description: model::description(self.description)?,
            widgets: Vec::new(),
        })
    }
}

impl DashboardPatch {
    pub(super) fn into_change(self) -> Result<Change, Invalid> {
        Ok(Change {
            name: self.name.map(model::name).transpose()?,
            description: self.description.map(model::description).transpose()?,
        })
    }
}

impl WidgetInput {
    /// The widget, of which type, title and question are there; the rest is checked with the metric at hand.
    pub(super) fn into_sketch(self) -> Result<Sketch, Invalid> {
        let kind = match self.r#type {
            None | Some(Value::Null) => return Err(Invalid::missing("type")),
            Some(Value::String(text)) => WidgetType::parse(&text)?,
            Some(_) => WidgetType::parse("")?,
        };
        let title = required_title(self.title)?;
        let query = required_query(self.query)?;
        // A place that is replaced before anybody sees it.
        let anywhere = Position { x: 0, y: 0, width: 1, height: 1 };
        let definition = Definition {
            r#type: kind,
            title,
            position: self.position.unwrap_or(anywhere),
            query,
            options: self.options.unwrap_or_default(),
        };
        Ok(Sketch { definition, is_placed: self.position.is_some() })
    }
}

impl WidgetPatch {
    pub(super) fn into_change(self) -> Result<WidgetChange, Invalid> {
        Ok(WidgetChange {
            title: self.title.map(required_title).transpose()?,
            position: self.position,
            query: self.query.map(required_query).transpose()?,
            options: self.options.map(Option::unwrap_or_default),
        })
    }
}

impl LayoutInput {
    pub(super) fn into_moves(self) -> Result<Vec<Move>, Invalid> {
        let mut moves = Vec::with_capacity(self.widgets.len());
        for (i, one) in self.widgets.into_iter().enumerate() {
            let MoveInput { id, x, y, width, height } = one;
            let position = Position { x, y, width, height };
            position.check().map_err(|invalid| Invalid {
                field: invalid.field.replace("position", &format!("widgets[{i}]")),
                ..invalid
            })?;
            moves.push(Move { id, position });
        }
        model::check_moves(&moves)?;
        Ok(moves)
    }
}

impl CopyInput {
    pub(super) fn into_name(self) -> Result<Option<String>, Invalid> {
        self.name.map(|name| model::name(Some(name))).transpose()
    }
}

impl ImportInput {
    pub(super) fn into_draft(self) -> Result<Draft, Invalid> {
        let Self { version, name, description, widgets, data } = self;
        if let Some(inner) = data {
            if name.is_some() || version.is_some() || description.is_some() || widgets.is_some() {
                return Err(Invalid::field("data", "must stand alone"));
            }
            if inner.data.is_some() {
                return Err(Invalid::field("data.data", "must not be"));
            }
            return inner.into_draft().map_err(|invalid| invalid.within("data"));
        }
        if version.is_some_and(|version| version != EXPORT_VERSION) {
            return Err(Invalid::field("version", format!("must be {EXPORT_VERSION}")));
        }
        let (name, description) = (model::name(name)?, model::description(description)?);
        let inputs = widgets.unwrap_or_default();
        let max = limits::WIDGETS_MAX;
        if inputs.len() > max {
            return Err(Invalid::field("widgets", format!("must have at most {max} widgets")));
        }
        let mut widgets = Vec::with_capacity(inputs.len());
        for (i, input) in inputs.into_iter().enumerate() {
            let outer = format!("widgets[{i}]");
            widgets.push(input.into_sketch().map_err(|invalid| invalid.within(&outer))?);
        }
        Ok(Draft { name, description, widgets })
    }
}

impl From<Summary> for SummaryView {
    fn from(summary: Summary) -> Self {
        Self {
            id: summary.id,
            name: summary.name,
            description: summary.description,
            created_at: IsoTime(summary.created_at),
            updated_at: IsoTime(summary.updated_at),
            widgets_count: summary.widgets_count,
        }
    }
}

impl DashboardView {
    /// The dashboard, its widgets without values.
    pub(super) fn plain(dashboard: &Dashboard) -> Self {
        Self::with(dashboard, dashboard.widgets.iter().map(|_| None))
    }

    /// The dashboard, each widget with what became of it.
    pub(super) fn rendered(dashboard: &Dashboard, rendered: Vec<Rendered>) -> Self {
        Self::with(dashboard, rendered.into_iter().map(|data| Some(data.into())))
    }

    fn with(dashboard: &Dashboard, data: impl Iterator<Item = Option<DataView>>) -> Self {
        let widgets = dashboard.widgets.iter().zip(data);
        Self {
            id: dashboard.id.clone(),
            name: dashboard.name.clone(),
            description: dashboard.description.clone(),
            created_at: IsoTime(dashboard.created_at),
            updated_at: IsoTime(dashboard.updated_at),
            widgets: widgets.map(|(widget, data)| WidgetView::new(widget, data)).collect(),
        }
    }

    /// The widgets of a dashboard, without values.
    pub(super) fn widgets(dashboard: &Dashboard) -> Vec<WidgetView> {
        Self::plain(dashboard).widgets
    }
}

impl WidgetView {
    fn new(widget: &Widget, data: Option<DataView>) -> Self {
        Self {
            id: widget.id.clone(),
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
    /// What became of `widget` over a range.
    pub(super) fn new(
        widget: &Widget,
        range: telltale_engine::TimeRange,
        rendered: Rendered,
    ) -> Self {
        Self {
            id: widget.id.clone(),
            r#type: widget.definition.r#type,
            from: IsoTime(range.start),
            to: IsoTime(range.end),
            data: rendered.into(),
        }
    }
}

impl From<Dashboard> for ExportView {
    fn from(dashboard: Dashboard) -> Self {
        Self {
            version: EXPORT_VERSION,
            name: dashboard.name,
            description: dashboard.description,
            widgets: dashboard.widgets.into_iter().map(|widget| widget.definition).collect(),
        }
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

/// How much larger `value` is than `previous`, in percent of it.
fn change_percent(value: Option<f64>, previous: Option<f64>) -> Option<f64> {
    let (value, previous) = (value?, previous?);
    (previous != 0.0).then(|| (value - previous) / previous.abs() * 100.0)
}

fn required_title(title: Option<String>) -> Result<String, Invalid> {
    title.filter(|title| !title.is_empty()).ok_or_else(|| Invalid::missing("title"))
}

/// A widget's question; whatever is wrong with its form, it is a wrong question.
fn required_query(value: Option<Value>) -> Result<WidgetQuery, Invalid> {
    match value {
        None | Some(Value::Null) => Err(Invalid::missing("query")),
        Some(value @ Value::Object(_)) => {
            serde_path_to_error::deserialize(value).map_err(|error| {
                let path = error.path().to_string();
                let field = if path == "." { "" } else { &path };
                Invalid::query(field, format!("is wrong: {}", error.inner()))
            })
        }
        Some(_) => Err(Invalid::query("", "must be an object")),
    }
}

/// One page of the list.
pub(super) fn page(all: Vec<Summary>, paging: Paging) -> crate::http::Page<SummaryView> {
    let meta = paging.meta(all.len());
    let page = all.into_iter().skip(paging.offset).take(paging.limit);
    crate::http::Page { data: page.map(SummaryView::from).collect(), meta }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, text)| (name, text)))
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Word(word) => serializer.serialize_str(word),
            Self::Number(number) => number.map(Plain).serialize(serializer),
        }
    }
}

impl JsonSchema for Row {
    fn schema_name() -> Cow<'static, str> {
        "TableRow".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "What stands under each column, by its name.",
            "additionalProperties": { "type": ["string", "number", "null"] }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_in_percent_of_what_was() {
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
