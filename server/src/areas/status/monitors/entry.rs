//! A monitor in memory, with its condition and when it is checked next.

use std::sync::Arc;
use std::time::Duration;

use telltale_engine::{RecordBatch, TimestampMs};

use super::condition::{CheckResult, MonitorCondition, StateChange, Verdict, day_of};
use super::lane::Prospect;
use super::model::{Monitor, MonitorState, MonitorTarget};
use super::{metrics, records, schedule};
use crate::areas::status::ids::MonitorId;

/// How often it is written as a metric whether a monitor is up.
const SAMPLE_PERIOD_MS: i64 = 60_000;

/// A monitor in memory.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) monitor: Arc<Monitor>,
    pub(super) revision: u64,
    pub(super) condition: MonitorCondition,
    /// When it is checked next, on the monotonic clock.
    pub(super) due: Duration,
    /// The number of the next check.
    pub(super) number: u64,
    /// When that check was handed out.
    pub(super) handed_out_at: Option<Duration>,
    /// The end of the planned maintenance that it is under.
    pub(super) maintained_until: Option<TimestampMs>,
    /// Changes of the state that are not stored.
    pub(super) changes: Vec<StateChange>,
    /// How many were stored since the oldest were deleted.
    pub(super) changes_added: usize,
    pub(super) stored_at: TimestampMs,
    /// The version of all monitors that its last change made.
    pub(super) version: u64,
    /// Whether no check was made for so long that the state is not known any more.
    is_missed: bool,
    /// When it was last written as a metric whether the monitor is up.
    pub(super) sampled_at: TimestampMs,
}

impl Entry {
    pub(super) fn new(monitor: Monitor, revision: u64, now: TimestampMs, steady: Duration) -> Self {
        let covered_ms = schedule::covered_ms(&monitor.settings);
        let mut condition = MonitorCondition { covered_ms, ..MonitorCondition::new(now) };
        condition.pause(monitor.settings.is_paused, now);
        Self {
            monitor: Arc::new(monitor),
            revision,
            condition,
            due: steady,
            number: 0,
            handed_out_at: None,
            maintained_until: None,
            changes: Vec::new(),
            changes_added: 0,
            stored_at: now,
            version: 0,
            is_missed: false,
            sampled_at: TimestampMs(i64::MIN),
        }
    }

    /// Returns a monitor that was in this condition at `alive`, and was not observed since.
    pub(super) fn restored(
        (monitor, revision): (Monitor, u64),
        condition: MonitorCondition,
        alive: TimestampMs,
        now: TimestampMs,
        steady: Duration,
    ) -> Self {
        let (id, is_paused) = (monitor.id, monitor.settings.is_paused);
        let mut entry = Self::new(monitor, revision, now, steady);
        let settings = &entry.monitor.settings;
        entry.condition = MonitorCondition { covered_ms: entry.condition.covered_ms, ..condition };
        entry.stored_at = entry.condition.counted_until;
        entry.condition.leave_out(alive, now);
        let last = entry.condition.last.as_ref().map(|last| last.at);
        entry.due = schedule::after_start(id, settings, last, now, steady);
        // The document may have been changed right before the end of the process.
        entry.changes.extend(entry.condition.pause(is_paused, now));
        entry
    }

    /// Takes other settings. What is checked is checked at once if it is new, or if a pause ends.
    pub(super) fn change(
        &mut self,
        monitor: Monitor,
        revision: u64,
        now: TimestampMs,
        steady: Duration,
    ) {
        let (old, new) = (&self.monitor.settings, &monitor.settings);
        let is_same = old.target == new.target;
        let resumes = old.is_paused && !new.is_paused;
        self.condition.count_until(now);
        if !is_same {
            self.condition.forget_failures(now);
            self.condition.prospect = Prospect::OtherTarget;
        }
        if !is_same || old.interval_seconds != new.interval_seconds {
            // A shorter interval does not make late what was in time.
            self.condition.observed_since = now;
        }
        self.condition.covered_ms = schedule::covered_ms(new);
        let next = schedule::next(monitor.id, new, self.condition.is_failing(), steady);
        self.due = if is_same && !resumes { self.due.min(next) } else { steady };
        self.changes.extend(self.condition.pause(new.is_paused, now));
        (self.monitor, self.revision) = (Arc::new(monitor), revision);
        (self.number, self.handed_out_at) = (self.number + 1, None);
    }

    /// Takes back a check that was handed out and not made.
    pub(super) fn take_back(&mut self) {
        // Under another number: the job of this one may not have ended.
        (self.number, self.handed_out_at) = (self.number + 1, None);
    }

    /// Records the result of a check. Returns whether the state changed.
    pub(super) fn observe(&mut self, id: MonitorId, result: CheckResult, steady: Duration) -> bool {
        let settings = &self.monitor.settings;
        let is_heartbeat = matches!(settings.target, MonitorTarget::Heartbeat { .. });
        let retries = if is_heartbeat { 0 } else { settings.retries };
        let change = self.condition.observe(result, retries);
        let has_changed = change.is_some();
        self.changes.extend(change);
        self.due = schedule::next(id, settings, self.condition.is_failing(), steady);
        (self.number, self.handed_out_at) = (self.number + 1, None);
        has_changed
    }

    /// Begins or ends planned maintenance. Returns whether it did.
    pub(super) fn maintain(
        &mut self,
        maintained: Option<(TimestampMs, TimestampMs)>,
        now: TimestampMs,
    ) -> bool {
        let at = match (maintained, self.maintained_until) {
            (Some((from, _)), _) => from.min(now),
            (None, Some(until)) => until.min(now),
            (None, None) => now,
        };
        self.maintained_until = maintained.map(|(_, until)| until);
        self.condition.set_maintenance(maintained.is_some(), at)
    }

    /// Returns the failed check of a heartbeat that is late.
    pub(super) fn late_heartbeat(&self, now: TimestampMs) -> Option<CheckResult> {
        let settings = &self.monitor.settings;
        let MonitorTarget::Heartbeat { grace_seconds } = settings.target else { return None };
        if settings.is_paused || self.condition.state == MonitorState::Down {
            return None;
        }
        // Nobody could report before the server ran.
        let last = self.condition.last.as_ref().map_or(self.condition.since, |last| last.at);
        let from = last.max(self.condition.observed_since);
        let wait = i64::from(settings.interval_seconds.saturating_add(grace_seconds)) * 1_000;
        let late_at = TimestampMs(from.0.saturating_add(wait));
        let reason = format!("no report within {} s", wait / 1_000);
        (now > late_at).then_some(CheckResult {
            at: late_at,
            verdict: Verdict::Failed(reason),
            response_ms: None,
            certificate_ends_at: None,
            timed_out: false,
            took_ms: 0,
        })
    }

    /// Takes notice of whether checks are made. Returns whether that changed.
    pub(super) fn notice_observation(&mut self, id: MonitorId, now: TimestampMs) -> bool {
        let is_missed = !self.condition.is_observed(now) && !self.monitor.settings.is_paused;
        if is_missed && !self.is_missed {
            tracing::warn!(monitor = id.text(), "checks of a monitor could not be made in time");
        }
        std::mem::replace(&mut self.is_missed, is_missed) != is_missed
    }

    /// Returns whether the monitor is up, if that is known and was not written as a metric for a
    /// while.
    pub(super) fn sample(&mut self, now: TimestampMs) -> Option<f64> {
        let passed = now.0.saturating_sub(self.sampled_at.0).saturating_abs();
        let is_due = passed >= SAMPLE_PERIOD_MS && self.condition.is_observed(now);
        let sample = metrics::up(self.condition.state).filter(|_| is_due)?;
        self.sampled_at = now;
        Some(sample)
    }

    /// Adds to `batch` what changed. Days before `oldest_day` are deleted.
    pub(super) fn put(&mut self, id: MonitorId, oldest_day: i64, batch: &mut RecordBatch) {
        let changed_from = self.stored_at.min(self.condition.counted_until);
        records::put(batch, id, &self.condition, day_of(changed_from));
        self.stored_at = self.condition.counted_until;
        if self.condition.forget_days_before(oldest_day) {
            records::delete_days_before(batch, id, oldest_day);
        }
        for change in self.changes.drain(..) {
            records::put_change(batch, id, &change);
            self.changes_added += 1;
        }
    }
}
