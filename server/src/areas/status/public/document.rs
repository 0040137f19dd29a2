//! The JSON document of a page.

use schemars::JsonSchema;
use serde::Serialize;

use super::model::{PublicIncident, PublicMaintenance, PublicPage, PublicUpdate};
use crate::platform::time::IsoTime;

/// A status page.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PublicStatus")]
pub(super) struct StatusDocument<'a> {
    name: &'a str,
    /// Components of which nothing is known do not count.
    #[schemars(with = "PageStatusName")]
    status: &'static str,
    /// When something that the document says changed last.
    updated_at: IsoTime,
    components: Vec<ComponentDocument<'a>>,
    /// Those that are not resolved.
    incidents: Vec<IncidentDocument<'a>>,
    /// Those that are not over.
    scheduled_maintenances: Vec<MaintenanceDocument<'a>>,
}

/// The status of a page.
#[derive(JsonSchema)]
#[schemars(rename = "PublicPageStatus", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum PageStatusName {
    Operational,
    UnderMaintenance,
    DegradedPerformance,
    PartialOutage,
    MajorOutage,
}

/// The status of a component; `unknown` if it was not observed yet.
#[derive(JsonSchema)]
#[schemars(rename = "PublicComponentStatus", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum ComponentStatusName {
    Operational,
    DegradedPerformance,
    MajorOutage,
    UnderMaintenance,
    Unknown,
}

/// A component of a status page.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PublicComponent")]
struct ComponentDocument<'a> {
    name: &'a str,
    #[schemars(with = "ComponentStatusName")]
    status: &'static str,
    /// In percent; null if nothing was observed.
    uptime_90d: Option<f64>,
    group: Option<&'a str>,
}

/// An incident of a status page.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PublicIncident")]
struct IncidentDocument<'a> {
    id: &'a str,
    title: &'a str,
    status: &'static str,
    impact: &'static str,
    started_at: IsoTime,
    updated_at: IsoTime,
    resolved_at: Option<IsoTime>,
    components: &'a [String],
    /// Newest first.
    updates: Vec<UpdateDocument<'a>>,
}

/// An update of an incident.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PublicIncidentUpdate")]
struct UpdateDocument<'a> {
    status: &'static str,
    message: &'a str,
    created_at: IsoTime,
}

/// A scheduled maintenance.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PublicMaintenance")]
struct MaintenanceDocument<'a> {
    id: &'a str,
    title: &'a str,
    description: Option<&'a str>,
    status: &'static str,
    starts_at: IsoTime,
    ends_at: IsoTime,
    components: &'a [String],
}

impl<'a> StatusDocument<'a> {
    pub(super) fn new(page: &'a PublicPage) -> Self {
        let components = page.groups.iter().flat_map(|group| {
            group.components.iter().map(|component| ComponentDocument {
                name: &component.name,
                status: component.status.as_str(),
                uptime_90d: component.uptime_90d,
                group: group.name.as_deref(),
            })
        });
        let open = page.incidents.iter().filter(|incident| incident.resolved_at.is_none());
        Self {
            name: &page.name,
            status: page.status.as_str(),
            updated_at: IsoTime(page.updated_at),
            components: components.collect(),
            incidents: open.map(IncidentDocument::from).collect(),
            scheduled_maintenances: page.maintenances.iter().map(Into::into).collect(),
        }
    }
}

impl<'a> From<&'a PublicIncident> for IncidentDocument<'a> {
    fn from(incident: &'a PublicIncident) -> Self {
        let update = |update: &'a PublicUpdate| UpdateDocument {
            status: update.status.as_str(),
            message: &update.message,
            created_at: IsoTime(update.at),
        };
        Self {
            id: &incident.id,
            title: &incident.title,
            status: incident.status.as_str(),
            impact: incident.impact.as_str(),
            started_at: IsoTime(incident.started_at),
            updated_at: IsoTime(incident.updated_at),
            resolved_at: incident.resolved_at.map(IsoTime),
            components: &incident.components,
            updates: incident.updates.iter().map(update).collect(),
        }
    }
}

impl<'a> From<&'a PublicMaintenance> for MaintenanceDocument<'a> {
    fn from(maintenance: &'a PublicMaintenance) -> Self {
        Self {
            id: &maintenance.id,
            title: &maintenance.title,
            description: maintenance.description.as_deref(),
            status: maintenance.status.as_str(),
            starts_at: IsoTime(maintenance.starts_at),
            ends_at: IsoTime(maintenance.ends_at),
            components: &maintenance.components,
        }
    }
}
