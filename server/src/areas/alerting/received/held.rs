//! The received alerts that have not ended.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use telltale_engine::{Engine, RecordBatch, TimestampMs};

use super::store;
use crate::areas::alerting::alertmanager::PostedAlert;
use crate::areas::alerting::ledger::GroupHash;
use crate::areas::alerting::limits;

/// All received alerts that have not ended, by the hash of their labels.
#[derive(Debug)]
pub(in crate::areas::alerting) struct ReceivedAlerts {
    engine: Engine,
    alerts: Mutex<BTreeMap<GroupHash, Arc<ReceivedAlert>>>,
    /// What they take in memory, for readers that must not wait.
    bytes: AtomicU64,
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
    /// Those that fire, or were kept and have ended. Which of them fire is known to
    /// [`ReceivedAlerts::get`]: another request may have changed it meanwhile.
    pub(super) changed: BTreeMap<GroupHash, Arc<ReceivedAlert>>,
    /// The number of those for which there was no space.
    pub(super) refused: usize,
}

impl ReceivedAlerts {
    /// Loads the alerts.
    pub(in crate::areas::alerting) fn open(engine: Engine) -> telltale_engine::Result<Self> {
        let alerts = store::read(&engine)?;
        let bytes = AtomicU64::new(bytes_of(&alerts));
        Ok(Self { engine, alerts: Mutex::new(alerts), bytes })
    }

    /// Keeps the alerts of a request; the last one of those with the same labels counts. Durable
    /// when this returns. Blocks.
    pub(super) fn keep(
        &self,
        posted: Vec<PostedAlert>,
        now: TimestampMs,
    ) -> telltale_engine::Result<Kept> {
        let mut alerts = self.alerts.lock();
        let mut kept = Kept::default();
        let mut changes: BTreeMap<GroupHash, Option<Arc<ReceivedAlert>>> = BTreeMap::new();
        let mut space = Space::of(&alerts);
        for posted in posted {
            let has_ended = posted.is_resolved(now);
            let mut received = ReceivedAlert::new(posted, now);
            let hash = received.hash();
            let known = changes.get(&hash).map_or_else(|| alerts.get(&hash), Option::as_ref);
            if has_ended {
                if let Some(known) = known {
                    space.give_back(known);
                    kept.changed.insert(hash, Arc::new(received));
                    changes.insert(hash, None);
                }
                continue;
            }
            if !space.take(&received, known.map(Arc::as_ref)) {
                let Some(known) = known else {
                    kept.refused += 1;
                    continue;
                };
                // It goes on with its old text: an alert that fires must not end for that.
                received = ReceivedAlert {
                    labels: known.labels.clone(),
                    annotations: known.annotations.clone(),
                    generator_url: known.generator_url.clone(),
                    ..received
                };
            }
            let received = Arc::new(received);
            kept.changed.insert(hash, Arc::clone(&received));
            changes.insert(hash, Some(received));
        }
        let mut batch = RecordBatch::new();
        for (hash, received) in &changes {
            store::put(&mut batch, *hash, received.as_deref());
        }
        self.engine.records().write(batch)?;
        for (hash, received) in changes {
            match received {
                Some(received) => alerts.insert(hash, received),
                None => alerts.remove(&hash),
            };
        }
        self.bytes.store(bytes_of(&alerts), Ordering::Relaxed);
        Ok(kept)
    }

    /// Removes the alerts that were not repeated in time, and returns them. Blocks.
    pub(super) fn expire(
        &self,
        now: TimestampMs,
    ) -> telltale_engine::Result<Vec<Arc<ReceivedAlert>>> {
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
        let ended = ended.iter().filter_map(|hash| alerts.remove(hash)).collect();
        self.bytes.store(bytes_of(&alerts), Ordering::Relaxed);
        Ok(ended)
    }

    /// Returns whether there is none.
    pub(in crate::areas::alerting) fn is_empty(&self) -> bool {
        self.alerts.lock().is_empty()
    }

    /// Returns an alert that has not ended.
    pub(super) fn get(&self, hash: GroupHash) -> Option<Arc<ReceivedAlert>> {
        self.alerts.lock().get(&hash).cloned()
    }

    /// Returns the alerts.
    pub(super) fn all(&self) -> Vec<Arc<ReceivedAlert>> {
        self.alerts.lock().values().cloned().collect()
    }

    /// Returns roughly how much memory they take, in bytes.
    pub(in crate::areas::alerting) fn memory_bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

fn bytes_of(alerts: &BTreeMap<GroupHash, Arc<ReceivedAlert>>) -> u64 {
    alerts.values().map(|alert| alert.bytes()).sum::<usize>() as u64
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
    fn of(alerts: &BTreeMap<GroupHash, Arc<ReceivedAlert>>) -> Self {
        let bytes = alerts.values().map(|alert| alert.bytes()).sum();
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
