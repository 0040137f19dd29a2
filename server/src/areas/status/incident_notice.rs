//! What subscribers are notified of an incident. Beside the incidents, because pages show them.

use telltale_engine::TimestampMs;

use super::component_names::{component_names, listed};
use super::documents::Changes;
use super::error::StatusError;
use super::incidents::{Incident, IncidentStatus};
use super::monitors::MonitorTable;
use super::notices::{self, Notice, NoticeText};
use super::pages::Page;
use crate::app::App;

/// Records the notice about the last update of an incident, as part of `changes`, if anybody would
/// get it.
pub(super) fn record(
    app: &App,
    changes: &mut Changes<'_>,
    incident: &Incident,
) -> Result<(), StatusError> {
    let page = changes.get::<Page>(&incident.page_id.text(), |_| true)?.value;
    let notice = of_last_update(incident, &page, app.status().monitors(), app.now());
    notices::record(app, changes, &page, &notice)
}

/// Returns the notice about the last update of an incident.
fn of_last_update(
    incident: &Incident,
    page: &Page,
    monitors: &MonitorTable,
    now: TimestampMs,
) -> Notice {
    let step = incident.updates.len();
    let message = incident.updates.last().and_then(|update| update.message.clone());
    let mut facts = vec![("Impact".to_owned(), incident.impact.as_str().to_owned())];
    let concerned = listed(&incident.monitors, &component_names(page, monitors));
    if !concerned.is_empty() {
        facts.push(("Concerns".to_owned(), concerned));
    }
    let text = NoticeText {
        title: format!("{}: {}", label(incident.status), incident.title),
        paragraphs: message.into_iter().collect(),
        facts,
    };
    Notice::new(format!("{}-{step}", incident.id.text()), page.id, text, now)
}

fn label(status: IncidentStatus) -> &'static str {
    match status {
        IncidentStatus::Investigating => "Investigating",
        IncidentStatus::Identified => "Identified",
        IncidentStatus::Monitoring => "Monitoring",
        IncidentStatus::Resolved => "Resolved",
    }
}
