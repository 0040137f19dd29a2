//! The alerts in memory, and the one way in which they change.
//!
//! A change is prepared from the state, stored, and then applied. One change at a time is prepared;
//! readers wait only while one is applied. So what a reader sees is on disk, and a restart sees
//! what the last reader saw or later.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock, RwLockReadGuard};
use telltale_engine::{Engine, RecordBatch, TimestampMs};

use super::change::{Change, Prepared};
use super::directory::Directory;
use super::group::Group;
use super::listing::Ended;
use super::message::Message;
use super::model::{Alert, AlertId, DeliveryStatus, Destination, GroupHash, LogEntry, RuleRef};
use super::stored::{self, GroupKey};
use crate::areas::alerting::error::AlertingError;
use crate::areas::alerting::ids::RuleId;
use crate::areas::alerting::limits;
use crate::platform::ids::Ids;

/// All alerts of a server.
#[derive(Debug)]
pub(in crate::areas::alerting) struct AlertLedger {
    engine: Engine,
    ids: Arc<Ids>,
    /// Held from before a change is prepared until it is applied.
    changes: Mutex<()>,
    state: RwLock<LedgerState>,
}

/// The alerts as stored.
#[derive(Debug, Default)]
pub(super) struct LedgerState {
    /// By rule and group, so that the groups of a rule are together.
    groups: BTreeMap<GroupKey, Group>,
    open: BTreeMap<AlertId, Alert>,
    /// The alerts that have ended; the rest of them is on disk.
    resolved: BTreeMap<AlertId, Ended>,
    outbox: HashMap<Destination, Queue>,
    next_seq: u64,
    /// Messages that are over, but still stored because a write failed.
    stale: BTreeSet<u64>,
}

/// The messages to one destination.
#[derive(Debug, Default)]
struct Queue {
    messages: VecDeque<Message>,
    /// Whether the first one is being delivered.
    is_busy: bool,
}

/// The next message to a destination.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::areas::alerting) enum NextMessage {
    /// It can be sent.
    Due(Box<Message>),
    /// It waits for its next attempt.
    Later(TimestampMs),
    /// There is none.
    None,
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
    /// Loads the alerts of `engine`. Records that cannot be read are logged and skipped.
    pub(in crate::areas::alerting) fn open(
        engine: Engine,
        ids: Arc<Ids>,
    ) -> telltale_engine::Result<Self> {
        let found = stored::read(&engine)?;
        for damage in &found.damaged {
            tracing::error!(damage, "a record of alerts was skipped");
        }
        let mut state = LedgerState::default();
        if let Some(greatest) = found.alerts.iter().map(|alert| alert.id).max() {
            ids.continue_after(greatest.0);
        }
        found.alerts.into_iter().for_each(|alert| state.put_alert(alert));
        state.groups = found.groups.into_iter().collect();
        state.adopt_alerts();
        for (destination, message) in found.outbox {
            state.next_seq = state.next_seq.max(message.seq.saturating_add(1));
            state.outbox.entry(destination).or_default().messages.push_back(message);
        }
        Ok(Self { engine, ids, changes: Mutex::default(), state: RwLock::new(state) })
    }

    /// Makes a change: everything that `work` does takes effect together, once it is durable.
    /// Blocks.
    pub(in crate::areas::alerting) fn change<R>(
        &self,
        directory: &Directory,
        now: TimestampMs,
        work: impl FnOnce(&mut Change<'_>) -> Result<R, AlertingError>,
    ) -> Result<R, AlertingError> {
        let _one_at_a_time = self.changes.lock();
        let (result, prepared) = {
            let state = self.state.read();
            let mut change = Change::new(&state, directory, &self.ids, now);
            let result = work(&mut change)?;
            (result, change.finish())
        };
        let Prepared { batch, groups, alerts, messages, removed, dropped } = prepared;
        if dropped > 0 {
            tracing::warn!(dropped, "messages about alerts were dropped: too many wait");
        }
        self.engine.records().write(batch)?;
        self.state.write().apply(groups, alerts, messages, &removed);
        Ok(result)
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
        let state = self.state.read();
        let due = |(destination, queue): (&Destination, &Queue)| {
            let head =
                queue.messages.front().filter(|head| head.due_at <= now && !queue.is_busy)?;
            Some((destination.clone(), head.seq, head.attempts))
        };
        state.outbox.iter().filter_map(due).collect()
    }

    /// Begins to deliver the messages of a destination; `false` if somebody else does.
    pub(in crate::areas::alerting) fn begin_delivery(&self, destination: &Destination) -> bool {
        match self.state.write().outbox.get_mut(destination) {
            Some(queue) => !std::mem::replace(&mut queue.is_busy, true),
            None => false,
        }
    }

    /// Ends what [`Self::begin_delivery`] began.
    pub(in crate::areas::alerting) fn end_delivery(&self, destination: &Destination) {
        if let Some(queue) = self.state.write().outbox.get_mut(destination) {
            queue.is_busy = false;
        }
    }

    /// Returns the next message to a destination.
    pub(in crate::areas::alerting) fn next_message(
        &self,
        destination: &Destination,
        now: TimestampMs,
    ) -> NextMessage {
        let state = self.state.read();
        let head = state.outbox.get(destination).and_then(|queue| queue.messages.front());
        match head {
            None => NextMessage::None,
            Some(message) if message.due_at > now => NextMessage::Later(message.due_at),
            Some(message) => NextMessage::Due(Box::new(message.clone())),
        }
    }

    /// Records what became of the first message to a destination. Blocks.
    pub(in crate::areas::alerting) fn record_attempt(
        &self,
        destination: &Destination,
        seq: u64,
        attempt: Attempt,
        now: TimestampMs,
    ) -> Result<(), AlertingError> {
        let _one_at_a_time = self.changes.lock();
        let (batch, next) = {
            let state = self.state.read();
            let head = state.outbox.get(destination).and_then(|queue| queue.messages.front());
            let Some(head) = head.filter(|head| head.seq == seq) else { return Ok(()) };
            let mut message = head.clone();
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
            for (alert, number) in &message.alerts {
                if state.has_entry(*alert, *number) {
                    stored::put_entry(&mut batch, *alert, *number, &entry);
                }
            }
            let next = (status == DeliveryStatus::Queued).then_some(message);
            match &next {
                Some(message) => stored::put_message(&mut batch, destination, message),
                None => stored::delete_message(&mut batch, seq),
            }
            (batch, next)
        };
        let is_over = next.is_none();
        let written = self.engine.records().write(batch);
        let mut state = self.state.write();
        // Also if it could not be stored: a full disk must not send a message again and again.
        state.replace_head(destination, seq, next);
        if is_over && written.is_err() {
            state.stale.insert(seq);
        }
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
            let mut ended: Vec<_> =
                state.resolved.iter().map(|(id, ended)| (ended.at, *id)).collect();
            ended.sort_unstable();
            let excess = ended.len().saturating_sub(limits::ALERTS_RESOLVED_MAX);
            let ended = ended.into_iter().enumerate();
            let doomed = ended.take_while(|(i, (at, _))| *i < excess || *at < keep_from);
            doomed.map(|(_, (_, id))| id).collect()
        };
        let mut batch = RecordBatch::new();
        doomed.iter().for_each(|id| stored::delete_alert(&mut batch, *id));
        self.engine.records().write(batch)?;
        let mut state = self.state.write();
        doomed.iter().for_each(|id| {
            state.resolved.remove(id);
        });
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
        let state = self.state.read();
        let messages: usize =
            state.outbox.values().flat_map(|queue| queue.messages.iter().map(Message::bytes)).sum();
        let alerts = (state.open.len() + state.groups.len()) * 1_000;
        (messages + alerts + state.resolved.len() * 150) as u64
    }
}

impl LedgerState {
    pub(super) fn group(&self, key: &GroupKey) -> Option<&Group> {
        self.groups.get(key)
    }

    pub(super) fn groups(&self) -> impl Iterator<Item = (&GroupKey, &Group)> {
        self.groups.iter()
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

    pub(super) fn open_ids(&self) -> impl Iterator<Item = AlertId> {
        self.open.keys().copied()
    }

    pub(super) fn open_count(&self) -> usize {
        self.open.len()
    }

    pub(super) fn is_resolved(&self, id: AlertId) -> bool {
        self.resolved.contains_key(&id)
    }

    pub(super) fn next_seq(&self) -> u64 {
        self.next_seq
    }

    pub(super) fn stale(&self) -> impl Iterator<Item = u64> {
        self.stale.iter().copied()
    }

    /// Returns the messages that wait for a destination, oldest first.
    pub(super) fn waiting(&self, destination: &Destination) -> impl Iterator<Item = &Message> {
        self.outbox.get(destination).into_iter().flat_map(|queue| &queue.messages)
    }

    /// Returns the same without the one that is being delivered.
    pub(super) fn droppable(&self, destination: &Destination) -> impl Iterator<Item = &Message> {
        let is_busy = self.outbox.get(destination).is_some_and(|queue| queue.is_busy);
        self.waiting(destination).skip(usize::from(is_busy))
    }

    /// Returns the messages of which no attempt was made.
    pub(super) fn unsent(&self, destination: &Destination) -> impl Iterator<Item = &Message> {
        self.droppable(destination).filter(|message| message.attempts == 0)
    }

    /// Returns whether the log of an alert still has an entry.
    fn has_entry(&self, alert: AlertId, number: u32) -> bool {
        match self.open.get(&alert) {
            Some(alert) => number.saturating_add(limits::ALERT_LOG_MAX) >= alert.log_next,
            None => self.resolved.contains_key(&alert),
        }
    }

    /// Gives open alerts to their groups: the record of a group may have been unreadable.
    fn adopt_alerts(&mut self) {
        for alert in self.open.values() {
            let key = (alert.rule.clone(), alert.group);
            let new = || Group::new(alert.labels.clone());
            let group = self.groups.entry(key).or_insert_with(new);
            if group.alert.is_none() {
                group.adopt(alert.id, alert.since, alert.flapping_since.is_some());
            }
        }
        let open = &self.open;
        for group in self.groups.values_mut() {
            group.alert = group.alert.filter(|id| open.contains_key(id));
        }
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

    fn apply(
        &mut self,
        groups: BTreeMap<GroupKey, Option<Group>>,
        alerts: BTreeMap<AlertId, Alert>,
        messages: Vec<(Destination, Message)>,
        removed: &BTreeSet<u64>,
    ) {
        for (key, group) in groups {
            match group {
                Some(group) => self.groups.insert(key, group),
                None => self.groups.remove(&key),
            };
        }
        alerts.into_values().for_each(|alert| self.put_alert(alert));
        if !removed.is_empty() {
            for queue in self.outbox.values_mut() {
                queue.messages.retain(|message| !removed.contains(&message.seq));
            }
        }
        for (destination, message) in messages {
            self.next_seq = self.next_seq.max(message.seq.saturating_add(1));
            self.outbox.entry(destination).or_default().messages.push_back(message);
        }
        self.stale.clear();
        self.outbox.retain(|_, queue| queue.is_busy || !queue.messages.is_empty());
    }

    fn replace_head(&mut self, destination: &Destination, seq: u64, next: Option<Message>) {
        let Some(queue) = self.outbox.get_mut(destination) else { return };
        if queue.messages.front().is_some_and(|head| head.seq == seq) {
            queue.messages.pop_front();
            if let Some(message) = next {
                queue.messages.push_front(message);
            }
        }
    }
}
