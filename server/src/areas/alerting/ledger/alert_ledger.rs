//! The alerts in memory, and the one way in which they change.
//!
//! A change is prepared from the state, stored, and then applied. One change at a time is prepared;
//! readers wait only while one is applied. So what a reader sees is on disk, and a restart sees
//! what the last reader saw or later.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockUpgradableReadGuard};
use telltale_engine::{Clock, Engine, RecordBatch, TimestampMs};

use super::change::{Change, Prepared};
use super::clock_watch::ClockWatch;
use super::directory::Directory;
use super::group::Group;
use super::listing::Ended;
use super::message::Message;
use super::model::{Alert, AlertId, DeliveryStatus, Destination, GroupHash, LogEntry, RuleRef};
use super::outbox::{NextMessage, Outbox, StaleEntry};
use super::stored::{self, GroupKey};
use super::weighed::WeighedMap;
use crate::areas::alerting::channels::Progress;
use crate::areas::alerting::error::AlertingError;
use crate::areas::alerting::ids::RuleId;
use crate::areas::alerting::limits;
use crate::platform::ids::Ids;

/// Alerts that are deleted in one write.
const TRIMMED_AT_ONCE: usize = 1_000;

/// All alerts of a server.
#[derive(Debug)]
pub(in crate::areas::alerting) struct AlertLedger {
    engine: Engine,
    ids: Arc<Ids>,
    watch: ClockWatch,
    /// Held from before a change is prepared until it is applied.
    changes: Mutex<()>,
    state: RwLock<LedgerState>,
    /// What the state takes in memory, for readers that must not wait for a change.
    bytes: AtomicU64,
}

/// The alerts as stored.
#[derive(Debug, Default)]
pub(super) struct LedgerState {
    /// By rule and group, so that the groups of a rule are together.
    groups: WeighedMap<GroupKey, Group>,
    open: WeighedMap<AlertId, Alert>,
    /// The alerts that have ended; the rest of them is on disk.
    resolved: BTreeMap<AlertId, Ended>,
    outbox: Outbox,
}

/// What became of an attempt to deliver a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::alerting) enum Attempt {
    /// The receiver has it.
    Delivered,
    /// It failed, and may succeed later.
    Failed {
        /// Why.
        reason: String,
        /// How long the receiver asks to wait, in milliseconds.
        retry_after_ms: Option<i64>,
    },
    /// It is given up.
    GivenUp {
        /// Why.
        reason: String,
        /// What the log says.
        status: DeliveryStatus,
    },
}

impl AlertLedger {
    /// Loads the alerts of `engine`. Records that cannot be read are logged and skipped. No timer
    /// began in the future: the clock may have been set back while the server did not run.
    pub(in crate::areas::alerting) fn open(
        engine: Engine,
        ids: Arc<Ids>,
        clock: Clock,
    ) -> telltale_engine::Result<Self> {
        let now = clock.now();
        let mut state = LedgerState::default();
        let mut greatest = None;
        let found = stored::read(&engine, |mut alert| {
            greatest = greatest.max(Some(alert.id));
            alert.begin_by(now);
            state.put_alert(alert);
        })?;
        for damage in &found.damaged {
            tracing::error!(damage, "a record of alerts was skipped");
        }
        if let Some(greatest) = greatest {
            ids.continue_after(greatest.0);
        }
        state.load_groups(found.groups.into_iter().collect(), now);
        for (destination, message) in found.outbox {
            state.outbox.push(destination, message);
        }
        state.outbox.mark_loaded();
        let latest = now.0.saturating_add(limits::RECEIVER_RETRY_MS_MAX);
        state.outbox.bring_forward(TimestampMs(latest));
        let bytes = AtomicU64::new(state.memory_bytes());
        let (watch, changes) = (ClockWatch::new(clock), Mutex::default());
        Ok(Self { engine, ids, watch, changes, state: RwLock::new(state), bytes })
    }

    /// Makes a change: everything that `work` does takes effect together, once it is durable.
    /// Blocks.
    pub(in crate::areas::alerting) fn change<R>(
        &self,
        directory: &Directory,
        work: impl FnOnce(&mut Change<'_>) -> Result<R, AlertingError>,
    ) -> Result<R, AlertingError> {
        let _one_at_a_time = self.changes.lock();
        self.follow_changes_of_clock();
        let (result, mut prepared) = {
            let state = self.state.upgradable_read();
            let mut change = Change::new(&state, directory, &self.ids, self.watch.now());
            let result = work(&mut change)?;
            let prepared = change.finish();
            if !prepared.removed.is_empty() {
                // From here on nobody begins to send what is not to be sent any more.
                let mut state = RwLockUpgradableReadGuard::upgrade(state);
                state.outbox.withhold(&prepared.removed);
            }
            (result, prepared)
        };
        if prepared.dropped > 0 {
            let dropped = prepared.dropped;
            tracing::warn!(dropped, "messages about alerts were dropped: too many wait");
        }
        let written = self.engine.records().write(std::mem::take(&mut prepared.batch));
        let mut state = self.state.write();
        match written {
            Ok(()) => state.apply(prepared),
            Err(_) => state.outbox.release(),
        }
        self.bytes.store(state.memory_bytes(), Ordering::Relaxed);
        drop(state);
        Ok(written.map(|()| result)?)
    }

    /// Moves all timers if the wall clock was changed. Blocks.
    pub(in crate::areas::alerting) fn follow_clock(&self) {
        let _one_at_a_time = self.changes.lock();
        self.follow_changes_of_clock();
    }

    /// Returns when the wall clock was changed last, or the server began, on the monotonic clock.
    pub(in crate::areas::alerting) fn clock_unchanged_since(&self) -> Duration {
        self.watch.unchanged_since()
    }

    /// The same as [`Self::follow_clock`], for who holds the lock of changes.
    fn follow_changes_of_clock(&self) {
        let Some(ms) = self.watch.change() else { return };
        tracing::warn!(milliseconds = ms, "the clock was changed: the timers of alerts follow it");
        let batch = self.state.write().shift(ms);
        // In memory they have moved, which is what matters until the next start.
        if let Err(error) = self.engine.records().write(batch) {
            tracing::error!(%error, "the timers of alerts could not be stored");
        }
    }

    /// Returns the labels of the groups of a rule that are not calm.
    pub(in crate::areas::alerting) fn groups_of(&self, rule: &RuleRef) -> Vec<(GroupHash, Group)> {
        let state = self.state.read();
        let of_rule = state.groups_of(rule);
        of_rule.filter_map(|key| Some((key.1, state.groups.get(key)?.clone()))).collect()
    }

    /// Returns the rules with groups that are not calm.
    pub(in crate::areas::alerting) fn rules(&self) -> Vec<RuleId> {
        let state = self.state.read();
        let mut rules: Vec<RuleId> = Vec::new();
        for (rule, _) in state.groups.keys() {
            if rule.as_ref() != rules.last() {
                rules.extend(rule.clone());
            }
        }
        rules
    }

    /// Returns whether there is nothing whose time could come: no open alert, and no group that
    /// waits.
    pub(in crate::areas::alerting) fn is_calm(&self) -> bool {
        let state = self.state.read();
        state.open.is_empty() && state.groups.is_empty()
    }

    /// Returns the destinations whose next message is due and is not being delivered, with its
    /// number and how often it was tried.
    pub(in crate::areas::alerting) fn due_destinations(
        &self,
        now: TimestampMs,
    ) -> Vec<(Destination, u64, u32)> {
        self.state.read().outbox.due(now)
    }

    /// Begins to deliver the messages of a destination; `false` if somebody else does.
    pub(in crate::areas::alerting) fn begin_delivery(&self, destination: &Destination) -> bool {
        self.state.write().outbox.begin_delivery(destination)
    }

    /// Ends what [`Self::begin_delivery`] began.
    pub(in crate::areas::alerting) fn end_delivery(&self, destination: &Destination) {
        self.state.write().outbox.end_delivery(destination);
    }

    /// Returns the next message to a destination.
    pub(in crate::areas::alerting) fn next_message(
        &self,
        destination: &Destination,
        now: TimestampMs,
    ) -> NextMessage {
        self.state.read().outbox.next(destination, now)
    }

    /// Records what became of the first message to a destination. Blocks.
    pub(in crate::areas::alerting) fn record_attempt(
        &self,
        destination: &Destination,
        seq: u64,
        attempt: Attempt,
        progress: Progress,
    ) -> Result<(), AlertingError> {
        let _one_at_a_time = self.changes.lock();
        self.follow_changes_of_clock();
        let now = self.watch.now();
        let (mut batch, entries, next) = {
            let state = self.state.read();
            let head = state.outbox.head(destination);
            let Some(head) = head.filter(|head| head.seq == seq) else { return Ok(()) };
            let mut message = Message { progress, ..head.clone() };
            let status = match attempt {
                Attempt::Delivered => DeliveryStatus::Delivered,
                Attempt::Failed { reason, retry_after_ms } => {
                    match message.fail(reason, retry_after_ms, now) {
                        true => DeliveryStatus::Queued,
                        false => DeliveryStatus::Failed,
                    }
                }
                Attempt::GivenUp { reason, status } => {
                    message.attempts = message.attempts.saturating_add(1);
                    message.error = Some(reason);
                    status
                }
            };
            let mut batch = RecordBatch::new();
            let entry = LogEntry::Notification(message.entry(destination, status, now));
            let kept =
                message.alerts.iter().filter(|(alert, number)| state.has_entry(*alert, *number));
            let entries: Vec<StaleEntry> =
                kept.map(|(alert, number)| (*alert, *number, entry.clone())).collect();
            let next = (status == DeliveryStatus::Queued).then_some(message);
            match &next {
                Some(message) => stored::put_message(&mut batch, destination, message),
                None => stored::delete_message(&mut batch, seq),
            }
            (batch, entries, next)
        };
        for (alert, number, entry) in &entries {
            stored::put_entry(&mut batch, *alert, *number, entry);
        }
        let is_over = next.is_none();
        let written = self.engine.records().write(batch);
        let mut state = self.state.write();
        // Also if it could not be stored: a full disk must not send a message again and again.
        state.outbox.replace_head(destination, seq, next);
        if is_over && written.is_err() {
            state.outbox.add_stale(seq, entries);
        }
        self.bytes.store(state.memory_bytes(), Ordering::Relaxed);
        drop(state);
        Ok(written?)
    }

    /// Deletes the alerts that ended before `keep_from`, and the first to end of those beyond the
    /// limit. Returns their number. Blocks.
    pub(in crate::areas::alerting) fn trim(
        &self,
        keep_from: TimestampMs,
    ) -> Result<usize, AlertingError> {
        let _one_at_a_time = self.changes.lock();
        let doomed: Vec<AlertId> = {
            let state = self.state.read();
            // Alerts without a rule go first: nobody asked for them.
            let all = state.resolved.iter();
            let mut ended: Vec<_> =
                all.map(|(id, ended)| (ended.has_rule(), ended.at, *id)).collect();
            ended.sort_unstable();
            let excess = ended.len().saturating_sub(limits::ALERTS_RESOLVED_MAX);
            let ended = ended.into_iter().enumerate();
            let doomed = ended.filter(|(i, (_, at, _))| *i < excess || *at < keep_from);
            doomed.map(|(_, (.., id))| id).collect()
        };
        for some in doomed.chunks(TRIMMED_AT_ONCE) {
            let mut batch = RecordBatch::new();
            some.iter().for_each(|id| stored::delete_alert(&mut batch, *id));
            self.engine.records().write(batch)?;
            let mut state = self.state.write();
            some.iter().for_each(|id| {
                state.resolved.remove(id);
            });
        }
        Ok(doomed.len())
    }

    pub(super) fn state(&self) -> RwLockReadGuard<'_, LedgerState> {
        self.state.read()
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns roughly how much memory it takes, in bytes.
    pub(in crate::areas::alerting) fn memory_bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl LedgerState {
    fn memory_bytes(&self) -> u64 {
        (self.bytes() + self.outbox.bytes() + self.resolved.len() * 150) as u64
    }

    /// Moves all timers. Returns what to store.
    fn shift(&mut self, ms: i64) -> RecordBatch {
        let mut batch = RecordBatch::new();
        self.open.for_each_mut(|(_, alert)| {
            alert.shift(ms);
            stored::put_alert(&mut batch, alert);
        });
        self.groups.for_each_mut(|(key, group)| {
            group.shift(ms);
            stored::put_group(&mut batch, key, Some(group));
        });
        self.outbox.shift(ms);
        for (destination, message) in self.outbox.all() {
            stored::put_message(&mut batch, destination, message);
        }
        batch
    }

    pub(super) fn group(&self, key: &GroupKey) -> Option<&Group> {
        self.groups.get(key)
    }

    pub(super) fn groups_of(&self, rule: &RuleRef) -> impl Iterator<Item = &GroupKey> {
        let range = (rule.clone(), GroupHash(0))..=(rule.clone(), GroupHash(u128::MAX));
        self.groups.range(range).map(|(key, _)| key)
    }

    pub(super) fn open(&self, id: AlertId) -> Option<&Alert> {
        self.open.get(&id)
    }

    pub(super) fn all_open(&self) -> impl Iterator<Item = &Alert> {
        self.open.values()
    }

    pub(super) fn all_ended(&self) -> impl Iterator<Item = (&AlertId, &Ended)> {
        self.resolved.iter()
    }

    pub(super) fn open_count(&self) -> usize {
        self.open.len()
    }

    pub(super) fn is_resolved(&self, id: AlertId) -> bool {
        self.resolved.contains_key(&id)
    }

    pub(super) fn group_count(&self) -> usize {
        self.groups.len()
    }

    pub(super) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Returns roughly how much memory the open alerts and the groups take, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.open.bytes().saturating_add(self.groups.bytes())
    }

    /// Returns whether the log of an alert still has an entry.
    pub(super) fn has_entry(&self, alert: AlertId, number: u32) -> bool {
        match self.open.get(&alert) {
            Some(alert) => number.saturating_add(limits::ALERT_LOG_MAX) >= alert.log_next,
            None => self.resolved.contains_key(&alert),
        }
    }

    /// Takes the groups, and gives open alerts to theirs: the record of a group may have been
    /// unreadable.
    fn load_groups(&mut self, mut groups: BTreeMap<GroupKey, Group>, now: TimestampMs) {
        for group in groups.values_mut() {
            group.alert = group.alert.filter(|id| self.open.contains_key(id));
            group.begin_by(now);
        }
        for alert in self.open.values() {
            let key = (alert.rule.clone(), alert.group);
            let new = || Group::new(alert.labels.clone());
            let group = groups.entry(key).or_insert_with(new);
            if group.alert.is_none() {
                group.adopt(alert.id, alert.since, alert.flapping_since.is_some());
            }
        }
        groups.into_iter().for_each(|(key, group)| self.groups.insert(key, group));
    }

    fn put_alert(&mut self, alert: Alert) {
        match &alert.resolved {
            Some(resolution) => {
                self.open.remove(&alert.id);
                self.resolved.insert(alert.id, Ended::new(&alert, resolution.at));
            }
            None => {
                self.open.insert(alert.id, alert);
            }
        }
    }

    fn apply(&mut self, prepared: Prepared) {
        let Prepared { groups, alerts, messages, removed, .. } = prepared;
        for (key, group) in groups {
            match group {
                Some(group) => self.groups.insert(key, group),
                None => self.groups.remove(&key),
            }
        }
        alerts.into_values().for_each(|alert| self.put_alert(alert));
        self.outbox.remove(&removed);
        for (destination, message) in messages {
            self.outbox.push(destination, message);
        }
        self.outbox.clear_stale();
        self.outbox.forget_empty();
    }
}
