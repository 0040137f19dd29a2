//! What subscribers are notified of a maintenance: that it is planned, changed or cancelled, and
//! its start and end, which come by themselves.

use std::collections::BTreeSet;

use telltale_engine::TimestampMs;

use super::model::{Maintenance, MaintenanceStatus};
use crate::app::App;
use crate::areas::status::component_names::{component_names, listed};
use crate::areas::status::documents::{self, Changes};
use crate::areas::status::error::{StatusError, StatusKind};
use crate::areas::status::limits;
use crate::areas::status::monitors::MonitorTable;
use crate::areas::status::notices::{self, Notice, NoticeSpace, NoticeText};
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
    /// Returns whether the maintenance takes no more time after it.
    pub(super) fn is_end(self) -> bool {
        matches!(self, Self::Cancelled | Self::Completed)
    }

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

/// Records the notices of maintenances that have begun or are over, some at a time. `announced` are
/// the keys of those that are recorded, as far as they are still of use: these are not looked for
/// again. Blocks.
pub(in crate::areas::status) fn record_due(
    app: &App,
    announced: &mut BTreeSet<String>,
    now: TimestampMs,
) -> Result<(), StatusError> {
    let directory = app.status().pages(app)?;
    let (mut still, mut due) = (BTreeSet::new(), Vec::new());
    for maintenance in directory.maintenances() {
        let Some(step) = due_step(maintenance, now) else { continue };
        let Ok(entry) = directory.page(maintenance.page_id) else { continue };
        let key = step.key(maintenance);
        if announced.contains(&key) {
            still.insert(key);
        } else if notices::are_wanted(app, &entry.page) {
            due.push(DueNotice { page: &entry.page, maintenance, step });
        }
    }
    *announced = still;
    if due.is_empty() {
        return Ok(());
    }
    // Those of full pages wait. The lock is not taken for them, again and again.
    let full = notices::full_pages(app)?;
    let all = due.len();
    due.retain(|due| !full.contains(&due.page.id));
    let max = limits::NOTICES_PENDING_OF_PAGE_MAX;
    let waiting = StatusError::TooMany { kind: StatusKind::Notice, max };
    let outcome = if due.len() < all { Err(waiting) } else { Ok(()) };
    due.truncate(limits::NOTICES_RECORDED_AT_ONCE);
    let recorded = record_all(app, announced, &due, now);
    outcome.and(recorded)
}

/// A step of a maintenance that came by itself, of which subscribers are to be notified.
#[derive(Clone, Copy, Debug)]
struct DueNotice<'a> {
    page: &'a Page,
    maintenance: &'a Maintenance,
    step: Step,
}

/// Records these notices in one write. Adds their keys to `announced`.
fn record_all(
    app: &App,
    announced: &mut BTreeSet<String>,
    due: &[DueNotice<'_>],
    now: TimestampMs,
) -> Result<(), StatusError> {
    if due.is_empty() {
        return Ok(());
    }
    let mut changes = documents::begin(app);
    let mut space = NoticeSpace::make(app, &mut changes)?;
    let (mut recorded, mut outcome) = (Vec::new(), Ok(()));
    for due in due {
        match record_step(app, &mut changes, &mut space, *due, now) {
            Ok(key) => recorded.extend(key),
            Err(error) => outcome = outcome.and(Err(error)),
        }
    }
    if space.has_recorded() {
        changes.commit(None)?;
    }
    announced.extend(recorded);
    outcome
}

/// Records the notice about a step that came by itself as part of `changes`, unless the maintenance
/// was changed so that it is not due any more. Returns its key if it is recorded then.
fn record_step(
    app: &App,
    changes: &mut Changes<'_>,
    space: &mut NoticeSpace,
    due: DueNotice<'_>,
    now: TimestampMs,
) -> Result<Option<String>, StatusError> {
    let DueNotice { page, maintenance, step } = due;
    let current = match changes.get::<Maintenance>(&maintenance.id.text(), |_| true) {
        Ok(found) => found.value,
        Err(StatusError::NotFound(..)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let key = step.key(&current);
    if due_step(&current, now) != Some(step) || key != step.key(maintenance) {
        return Ok(None);
    }
    if !changes.contains::<Notice>(&key)? {
        let notice = of_step(step, &current, page, app.status().monitors(), now);
        space.record(changes, &notice)?;
    }
    Ok(Some(key))
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
