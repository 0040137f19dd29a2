//! The body that replaces a whole dashboard, and that of a preview.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::requests::{
    OverlaysInput, VariablesInput, WidgetInput, read_overlays, read_variables, too_many_widgets,
};
use crate::areas::dashboards::definition::{Position, WidgetType};
use crate::areas::dashboards::error::Invalid;
use crate::areas::dashboards::limits as own_limits;
use crate::areas::dashboards::model::{
    self, DashboardDraft, Replacement, VersionNumber, WidgetDraft, WidgetId,
};
use crate::areas::dashboards::options::WidgetOptions;
use crate::areas::dashboards::variables::Variable;
use crate::areas::saved_queries::SavedQuery;
use crate::limits;
use crate::platform::bounded::AtMost;
use crate::platform::ids;
use crate::platform::json::integer_or_null;
use crate::platform::patterns;

/// A whole dashboard: what is absent is removed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DashboardReplacement")]
pub(in crate::areas::dashboards) struct ReplacementInput {
    /// The version that is replaced, instead of `If-Match`. If it is not the current one, the
    /// request is refused with `precondition_failed`; `details.version` is the current one.
    #[schemars(range(min = 1))]
    #[serde(default, deserialize_with = "integer_or_null")]
    version: Option<u64>,
    #[schemars(required, length(max = limits::DASHBOARD_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<String>,
    #[schemars(length(max = limits::DASHBOARD_DESCRIPTION_CHARS_MAX))]
    description: Option<String>,
    #[schemars(length(max = own_limits::DASHBOARD_VARIABLES_MAX))]
    variables: Option<VariablesInput>,
    #[schemars(length(max = own_limits::DASHBOARD_OVERLAYS_MAX))]
    overlays: Option<OverlaysInput>,
    #[schemars(required, length(max = limits::WIDGETS_MAX))]
    widgets: Option<AtMost<PlacedWidgetInput, { limits::WIDGETS_MAX }>>,
}

/// A widget of a dashboard.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DashboardWidgetInput")]
struct PlacedWidgetInput {
    /// The id of a widget that the dashboard has, or had; a new widget has none.
    #[schemars(regex(pattern = "^widget_[0-7][0-9A-HJKMNP-TV-Z]{25}$"))]
    id: Option<String>,
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

/// A widget that is not stored.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WidgetPreviewInput")]
pub(in crate::areas::dashboards) struct PreviewInput {
    #[schemars(with = "WidgetType")]
    r#type: Option<Box<RawValue>>,
    #[schemars(with = "SavedQuery")]
    query: Option<Box<RawValue>>,
    options: Option<WidgetOptions>,
    /// The variables whose values `var[name]` chooses.
    #[schemars(length(max = own_limits::DASHBOARD_VARIABLES_MAX))]
    variables: Option<VariablesInput>,
}

/// The version of a dashboard to be restored.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DashboardRestoreInput")]
pub(in crate::areas::dashboards) struct RestoreInput {
    #[schemars(required, !default, range(min = 1))]
    #[serde(default, deserialize_with = "integer_or_null")]
    version: Option<u64>,
}

impl ReplacementInput {
    pub(in crate::areas::dashboards) fn into_replacement(self) -> Result<Replacement, Invalid> {
        let (name, description) = (model::name(self.name)?, model::description(self.description)?);
        let sent = self.widgets.ok_or_else(|| Invalid::missing("widgets"))?;
        let sent = sent.all().map_err(|_| too_many_widgets())?;
        let (mut widgets, mut widget_ids) = (Vec::with_capacity(sent.len()), Vec::new());
        let mut seen = HashSet::new();
        for (i, input) in sent.into_iter().enumerate() {
            let outer = format!("widgets[{i}]");
            let (id, widget) = input.read().map_err(|invalid| invalid.within(&outer))?;
            if let Some(id) = &id
                && !seen.insert(id.clone())
            {
                return Err(Invalid::field("id", "must be unique").within(&outer));
            }
            widgets.push(widget);
            widget_ids.push(id);
        }
        let variables = read_variables(self.variables)?;
        let overlays = read_overlays(self.overlays)?;
        let draft = DashboardDraft { name, description, variables, overlays, widgets };
        Ok(Replacement { version: self.version.map(VersionNumber), draft, widget_ids })
    }
}

impl PlacedWidgetInput {
    fn read(self) -> Result<(Option<WidgetId>, WidgetDraft), Invalid> {
        let Self { id, r#type, title, position, query, options } = self;
        let is_id =
            |text: &String| text.strip_prefix(WidgetId::PREFIX).and_then(ids::parse_ulid).is_some();
        if id.as_ref().is_some_and(|id| !is_id(id)) {
            return Err(Invalid::field("id", "must be the id of a widget"));
        }
        let widget = WidgetInput::new(r#type, title, position, query, options);
        Ok((id.map(WidgetId::from), widget.into_widget_draft()?))
    }
}

impl PreviewInput {
    pub(in crate::areas::dashboards) fn read(
        self,
    ) -> Result<(WidgetDraft, Vec<Variable>), Invalid> {
        // A widget needs a title, but not to be computed.
        let title = Some("preview".to_owned());
        let widget = WidgetInput::new(self.r#type, title, None, self.query, self.options);
        Ok((widget.into_widget_draft()?, read_variables(self.variables)?))
    }
}

impl RestoreInput {
    pub(in crate::areas::dashboards) fn into_version(self) -> Result<VersionNumber, Invalid> {
        self.version.map(VersionNumber).ok_or_else(|| Invalid::missing("version"))
    }
}
