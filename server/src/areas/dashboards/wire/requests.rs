//! What the area is sent: bodies of requests, and the way to the model.
//!
//! Whatever is wrong with the form of a widget's question is a wrong question (`invalid_query`), not a field of the
//! wrong form, so questions arrive as the text of any JSON and are read here.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::areas::dashboards::definition::{Definition, Position, WidgetQuery, WidgetType};
use crate::areas::dashboards::error::Invalid;
use crate::areas::dashboards::model::{self, Change, Draft, Move, UnplacedWidget, WidgetChange};
use crate::areas::dashboards::options::WidgetOptions;
use crate::limits;
use crate::platform::bounded::AtMost;
use crate::platform::json::{read_fitting, whole_or_null, whole_u32};
use crate::platform::patterns;

/// The version of exports that is written and read.
pub(super) const EXPORT_VERSION: u32 = 1;

/// What a new dashboard shall be.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::areas::dashboards) struct DashboardInput {
    #[schemars(required, length(max = limits::DASHBOARD_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<String>,
    #[schemars(length(max = limits::DASHBOARD_DESCRIPTION_CHARS_MAX))]
    description: Option<String>,
}

/// What shall change of a dashboard; absent fields stay.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::areas::dashboards) struct DashboardPatch {
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "String", length(max = limits::DASHBOARD_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<Option<String>>,
    /// `null` clears it.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>", length(max = limits::DASHBOARD_DESCRIPTION_CHARS_MAX))]
    description: Option<Option<String>>,
}

/// What a new widget shall be.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::areas::dashboards) struct WidgetInput {
    #[schemars(with = "WidgetType")]
    r#type: Option<Box<RawValue>>,
    #[schemars(required, length(min = 1, max = limits::DASHBOARD_NAME_CHARS_MAX), regex(pattern = patterns::NOT_BLANK))]
    title: Option<String>,
    /// The start of the next free row, 4 columns and 3 rows, when absent.
    position: Option<Position>,
    #[schemars(with = "WidgetQuery")]
    query: Option<Box<RawValue>>,
    options: Option<WidgetOptions>,
}

/// What shall change of a widget; absent fields stay, `query` and `options` are replaced whole.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::areas::dashboards) struct WidgetPatch {
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "String", length(min = 1, max = limits::DASHBOARD_NAME_CHARS_MAX), regex(pattern = patterns::NOT_BLANK))]
    title: Option<Option<String>>,
    /// `null` puts the widget into the next free row.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<Position>")]
    position: Option<Option<Position>>,
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "WidgetQuery")]
    query: Option<Option<Box<RawValue>>>,
    /// `null` clears all of them.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<WidgetOptions>")]
    options: Option<Option<WidgetOptions>>,
}

/// Where widgets shall lie; those that are not named stay.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DashboardLayoutInput")]
pub(in crate::areas::dashboards) struct LayoutInput {
    #[schemars(length(max = limits::WIDGETS_MAX))]
    widgets: AtMost<MoveInput, { limits::WIDGETS_MAX }>,
}

/// Where one widget shall lie.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WidgetMoveInput")]
struct MoveInput {
    id: String,
    #[serde(deserialize_with = "whole_u32")]
    #[schemars(range(max = limits::GRID_COLUMNS - 1))]
    x: u32,
    #[serde(deserialize_with = "whole_u32")]
    #[schemars(range(max = limits::GRID_ROWS_MAX - 1))]
    y: u32,
    #[serde(deserialize_with = "whole_u32")]
    #[schemars(range(min = 1, max = limits::GRID_COLUMNS))]
    width: u32,
    #[serde(deserialize_with = "whole_u32")]
    #[schemars(range(min = 1, max = limits::GRID_ROWS_MAX))]
    height: u32,
}

/// What a copy shall be called.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DashboardCopyInput")]
pub(in crate::areas::dashboards) struct CopyInput {
    /// The name of the original and `(copy)` when absent.
    #[schemars(length(max = limits::DASHBOARD_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<String>,
}

/// A dashboard as it was exported; the answer of the export with its `data` will do as well.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DashboardImportInput")]
pub(in crate::areas::dashboards) struct ImportInput {
    /// 1, which is also meant when absent.
    #[schemars(range(min = EXPORT_VERSION, max = EXPORT_VERSION))]
    #[serde(default, deserialize_with = "whole_or_null")]
    version: Option<u32>,
    /// Required, unless there is `data`.
    #[schemars(length(max = limits::DASHBOARD_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<String>,
    #[schemars(length(max = limits::DASHBOARD_DESCRIPTION_CHARS_MAX))]
    description: Option<String>,
    #[schemars(length(max = limits::WIDGETS_MAX))]
    widgets: Option<AtMost<WidgetInput, { limits::WIDGETS_MAX }>>,
    /// All of the above, instead of them.
    data: Option<Box<Self>>,
}

/// Tells `null` from an absent field.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl DashboardInput {
    pub(in crate::areas::dashboards) fn into_draft(self) -> Result<Draft, Invalid> {
        Ok(Draft {
            name: model::name(self.name)?,
            description: model::description(self.description)?,
            widgets: Vec::new(),
        })
    }
}

impl DashboardPatch {
    pub(in crate::areas::dashboards) fn into_change(self) -> Result<Change, Invalid> {
        Ok(Change {
            name: self.name.map(model::name).transpose()?,
            description: self.description.map(model::description).transpose()?,
        })
    }
}

impl WidgetInput {
    /// The widget, of which type, title and question are there; the rest is checked with the metric at hand.
    pub(in crate::areas::dashboards) fn into_sketch(self) -> Result<UnplacedWidget, Invalid> {
        let kind = self.r#type.ok_or_else(|| Invalid::missing("type"))?;
        // What is no text is no type either.
        let kind = serde_json::from_str::<String>(kind.get()).unwrap_or_default();
        let kind = WidgetType::parse(&kind)?;
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
        Ok(UnplacedWidget { definition, is_placed: self.position.is_some() })
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
            moves.push(Move { id, position });
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
    pub(in crate::areas::dashboards) fn into_draft(self) -> Result<Draft, Invalid> {
        let Self { version, name, description, widgets, data } = self;
        if let Some(inner) = data {
            if name.is_some() || version.is_some() || description.is_some() || widgets.is_some() {
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
            widgets.push(input.into_sketch().map_err(|invalid| invalid.within(&outer))?);
        }
        Ok(Draft { name, description, widgets })
    }
}

fn required_title(title: Option<String>) -> Result<String, Invalid> {
    let title = title.filter(|title| !title.is_empty()).ok_or_else(|| Invalid::missing("title"))?;
    if title.chars().all(char::is_whitespace) {
        return Err(Invalid::field("title", model::BLANK));
    }
    Ok(title)
}

fn too_many_widgets() -> Invalid {
    let max = limits::WIDGETS_MAX;
    Invalid::field("widgets", format!("must have at most {max} widgets"))
}

/// A widget's question; whatever is wrong with its form, it is a wrong question.
fn required_query(sent: Option<Box<RawValue>>) -> Result<WidgetQuery, Invalid> {
    let sent = sent.ok_or_else(|| Invalid::missing("query"))?;
    if !sent.get().starts_with('{') {
        return Err(Invalid::query("", "must be an object"));
    }
    read_fitting(sent.get().as_bytes())
        .map_err(|misfit| Invalid::query(&misfit.field, misfit.rule_of_field()))
}
