//! Metrics and events side by side, and what belongs to both.

use std::sync::Arc;

use parking_lot::Mutex;

use super::receipts::Receipts;
use super::seal::Frozen;
use crate::documents::Receipt;
use crate::error::Result;
use crate::events::Events;
use crate::log::{Applied, Record, Written};
use crate::metrics::Metrics;
use crate::model::{Lsn, TimestampMs};
use crate::options::Options;
use crate::storage::{KeyRange, Keyspace, Store};

/// All telemetry of one engine.
#[derive(Debug)]
pub(crate) struct Telemetry {
    pub(super) store: Arc<Store>,
    pub(crate) metrics: Metrics,
    pub(crate) events: Events,
    pub(super) options: Options,
    /// Receipts that are in the log and not on disk yet.
    pub(super) receipts: Mutex<Receipts>,
    /// What was taken from the heads and is not in blocks yet; kept when a seal fails.
    pub(super) frozen: Mutex<Option<Arc<Frozen>>>,
}

impl Telemetry {
    pub(crate) fn new(
        store: Arc<Store>,
        options: Options,
        metrics: Metrics,
        events: Events,
    ) -> Self {
        let (receipts, frozen) = (Mutex::default(), Mutex::default());
        Self { store, metrics, events, options, receipts, frozen }
    }

    pub(crate) fn store(&self) -> &Arc<Store> {
        &self.store
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Does what a record in the log says.
    pub(crate) fn apply(&self, applied: Applied) {
        match applied {
            Applied::Write(written) => {
                let Written { points, events, receipt } = *written;
                if let Some(receipt) = receipt {
                    self.receipts.lock().insert(receipt);
                }
                self.metrics.add(points);
                self.events.add(events);
            }
            Applied::Dropped(metric) => self.metrics.drop_metric(metric),
        }
    }

    /// Whether the active heads hold as much as they may.
    pub(crate) fn is_full(&self) -> bool {
        let bytes = self.metrics.view().head_size().active_bytes
            + self.events.active_bytes()
            + self.receipts.lock().active_bytes();
        bytes >= self.options.head_bytes || self.events.is_full()
    }

    /// Does again what a record of the log says, whose definitions are known, and makes room when the heads are full. A write
    /// that the log holds a second time, told by its receipt, is not done: logs of earlier versions may hold one that was
    /// answered with an error beside its repetition.
    pub(crate) fn replay(&self, lsn: Lsn, record: Record) -> Result<()> {
        let Record { points, events, dropped, receipt, .. } = record;
        for metric in dropped {
            self.apply(Applied::Dropped(metric));
        }
        self.events.replayed(&events);
        if !receipt.as_ref().is_some_and(|receipt| self.is_repeated(receipt)) {
            self.apply(Applied::Write(Box::new(Written { points, events, receipt })));
        }
        if self.is_full() {
            self.freeze(lsn);
            self.seal_frozen()?;
        }
        Ok(())
    }

    /// Whether the write with this receipt has been replayed or sealed before. What cannot be read is not known.
    fn is_repeated(&self, receipt: &Receipt) -> bool {
        let earlier = self.receipt_in_force(receipt).ok().flatten();
        earlier.is_some_and(|earlier| earlier.fingerprint == receipt.fingerprint)
    }

    /// The receipt with the same id that was in force when this one was issued.
    pub(super) fn receipt_in_force(&self, receipt: &Receipt) -> Result<Option<Receipt>> {
        let unsealed = self.receipts.lock().get(receipt.id).cloned();
        let earlier = match unsealed {
            Some(earlier) => Some(earlier),
            None => Receipt::read(&self.store, receipt.id)?,
        };
        Ok(earlier.filter(|earlier| earlier.is_in_force_for(receipt)))
    }

    /// Writes memtables out and rewrites tables without what was deleted.
    pub(crate) fn settle_disk(&self) -> Result<()> {
        self.store.flush()?;
        Keyspace::ALL.into_iter().try_for_each(|k| self.store.compact(k, &KeyRange::all()))
    }

    /// The receipt of a write that is not on disk yet, if it has not expired.
    pub(crate) fn unsealed_receipt(&self, id: u128, now: TimestampMs) -> Option<Receipt> {
        let receipts = self.receipts.lock();
        receipts.get(id).filter(|receipt| !receipt.is_expired(now)).cloned()
    }
}
