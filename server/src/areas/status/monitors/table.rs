//! All monitors in memory, with their conditions and when each is checked next.
//!
//! A change is made in memory first and then stored. Changes that are made while another is being
//! stored are stored together, and whoever made one waits for that: what was returned is durable.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use telltale_engine::{Clock, Engine, RecordBatch, Result, TimestampMs};

use super::condition::{CheckResult, DayTimes, MonitorCondition, StateChange};
use super::entry::Entry;
use super::model::{Monitor, MonitorState, MonitorTarget};
use super::{records, schedule};
use crate::areas::status::ids::MonitorId;
use crate::areas::status::limits;

/// A longer time in which nobody attended to the monitors is one in which the server did not run.
const GAP_MS: i64 = 30_000;
/// How often the times of monitors are stored although nothing happened.
const STORE_PERIOD_MS: i64 = 3_600_000;
/// A check that is due is handed out again after this time: its job may be lost.
const HAND_OUT_AGAIN: Duration = Duration::from_secs(120);

/// When monitors are under planned maintenance: from when, and until when.
pub(in crate::areas::status) type Maintained = BTreeMap<MonitorId, (TimestampMs, TimestampMs)>;

/// All monitors.
#[derive(Debug)]
pub(in crate::areas::status) struct MonitorTable {
    engine: Engine,
    clock: Clock,
    monitors: RwLock<Monitors>,
    /// Held while changes are stored.
    storing: Mutex<()>,
    bytes: AtomicU64,
    /// The number of changes that status pages show.
    version: AtomicU64,
}

#[derive(Debug)]
struct Monitors {
    entries: BTreeMap<MonitorId, Entry>,
    /// Those whose condition is not stored.
    changed: BTreeSet<MonitorId>,
    /// When the monitors were last attended to.
    attended_at: TimestampMs,
}

/// A monitor as it is now.
#[derive(Clone, Debug)]
pub(super) struct CurrentMonitor {
    pub(super) monitor: Arc<Monitor>,
    pub(super) revision: u64,
    pub(super) condition: MonitorCondition,
}

/// A monitor as status pages show it.
#[derive(Clone, Debug)]
pub(in crate::areas::status) struct MonitorSummary {
    pub(in crate::areas::status) name: String,
    pub(in crate::areas::status) state: MonitorState,
    /// In percent; `None` if nothing was observed.
    pub(in crate::areas::status) uptime_90d: Option<f64>,
    /// The times of the last 90 days, oldest first, by day since 1970 in UTC.
    pub(in crate::areas::status) days: Vec<(i64, DayTimes)>,
}

/// A check that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DueCheck {
    pub(super) id: MonitorId,
    /// The same until the check is done.
    pub(super) number: u64,
}

impl MonitorTable {
    /// Loads the conditions of these monitors. The time since the server last ran does not count.
    pub(in crate::areas::status) fn open(
        engine: Engine,
        clock: Clock,
        monitors: Vec<(Monitor, u64)>,
    ) -> Result<Self> {
        let (now, steady) = (clock.now(), clock.steady());
        let mut conditions = records::read(&engine)?;
        let alive = records::read_alive(&engine)?.unwrap_or(now);
        let mut entries = BTreeMap::new();
        for (monitor, revision) in monitors {
            let id = monitor.id;
            let condition = conditions.remove(&id);
            let mut entry = Entry::new(monitor, revision, now, steady);
            if let Some(condition) = condition {
                entry.condition = condition;
                entry.condition.leave_out(alive, now);
                // A document that was changed right before the end of the process.
                entry.condition.pause(entry.monitor.settings.is_paused, now);
                entry.due = schedule::next(id, &entry.monitor.settings, false, steady);
            }
            entries.insert(id, entry);
        }
        let mut batch = RecordBatch::new();
        // Their documents were deleted right before the end of the process.
        conditions.keys().for_each(|id| records::delete(&mut batch, *id));
        records::put_alive(&mut batch, now);
        if !entries.is_empty() || !conditions.is_empty() {
            engine.records().write(batch)?;
        }
        let bytes = AtomicU64::new(bytes_of(&entries));
        let monitors = Monitors { entries, changed: BTreeSet::new(), attended_at: now };
        Ok(Self {
            engine,
            clock,
            monitors: RwLock::new(monitors),
            storing: Mutex::new(()),
            bytes,
            version: AtomicU64::new(0),
        })
    }

    /// Adds or replaces a monitor. It is checked at once if what is checked is new.
    pub(super) fn put(&self, monitor: Monitor, revision: u64) {
        let (now, steady) = (self.clock.now(), self.clock.steady());
        let mut monitors = self.monitors.write();
        monitors.attend(now);
        let id = monitor.id;
        match monitors.entries.get_mut(&id) {
            Some(entry) => {
                let is_same = entry.monitor.settings.target == monitor.settings.target;
                let next = schedule::next(id, &monitor.settings, false, steady);
                entry.due = if is_same { next } else { steady };
                (entry.monitor, entry.revision) = (Arc::new(monitor), revision);
                (entry.number, entry.handed_out_at) = (entry.number + 1, None);
                let is_paused = entry.monitor.settings.is_paused;
                entry.changes.extend(entry.condition.pause(is_paused, now));
            }
            None => {
                let mut entry = Entry::new(monitor, revision, now, steady);
                entry.condition.pause(entry.monitor.settings.is_paused, now);
                monitors.entries.insert(id, entry);
            }
        }
        monitors.changed.insert(id);
        self.bytes.store(bytes_of(&monitors.entries), Ordering::Relaxed);
        self.version.fetch_add(1, Ordering::Release);
    }

    /// Removes a monitor with everything that is stored of it. Blocks.
    pub(super) fn remove(&self, id: MonitorId) -> Result<()> {
        let _storing = self.storing.lock();
        let mut monitors = self.monitors.write();
        monitors.entries.remove(&id);
        monitors.changed.remove(&id);
        self.bytes.store(bytes_of(&monitors.entries), Ordering::Relaxed);
        drop(monitors);
        let mut batch = RecordBatch::new();
        records::delete(&mut batch, id);
        self.engine.records().write(batch)
    }

    /// Returns a monitor.
    pub(super) fn get(&self, id: MonitorId) -> Option<CurrentMonitor> {
        self.monitors.read().entries.get(&id).map(CurrentMonitor::from)
    }

    /// Returns what `select` makes of the monitors, newest first.
    pub(super) fn select<S>(&self, mut select: impl FnMut(CurrentMonitor) -> Option<S>) -> Vec<S> {
        let monitors = self.monitors.read();
        monitors.entries.values().rev().filter_map(|entry| select(entry.into())).collect()
    }

    /// Returns whether there is a monitor.
    pub(in crate::areas::status) fn contains(&self, id: MonitorId) -> bool {
        self.monitors.read().entries.contains_key(&id)
    }

    /// Returns the name and state of a monitor.
    pub(in crate::areas::status) fn state(&self, id: MonitorId) -> Option<(String, MonitorState)> {
        let monitors = self.monitors.read();
        let entry = monitors.entries.get(&id)?;
        Some((entry.monitor.settings.name.clone(), entry.condition.state))
    }

    /// Returns since when a monitor is in its state.
    pub(in crate::areas::status) fn state_since(&self, id: MonitorId) -> Option<TimestampMs> {
        self.monitors.read().entries.get(&id).map(|entry| entry.condition.since)
    }

    /// Returns a monitor as status pages show it.
    pub(in crate::areas::status) fn summary(&self, id: MonitorId) -> Option<MonitorSummary> {
        let CurrentMonitor { monitor, condition, .. } = self.get(id)?;
        let now = self.clock.now();
        Some(MonitorSummary {
            name: monitor.settings.name.clone(),
            state: condition.state,
            uptime_90d: condition.uptime(limits::UPTIME_DAYS, now),
            days: condition.last_days(limits::UPTIME_DAYS, now),
        })
    }

    /// Returns whether secrets of any monitor are stored.
    pub(in crate::areas::status) fn has_secrets(&self) -> bool {
        let monitors = self.monitors.read();
        monitors.entries.values().any(|entry| entry.monitor.settings.target.has_secrets())
    }

    /// Returns the checks that are due and were not handed out before, longest due first.
    pub(super) fn hand_out(&self) -> Vec<DueCheck> {
        let steady = self.clock.steady();
        let mut monitors = self.monitors.write();
        let mut due = Vec::new();
        for (id, entry) in &mut monitors.entries {
            let settings = &entry.monitor.settings;
            let is_checked = !matches!(settings.target, MonitorTarget::Heartbeat { .. });
            let is_waiting = entry.handed_out_at.is_none_or(|at| at + HAND_OUT_AGAIN <= steady);
            if entry.due <= steady && is_checked && !settings.is_paused && is_waiting {
                entry.handed_out_at = Some(steady);
                due.push((entry.due, DueCheck { id: *id, number: entry.number }));
            }
        }
        drop(monitors);
        due.sort_unstable_by_key(|(due, check)| (*due, check.id));
        due.into_iter().map(|(_, check)| check).collect()
    }

    /// Returns the monitor of a check that was handed out, unless it was done meanwhile.
    pub(super) fn begin(&self, check: DueCheck) -> Option<CurrentMonitor> {
        let monitors = self.monitors.read();
        let entry = monitors.entries.get(&check.id)?;
        (entry.number == check.number && !entry.monitor.settings.is_paused).then(|| entry.into())
    }

    /// Records what a check of a monitor with this revision found; nothing if the monitor is gone,
    /// paused or another since. Returns the monitor as it is then. Durable when this returns.
    /// Blocks.
    pub(super) fn observe(
        &self,
        id: MonitorId,
        revision: u64,
        result: CheckResult,
    ) -> Result<Option<CurrentMonitor>> {
        let mut monitors = self.monitors.write();
        monitors.attend(self.clock.now());
        let Some(entry) = monitors.entries.get_mut(&id).filter(|entry| entry.revision == revision)
        else {
            return Ok(None);
        };
        if entry.monitor.settings.is_paused {
            return Ok(None);
        }
        if entry.observe(id, result, self.clock.steady()) {
            self.version.fetch_add(1, Ordering::Release);
        }
        let current = CurrentMonitor::from(&*entry);
        monitors.changed.insert(id);
        drop(monitors);
        self.store()?;
        Ok(Some(current))
    }

    /// Does what time brings: counts it, begins and ends planned maintenance, finds heartbeats that
    /// are late, and stores that the server runs. Blocks.
    pub(in crate::areas::status) fn pass_time(&self, maintained: &Maintained) -> Result<()> {
        let (now, steady) = (self.clock.now(), self.clock.steady());
        let mut monitors = self.monitors.write();
        if monitors.entries.is_empty() {
            return Ok(());
        }
        monitors.attend(now);
        let Monitors { entries, changed, .. } = &mut *monitors;
        for (id, entry) in entries {
            let is_late = entry.late_heartbeat(now);
            let mut has_changed = entry.maintain(maintained.get(id).copied(), now);
            if let Some(result) = is_late {
                entry.observe(*id, result, steady);
                has_changed = true;
            }
            if has_changed {
                self.version.fetch_add(1, Ordering::Release);
            }
            if has_changed || now.0.saturating_sub(entry.stored_at.0) >= STORE_PERIOD_MS {
                entry.condition.count_until(now);
                changed.insert(*id);
            }
        }
        drop(monitors);
        self.store_all(Some(now))
    }

    /// Stores all changes. Blocks.
    pub(super) fn store(&self) -> Result<()> {
        self.store_all(None)
    }

    /// Counts and stores the time until now, at the end of the process. Blocks.
    pub(in crate::areas::status) fn close(&self) -> Result<()> {
        let now = self.clock.now();
        let mut monitors = self.monitors.write();
        if monitors.entries.is_empty() {
            return Ok(());
        }
        monitors.attend(now);
        let Monitors { entries, changed, .. } = &mut *monitors;
        for (id, entry) in entries {
            entry.condition.count_until(now);
            changed.insert(*id);
        }
        drop(monitors);
        self.store_all(Some(now))
    }

    /// Returns the changes of the state of a monitor, newest first, `limit` at most. Blocks.
    pub(super) fn history(&self, id: MonitorId, limit: usize) -> Result<Vec<StateChange>> {
        records::changes(&self.engine, id, limit)
    }

    /// Returns a number that is larger after every change that status pages show.
    pub(in crate::areas::status) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Returns roughly how much memory all takes, in bytes.
    pub(in crate::areas::status) fn memory_bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    fn store_all(&self, alive: Option<TimestampMs>) -> Result<()> {
        let _storing = self.storing.lock();
        let mut batch = RecordBatch::new();
        let mut taken = Vec::new();
        let mut monitors = self.monitors.write();
        for id in std::mem::take(&mut monitors.changed) {
            if let Some(entry) = monitors.entries.get_mut(&id) {
                let before = (entry.stored_at, entry.changes.clone());
                entry.put(id, &mut batch);
                taken.push((id, before));
            }
        }
        drop(monitors);
        if taken.is_empty() && alive.is_none() {
            return Ok(());
        }
        alive.into_iter().for_each(|now| records::put_alive(&mut batch, now));
        let trimmed = self.trim(&taken, &mut batch);
        let written = trimmed.and_then(|()| self.engine.records().write(batch));
        if written.is_err() {
            let mut monitors = self.monitors.write();
            for (id, (stored_at, changes)) in taken {
                if let Some(entry) = monitors.entries.get_mut(&id) {
                    entry.stored_at = stored_at;
                    entry.changes.splice(..0, changes);
                    monitors.changed.insert(id);
                }
            }
        }
        written
    }

    /// Deletes the oldest changes of those of which many were added.
    fn trim(
        &self,
        stored: &[(MonitorId, (TimestampMs, Vec<StateChange>))],
        batch: &mut RecordBatch,
    ) -> Result<()> {
        for (id, _) in stored {
            let mut monitors = self.monitors.write();
            let Some(entry) = monitors.entries.get_mut(id) else { continue };
            if entry.changes_added < limits::MONITOR_CHANGES_TRIMMED {
                continue;
            }
            entry.changes_added = 0;
            drop(monitors);
            records::trim_changes(&self.engine, batch, *id, limits::MONITOR_CHANGES_MAX)?;
        }
        Ok(())
    }
}

impl Monitors {
    /// Leaves out the time in which nobody attended to the monitors, if it is long, or if the clock
    /// was set back.
    fn attend(&mut self, now: TimestampMs) {
        let last = std::mem::replace(&mut self.attended_at, now);
        let passed = now.0.saturating_sub(last.0);
        if (-GAP_MS..=GAP_MS).contains(&passed) {
            return;
        }
        tracing::warn!(seconds = passed / 1_000, "monitors were not attended to for a while");
        for (id, entry) in &mut self.entries {
            entry.condition.leave_out(last, now);
            self.changed.insert(*id);
        }
    }
}

impl From<&Entry> for CurrentMonitor {
    fn from(entry: &Entry) -> Self {
        Self {
            monitor: Arc::clone(&entry.monitor),
            revision: entry.revision,
            condition: entry.condition.clone(),
        }
    }
}

fn bytes_of(entries: &BTreeMap<MonitorId, Entry>) -> u64 {
    // Each has 90 days sooner or later.
    let days = 48 * usize::try_from(limits::UPTIME_DAYS).unwrap_or(0);
    let of = |entry: &Entry| size_of::<Entry>() + entry.monitor.settings.bytes() + days + 200;
    entries.values().map(of).sum::<usize>() as u64
}
