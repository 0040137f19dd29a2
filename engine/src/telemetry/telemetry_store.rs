//! The metric and event stores of one engine, and the state that belongs to both.

use std::sync::Arc;

use parking_lot::Mutex;

use super::receipts::Receipts;
use super::seal::FrozenTelemetry;
use crate::documents::Receipt;
use crate::error::{Error, Result};
use crate::events::Events;
use crate::log::{Applied, Record, Written};
use crate::metrics::Metrics;
use crate::model::{Lsn, TimestampMs};
use crate::options::Options;
use crate::storage::Store;

/// The telemetry of one engine.
#[derive(Debug)]
pub(crate) struct Telemetry {
    pub(super) store: Arc<Store>,
    pub(crate) metrics: Metrics,
    pub(crate) events: Events,
    pub(super) options: Options,
    /// Receipts that are in the log and not on disk yet.
    pub(super) receipts: Mutex<Receipts>,
    /// State frozen for a seal that is not in blocks yet; kept when a seal fails.
    pub(super) frozen: Mutex<Option<Arc<FrozenTelemetry>>>,
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

    /// Applies a log record.
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

    /// Reports whether the active heads have reached their memory limit.
    pub(crate) fn is_full(&self) -> bool {
        let bytes = self.metrics.view().head_size().active_bytes
            + self.events.active_bytes()
            + self.receipts.lock().active_bytes();
        bytes >= self.options.head_bytes || self.events.is_full()
    }

    /// Applies a replayed record, whose definitions have been restored, and seals if the heads are
    /// full. A write whose receipt is already in force is skipped: logs of earlier versions may
    /// contain a write that was answered with an error and its successful retry. Appends a line to
    /// `damaged` if that cannot be decided; the write is applied then, so that none is lost.
    pub(crate) fn replay(&self, lsn: Lsn, record: Record, damaged: &mut Vec<String>) -> Result<()> {
        let Record { points, events, dropped, receipt, .. } = record;
        for metric in dropped {
            self.apply(Applied::Dropped(metric));
        }
        self.events.replayed(&events);
        let is_repeated = match &receipt {
            Some(receipt) => self.is_repeated(lsn, receipt, damaged)?,
            None => false,
        };
        if !is_repeated {
            self.apply(Applied::Write(Box::new(Written { points, events, receipt })));
        }
        if self.is_full() {
            self.freeze(lsn);
            self.seal_frozen()?;
        }
        Ok(())
    }

    /// Reports whether the write with this receipt has been replayed or sealed before. If its
    /// earlier receipt is corrupt, appends a line to `damaged` and returns false.
    fn is_repeated(&self, lsn: Lsn, receipt: &Receipt, damaged: &mut Vec<String>) -> Result<bool> {
        match self.receipt_in_force(receipt) {
            Ok(earlier) => {
                Ok(earlier.is_some_and(|earlier| earlier.fingerprint == receipt.fingerprint))
            }
            Err(Error::Corrupt(reason)) => {
                damaged.push(format!(
                    "{reason}; log record {} has the same id: its samples and events may count twice",
                    lsn.0
                ));
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the receipt with the same id that was in force when this one was issued.
    pub(super) fn receipt_in_force(&self, receipt: &Receipt) -> Result<Option<Receipt>> {
        let unsealed = self.receipts.lock().get(receipt.id).cloned();
        let earlier = match unsealed {
            Some(earlier) => Some(earlier),
            None => Receipt::read(&self.store, receipt.id)?,
        };
        Ok(earlier.filter(|earlier| earlier.is_in_force_for(receipt)))
    }

    /// Flushes memtables and compacts all tables, which removes deleted data.
    pub(crate) fn settle_disk(&self) -> Result<()> {
        self.store.flush()?;
        self.store.compact_all()
    }

    /// Returns the receipt of a write that is not on disk yet, unless it has expired.
    pub(crate) fn unsealed_receipt(&self, id: u128, now: TimestampMs) -> Option<Receipt> {
        let receipts = self.receipts.lock();
        receipts.get(id).filter(|receipt| !receipt.is_expired(now)).cloned()
    }
}
