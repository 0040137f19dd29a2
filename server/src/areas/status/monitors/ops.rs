//! The operations on monitors. All of them block.

use std::ops::Range;

use telltale_engine::{Engine, Error, Versioned};
use zeroize::Zeroizing;

use super::change::MonitorChange;
use super::condition::StateChange;
use super::model::{Monitor, MonitorSettings, MonitorState};
use super::store::SealedMonitor;
use super::table::{CurrentMonitor, MonitorTable};
use crate::app::App;
use crate::areas;
use crate::areas::status::documents::{self, Changes, StoredResource};
use crate::areas::status::error::StatusError;
use crate::areas::status::ids::{MonitorId, PageId};
use crate::areas::status::references;
use crate::platform::outbound::OutboundPolicy;
use crate::platform::sealing::SecretStore;

/// Loads all monitors. Those whose secrets cannot be opened are logged and not checked.
pub(in crate::areas::status) fn load(
    engine: &Engine,
    secrets: &SecretStore,
) -> Result<Vec<(Monitor, u64)>, Error> {
    let mut monitors = Vec::new();
    for (sealed, revision) in documents::shared::<SealedMonitor>(engine, |_, _| None)
        .map_err(StatusError::into_engine)?
        .into_iter()
        .map(|found| (found.value, found.revision))
    {
        match open(&sealed, secrets) {
            Ok(monitor) => monitors.push((monitor, revision)),
            Err(error) => tracing::error!(id = %sealed.id(), %error, "a monitor cannot be opened"),
        }
    }
    Ok(monitors)
}

/// Returns those of the monitors that are wanted whose positions are in `page`, newest first.
pub(super) fn list(
    app: &App,
    is_wanted: impl Fn(&Monitor, MonitorState) -> bool,
    page: Range<usize>,
) -> Vec<CurrentMonitor> {
    table(app).list(is_wanted, page)
}

/// Returns the ids, names and states of all monitors.
pub(in crate::areas::status) fn named(app: &App) -> Vec<(String, String, &'static str)> {
    let all = table(app).list(|_, _| true, 0..usize::MAX).into_iter();
    let named = |current: CurrentMonitor| {
        let monitor = &current.monitor;
        let state = current.condition.state_at(app.now()).as_str();
        (monitor.id.text(), monitor.settings.name.clone(), state)
    };
    all.map(named).collect()
}

/// Returns whether secrets of monitors are stored, or documents that cannot be read, which may have
/// some.
pub(in crate::areas) fn has_secrets(app: &App) -> Result<bool, StatusError> {
    let secret = |found: Versioned<SealedMonitor>| found.value.has_secrets().then_some(());
    let found = documents::select(app.engine(), secret)?;
    Ok(!found.is_empty() || !app.engine().documents().damaged().is_empty())
}

/// Returns one monitor.
pub(super) fn get(app: &App, id: MonitorId) -> Result<CurrentMonitor, StatusError> {
    if let Some(found) = table(app).get(id) {
        return Ok(found);
    }
    // It may be one whose secrets could not be opened at the start.
    let changes = documents::begin(app);
    let found = changes.get::<SealedMonitor>(&id.text(), |_| true)?;
    let monitor = open(&found.value, app.status().secrets())?;
    table(app).put(monitor, found.revision);
    drop(changes);
    table(app).get(id).ok_or_else(|| StatusError::missing_monitor(id))
}

/// Creates a monitor on behalf of a user.
pub(super) fn create(
    app: &App,
    settings: MonitorSettings,
    created_by: String,
) -> Result<CurrentMonitor, StatusError> {
    settings.check(policy(app))?;
    let mut changes = documents::begin(app);
    let id = MonitorId(app.new_number());
    let monitor = Monitor { id, settings, created_by, created_at: app.now() };
    changes.insert(&seal(app, &monitor)?)?;
    commit(app, changes, monitor)
}

/// Changes a monitor. `fits` returns whether a revision satisfies the caller's `If-Match`.
pub(super) fn update(
    app: &App,
    id: MonitorId,
    change: MonitorChange,
    fits: impl FnOnce(u64) -> bool,
) -> Result<CurrentMonitor, StatusError> {
    let mut changes = documents::begin(app);
    let found = changes.get::<SealedMonitor>(&id.text(), fits)?;
    let mut monitor = open(&found.value, app.status().secrets())?;
    monitor.settings.change(change)?;
    monitor.settings.check(policy(app))?;
    changes.replace(&seal(app, &monitor)?, found.revision)?;
    commit(app, changes, monitor)
}

/// Begins or ends the pause of a monitor.
pub(super) fn pause(
    app: &App,
    id: MonitorId,
    is_paused: bool,
    fits: impl FnOnce(u64) -> bool,
) -> Result<CurrentMonitor, StatusError> {
    let mut changes = documents::begin(app);
    let found = changes.get::<SealedMonitor>(&id.text(), fits)?;
    let mut monitor = open(&found.value, app.status().secrets())?;
    if monitor.settings.is_paused == is_paused {
        let why = if is_paused { "the monitor is paused" } else { "the monitor is not paused" };
        return Err(StatusError::State(why));
    }
    monitor.settings.is_paused = is_paused;
    changes.replace(&seal(app, &monitor)?, found.revision)?;
    commit(app, changes, monitor)
}

/// Deletes a monitor, and takes it off all status pages. Returns the ids of these.
pub(super) fn delete(
    app: &App,
    id: MonitorId,
    fits: impl FnOnce(u64) -> bool,
) -> Result<Vec<String>, StatusError> {
    let mut changes = documents::begin(app);
    let revision = changes.revision::<SealedMonitor>(&id.text(), fits)?;
    changes.delete::<SealedMonitor>(&id.text(), revision);
    let removed_from = references::remove_monitor(app, &mut changes, id)?;
    changes.commit_then(None, |_| {
        if let Err(error) = table(app).remove(id) {
            // The monitor is deleted. What is left is removed at the next start.
            tracing::error!(%error, "the condition of a deleted monitor could not be removed");
        }
    })?;
    Ok(removed_from.into_iter().map(PageId::text).collect())
}

/// Returns the changes of the state of a monitor, newest first.
pub(super) fn history(
    app: &App,
    id: MonitorId,
    limit: usize,
) -> Result<Vec<StateChange>, StatusError> {
    get(app, id)?;
    Ok(table(app).history(id, limit)?)
}

fn commit(
    app: &App,
    changes: Changes<'_>,
    monitor: Monitor,
) -> Result<CurrentMonitor, StatusError> {
    let id = monitor.id;
    changes.commit_then(None, |revision| table(app).put(monitor, revision))?;
    if let Err(error) = table(app).store() {
        // The monitor is stored. Its condition is stored later.
        tracing::error!(%error, "the condition of a monitor could not be stored");
    }
    get(app, id)
}

fn table(app: &App) -> &MonitorTable {
    app.status().monitors()
}

fn policy(app: &App) -> &OutboundPolicy {
    app.status().client().policy()
}

fn open(sealed: &SealedMonitor, secrets: &SecretStore) -> Result<Monitor, StatusError> {
    sealed.open(|text, context| {
        let plain = secrets.sealer()?.open(&text.parse()?, &context)?;
        Ok(plain.to_vec())
    })
}

fn seal(app: &App, monitor: &Monitor) -> Result<SealedMonitor, StatusError> {
    SealedMonitor::seal(monitor, |plain, context| {
        let plain = Zeroizing::new(plain.to_vec());
        let sealer = areas::sealer_of_new_secrets(app, app.status().secrets())?;
        Ok(sealer.seal(&plain, &context)?.to_string())
    })
}
