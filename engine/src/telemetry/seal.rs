//! One seal: the heads of a position in the log become blocks, and the log before it is not needed any more.

use std::sync::Arc;

use super::Telemetry;
use super::receipts::ReceiptMap;
use crate::error::Result;
use crate::events::FrozenEvents;
use crate::metrics::FrozenMetrics;
use crate::model::Lsn;
use crate::storage::{Batch, Keyspace, Store, Sync};

/// The last record of the log that is in blocks: u64, little-endian.
const SEALED_KEY: &[u8] = b"sealed";

/// What a seal moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SealReport {
    /// Points that went from memory to blocks.
    pub points: u64,
    /// Events that went from memory to blocks.
    pub events: u64,
    /// Blocks that they became.
    pub blocks: u64,
    /// Bytes of the blocks.
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

/// Everything that the log holds up to a position and the disk does not: what a seal has to write.
#[derive(Debug)]
pub(crate) struct Frozen {
    boundary: Lsn,
    metrics: FrozenMetrics,
    events: FrozenEvents,
    receipts: Arc<ReceiptMap>,
}

/// The last record of the log that is in the blocks of a store.
pub(crate) fn sealed(store: &Store) -> Result<Lsn> {
    store.number(SEALED_KEY).map(|number| Lsn(number.unwrap_or(0)))
}

impl Telemetry {
    /// Sets everything aside that came before the record after `boundary`. To be called between those two
    /// records. Nothing happens while what was set aside before is not sealed.
    pub(crate) fn freeze(&self, boundary: Lsn) {
        let mut frozen = self.frozen.lock();
        if frozen.is_some() {
            return;
        }
        *frozen = Some(Arc::new(Frozen {
            boundary,
            metrics: self.metrics.freeze(),
            events: self.events.freeze(),
            receipts: self.receipts.lock().freeze(),
        }));
    }

    /// Whether something is set aside and not sealed yet.
    pub(crate) fn is_frozen(&self) -> bool {
        self.frozen.lock().is_some()
    }

    /// Writes what was set aside. Answers the position up to which the log is not needed any more. After a
    /// failure it stays set aside.
    pub(crate) fn seal_frozen(&self) -> Result<Option<(Lsn, SealReport)>> {
        let Some(frozen) = self.frozen.lock().clone() else { return Ok(None) };
        let report = self.write_frozen(&frozen)?;
        *self.frozen.lock() = None;
        Ok(Some((frozen.boundary, report)))
    }

    fn write_frozen(&self, frozen: &Frozen) -> Result<SealReport> {
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
        batch.put(Keyspace::Meta, SEALED_KEY, frozen.boundary.0.to_le_bytes().to_vec());
        self.store.write(batch, Sync::Yes)?;
        // Nothing fails from here on: what was set aside is on disk, and would be stored twice if it was sealed again.
        self.events.sealed(events);
        self.metrics.sealed(&frozen.metrics, metrics);
        self.receipts.lock().sealed();
        Ok(report)
    }
}
