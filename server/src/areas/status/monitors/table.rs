//! All monitors in memory, with their conditions and when each is checked next.
//!
//! A change is made in memory first and then stored. Changes that are made while another is being
//! stored are stored together, and whoever made one waits for that: what was returned is durable.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use telltale_engine::{Clock, Engine, RecordBatch, Result, TimestampMs};

use super::condition::{CheckResult, DayTimes, MonitorCondition, StateChange, day_of, uptime_of};
use super::entry::Entry;
use super::lane::HandOutSpace;
use super::model::{Monitor, MonitorState, MonitorTarget};
use super::records;
use super::store::SealedMonitor;
use crate::areas::status::ids::MonitorId;
use crate::areas::status::{documents, limits};
use crate::platform::outbound::Lane;

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
    /// The conditions of monitors that could not be opened.
    dormant: BTreeMap<MonitorId, MonitorCondition>,
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
    /// The same until the check is done or handed back.
    pub(super) number: u64,
    /// Which of the client's requests it takes.
    pub(super) lane: Lane,
}

impl MonitorTable {
    /// Loads the conditions of these monitors. The time since the server last ran does not count.
    /// Of a monitor that is not among them, the condition is kept as long as its document exists.
    pub(in crate::areas::status) fn open(
        engine: Engine,
        clock: Clock,
        monitors: Vec<(Monitor, u64)>,
    ) -> Result<Self> {
        let (now, steady) = (clock.now(), clock.steady());
        let mut conditions = records::read(&engine)?;
        // Nothing is counted if it is not known.
        let alive = records::read_alive(&engine)?.unwrap_or(TimestampMs(i64::MIN));
        let mut entries = BTreeMap::new();
        for (monitor, revision) in monitors {
            let id = monitor.id;
            let entry = match conditions.remove(&id) {
                Some(condition) => {
                    Entry::restored((monitor, revision), condition, alive, now, steady)
                }
                None => Entry::new(monitor, revision, now, steady),
            };
            entries.insert(id, entry);
        }
        let mut batch = RecordBatch::new();
        records::put_alive(&mut batch, now);
        let mut dormant = BTreeMap::new();
        for (id, mut condition) in conditions {
            if documents::contains::<SealedMonitor>(&engine, &id.text()).unwrap_or(true) {
                tracing::error!(id = id.text(), "a monitor is not checked: it cannot be opened");
                condition.leave_out(alive, now);
                dormant.insert(id, condition);
            } else {
                // The process ended right after the document was deleted.
                records::delete(&mut batch, id);
            }
        }
        if let Err(error) = engine.records().write(batch) {
            // Conditions of deleted monitors are removed at the next start.
            tracing::error!(%error, "the conditions of monitors could not be stored");
        }
        let bytes = AtomicU64::new(bytes_of(&entries));
        let is_changed = |(id, entry): (&MonitorId, &Entry)| {
            let has_changed = !entry.changes.is_empty();
            has_changed.then_some(*id)
        };
        let changed = entries.iter().filter_map(is_changed).collect();
        let monitors = Monitors { entries, dormant, changed, attended_at: now };
        Ok(Self {
            engine,
            clock,
            monitors: RwLock::new(monitors),
            storing: Mutex::new(()),
            bytes,
            version: AtomicU64::new(0),
        })
    }

    /// Adds or replaces a monitor. It is checked at once if what is checked is new, or if a pause
    /// ends.
    pub(super) fn put(&self, monitor: Monitor, revision: u64) {
        let (now, steady) = (self.clock.now(), self.clock.steady());
        let mut monitors = self.monitors.write();
        monitors.attend(now);
        let id = monitor.id;
        if let Some(entry) = monitors.entries.get_mut(&id) {
            entry.change(monitor, revision, now, steady);
        } else {
            let entry = match monitors.dormant.remove(&id) {
                Some(condition) => {
                    let alive = condition.counted_until;
                    Entry::restored((monitor, revision), condition, alive, now, steady)
                }
                None => Entry::new(monitor, revision, now, steady),
            };
            monitors.entries.insert(id, entry);
        }
        let version = self.next_version();
        monitors.entries.entry(id).and_modify(|entry| entry.version = version);
        monitors.changed.insert(id);
        self.bytes.store(bytes_of(&monitors.entries), Ordering::Relaxed);
    }

    /// Removes a monitor with everything that is stored of it. Blocks.
    pub(super) fn remove(&self, id: MonitorId) -> Result<()> {
        let _storing = self.storing.lock();
        let mut monitors = self.monitors.write();
        monitors.entries.remove(&id);
        monitors.dormant.remove(&id);
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

    /// Returns those of the monitors that are wanted whose positions are in `page`, newest first.
    pub(super) fn list(
        &self,
        is_wanted: impl Fn(&Monitor, MonitorState) -> bool,
        page: Range<usize>,
    ) -> Vec<CurrentMonitor> {
        let monitors = self.monitors.read();
        let now = self.clock.now();
        let is_wanted = |entry: &&Entry| is_wanted(&entry.monitor, entry.condition.state_at(now));
        let wanted = monitors.entries.values().rev().filter(is_wanted);
        wanted.skip(page.start).take(page.len()).map(CurrentMonitor::from).collect()
    }

    /// Returns whether there is a monitor.
    pub(in crate::areas::status) fn contains(&self, id: MonitorId) -> bool {
        self.monitors.read().entries.contains_key(&id)
    }

    /// Returns the name of a monitor, and its state as pages show it.
    pub(in crate::areas::status) fn state(&self, id: MonitorId) -> Option<(String, MonitorState)> {
        let monitors = self.monitors.read();
        let entry = monitors.entries.get(&id)?;
        let state = entry.condition.state_at(self.clock.now());
        Some((entry.monitor.settings.name.clone(), state))
    }

    /// Returns since when a monitor is in its state.
    pub(in crate::areas::status) fn state_since(&self, id: MonitorId) -> Option<TimestampMs> {
        self.monitors.read().entries.get(&id).map(|entry| entry.condition.since)
    }

    /// Returns a monitor as status pages show it.
    pub(in crate::areas::status) fn summary(&self, id: MonitorId) -> Option<MonitorSummary> {
        let monitors = self.monitors.read();
        let entry = monitors.entries.get(&id)?;
        let days = entry.condition.last_days(limits::UPTIME_DAYS, self.clock.now());
        let name = entry.monitor.settings.name.clone();
        let state = entry.condition.state_at(self.clock.now());
        let uptime_90d = uptime_of(&days);
        Some(MonitorSummary { name, state, uptime_90d, days })
    }

    /// Returns the checks that are due and were not handed out before, longest due first.
    pub(super) fn hand_out(&self) -> Vec<DueCheck> {
        let steady = self.clock.steady();
        let mut monitors = self.monitors.write();
        let (mut due, mut space) = (Vec::new(), HandOutSpace::default());
        for (id, entry) in &monitors.entries {
            let settings = &entry.monitor.settings;
            let is_checked = !matches!(settings.target, MonitorTarget::Heartbeat { .. });
            let is_out = entry.handed_out_at.is_some_and(|at| at + HAND_OUT_AGAIN > steady);
            let lane = entry.condition.lane();
            if is_out {
                space.take(lane);
            } else if entry.due <= steady && is_checked && !settings.is_paused {
                due.push((entry.due, DueCheck { id: *id, number: entry.number, lane }));
            }
        }
        due.sort_unstable_by_key(|(due, check)| (*due, check.id));
        let due: Vec<DueCheck> = due
            .into_iter()
            .map(|(_, check)| check)
            .filter(|check| space.take(check.lane))
            .collect();
        for check in &due {
            if let Some(entry) = monitors.entries.get_mut(&check.id) {
                entry.handed_out_at = Some(steady);
            }
        }
        due
    }

    /// Takes back checks that were handed out and could not be enqueued or made.
    pub(super) fn hand_back(&self, checks: &[DueCheck]) {
        let mut monitors = self.monitors.write();
        for check in checks {
            let entry = monitors.entries.get_mut(&check.id);
            if let Some(entry) = entry.filter(|entry| entry.number == check.number) {
                entry.take_back();
            }
        }
    }

    /// Takes back a check whose target is slower than usual: it is made again in another lane,
    /// unless something else is checked by now.
    pub(super) fn hand_back_slower(&self, check: DueCheck, began: TimestampMs) {
        let mut monitors = self.monitors.write();
        let entry = monitors.entries.get_mut(&check.id);
        if let Some(entry) = entry.filter(|entry| entry.number == check.number) {
            entry.condition.give_up(began);
            entry.take_back();
        }
    }

    /// Returns the monitor of a check that was handed out, unless it was done meanwhile.
    pub(super) fn begin(&self, check: DueCheck) -> Option<CurrentMonitor> {
        let monitors = self.monitors.read();
        let entry = monitors.entries.get(&check.id)?;
        (entry.number == check.number && !entry.monitor.settings.is_paused).then(|| entry.into())
    }

    /// Records what a check of a monitor found; nothing if the monitor is gone or paused since, or
    /// something else is checked. Returns the monitor as it is then. Durable when this returns.
    /// Blocks.
    pub(super) fn observe(
        &self,
        checked: &Monitor,
        result: CheckResult,
    ) -> Result<Option<CurrentMonitor>> {
        let (id, now) = (checked.id, self.clock.now());
        let mut monitors = self.monitors.write();
        monitors.attend(now);
        let is_checked = |entry: &&mut Entry| {
            let settings = &entry.monitor.settings;
            settings.target == checked.settings.target && !settings.is_paused
        };
        let Some(entry) = monitors.entries.get_mut(&id).filter(is_checked) else {
            return Ok(None);
        };
        if entry.observe(id, result, self.clock.steady()) {
            entry.version = self.next_version();
        }
        entry.sampled_at = now;
        let current = CurrentMonitor::from(&*entry);
        monitors.changed.insert(id);
        drop(monitors);
        self.store()?;
        Ok(Some(current))
    }

    /// Does what time brings: counts it, begins and ends planned maintenance, finds heartbeats that
    /// are late, and stores that the server runs. Returns of which monitors it is to be written as
    /// a metric whether they are up. Blocks.
    pub(super) fn pass_time(&self, maintained: &Maintained) -> Result<Vec<(MonitorId, f64)>> {
        let (now, steady) = (self.clock.now(), self.clock.steady());
        let mut monitors = self.monitors.write();
        monitors.attend(now);
        if monitors.entries.is_empty() {
            return Ok(Vec::new());
        }
        let mut samples = Vec::new();
        let Monitors { entries, changed, .. } = &mut *monitors;
        for (id, entry) in entries {
            let is_late = entry.late_heartbeat(now);
            let mut has_changed = entry.maintain(maintained.get(id).copied(), now);
            if let Some(result) = is_late {
                entry.observe(*id, result, steady);
                entry.sampled_at = TimestampMs(i64::MIN);
                has_changed = true;
            }
            samples.extend(entry.sample(now).map(|up| (*id, up)));
            if entry.notice_observation(*id, now) || has_changed {
                entry.version = self.next_version();
            }
            if has_changed || now.0.saturating_sub(entry.stored_at.0) >= STORE_PERIOD_MS {
                entry.condition.count_until(now);
                changed.insert(*id);
            }
        }
        drop(monitors);
        self.store_all(Some(now))?;
        Ok(samples)
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

    /// Returns the version that the last change of some of the monitors made.
    pub(in crate::areas::status) fn version_of(
        &self,
        monitors: impl Iterator<Item = MonitorId>,
    ) -> u64 {
        let entries = &self.monitors.read().entries;
        let version = |id| entries.get(&id).map(|entry| entry.version);
        monitors.filter_map(version).max().unwrap_or(0)
    }

    fn next_version(&self) -> u64 {
        self.version.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Returns roughly how much memory all takes, in bytes.
    pub(in crate::areas::status) fn memory_bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    fn store_all(&self, alive: Option<TimestampMs>) -> Result<()> {
        let _storing = self.storing.lock();
        let mut batch = RecordBatch::new();
        let mut taken = Vec::new();
        // A wall clock that is wrong for a moment makes no day old.
        let oldest_day = day_of(self.engine.trusted_time().expiry) - limits::UPTIME_DAYS + 1;
        let mut monitors = self.monitors.write();
        for id in std::mem::take(&mut monitors.changed) {
            if let Some(entry) = monitors.entries.get_mut(&id) {
                let before = (entry.stored_at, entry.changes.clone());
                entry.put(id, oldest_day, &mut batch);
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
        if (-GAP_MS..=GAP_MS).contains(&passed) || self.entries.is_empty() {
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
