//! Blocks on their way into an atomic batch: new ones with their catalog entries, old ones out of the catalog.

use std::sync::atomic::Ordering;

use super::block::{BlockInfo, BlockKey};
use super::registry::StagedRows;
use super::view::Replaced;
use super::writer::NewBlock;
use super::{Metrics, load};
use crate::error::Result;
use crate::storage::{Batch, Keyspace, Sync};

/// What is about to be on disk.
#[derive(Debug)]
pub(crate) struct StagedBlocks {
    pub(super) infos: Vec<BlockInfo>,
    /// Points that are in none of them because later ones replaced them.
    pub(super) replaced: Replaced,
    /// Rows of the registry; merges have none.
    pub(super) registry: StagedRows,
}

impl StagedBlocks {
    /// How many blocks there are.
    pub(crate) fn blocks(&self) -> u64 {
        self.infos.len() as u64
    }

    /// Their bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.infos.iter().map(|info| u64::from(info.bytes)).sum()
    }
}

impl Metrics {
    /// Adds new blocks and their names to a batch.
    pub(super) fn stage(&self, blocks: Vec<NewBlock>, batch: &mut Batch) -> StagedBlocks {
        let mut infos = Vec::with_capacity(blocks.len());
        for NewBlock { info, bytes } in blocks {
            let key = info.key.encode();
            batch.put(Keyspace::Catalog, &key, info.to_catalog_entry());
            batch.put(Keyspace::Blocks, &key, bytes);
            infos.push(info);
        }
        let sequence = self.sequence.load(Ordering::Relaxed);
        batch.put(Keyspace::Meta, load::SEQUENCE_KEY, sequence.to_le_bytes().to_vec());
        StagedBlocks { infos, replaced: Replaced::default(), registry: StagedRows::default() }
    }

    /// Removes blocks that no view has named.
    pub(super) fn remove(&self, keys: &[BlockKey]) -> Result<()> {
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
