//! A monitor in memory, with its condition and when it is checked next.

use std::sync::Arc;
use std::time::Duration;

use telltale_engine::{RecordBatch, TimestampMs};

use super::condition::{CheckResult, MonitorCondition, StateChange, Verdict, day_of};
use super::model::{Monitor, MonitorState, MonitorTarget};
use super::{records, schedule};
use crate::areas::status::ids::MonitorId;
use crate::areas::status::limits;

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
}

impl Entry {
    pub(super) fn new(monitor: Monitor, revision: u64, now: TimestampMs, steady: Duration) -> Self {
        Self {
            monitor: Arc::new(monitor),
            revision,
            condition: MonitorCondition::new(now),
            due: steady,
            number: 0,
            handed_out_at: None,
            maintained_until: None,
            changes: Vec::new(),
            changes_added: 0,
            stored_at: now,
        }
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
        let is_new = maintained.is_some() != self.maintained_until.is_some();
        let at = match (maintained, self.maintained_until) {
            (Some((from, _)), _) => from.min(now),
            (None, Some(until)) => until.min(now),
            (None, None) => now,
        };
        self.condition.set_maintenance(maintained.is_some(), at);
        self.maintained_until = maintained.map(|(_, until)| until);
        is_new
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
        })
    }

    /// Adds to `batch` what changed.
    pub(super) fn put(&mut self, id: MonitorId, batch: &mut RecordBatch) {
        records::put(batch, id, &self.condition, day_of(self.stored_at));
        self.stored_at = self.condition.counted_until;
        let oldest = day_of(self.stored_at) - limits::UPTIME_DAYS;
        records::delete_days_before(batch, id, oldest + 1);
        for change in self.changes.drain(..) {
            records::put_change(batch, id, &change);
            self.changes_added += 1;
        }
    }
}
