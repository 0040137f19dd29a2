//! The received alerts that have not ended.

use std::collections::BTreeMap;

use parking_lot::{Mutex, MutexGuard};
use telltale_engine::{Engine, RecordBatch, TimestampMs};

use super::store;
use crate::areas::alerting::alertmanager::PostedAlert;
use crate::areas::alerting::ledger::GroupHash;
use crate::areas::alerting::limits;

/// All received alerts that have not ended, by the hash of their labels.
#[derive(Debug)]
pub(in crate::areas::alerting) struct ReceivedAlerts {
    engine: Engine,
    alerts: Mutex<BTreeMap<GroupHash, ReceivedAlert>>,
}

/// A received alert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::areas::alerting) struct ReceivedAlert {
    pub(super) labels: BTreeMap<String, String>,
    pub(super) annotations: BTreeMap<String, String>,
    pub(super) starts_at: TimestampMs,
    /// It ends then unless it is sent again.
    pub(super) ends_at: TimestampMs,
    /// When it was received last.
    pub(super) updated_at: TimestampMs,
    /// The page that explains it; empty if there is none.
    pub(super) generator_url: String,
}

/// What became of the alerts of a request.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Those that fire.
    pub(super) firing: Vec<ReceivedAlert>,
    /// Those that were kept and have ended.
    pub(super) ended: Vec<ReceivedAlert>,
    /// The number of those for which there was no space.
    pub(super) refused: usize,
}

impl ReceivedAlerts {
    /// Loads the alerts. Senders could not repeat them while the server did not run, so none ends
    /// within [`limits::RECEIVED_RESOLVE_MS`] from now unless its sender says so.
    pub(in crate::areas::alerting) fn open(
        engine: Engine,
        now: TimestampMs,
    ) -> telltale_engine::Result<Self> {
        let mut alerts = store::read(&engine)?;
        let soonest = TimestampMs(now.0.saturating_add(limits::RECEIVED_RESOLVE_MS));
        for alert in alerts.values_mut() {
            alert.ends_at = alert.ends_at.max(soonest);
        }
        Ok(Self { engine, alerts: Mutex::new(alerts) })
    }

    /// Keeps the alerts of a request. Durable when this returns. Blocks.
    pub(super) fn keep(
        &self,
        posted: Vec<PostedAlert>,
        now: TimestampMs,
    ) -> telltale_engine::Result<Kept> {
        let mut alerts = self.alerts.lock();
        let mut kept = Kept::default();
        let mut batch = RecordBatch::new();
        let mut changed: BTreeMap<GroupHash, Option<ReceivedAlert>> = BTreeMap::new();
        let mut space = Space::of(&alerts);
        for posted in posted {
            let has_ended = posted.is_resolved(now);
            let received = ReceivedAlert::new(posted, now);
            let hash = received.hash();
            let known = changed.get(&hash).map_or_else(|| alerts.get(&hash), Option::as_ref);
            if has_ended {
                if let Some(known) = known {
                    space.give_back(known);
                    kept.ended.push(received);
                    changed.insert(hash, None);
                }
            } else if space.take(&received, known) {
                kept.firing.push(received.clone());
                changed.insert(hash, Some(received));
            } else {
                kept.refused += 1;
            }
        }
        for (hash, received) in &changed {
            store::put(&mut batch, *hash, received.as_ref());
        }
        self.engine.records().write(batch)?;
        for (hash, received) in changed {
            match received {
                Some(received) => alerts.insert(hash, received),
                None => alerts.remove(&hash),
            };
        }
        Ok(kept)
    }

    /// Removes the alerts that were not repeated in time, and returns them. Blocks.
    pub(super) fn expire(&self, now: TimestampMs) -> telltale_engine::Result<Vec<ReceivedAlert>> {
        let mut alerts = self.alerts.lock();
        let ended: Vec<GroupHash> = alerts
            .iter()
            .filter(|(_, alert)| alert.ends_at <= now)
            .map(|(hash, _)| *hash)
            .collect();
        if ended.is_empty() {
            return Ok(Vec::new());
        }
        let mut batch = RecordBatch::new();
        ended.iter().for_each(|hash| store::put(&mut batch, *hash, None));
        self.engine.records().write(batch)?;
        Ok(ended.iter().filter_map(|hash| alerts.remove(hash)).collect())
    }

    /// Moves the ends of all alerts, after a change of the clock.
    pub(in crate::areas::alerting) fn shift(&self, ms: i64) {
        for alert in self.alerts.lock().values_mut() {
            alert.ends_at = TimestampMs(alert.ends_at.0.saturating_add(ms));
        }
    }

    /// Returns whether there is none.
    pub(in crate::areas::alerting) fn is_empty(&self) -> bool {
        self.alerts.lock().is_empty()
    }

    /// Returns the alerts.
    pub(super) fn all(&self) -> MutexGuard<'_, BTreeMap<GroupHash, ReceivedAlert>> {
        self.alerts.lock()
    }

    /// Returns roughly how much memory they take, in bytes.
    pub(in crate::areas::alerting) fn memory_bytes(&self) -> u64 {
        self.alerts.lock().values().map(ReceivedAlert::bytes).sum::<usize>() as u64
    }
}

impl ReceivedAlert {
    fn new(posted: PostedAlert, now: TimestampMs) -> Self {
        Self {
            labels: posted.labels().clone(),
            annotations: posted.annotations().clone(),
            starts_at: posted.starts_at(),
            ends_at: posted.end().time(),
            updated_at: now,
            generator_url: posted.generator_url().to_owned(),
        }
    }

    pub(super) fn hash(&self) -> GroupHash {
        let labels = self.labels.iter();
        GroupHash::of(None, labels.map(|(name, value)| (name.as_str(), value.as_str())))
    }

    fn bytes(&self) -> usize {
        let of = |set: &BTreeMap<String, String>| {
            set.iter().map(|(name, value)| 80 + name.len() + value.len()).sum::<usize>()
        };
        300 + of(&self.labels) + of(&self.annotations) + self.generator_url.len()
    }
}

/// The space for more alerts.
struct Space {
    alerts: usize,
    bytes: usize,
}

impl Space {
    fn of(alerts: &BTreeMap<GroupHash, ReceivedAlert>) -> Self {
        let bytes = alerts.values().map(ReceivedAlert::bytes).sum();
        Self {
            alerts: limits::RECEIVED_ALERTS_MAX.saturating_sub(alerts.len()),
            bytes: limits::RECEIVED_BYTES_MAX.saturating_sub(bytes),
        }
    }

    fn give_back(&mut self, alert: &ReceivedAlert) {
        self.alerts += 1;
        self.bytes += alert.bytes();
    }

    /// Takes the space of an alert that replaces a known one. Returns whether there was enough.
    fn take(&mut self, alert: &ReceivedAlert, known: Option<&ReceivedAlert>) -> bool {
        let (more, bytes) = match known {
            Some(known) => (0, alert.bytes().saturating_sub(known.bytes())),
            None => (1, alert.bytes()),
        };
        let fits = self.alerts >= more && self.bytes >= bytes;
        if fits {
            self.alerts -= more;
            self.bytes -= bytes;
        }
        fits
    }
}
