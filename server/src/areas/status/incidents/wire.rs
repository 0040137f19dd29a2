//! The JSON of incidents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::{Incident, IncidentChange, IncidentDraft, IncidentStatus, IncidentUpdate};
use crate::areas::status::fields::{self, MONITOR_ID, MonitorIds};
use crate::areas::status::ids::MonitorId;
use crate::areas::status::limits;
use crate::areas::status::public_status::IncidentImpact;
use crate::http::ApiError;
use crate::platform::fields::Invalid;
use crate::platform::json::nullable;
use crate::platform::patterns;
use crate::platform::time::IsoTime;

/// A new incident.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct IncidentInput {
    #[schemars(required, length(max = limits::STATUS_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    title: Option<String>,
    /// How severe it is. Defaults to `minor`.
    #[schemars(with = "Option<IncidentImpactName>")]
    impact: Option<String>,
    /// Defaults to `investigating`.
    #[schemars(with = "Option<IncidentStatusName>")]
    status: Option<String>,
    /// The monitors of the page that it concerns. Defaults to none in particular.
    #[schemars(length(max = limits::PAGE_MONITORS_MAX), inner(regex(pattern = MONITOR_ID)))]
    monitors: Option<MonitorIds>,
    /// What is known: the first update.
    #[schemars(required, length(max = limits::INCIDENT_MESSAGE_CHARS_MAX), regex(pattern = patterns::NOT_BLANK))]
    message: Option<String>,
    /// Whether the subscribers of the page are notified. Defaults to false.
    notify_subscribers: Option<bool>,
}

/// A change of an incident; absent fields are unchanged. A status or a message adds an update.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct IncidentPatch {
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "String", length(max = limits::STATUS_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    title: Option<Option<String>>,
    /// `null` is the default, `minor`.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<IncidentImpactName>")]
    impact: Option<Option<String>>,
    /// A resolved incident stays resolved.
    #[schemars(with = "Option<IncidentStatusName>")]
    status: Option<String>,
    /// `null` is the default, none in particular.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<Vec<String>>", length(max = limits::PAGE_MONITORS_MAX), inner(regex(pattern = MONITOR_ID)))]
    monitors: Option<Option<MonitorIds>>,
    #[schemars(length(max = limits::INCIDENT_MESSAGE_CHARS_MAX), regex(pattern = patterns::NOT_BLANK))]
    message: Option<String>,
    /// Whether the subscribers of the page are notified of the update, which there must be.
    /// Defaults to false.
    notify_subscribers: Option<bool>,
}

/// How severe an incident is.
#[derive(JsonSchema)]
#[schemars(rename = "IncidentImpact", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used: an unknown impact has an error of its own")]
enum IncidentImpactName {
    Minor,
    Major,
    Critical,
}

/// How far an incident is.
#[derive(JsonSchema)]
#[schemars(rename = "IncidentStatus", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used: an unknown status has an error of its own")]
enum IncidentStatusName {
    Investigating,
    Identified,
    Monitoring,
    Resolved,
}

/// The incidents of a status page, newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "IncidentList")]
pub(super) struct IncidentListView {
    incidents: Vec<IncidentSummaryView>,
}

/// An incident in a list, which is without updates.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "IncidentSummary")]
pub(super) struct IncidentSummaryView {
    id: String,
    title: String,
    #[schemars(with = "IncidentImpactName")]
    impact: &'static str,
    #[schemars(with = "IncidentStatusName")]
    status: &'static str,
    /// The ids of the monitors that it concerns; empty if it concerns none in particular.
    monitors: Vec<String>,
    created_by: String,
    created_at: IsoTime,
    updated_at: IsoTime,
    resolved_at: Option<IsoTime>,
}

/// An incident.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Incident")]
pub(in crate::areas::status) struct IncidentView {
    id: String,
    page_id: String,
    title: String,
    #[schemars(with = "IncidentImpactName")]
    impact: &'static str,
    #[schemars(with = "IncidentStatusName")]
    status: &'static str,
    /// The ids of the monitors that it concerns; empty if it concerns none in particular.
    monitors: Vec<String>,
    /// Oldest first.
    updates: Vec<IncidentUpdateView>,
    created_by: String,
    created_at: IsoTime,
    updated_at: IsoTime,
    resolved_at: Option<IsoTime>,
}

/// What was known of an incident at some time.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "IncidentUpdate")]
struct IncidentUpdateView {
    at: IsoTime,
    #[schemars(with = "IncidentStatusName")]
    status: &'static str,
    /// Null if only the status changed.
    message: Option<String>,
}

impl IncidentInput {
    pub(super) fn into_draft(self) -> Result<IncidentDraft, ApiError> {
        let message = self.message.ok_or_else(|| Invalid::missing("message"))?;
        Ok(IncidentDraft {
            title: fields::title(self.title)?,
            impact: read_impact(self.impact.as_deref())?,
            status: self
                .status
                .map_or(Ok(IncidentStatus::Investigating), |status| read_status(&status))?,
            monitors: fields::monitors(self.monitors)?,
            message: read_message(message)?,
            notify_subscribers: self.notify_subscribers.unwrap_or(false),
        })
    }
}

impl IncidentPatch {
    pub(super) fn into_change(self) -> Result<IncidentChange, ApiError> {
        Ok(IncidentChange {
            title: self.title.map(fields::title).transpose()?,
            impact: self.impact.map(|sent| read_impact(sent.as_deref())).transpose()?,
            status: self.status.map(|sent| read_status(&sent)).transpose()?,
            monitors: self.monitors.map(fields::monitors).transpose()?,
            message: self.message.map(read_message).transpose()?,
            notify_subscribers: self.notify_subscribers.unwrap_or(false),
        })
    }
}

fn read_impact(sent: Option<&str>) -> Result<IncidentImpact, Invalid> {
    let Some(text) = sent else { return Ok(IncidentImpact::Minor) };
    let all = IncidentImpact::ALL.map(IncidentImpact::as_str).join(", ");
    IncidentImpact::parse(text)
        .ok_or_else(|| Invalid::field("impact", format!("must be one of {all}")))
}

fn read_status(text: &str) -> Result<IncidentStatus, Invalid> {
    let all = IncidentStatus::ALL.map(IncidentStatus::as_str).join(", ");
    IncidentStatus::parse(text)
        .ok_or_else(|| Invalid::field("status", format!("must be one of {all}")))
}

fn read_message(text: String) -> Result<String, Invalid> {
    fields::prose("message", text, limits::INCIDENT_MESSAGE_CHARS_MAX)
}

fn texts(monitors: &[MonitorId]) -> Vec<String> {
    monitors.iter().map(|id| id.text()).collect()
}

impl IncidentListView {
    pub(super) fn new<'a>(incidents: impl IntoIterator<Item = &'a Incident>) -> Self {
        Self { incidents: incidents.into_iter().map(IncidentSummaryView::from).collect() }
    }
}

impl From<&Incident> for IncidentSummaryView {
    fn from(incident: &Incident) -> Self {
        Self {
            id: incident.id.text(),
            title: incident.title.clone(),
            impact: incident.impact.as_str(),
            status: incident.status.as_str(),
            monitors: texts(&incident.monitors),
            created_by: incident.created_by.clone(),
            created_at: IsoTime(incident.created_at),
            updated_at: IsoTime(incident.updated_at),
            resolved_at: incident.resolved_at.map(IsoTime),
        }
    }
}

impl From<&Incident> for IncidentView {
    fn from(incident: &Incident) -> Self {
        Self {
            id: incident.id.text(),
            page_id: incident.page_id.text(),
            title: incident.title.clone(),
            impact: incident.impact.as_str(),
            status: incident.status.as_str(),
            monitors: texts(&incident.monitors),
            updates: incident.updates.iter().map(IncidentUpdateView::from).collect(),
            created_by: incident.created_by.clone(),
            created_at: IsoTime(incident.created_at),
            updated_at: IsoTime(incident.updated_at),
            resolved_at: incident.resolved_at.map(IsoTime),
        }
    }
}

impl From<&IncidentUpdate> for IncidentUpdateView {
    fn from(update: &IncidentUpdate) -> Self {
        Self {
            at: IsoTime(update.at),
            status: update.status.as_str(),
            message: update.message.clone(),
        }
    }
}
