//! Blocks on their way into an atomic batch: new ones with their catalog entries, old ones out of
//! the catalog.

use std::sync::atomic::Ordering;

use super::Metrics;
use super::block::{BlockInfo, BlockKey};
use super::opened_blocks::NewlyOpened;
use super::registry::StagedRows;
use super::times::NewlyDecoded;
use super::view::ReplacedPoints;
use super::writer::NewBlock;
use crate::error::Result;
use crate::storage::{Batch, Fact, Sync, keyspaces};

/// Blocks and registry rows staged in a batch.
#[derive(Debug, Default)]
pub(crate) struct StagedBlocks {
    pub(super) infos: Vec<BlockInfo>,
    /// Points in no block because later ones replaced them.
    pub(super) replaced: ReplacedPoints,
    /// The staged registry rows; a compaction has none.
    pub(super) registry: StagedRows,
    /// Blocks that stay open; a compaction has none.
    pub(super) opened: NewlyOpened,
    /// The time pages that they refer to.
    pub(super) time_pages: Vec<NewlyDecoded>,
}

impl StagedBlocks {
    /// Returns the number of blocks.
    pub(crate) fn blocks(&self) -> u64 {
        self.infos.len() as u64
    }

    /// Returns the bytes of the blocks.
    pub(crate) fn bytes(&self) -> u64 {
        self.infos.iter().map(|info| u64::from(info.bytes)).sum()
    }
}

impl Metrics {
    /// Stages new blocks and their catalog entries in a batch.
    pub(super) fn stage(&self, blocks: Vec<NewBlock>, batch: &mut Batch) -> StagedBlocks {
        let mut infos = Vec::with_capacity(blocks.len());
        for NewBlock { info, bytes } in blocks {
            batch.put(keyspaces::Catalog, &info.key, info);
            batch.put(keyspaces::Blocks, &info.key, bytes);
            infos.push(info);
        }
        let sequence = self.sequence.load(Ordering::Relaxed);
        batch.put(keyspaces::Meta, &Fact::Sequence, sequence);
        StagedBlocks { infos, ..StagedBlocks::default() }
    }

    /// Removes blocks that were never in a view.
    pub(super) fn remove(&self, keys: &[BlockKey]) -> Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        let mut batch = Batch::new();
        for key in keys {
            self.opened().close(key);
            batch.delete(keyspaces::Catalog, key);
            batch.delete(keyspaces::Blocks, key);
        }
        self.store.write(batch, Sync::No)
    }
}

/// Stages the removal of a block from the catalog. Its bytes are kept as garbage until no reader
/// needs them.
pub(super) fn retire(batch: &mut Batch, key: &BlockKey) {
    batch.delete(keyspaces::Catalog, key);
    batch.put(keyspaces::Garbage, key, ());
}
