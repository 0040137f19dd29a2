//! Puts together what visitors see of a page.

use std::collections::HashMap;

use telltale_engine::TimestampMs;

use super::cache::Reached;
use super::model::{
    PublicBranding, PublicComponent, PublicDay, PublicGroup, PublicIncident, PublicMaintenance,
    PublicPage, PublicUpdate,
};
use super::words::day_of;
use crate::app::App;
use crate::areas::status::component_names::component_names;
use crate::areas::status::ids::MonitorId;
use crate::areas::status::incidents::Incident;
use crate::areas::status::limits;
use crate::areas::status::maintenance::Maintenance;
use crate::areas::status::monitors::DayTimes;
use crate::areas::status::page_directory::PageEntry;
use crate::areas::status::pages::Page;
use crate::areas::status::public_status::ComponentStatus;

/// Bytes that an update takes beside its message.
const UPDATE_OVERHEAD: usize = 100;

/// Returns a page as it is at `now`.
pub(super) fn assemble(
    app: &App,
    entry: &PageEntry,
    reached: Reached,
    now: TimestampMs,
) -> PublicPage {
    let page = &entry.page;
    let names = component_names(page, app.status().monitors());
    let incidents: Vec<&Incident> = entry.shown_incidents(now).map(AsRef::as_ref).collect();
    let statuses = entry.component_statuses(app.status().monitors(), now);
    let mut updated_at = page.created_at;
    let mut groups: Vec<PublicGroup> = Vec::new();
    for (component, status) in page.components.iter().zip(&statuses) {
        let id = component.monitor_id;
        let name = names.get(&id).cloned().unwrap_or_default();
        let of_component: Vec<&Incident> =
            incidents.iter().filter(|incident| incident.monitors.contains(&id)).copied().collect();
        let public = public_component(app, id, name, *status, &of_component, now);
        let since = app.status().monitors().state_since(id);
        updated_at = updated_at.max(since.unwrap_or(updated_at));
        match groups.iter_mut().find(|group| group.name == component.group) {
            Some(group) => group.components.push(public),
            None => {
                let name = component.group.clone();
                groups.push(PublicGroup { name, components: vec![public] });
            }
        }
    }
    let maintenances = entry.open_maintenances(now);
    let of_incidents = incidents.iter().map(|incident| incident.updated_at);
    let begun = maintenances.iter().map(|one| one.starts_at).filter(|starts| *starts <= now);
    updated_at = of_incidents.chain(begun).fold(updated_at, TimestampMs::max);
    let (open, resolved): (Vec<_>, Vec<_>) =
        incidents.into_iter().partition(|incident| incident.is_open());
    let shown = open.into_iter().chain(resolved);
    let mut bytes_left = limits::PAGE_MESSAGE_BYTES_MAX;
    PublicPage {
        name: page.name.clone(),
        base_path: base_path(page, reached),
        absolute_url: app.status().page_url(page),
        branding: branding(page),
        status: entry.status(statuses.iter().copied()).into(),
        updated_at,
        groups,
        incidents: shown
            .map(|incident| public_incident(incident, &names, &mut bytes_left))
            .collect(),
        maintenances: maintenances.iter().map(|one| public_maintenance(one, &names, now)).collect(),
        can_subscribe: app.status().can_subscribe(page),
    }
}

/// Returns what the paths of a page's links begin with.
pub(super) fn base_path(page: &Page, reached: Reached) -> String {
    match reached {
        Reached::ByHost => String::new(),
        Reached::ByPath => format!("/status/{}", page.subdomain.as_str()),
    }
}

/// Returns how a page looks.
pub(super) fn branding(page: &Page) -> PublicBranding {
    PublicBranding {
        logo_url: page.branding.logo_url.as_ref().map(|logo| logo.as_str().to_owned()),
        primary_color: page.branding.primary_color.as_ref().map(|c| c.as_str().to_owned()),
    }
}

fn public_component(
    app: &App,
    id: MonitorId,
    name: String,
    status: ComponentStatus,
    incidents: &[&Incident],
    now: TimestampMs,
) -> PublicComponent {
    let summary = app.status().monitors().summary(id);
    let (id, status) = (id.text(), status.into());
    let Some(summary) = summary else {
        return PublicComponent { id, name, status, uptime_90d: None, days: Vec::new() };
    };
    let day = |(day, times): (i64, DayTimes)| PublicDay {
        day,
        up_ms: times.up_ms,
        degraded_ms: times.degraded_ms,
        down_ms: times.down_ms,
        maintenance_ms: times.maintenance_ms,
        incidents: titles_of_day(incidents, day, now),
    };
    let days = summary.days.into_iter().map(day).collect();
    PublicComponent { id, name, status, uptime_90d: summary.uptime_90d, days }
}

fn titles_of_day(incidents: &[&Incident], day: i64, now: TimestampMs) -> Vec<String> {
    let is_of_day = |incident: &&&Incident| {
        let last = incident.resolved_at.unwrap_or(now);
        (day_of(incident.created_at)..=day_of(last)).contains(&day)
    };
    let of_day = incidents.iter().filter(is_of_day).take(limits::INCIDENTS_OF_DAY_MAX);
    of_day.map(|incident| incident.title.clone()).collect()
}

/// Returns an incident with its last update, and with those before as far as bytes are left.
fn public_incident(
    incident: &Incident,
    names: &HashMap<MonitorId, String>,
    bytes_left: &mut usize,
) -> PublicIncident {
    let mut updates: Vec<PublicUpdate> = Vec::new();
    for update in incident.updates.iter().rev() {
        let message = update.message.clone().unwrap_or_default();
        if !updates.is_empty() {
            let Some(left) = bytes_left.checked_sub(message.len() + UPDATE_OVERHEAD) else { break };
            *bytes_left = left;
        }
        updates.push(PublicUpdate { at: update.at, status: update.status.into(), message });
    }
    PublicIncident {
        id: incident.id.text(),
        title: incident.title.clone(),
        impact: incident.impact.into(),
        status: incident.status.into(),
        started_at: incident.created_at,
        updated_at: incident.updated_at,
        resolved_at: incident.resolved_at,
        components: named(&incident.monitors, names),
        is_shortened: updates.len() < incident.updates.len(),
        updates,
    }
}

fn public_maintenance(
    maintenance: &Maintenance,
    names: &HashMap<MonitorId, String>,
    now: TimestampMs,
) -> PublicMaintenance {
    PublicMaintenance {
        id: maintenance.id.text(),
        title: maintenance.title.clone(),
        description: maintenance.description.clone(),
        status: maintenance.status_at(now).into(),
        starts_at: maintenance.starts_at,
        ends_at: maintenance.ends_at,
        components: named(&maintenance.monitors, names),
    }
}

fn named(monitors: &[MonitorId], names: &HashMap<MonitorId, String>) -> Vec<String> {
    monitors.iter().filter_map(|id| names.get(id).cloned()).collect()
}
