//! The operations on on-call schedules. All of them block.

use telltale_engine::{TimestampMs, Versioned};

use super::link::{CalendarToken, CalendarTokenHash};
use super::model::{self, Schedule, ScheduleChange, ScheduleOverride, ScheduleSettings};
use super::shifts::Override;
use crate::app::App;
use crate::areas::alerting::documents::{self, Changes};
use crate::areas::alerting::error::{AlertingError, Kind};
use crate::areas::alerting::ids::{OverrideId, ScheduleId};
use crate::areas::alerting::references;
use crate::platform::random;

/// Returns what `select` makes of the schedules, newest first.
pub(super) fn list<S>(
    app: &App,
    select: impl FnMut(Versioned<Schedule>) -> Option<S>,
) -> Result<Vec<S>, AlertingError> {
    documents::select(app.engine(), select)
}

/// Returns whether there is a schedule with this id.
pub(in crate::areas::alerting) fn exists(
    changes: &Changes<'_>,
    id: &ScheduleId,
) -> Result<bool, AlertingError> {
    changes.contains::<Schedule>(id.as_str())
}

/// Returns one schedule.
pub(super) fn get(app: &App, id: &ScheduleId) -> Result<Versioned<Schedule>, AlertingError> {
    documents::get(app.engine(), id.as_str())
}

/// Creates a schedule.
pub(super) fn create(
    app: &App,
    settings: ScheduleSettings,
) -> Result<Versioned<Schedule>, AlertingError> {
    settings.check()?;
    let mut changes = documents::begin(app);
    let id = app.new_id(ScheduleId::PREFIX).into();
    let schedule = Schedule {
        id,
        settings,
        overrides: Vec::new(),
        calendar_token: None,
        created_at: app.now(),
    };
    changes.insert(&schedule)?;
    let revision = changes.commit(None)?;
    Ok(Versioned { value: schedule, revision })
}

/// Changes a schedule. `fits` returns whether a revision satisfies the caller's `If-Match`;
/// likewise in the functions below.
pub(super) fn update(
    app: &App,
    id: &ScheduleId,
    change: ScheduleChange,
    fits: impl FnOnce(u64) -> bool,
) -> Result<Versioned<Schedule>, AlertingError> {
    rewrite(app, id, fits, |schedule, _| Ok(schedule.change(change)?))
}

/// Deletes a schedule, and the references of rules. Returns the ids of these rules.
pub(super) fn delete(
    app: &App,
    id: &ScheduleId,
    fits: impl FnOnce(u64) -> bool,
) -> Result<Vec<String>, AlertingError> {
    let mut changes = documents::begin(app);
    let found = changes.get::<Schedule>(id.as_str(), fits)?;
    changes.delete::<Schedule>(id.as_str(), found.revision);
    let removed_from = references::remove_schedule(&mut changes, id)?;
    changes.commit(None)?;
    Ok(removed_from)
}

/// Adds an override. Returns it with the revision of the schedule.
pub(super) fn add_override(
    app: &App,
    id: &ScheduleId,
    entry: Override,
    fits: impl FnOnce(u64) -> bool,
) -> Result<Versioned<ScheduleOverride>, AlertingError> {
    let override_id: OverrideId = app.new_id(OverrideId::PREFIX).into();
    let created_at = app.now();
    let added = ScheduleOverride { id: override_id, entry, created_at };
    let written = rewrite(app, id, fits, |schedule, now| {
        model::check_override(&added.entry, now)?;
        schedule.add(added.clone())
    })?;
    Ok(Versioned { value: added, revision: written.revision })
}

/// Removes an override.
pub(super) fn remove_override(
    app: &App,
    id: &ScheduleId,
    override_id: &OverrideId,
    fits: impl FnOnce(u64) -> bool,
) -> Result<(), AlertingError> {
    rewrite(app, id, fits, |schedule, _| schedule.remove(override_id)).map(drop)
}

/// Makes a link to the calendar, which replaces the one before.
pub(super) fn create_link(
    app: &App,
    id: &ScheduleId,
    fits: impl FnOnce(u64) -> bool,
) -> Result<CalendarToken, AlertingError> {
    let random = random::bytes().map_err(std::io::Error::from)?;
    let token = CalendarToken::from_random(random);
    let hash = token.hash();
    rewrite(app, id, fits, |schedule, _| {
        schedule.calendar_token = Some(hash);
        Ok(())
    })?;
    Ok(token)
}

/// Ends the link to the calendar, if there is one.
pub(super) fn remove_link(
    app: &App,
    id: &ScheduleId,
    fits: impl FnOnce(u64) -> bool,
) -> Result<(), AlertingError> {
    let removed = rewrite(app, id, fits, |schedule, _| {
        schedule.calendar_token = None;
        Ok(())
    });
    removed.map(drop)
}

/// Returns a schedule to whoever knows the token of its link. To others it does not exist.
pub(super) fn get_by_link(
    app: &App,
    id: &ScheduleId,
    token: &str,
) -> Result<Versioned<Schedule>, AlertingError> {
    let found = get(app, id)?;
    let known = CalendarTokenHash::of(token);
    if found.value.calendar_token.as_ref() == Some(&known) {
        Ok(found)
    } else {
        Err(AlertingError::NotFound(Kind::Schedule, id.as_str().to_owned()))
    }
}

fn rewrite(
    app: &App,
    id: &ScheduleId,
    fits: impl FnOnce(u64) -> bool,
    change: impl FnOnce(&mut Schedule, TimestampMs) -> Result<(), AlertingError>,
) -> Result<Versioned<Schedule>, AlertingError> {
    let mut changes = documents::begin(app);
    let Versioned { value: mut schedule, revision } = changes.get::<Schedule>(id.as_str(), fits)?;
    let now = app.now();
    schedule.drop_old_overrides(now);
    change(&mut schedule, now)?;
    changes.replace(&schedule, revision)?;
    let revision = changes.commit(None)?;
    Ok(Versioned { value: schedule, revision })
}

/// Returns the ids and names of all schedules.
pub(in crate::areas::alerting) fn named(app: &App) -> Result<Vec<(String, String)>, AlertingError> {
    list(app, |found| Some((found.value.id.as_str().to_owned(), found.value.settings.name)))
}
