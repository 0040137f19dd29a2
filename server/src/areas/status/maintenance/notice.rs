//! What subscribers are notified of a maintenance: that it is planned, changed or cancelled, and
//! its start and end, which come by themselves.

use telltale_engine::TimestampMs;

use super::model::{Maintenance, MaintenanceStatus};
use crate::app::App;
use crate::areas::status::component_names::{component_names, listed};
use crate::areas::status::documents;
use crate::areas::status::error::StatusError;
use crate::areas::status::limits;
use crate::areas::status::monitors::MonitorTable;
use crate::areas::status::notices::{self, Notice, NoticeText};
use crate::areas::status::pages::Page;
use crate::platform::time;

/// What happened to a maintenance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It was planned.
    Planned,
    /// What was planned was changed to have this revision.
    Changed(u64),
    /// It will not take place.
    Cancelled,
    /// It has begun.
    Begun,
    /// It is over.
    Completed,
}

impl Step {
    fn key(self, maintenance: &Maintenance) -> String {
        let id = maintenance.id.text();
        match self {
            Self::Planned => format!("{id}-planned"),
            Self::Changed(revision) => format!("{id}-changed-{revision}"),
            Self::Cancelled => format!("{id}-cancelled"),
            Self::Begun => format!("{id}-begun"),
            Self::Completed => format!("{id}-completed"),
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Planned => "Planned maintenance",
            Self::Changed(_) => "Changed maintenance",
            Self::Cancelled => "Cancelled maintenance",
            Self::Begun => "Maintenance has begun",
            Self::Completed => "Maintenance is completed",
        }
    }
}

/// Returns the notice about a step of a maintenance.
pub(super) fn of_step(
    step: Step,
    maintenance: &Maintenance,
    page: &Page,
    monitors: &MonitorTable,
    now: TimestampMs,
) -> Notice {
    let mut facts = vec![
        ("From".to_owned(), minute(maintenance.starts_at)),
        ("To".to_owned(), minute(maintenance.ends_at)),
    ];
    let concerned = listed(&maintenance.monitors, &component_names(page, monitors));
    if !concerned.is_empty() {
        facts.push(("Concerns".to_owned(), concerned));
    }
    let text = NoticeText {
        title: format!("{}: {}", step.label(), maintenance.title),
        paragraphs: maintenance.description.iter().cloned().collect(),
        facts,
    };
    Notice::new(step.key(maintenance), page.id, text, now)
}

/// Records the notices of maintenances that have begun or are over. Blocks.
pub(in crate::areas::status) fn record_due(app: &App, now: TimestampMs) -> Result<(), StatusError> {
    let directory = app.status().pages(app)?;
    for maintenance in directory.maintenances().filter(|one| one.notify_subscribers) {
        let step = match maintenance.status_at(now) {
            MaintenanceStatus::InProgress => Step::Begun,
            MaintenanceStatus::Completed if is_recent(maintenance.ends_at, now) => Step::Completed,
            _ => continue,
        };
        if notices::is_recorded(app, &step.key(maintenance))? {
            continue;
        }
        let Ok(entry) = directory.page(maintenance.page_id) else { continue };
        let notice = of_step(step, maintenance, &entry.page, app.status().monitors(), now);
        let mut changes = documents::begin(app);
        // It may have been deleted meanwhile.
        if changes.contains::<Maintenance>(&maintenance.id.text())? {
            notices::record(&mut changes, &notice)?;
            changes.commit(None)?;
        }
    }
    Ok(())
}

/// Returns whether an end is so recent that mails about it are of use.
fn is_recent(ends_at: TimestampMs, now: TimestampMs) -> bool {
    now.0.saturating_sub(ends_at.0) < limits::COMPLETED_NOTICE_MS
}

/// Returns a time in UTC to the minute: `2026-01-02 03:04 UTC`.
fn minute(at: TimestampMs) -> String {
    let text = time::format(at);
    let text: String = text.chars().take(16).collect();
    format!("{} UTC", text.replace('T', " "))
}
