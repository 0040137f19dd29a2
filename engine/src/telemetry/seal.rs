//! Sealing: the heads as of a position in the log become blocks, after which the log up to that
//! position is no longer needed.

use std::sync::Arc;

use super::Telemetry;
use super::receipts::ReceiptMap;
use crate::error::Result;
use crate::events::FrozenEvents;
use crate::metrics::FrozenMetrics;
use crate::model::Lsn;
use crate::storage::{Batch, Fact, Store, Sync, keyspaces};

/// The result of a seal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SealReport {
    /// The number of points written to blocks.
    pub points: u64,
    /// The number of events written to blocks.
    pub events: u64,
    /// The number of blocks written.
    pub blocks: u64,
    /// The bytes of the blocks.
    pub bytes: u64,
}

impl std::ops::AddAssign for SealReport {
    fn add_assign(&mut self, other: Self) {
        self.points += other.points;
        self.events += other.events;
        self.blocks += other.blocks;
        self.bytes += other.bytes;
    }
}

/// The frozen state of a seal: everything that the log contains up to a position and the disk does
/// not.
#[derive(Debug)]
pub(crate) struct FrozenTelemetry {
    boundary: Lsn,
    metrics: FrozenMetrics,
    events: FrozenEvents,
    receipts: Arc<ReceiptMap>,
}

/// Reads the last log record that is in the blocks of a store.
pub(crate) fn sealed(store: &Store) -> Result<Lsn> {
    store.number(Fact::Sealed).map(|number| Lsn(number.unwrap_or(0)))
}

impl Telemetry {
    /// Freezes everything up to the record `boundary`. Must be called before the next record is
    /// applied. Does nothing while previously frozen state has not been sealed.
    pub(crate) fn freeze(&self, boundary: Lsn) {
        let mut frozen = self.frozen.lock();
        if frozen.is_some() {
            return;
        }
        *frozen = Some(Arc::new(FrozenTelemetry {
            boundary,
            metrics: self.metrics.freeze(),
            events: self.events.freeze(),
            receipts: self.receipts.lock().freeze(),
        }));
    }

    /// Reports whether frozen state has not been sealed yet.
    pub(crate) fn is_frozen(&self) -> bool {
        self.frozen.lock().is_some()
    }

    /// Seals the frozen state. Returns the position up to which the log is no longer needed, `None`
    /// when nothing is frozen. After a failure the state stays frozen.
    pub(crate) fn seal_frozen(&self) -> Result<Option<(Lsn, SealReport)>> {
        let Some(frozen) = self.frozen.lock().clone() else { return Ok(None) };
        let report = self.write_frozen(&frozen)?;
        *self.frozen.lock() = None;
        Ok(Some((frozen.boundary, report)))
    }

    fn write_frozen(&self, frozen: &FrozenTelemetry) -> Result<SealReport> {
        let mut batch = Batch::new();
        let metrics = self.metrics.stage_seal(&frozen.metrics, frozen.boundary, &mut batch)?;
        let events = self.events.stage_seal(&frozen.events, &mut batch)?;
        let report = SealReport {
            points: frozen.metrics.points(),
            events: frozen.events.rows(),
            blocks: metrics.blocks() + events.blocks(),
            bytes: metrics.bytes() + events.bytes(),
        };
        frozen.receipts.values().for_each(|receipt| receipt.stage(&mut batch));
        batch.put(keyspaces::Meta, &Fact::Sealed, frozen.boundary.0);
        self.store.write(batch, Sync::Yes)?;
        // Infallible from here on: the frozen state is on disk and would be stored twice if it were
        // sealed again.
        self.events.sealed(events);
        self.metrics.sealed(&frozen.metrics, metrics);
        self.receipts.lock().sealed();
        Ok(report)
    }
}
