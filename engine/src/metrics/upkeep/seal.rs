//! One seal: the head of a position in the log becomes blocks, and the log before it is not needed any more.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::super::block::{BlockInfo, BlockKey, WriteOrder};
use super::super::head::Head;
use super::super::registry::{RegistryRows, Unsealed};
use super::super::seal;
use super::super::writer::{BlockOrigin, NewBlock};
use super::super::{Metrics, load};
use crate::codec::integers::Effort;
use crate::documents::Receipt;
use crate::error::Result;
use crate::model::{Lsn, MetricId};
use crate::storage::{Batch, Keyspace, Sync};

/// What a seal moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SealReport {
    /// Points that went from memory to blocks.
    pub points: u64,
    /// Blocks that they became.
    pub blocks: u64,
    /// Bytes of the blocks.
    pub bytes: u64,
}

/// Everything that the log holds up to a position and the disk does not: what a seal has to write.
#[derive(Debug)]
pub(crate) struct Frozen {
    pub(crate) boundary: Lsn,
    head: Option<Arc<Head>>,
    news: Unsealed,
    receipts: Vec<Receipt>,
    dropped: Vec<(MetricId, Vec<BlockKey>)>,
}

impl Metrics {
    /// Sets everything aside that came before the record after `boundary`. To be called between those two
    /// records. Nothing happens while what was set aside before is not sealed.
    pub(crate) fn freeze(&self, boundary: Lsn) {
        let mut frozen = self.frozen.lock();
        if frozen.is_some() {
            return;
        }
        *frozen = Some(Arc::new(Frozen {
            boundary,
            head: self.view.freeze(),
            news: self.registry.take_unsealed(),
            receipts: self.receipts.lock().values().cloned().collect(),
            dropped: std::mem::take(&mut self.dropped.lock()),
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
        let order = WriteOrder(frozen.boundary.0);
        let origin = |metric, kind| BlockOrigin {
            metric,
            kind,
            unit: None,
            order,
            effort: Effort::Seal,
            sequence: &self.sequence,
        };
        let blocks = match &frozen.head {
            Some(head) => seal::seal(head, self.now(), origin)?,
            None => Vec::new(),
        };
        let mut batch = Batch::new();
        let mut rows = RegistryRows(&mut batch);
        rows.define(&self.registry, &frozen.news)?;
        for (metric, head) in frozen.head.iter().flat_map(|head| head.metrics()) {
            rows.stats(metric, self.view.stats_after(metric, head.stats));
        }
        for (metric, blocks) in &frozen.dropped {
            RegistryRows(&mut batch).drop_metric(*metric);
            blocks.iter().for_each(|key| retire(&mut batch, key));
        }
        frozen.receipts.iter().for_each(|receipt| receipt.stage(&mut batch));
        batch.put(Keyspace::Meta, load::SEALED_KEY, frozen.boundary.0.to_le_bytes().to_vec());
        let (infos, report) = self.stage(blocks, &mut batch);
        self.store.write(batch, Sync::Yes)?;
        let unwanted = self.view.sealed(&infos);
        self.remove(&unwanted)?;
        let mut receipts = self.receipts.lock();
        frozen.receipts.iter().for_each(|receipt| {
            receipts.remove(&receipt.id);
        });
        drop(receipts);
        self.counters.seals.fetch_add(1, Ordering::Relaxed);
        Ok(SealReport { points: frozen.head.as_ref().map_or(0, |head| head.points()), ..report })
    }

    /// Adds new blocks and their names to a batch.
    pub(super) fn stage(
        &self,
        blocks: Vec<NewBlock>,
        batch: &mut Batch,
    ) -> (Vec<BlockInfo>, SealReport) {
        let mut infos = Vec::with_capacity(blocks.len());
        let mut report = SealReport::default();
        for NewBlock { info, bytes } in blocks {
            report.blocks += 1;
            report.bytes += bytes.len() as u64;
            let key = info.key.encode();
            batch.put(Keyspace::Catalog, &key, info.to_catalog_entry());
            batch.put(Keyspace::Blocks, &key, bytes);
            infos.push(info);
        }
        let sequence = self.sequence.load(Ordering::Relaxed);
        batch.put(Keyspace::Meta, load::SEQUENCE_KEY, sequence.to_le_bytes().to_vec());
        (infos, report)
    }

    /// Removes blocks that no view has named.
    pub(in crate::metrics) fn remove(&self, keys: &[BlockKey]) -> Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        let mut batch = Batch::new();
        for key in keys {
            batch.delete(Keyspace::Catalog, &key.encode());
            batch.delete(Keyspace::Blocks, &key.encode());
        }
        self.store.write(batch, Sync::No)
    }
}

/// Takes a block out of the catalog; its bytes stay until no reader needs them.
pub(super) fn retire(batch: &mut Batch, key: &BlockKey) {
    batch.delete(Keyspace::Catalog, &key.encode());
    batch.put(Keyspace::Garbage, &key.encode(), Vec::new());
}
