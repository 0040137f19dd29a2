//! What the parts of this folder share: the registry, the view, the blocks on disk, and the counters.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashSet;
use parking_lot::{Mutex, RwLock};

use super::block::{self, BlockInfo, BlockKey, PointBlock, Tier};
use super::readings::Baselines;
use super::registry::Registry;
use super::times::TimePages;
use super::view::View;
use crate::error::{Error, Result};
use crate::memory::MergeMemory;
use crate::model::{MetricId, MetricType, TimestampMs};
use crate::options::Options;
use crate::storage::{Batch, Keyspace, Pinned, Store, Sync};

/// The metrics of one engine.
#[derive(Debug)]
pub(crate) struct Metrics {
    pub(super) store: Arc<Store>,
    pub(super) registry: Registry,
    pub(super) view: View,
    pub(super) times: TimePages,
    options: Options,
    pool: Arc<rayon::ThreadPool>,
    quarantined: RwLock<HashSet<BlockKey>>,
    /// The last part of the names of blocks, and the numbers of units.
    pub(super) sequence: AtomicU64,
    /// What readings are compared with. Changed by the thread that applies records, and by no other.
    pub(super) baselines: Mutex<Baselines>,
    /// Metrics whose drop is in the log, with the blocks to be removed.
    pub(super) dropped: Mutex<Vec<(MetricId, Vec<BlockKey>)>>,
    /// Blocks in the catalog on disk that no view names, and that are still to be removed.
    pub(super) unwanted: Mutex<Vec<BlockKey>>,
    pub(crate) counters: Counters,
}

/// Counts since the engine was opened.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) points: AtomicU64,
    /// Readings that were not later than the one before.
    pub(crate) readings_late: AtomicU64,
    pub(crate) seals: AtomicU64,
    pub(crate) merges: AtomicU64,
    /// Windows that waited to be merged when that was last looked at.
    pub(crate) merges_waiting: AtomicU64,
    pub(crate) merge_memory: MergeMemory,
}

impl Metrics {
    /// No metrics yet: [`super::load`] fills it from disk.
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
            options,
            pool,
            quarantined: RwLock::new(quarantined),
            sequence: AtomicU64::new(sequence),
            baselines: Mutex::default(),
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

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn pool(&self) -> &rayon::ThreadPool {
        &self.pool
    }

    pub(super) fn now(&self) -> TimestampMs {
        self.options.clock.now()
    }

    /// The time of the newest point or cell in blocks, if there are any.
    pub(crate) fn newest_time(&self) -> Option<TimestampMs> {
        let catalog = self.view.catalog();
        catalog.metrics().flat_map(|(_, blocks)| blocks.iter()).map(|info| info.last_time).max()
    }

    /// A number that no other block or unit has.
    pub(super) fn next_sequence(&self) -> u64 {
        self.sequence.fetch_add(1, Ordering::Relaxed)
    }

    /// The bytes of a block.
    pub(crate) fn read_block(&self, key: &BlockKey) -> Result<Pinned<'_>> {
        let found = self.store.get(Keyspace::Blocks, &key.encode())?;
        found.ok_or_else(|| Error::Corrupt(format!("{key:?} is in the catalog but not on disk")))
    }

    /// Checks that bytes are the block that `info` describes and that the times it refers to can be read.
    pub(crate) fn check_block(&self, info: &BlockInfo, bytes: &[u8]) -> Result<()> {
        block::check(info, bytes)?;
        let has_points = matches!(info.kind, MetricType::Gauge | MetricType::Counter);
        if has_points && info.key.tier == Tier::Raw {
            PointBlock::open(info.key, bytes, |page_group, page| {
                self.times.find(page_group, page)
            })?;
        }
        Ok(())
    }

    /// Bytes in memory of what is known of every series besides the registry: its metric and its last reading.
    pub(crate) fn series_bytes(&self) -> usize {
        self.baselines.lock().bytes() + self.view.series_bytes()
    }

    pub(crate) fn is_quarantined(&self, key: &BlockKey) -> bool {
        let quarantined = self.quarantined.read();
        !quarantined.is_empty() && quarantined.contains(key)
    }

    pub(crate) fn quarantined(&self) -> u64 {
        self.quarantined.read().len() as u64
    }

    /// Sets a damaged block aside: no query reads it again, and the operator is told. Its bytes stay where they are.
    pub(crate) fn quarantine(&self, key: &BlockKey, reason: &str) {
        if !self.quarantined.write().insert(*key) {
            return;
        }
        tracing::error!(?key, reason, "a damaged block is set aside: nothing reads it any more");
        let mut batch = Batch::new();
        batch.put(Keyspace::Quarantine, &key.encode(), reason.as_bytes().to_vec());
        // When this cannot be written the block is found damaged again after the next start.
        let _written = self.store.write(batch, Sync::No);
    }

    /// Ends the quarantine of a block that can be read.
    pub(super) fn release(&self, key: &BlockKey) -> Result<()> {
        let mut batch = Batch::new();
        batch.delete(Keyspace::Quarantine, &key.encode());
        self.store.write(batch, Sync::No)?;
        self.quarantined.write().remove(key);
        Ok(())
    }

    /// The damaged blocks, one line each.
    pub(crate) fn damage(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for key in self.quarantined.read().iter() {
            let reason = self.store.get(Keyspace::Quarantine, &key.encode());
            let reason = match &reason {
                Ok(Some(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
                _ => "damaged".to_owned(),
            };
            lines.push(format!("block {key:?}: {reason}"));
        }
        lines.sort_unstable();
        lines
    }

    /// The type of the metric called `name`.
    pub(crate) fn kind_of(&self, name: &str) -> Option<MetricType> {
        self.registry.with_metric(name, |metric| metric.kind)
    }
}
