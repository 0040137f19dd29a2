//! State shared by the modules of this folder: the registry, the view, the time pages, the last
//! cumulative values, the quarantine list and the counters.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashSet;
use parking_lot::{Mutex, RwLock};

use super::block::{self, BlockInfo, BlockKey, OpenedBlock, PointBlock, Tier};
use super::cumulative::LastValues;
use super::opened_blocks::{KeptBlock, OpenedBlocks, opened_blocks_bytes};
use super::registry::Registry;
use super::times::TimePages;
use super::view::View;
use crate::error::{Error, Result};
use crate::memory::CompactionMemory;
use crate::model::{MetricId, MetricType, TimestampMs};
use crate::options::Options;
use crate::storage::{Batch, Pinned, Store, Sync, keyspaces};

/// The metric storage of one engine.
#[derive(Debug)]
pub(crate) struct Metrics {
    pub(super) store: Arc<Store>,
    pub(super) registry: Registry,
    pub(super) view: View,
    pub(super) times: TimePages,
    opened: OpenedBlocks,
    options: Options,
    pool: Arc<rayon::ThreadPool>,
    quarantined: RwLock<HashSet<BlockKey>>,
    /// The next sequence number, used in block keys and as the id of a compacted block set.
    pub(super) sequence: AtomicU64,
    /// The last cumulative value of every series. Changed only by the thread that applies log
    /// records.
    pub(super) last_values: Mutex<LastValues>,
    /// Dropped metrics whose drop record is in the log and not yet sealed, each with the blocks to
    /// be removed.
    pub(super) dropped: Mutex<Vec<(MetricId, Vec<BlockKey>)>>,
    /// Blocks that the catalog on disk lists, that no view contains, and that still have to be
    /// removed.
    pub(super) unwanted: Mutex<Vec<BlockKey>>,
    pub(crate) counters: Counters,
}

/// Counters since the engine was opened.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) points: AtomicU64,
    /// Cumulative samples dropped because they were not newer than the last one of their series.
    pub(crate) late_samples: AtomicU64,
    pub(crate) seals: AtomicU64,
    pub(crate) merges: AtomicU64,
    /// Windows waiting for compaction, as of the last compaction pass.
    pub(crate) compactions_waiting: AtomicU64,
    pub(crate) compaction_memory: CompactionMemory,
}

impl Metrics {
    /// Creates the store from the state that [`super::load`] read from disk; the last cumulative
    /// values are empty.
    pub(super) fn new(
        store: Arc<Store>,
        options: Options,
        pool: Arc<rayon::ThreadPool>,
        registry: Registry,
        (view, times): (View, TimePages),
        quarantined: HashSet<BlockKey>,
        sequence: u64,
    ) -> Self {
        Self {
            store,
            registry,
            view,
            times,
            opened: OpenedBlocks::new(opened_blocks_bytes(&options)),
            options,
            pool,
            quarantined: RwLock::new(quarantined),
            sequence: AtomicU64::new(sequence),
            last_values: Mutex::default(),
            dropped: Mutex::default(),
            unwanted: Mutex::default(),
            counters: Counters::default(),
        }
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    pub(crate) fn times(&self) -> &TimePages {
        &self.times
    }

    pub(crate) fn opened(&self) -> &OpenedBlocks {
        &self.opened
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn pool(&self) -> &rayon::ThreadPool {
        &self.pool
    }

    pub(super) fn now(&self) -> TimestampMs {
        self.options.clock.now()
    }

    /// Returns the time of the newest point or cell in blocks, `None` when there are no blocks.
    pub(crate) fn newest_time(&self) -> Option<TimestampMs> {
        let catalog = self.view.catalog();
        catalog.metrics().flat_map(|(_, blocks)| blocks.iter()).map(|info| info.last_time).max()
    }

    /// Allocates a sequence number that no block and no compacted block set uses.
    pub(super) fn next_sequence(&self) -> u64 {
        self.sequence.fetch_add(1, Ordering::Relaxed)
    }

    /// Reads the bytes of a block. Fails with [`Error::Corrupt`] when the block is missing.
    pub(crate) fn read_block(&self, key: &BlockKey) -> Result<Pinned<'_>> {
        let found = self.store.get(keyspaces::Blocks, key)?;
        found.ok_or_else(|| Error::Corrupt(format!("{key:?} is in the catalog but not on disk")))
    }

    /// Returns the block that `info` describes from those that are open, or opens it. The caller
    /// keeps it with [`OpenedBlocks::keep`].
    pub(crate) fn open_block(&self, info: &BlockInfo) -> Result<KeptBlock> {
        match self.opened.get(&info.key) {
            Some(kept) => Ok(kept),
            None => Ok(KeptBlock::new(OpenedBlock::open(info, &self.read_block(&info.key)?)?)),
        }
    }

    /// Checks that `bytes` are the block described by `info` and that the time pages it refers to
    /// can be read.
    pub(crate) fn check_block(&self, info: &BlockInfo, bytes: &[u8]) -> Result<()> {
        block::check(info, bytes)?;
        let has_points = matches!(info.kind, MetricType::Gauge | MetricType::Counter);
        if has_points && info.key.tier == Tier::Raw {
            let find = |page_group, page| self.times.find(page_group, page);
            PointBlock::open(info.key, bytes, find)?.1.prepare()?;
        }
        Ok(())
    }

    /// Opens the block of samples that `info` describes.
    pub(crate) fn open_points<'a>(
        &self,
        info: &BlockInfo,
        bytes: &'a [u8],
    ) -> Result<PointBlock<'a>> {
        let find = |page_group, page| self.times.find(page_group, page);
        let (found, opened) = PointBlock::open(info.key, bytes, find)?;
        block::expect_info(info, found, bytes)?;
        opened.prepare()?;
        Ok(opened)
    }

    /// Returns the bytes of the per-series state outside the registry: the metric of each series
    /// and its last cumulative value.
    pub(crate) fn series_bytes(&self) -> usize {
        self.last_values.lock().bytes() + self.view.series_bytes()
    }

    pub(crate) fn is_quarantined(&self, key: &BlockKey) -> bool {
        let quarantined = self.quarantined.read();
        !quarantined.is_empty() && quarantined.contains(key)
    }

    pub(crate) fn quarantined(&self) -> u64 {
        self.quarantined.read().len() as u64
    }

    /// Quarantines a corrupt block: queries skip it, and it is reported as damage. Its bytes are
    /// kept on disk.
    pub(crate) fn quarantine(&self, key: &BlockKey, reason: &str) {
        if !self.quarantined.write().insert(*key) {
            return;
        }
        self.opened.close(key);
        tracing::error!(?key, reason, "quarantined a corrupt block; it is no longer read");
        let mut batch = Batch::new();
        batch.put(keyspaces::Quarantine, key, reason);
        if let Err(error) = self.store.write(batch, Sync::No) {
            // It is found again when it is read after the next start.
            tracing::error!(?key, %error, "cannot store that a block is quarantined");
        }
    }

    /// Removes a block that is readable from quarantine.
    pub(super) fn release(&self, key: &BlockKey) -> Result<()> {
        let mut batch = Batch::new();
        batch.delete(keyspaces::Quarantine, key);
        self.store.write(batch, Sync::No)?;
        self.quarantined.write().remove(key);
        Ok(())
    }

    /// Forgets the quarantine of blocks that were deleted from disk together with their entries in
    /// it. No reader can quarantine one of them again: none holds any.
    pub(super) fn forget_quarantined(&self, deleted: &[BlockKey]) {
        if self.quarantined() > 0 {
            let mut quarantined = self.quarantined.write();
            for key in deleted {
                quarantined.remove(key);
            }
        }
    }

    /// Describes the quarantined blocks, one line each.
    pub(crate) fn damage(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for key in self.quarantined.read().iter() {
            let reason = self.store.get(keyspaces::Quarantine, key);
            let reason = match &reason {
                Ok(Some(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
                _ => "corrupt".to_owned(),
            };
            lines.push(format!("block {key:?}: {reason}"));
        }
        lines.sort_unstable();
        lines
    }

    /// Returns the type of the metric named `name`, `None` when it does not exist.
    pub(crate) fn kind_of(&self, name: &str) -> Option<MetricType> {
        self.registry.with_metric(name, |metric| metric.kind)
    }
}
