//! Request bodies, and their conversion to the model.
//!
//! Any error in the form of a widget's query must be reported as `invalid_query`, so queries are
//! received as raw JSON and parsed here.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::areas::dashboards::definition::{Definition, Position, WidgetType};
use crate::areas::dashboards::error::Invalid;
use crate::areas::dashboards::limits as own_limits;
use crate::areas::dashboards::model::{
    self, DashboardChange, DashboardDraft, Move, WidgetChange, WidgetDraft,
};
use crate::areas::dashboards::options::WidgetOptions;
use crate::areas::dashboards::variables::{Overlay, Variable, check_overlays, check_variables};
use crate::areas::saved_queries::{SavedQuery, read_query};
use crate::limits;
use crate::platform::bounded::AtMost;
use crate::platform::json::{integer_or_null, integer_u32, nullable};
use crate::platform::patterns;

/// The version of the export format.
pub(super) const EXPORT_VERSION: u32 = 1;

/// Variables as sent.
pub(super) type VariablesInput = AtMost<Variable, { own_limits::DASHBOARD_VARIABLES_MAX }>;
/// Overlays as sent.
pub(super) type OverlaysInput = AtMost<Overlay, { own_limits::DASHBOARD_OVERLAYS_MAX }>;

/// A new dashboard.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::areas::dashboards) struct DashboardInput {
    #[schemars(required, length(max = limits::DASHBOARD_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<String>,
    #[schemars(length(max = limits::DASHBOARD_DESCRIPTION_CHARS_MAX))]
    description: Option<String>,
}

/// A change of a dashboard; absent fields are unchanged.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::areas::dashboards) struct DashboardPatch {
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "String", length(max = limits::DASHBOARD_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<Option<String>>,
    /// `null` removes it.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>", length(max = limits::DASHBOARD_DESCRIPTION_CHARS_MAX))]
    description: Option<Option<String>>,
}

/// A new widget.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::areas::dashboards) struct WidgetInput {
    #[schemars(with = "WidgetType")]
    r#type: Option<Box<RawValue>>,
    #[schemars(required, length(min = 1, max = limits::DASHBOARD_NAME_CHARS_MAX), regex(pattern = patterns::NOT_BLANK))]
    title: Option<String>,
    /// Defaults to the start of the next free row, 4 columns wide and 3 rows high.
    position: Option<Position>,
    #[schemars(with = "SavedQuery")]
    query: Option<Box<RawValue>>,
    options: Option<WidgetOptions>,
}

/// A change of a widget; absent fields are unchanged, `query` and `options` are replaced as a
/// whole.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::areas::dashboards) struct WidgetPatch {
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "String", length(min = 1, max = limits::DASHBOARD_NAME_CHARS_MAX), regex(pattern = patterns::NOT_BLANK))]
    title: Option<Option<String>>,
    /// `null` moves the widget to the next free row.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<Position>")]
    position: Option<Option<Position>>,
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "SavedQuery")]
    query: Option<Option<Box<RawValue>>>,
    /// `null` removes all options.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<WidgetOptions>")]
    options: Option<Option<WidgetOptions>>,
}

/// New positions of widgets; those not listed stay in place.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DashboardLayoutInput")]
pub(in crate::areas::dashboards) struct LayoutInput {
    #[schemars(length(max = limits::WIDGETS_MAX))]
    widgets: AtMost<MoveInput, { limits::WIDGETS_MAX }>,
}

/// The new position of a widget.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WidgetMoveInput")]
struct MoveInput {
    id: String,
    #[serde(deserialize_with = "integer_u32")]
    #[schemars(range(max = limits::GRID_COLUMNS - 1))]
    x: u32,
    #[serde(deserialize_with = "integer_u32")]
    #[schemars(range(max = limits::GRID_ROWS_MAX - 1))]
    y: u32,
    #[serde(deserialize_with = "integer_u32")]
    #[schemars(range(min = 1, max = limits::GRID_COLUMNS))]
    width: u32,
    #[serde(deserialize_with = "integer_u32")]
    #[schemars(range(min = 1, max = limits::GRID_ROWS_MAX))]
    height: u32,
}

/// The name of a copy.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DashboardCopyInput")]
pub(in crate::areas::dashboards) struct CopyInput {
    /// Defaults to the name of the original followed by `(copy)`.
    #[schemars(length(max = limits::DASHBOARD_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<String>,
}

/// An exported dashboard; the response body of the export with its `data` is accepted as well.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DashboardImportInput")]
pub(in crate::areas::dashboards) struct ImportInput {
    /// Must be 1; defaults to 1.
    #[schemars(range(min = EXPORT_VERSION, max = EXPORT_VERSION))]
    #[serde(default, deserialize_with = "integer_or_null")]
    version: Option<u32>,
    /// Required, unless `data` is given.
    #[schemars(length(max = limits::DASHBOARD_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<String>,
    #[schemars(length(max = limits::DASHBOARD_DESCRIPTION_CHARS_MAX))]
    description: Option<String>,
    variables: Option<VariablesInput>,
    overlays: Option<OverlaysInput>,
    #[schemars(length(max = limits::WIDGETS_MAX))]
    widgets: Option<AtMost<WidgetInput, { limits::WIDGETS_MAX }>>,
    /// An object with the fields above, instead of them.
    data: Option<Box<Self>>,
}

impl DashboardInput {
    pub(in crate::areas::dashboards) fn into_draft(self) -> Result<DashboardDraft, Invalid> {
        Ok(DashboardDraft {
            name: model::name(self.name)?,
            description: model::description(self.description)?,
            variables: Vec::new(),
            overlays: Vec::new(),
            widgets: Vec::new(),
        })
    }
}

impl DashboardPatch {
    pub(in crate::areas::dashboards) fn into_change(self) -> Result<DashboardChange, Invalid> {
        Ok(DashboardChange {
            name: self.name.map(model::name).transpose()?,
            description: self.description.map(model::description).transpose()?,
        })
    }
}

impl WidgetInput {
    /// Returns the input with these fields, all as sent.
    pub(super) fn new(
        r#type: Option<Box<RawValue>>,
        title: Option<String>,
        position: Option<Position>,
        query: Option<Box<RawValue>>,
        options: Option<WidgetOptions>,
    ) -> Self {
        Self { r#type, title, position, query, options }
    }

    /// Checks that type, title and query are present and converts them; the remaining rules need
    /// the metric's type.
    pub(in crate::areas::dashboards) fn into_widget_draft(self) -> Result<WidgetDraft, Invalid> {
        let kind = self.r#type.ok_or_else(|| Invalid::missing("type"))?;
        // A value that is not a string is not a type either.
        let kind = serde_json::from_str::<String>(kind.get()).unwrap_or_default();
        let kind = WidgetType::parse(&kind)?;
        let title = required_title(self.title)?;
        let query = required_query(self.query)?;
        // Replaced by the default position before the widget is stored.
        let unplaced = Position { x: 0, y: 0, width: 1, height: 1 };
        let definition = Definition {
            r#type: kind,
            title,
            position: self.position.unwrap_or(unplaced),
            query,
            options: self.options.unwrap_or_default(),
        };
        Ok(WidgetDraft { definition, is_placed: self.position.is_some() })
    }
}

impl WidgetPatch {
    pub(in crate::areas::dashboards) fn into_change(self) -> Result<WidgetChange, Invalid> {
        Ok(WidgetChange {
            title: self.title.map(required_title).transpose()?,
            position: self.position,
            query: self.query.map(required_query).transpose()?,
            options: self.options.map(Option::unwrap_or_default),
        })
    }
}

impl LayoutInput {
    pub(in crate::areas::dashboards) fn into_moves(self) -> Result<Vec<Move>, Invalid> {
        let widgets = self.widgets.all().map_err(|_| too_many_widgets())?;
        let mut moves = Vec::with_capacity(widgets.len());
        for (i, one) in widgets.into_iter().enumerate() {
            let MoveInput { id, x, y, width, height } = one;
            let position = Position { x, y, width, height };
            position.check().map_err(|invalid| Invalid {
                field: invalid.field.replace("position", &format!("widgets[{i}]")),
                ..invalid
            })?;
            moves.push(Move { id: id.into(), position });
        }
        model::check_moves(&moves)?;
        Ok(moves)
    }
}

impl CopyInput {
    pub(in crate::areas::dashboards) fn into_name(self) -> Result<Option<String>, Invalid> {
        self.name.map(|name| model::name(Some(name))).transpose()
    }
}

impl ImportInput {
    pub(in crate::areas::dashboards) fn into_draft(self) -> Result<DashboardDraft, Invalid> {
        let Self { version, name, description, variables, overlays, widgets, data } = self;
        if let Some(inner) = data {
            let is_alone = name.is_none()
                && version.is_none()
                && description.is_none()
                && variables.is_none()
                && overlays.is_none()
                && widgets.is_none();
            if !is_alone {
                return Err(Invalid::field("data", "must not be given together with other fields"));
            }
            if inner.data.is_some() {
                return Err(Invalid::field("data.data", "is not allowed"));
            }
            return inner.into_draft().map_err(|invalid| invalid.within("data"));
        }
        if version.is_some_and(|version| version != EXPORT_VERSION) {
            return Err(Invalid::field("version", format!("must be {EXPORT_VERSION}")));
        }
        let (name, description) = (model::name(name)?, model::description(description)?);
        let inputs = widgets.map_or(Ok(Vec::new()), AtMost::all);
        let inputs = inputs.map_err(|_| too_many_widgets())?;
        let mut widgets = Vec::with_capacity(inputs.len());
        for (i, input) in inputs.into_iter().enumerate() {
            let outer = format!("widgets[{i}]");
            widgets.push(input.into_widget_draft().map_err(|invalid| invalid.within(&outer))?);
        }
        let (variables, overlays) = (read_variables(variables)?, read_overlays(overlays)?);
        Ok(DashboardDraft { name, description, variables, overlays, widgets })
    }
}

/// Validates the variables of a dashboard.
pub(super) fn read_variables(sent: Option<VariablesInput>) -> Result<Vec<Variable>, Invalid> {
    let max = own_limits::DASHBOARD_VARIABLES_MAX;
    let too_many = |_| Invalid::field("variables", format!("must have at most {max} variables"));
    let variables = sent.map_or(Ok(Vec::new()), AtMost::all).map_err(too_many)?;
    check_variables(&variables)?;
    Ok(variables)
}

/// Validates the overlays of a dashboard.
pub(super) fn read_overlays(sent: Option<OverlaysInput>) -> Result<Vec<Overlay>, Invalid> {
    let max = own_limits::DASHBOARD_OVERLAYS_MAX;
    let too_many = |_| Invalid::field("overlays", format!("must have at most {max} overlays"));
    let overlays = sent.map_or(Ok(Vec::new()), AtMost::all).map_err(too_many)?;
    check_overlays(&overlays)?;
    Ok(overlays)
}

fn required_title(title: Option<String>) -> Result<String, Invalid> {
    let title = title.filter(|title| !title.is_empty()).ok_or_else(|| Invalid::missing("title"))?;
    if title.chars().all(char::is_whitespace) {
        return Err(Invalid::field("title", model::BLANK));
    }
    Ok(title)
}

pub(super) fn too_many_widgets() -> Invalid {
    let max = limits::WIDGETS_MAX;
    Invalid::field("widgets", format!("must have at most {max} widgets"))
}

/// Parses a widget's query; any error in its form is an invalid query.
fn required_query(sent: Option<Box<RawValue>>) -> Result<SavedQuery, Invalid> {
    let sent = sent.ok_or_else(|| Invalid::missing("query"))?;
    Ok(read_query(&sent)?)
}
