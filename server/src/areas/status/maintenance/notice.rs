//! What subscribers are notified of a maintenance: that it is planned, changed or cancelled, and
//! its start and end, which come by themselves.

use std::collections::BTreeSet;

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
            // After a postponement it begins and ends again.
            Self::Begun => format!("{id}-begun-{}", maintenance.starts_at.0),
            Self::Completed => format!("{id}-completed-{}", maintenance.ends_at.0),
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

/// Records the notices of maintenances that have begun or are over. `announced` are the keys of
/// those that are recorded, as far as they are still of use: these are not looked for again.
/// Blocks.
pub(in crate::areas::status) fn record_due(
    app: &App,
    announced: &mut BTreeSet<String>,
    now: TimestampMs,
) -> Result<(), StatusError> {
    let directory = app.status().pages(app)?;
    let (mut still, mut outcome) = (BTreeSet::new(), Ok(()));
    for maintenance in directory.maintenances() {
        let Some(step) = due_step(maintenance, now) else { continue };
        let key = step.key(maintenance);
        let Ok(entry) = directory.page(maintenance.page_id) else { continue };
        if announced.contains(&key) {
            still.insert(key);
            continue;
        }
        if !notices::are_wanted(app, &entry.page) {
            continue;
        }
        match record_step(app, &entry.page, maintenance, step, now) {
            Ok(true) => drop(still.insert(key)),
            Ok(false) => {}
            // It would be the same for all pages.
            Err(error @ StatusError::TooMany { max: limits::NOTICES_MAX, .. }) => {
                return Err(error);
            }
            Err(error) => outcome = outcome.and(Err(error)),
        }
    }
    *announced = still;
    outcome
}

/// Records the notice about a step that came by itself, unless the maintenance was changed so that
/// it is not due any more. Returns whether it is recorded now.
fn record_step(
    app: &App,
    page: &Page,
    maintenance: &Maintenance,
    step: Step,
    now: TimestampMs,
) -> Result<bool, StatusError> {
    let mut changes = documents::begin(app);
    let current = match changes.get::<Maintenance>(&maintenance.id.text(), |_| true) {
        Ok(found) => found.value,
        Err(StatusError::NotFound(..)) => return Ok(false),
        Err(error) => return Err(error),
    };
    if due_step(&current, now) != Some(step) || step.key(&current) != step.key(maintenance) {
        return Ok(false);
    }
    let notice = of_step(step, &current, page, app.status().monitors(), now);
    if notices::record(app, &mut changes, page, &notice)? {
        changes.commit(None)?;
    }
    Ok(true)
}

/// Returns the step of a maintenance of which subscribers are to be notified now.
pub(super) fn due_step(maintenance: &Maintenance, now: TimestampMs) -> Option<Step> {
    let is_within = |since: TimestampMs, ms: i64| now.0.saturating_sub(since.0) < ms;
    // One may be planned after its start.
    let begun_at = maintenance.starts_at.max(maintenance.created_at);
    let step = match maintenance.status_at(now) {
        MaintenanceStatus::InProgress if is_within(begun_at, limits::BEGUN_NOTICE_MS) => {
            Step::Begun
        }
        MaintenanceStatus::Completed
            if is_within(maintenance.ends_at, limits::COMPLETED_NOTICE_MS) =>
        {
            Step::Completed
        }
        _ => return None,
    };
    maintenance.notify_subscribers.then_some(step)
}

/// Returns a time in UTC to the minute: `2026-01-02 03:04 UTC`.
fn minute(at: TimestampMs) -> String {
    let text = time::format(at);
    let text: String = text.chars().take(16).collect();
    format!("{} UTC", text.replace('T', " "))
}
