//! The view of readers: the heads and the catalog, changed together.
//!
//! A sample is in exactly one of the active head, the head being sealed, and the blocks of the
//! catalog, and moves from one to the next under one lock. A reader takes what it needs under that
//! lock and then reads without it, as runs and catalogs are immutable. A block that a newer catalog
//! does not contain is deleted when no reader has an older catalog and the catalog on disk does not
//! contain it either; the blocks of a dropped metric are deleted after the next seal.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Weak};

use hashbrown::{HashMap, HashSet};
use parking_lot::{Mutex, RwLock};
use roaring::RoaringBitmap;

use super::block::{BlockInfo, BlockKey, Tier};
use super::catalog::{Catalog, MetricBlocks};
use super::head::{CellRun, Head, NewCell, Run};
use super::reader_mark::ReaderMark;
use super::registry::MetricStats;
use super::series_map::{Neighbours, SeriesMap};
use super::times::TimePageGroup;
use crate::model::{MetricId, PointBatch, SeriesId, TimeRange};

/// The number of points replaced by later ones, by metric; metrics without any are absent.
pub(crate) type ReplacedPoints = HashMap<MetricId, u64>;

/// The samples in memory and on disk.
#[derive(Debug, Default)]
pub(crate) struct View {
    state: RwLock<ViewState>,
    retired: Mutex<RetiredCatalogs>,
}

#[derive(Debug, Default)]
struct ViewState {
    active: Head,
    sealing: Option<Arc<Head>>,
    catalog: Arc<Catalog>,
    /// The metric of every series in the log or on disk; none if it was dropped or has retired.
    metric_of: SeriesMap<MetricId>,
    /// The number of samples and the first and last time of each metric, for samples in blocks.
    sealed_stats: HashMap<MetricId, MetricStats>,
    /// The metrics dropped while their samples were being sealed.
    dropped: HashSet<MetricId>,
}

impl ViewState {
    /// Returns the heads, in the order of writing.
    fn heads(&self) -> impl Iterator<Item = &Head> {
        self.sealing.as_deref().into_iter().chain([&self.active])
    }

    fn stats(&self, metric: MetricId) -> MetricStats {
        let mut stats = self.sealed_stats.get(&metric).copied().unwrap_or(MetricStats::EMPTY);
        self.heads().filter_map(|h| h.metric(metric)).for_each(|h| stats.merge(h.stats));
        stats
    }
}

/// The replaced catalogs that readers may still have, oldest first.
#[derive(Debug, Default)]
struct RetiredCatalogs {
    catalogs: VecDeque<RetiredCatalog>,
    /// The number of catalogs removed from the front.
    removed: u64,
}

/// A replaced catalog, and the blocks that no later catalog contains.
#[derive(Debug)]
struct RetiredCatalog {
    catalog: Weak<Catalog>,
    blocks: Vec<BlockKey>,
    /// The metric that was dropped with these blocks, until the drop is on disk: after a crash
    /// before that the blocks are back.
    dropped: Option<MetricId>,
}

impl RetiredCatalog {
    /// Returns whether the blocks are no longer reachable.
    fn is_free(&self) -> bool {
        self.dropped.is_none() && self.catalog.strong_count() == 0
    }
}

/// The series that have a metric.
#[derive(Debug)]
pub(crate) struct KnownSeries<'v>(Neighbours<'v, MetricId>);

impl KnownSeries<'_> {
    /// Returns whether `series` has a metric; fastest if it is a neighbour of the one before.
    #[inline]
    pub(crate) fn contains(&mut self, series: SeriesId) -> bool {
        self.0.get(series).is_some()
    }
}

/// The data of one metric that a query reads.
#[derive(Debug)]
pub(crate) struct MetricView {
    pub(crate) blocks: Arc<MetricBlocks>,
    /// The runs of both heads, in the order of writing.
    pub(crate) runs: Vec<Arc<Run>>,
    /// The cells of both heads.
    pub(crate) cells: Vec<Arc<CellRun>>,
    /// Keeps the blocks from being deleted.
    _catalog: Arc<Catalog>,
}

/// The size of the heads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HeadSize {
    pub(crate) points: u64,
    pub(crate) active_bytes: usize,
    pub(crate) bytes: usize,
    /// As counted by the memory account.
    pub(crate) memory_bytes: usize,
}

impl View {
    pub(crate) fn new(catalog: Catalog, stats: HashMap<MetricId, MetricStats>) -> Self {
        let state =
            ViewState { catalog: Arc::new(catalog), sealed_stats: stats, ..ViewState::default() };
        Self { state: RwLock::new(state), retired: Mutex::default() }
    }

    /// Adds new series; must be called before any of their samples are added.
    pub(crate) fn define(&self, series: impl Iterator<Item = (SeriesId, MetricId)>) {
        let mut state = self.state.write();
        for (series, metric) in series {
            state.metric_of.insert(series, metric);
        }
    }

    /// Removes retired series. Must be called with few at a time, as writers and readers wait.
    pub(crate) fn forget(&self, series: &RoaringBitmap) {
        let mut state = self.state.write();
        for series in series {
            state.metric_of.remove(SeriesId(series));
        }
    }

    /// Returns the size in bytes of the map from series to metrics.
    pub(crate) fn series_bytes(&self) -> usize {
        self.state.read().metric_of.bytes()
    }

    /// Adds the samples of a record, and the cells of its histograms.
    pub(crate) fn add(&self, batch: &PointBatch, cells: Vec<NewCell>) {
        let mut state = self.state.write();
        let ViewState { active, metric_of, .. } = &mut *state;
        active.add(batch, metric_of);
        active.add_cells(cells, metric_of);
    }

    /// Calls `read` with the series that have a metric.
    pub(crate) fn with_known<T>(&self, read: impl FnOnce(KnownSeries<'_>) -> T) -> T {
        read(KnownSeries(self.state.read().metric_of.neighbours()))
    }

    /// Removes a metric: its samples in the active head, and its blocks, which are returned.
    /// Samples that are being sealed are left out when the seal completes. The blocks stay
    /// reachable until [`Self::confirm_drops`], because the catalog on disk contains them.
    pub(crate) fn drop_metric(&self, metric: MetricId, series: &RoaringBitmap) -> Vec<BlockKey> {
        let mut state = self.state.write();
        for id in series {
            state.metric_of.remove(SeriesId(id));
        }
        state.active.drop_metric(metric);
        state.sealed_stats.remove(&metric);
        state.dropped.insert(metric);
        let blocks: HashSet<BlockKey> =
            state.catalog.metric(metric).iter().map(|b| b.key).collect();
        if !blocks.is_empty() {
            self.swap(&mut state, &[], &blocks, Some(metric));
        }
        blocks.into_iter().collect()
    }

    /// Records that the catalog on disk contains no blocks of these metrics any more.
    pub(crate) fn confirm_drops(&self, metrics: &HashSet<MetricId>) {
        if metrics.is_empty() {
            return;
        }
        for retired in &mut self.retired.lock().catalogs {
            retired.dropped.take_if(|metric| metrics.contains(metric));
        }
    }

    /// Moves the active head aside to be sealed and returns it. If a head is already being sealed,
    /// that one is returned and nothing moves.
    pub(crate) fn freeze(&self) -> Option<Arc<Head>> {
        let mut state = self.state.write();
        if state.sealing.is_none() && !state.active.is_empty() {
            state.sealing = Some(Arc::new(std::mem::take(&mut state.active)));
        }
        state.sealing.clone()
    }

    /// Returns the statistics of the sealed samples of a metric, including `head`.
    pub(crate) fn stats_after(&self, metric: MetricId, head: MetricStats) -> MetricStats {
        let mut stats =
            self.state.read().sealed_stats.get(&metric).copied().unwrap_or(MetricStats::EMPTY);
        stats.merge(head);
        stats
    }

    /// Replaces the head being sealed by its blocks, which have all of its samples except those
    /// that were replaced. Returns the blocks of metrics that were dropped in the meantime.
    pub(crate) fn sealed(&self, blocks: &[BlockInfo], replaced: &ReplacedPoints) -> Vec<BlockKey> {
        let mut state = self.state.write();
        let dropped = std::mem::take(&mut state.dropped);
        if let Some(head) = state.sealing.take() {
            for (metric, head) in head.metrics().filter(|(metric, _)| !dropped.contains(metric)) {
                let stats = state.sealed_stats.entry(metric).or_insert(MetricStats::EMPTY);
                stats.merge(head.stats.without(replaced.get(&metric).copied().unwrap_or(0)));
            }
        }
        let (unwanted, wanted): (Vec<BlockInfo>, Vec<BlockInfo>) =
            blocks.iter().partition(|b| dropped.contains(&b.key.metric));
        self.swap(&mut state, &wanted, &HashSet::new(), None);
        unwanted.into_iter().map(|b| b.key).collect()
    }

    /// Returns the statistics of the sealed samples of a metric without `replaced` samples that a
    /// compaction left out; `None` when it was dropped.
    pub(crate) fn sealed_without(&self, metric: MetricId, replaced: u64) -> Option<MetricStats> {
        self.state.read().sealed_stats.get(&metric).map(|stats| stats.without(replaced))
    }

    /// Subtracts samples that a compaction left out.
    pub(crate) fn replaced_points(&self, metric: MetricId, replaced: u64) {
        if let Some(stats) = self.state.write().sealed_stats.get_mut(&metric) {
            *stats = stats.without(replaced);
        }
    }

    /// Replaces blocks. Returns false and changes nothing when one of `removed` is not in the
    /// catalog.
    pub(crate) fn replace(&self, added: &[BlockInfo], removed: &HashSet<BlockKey>) -> bool {
        let mut state = self.state.write();
        if state.catalog.present(removed) < removed.len() {
            return false;
        }
        self.swap(&mut state, added, removed, None);
        true
    }

    fn swap(
        &self,
        state: &mut ViewState,
        added: &[BlockInfo],
        removed: &HashSet<BlockKey>,
        dropped: Option<MetricId>,
    ) {
        let next = Arc::new(state.catalog.changed(added, removed));
        let old = std::mem::replace(&mut state.catalog, next);
        let blocks = removed.iter().copied().collect();
        // Also when no blocks were removed: its readers may have blocks that a later change
        // removes.
        let retired = RetiredCatalog { catalog: Arc::downgrade(&old), blocks, dropped };
        self.retired.lock().catalogs.push_back(retired);
    }

    /// Adds blocks that no catalog contains to those to delete: new blocks of a failed compaction,
    /// and blocks whose deletion failed after [`Self::take_unreachable`] returned them.
    pub(crate) fn give_up(&self, blocks: Vec<BlockKey>) {
        if !blocks.is_empty() {
            let retired = RetiredCatalog { catalog: Weak::new(), blocks, dropped: None };
            self.retired.lock().catalogs.push_back(retired);
        }
    }

    /// Returns the blocks that no reader can reach any more, each once.
    pub(crate) fn take_unreachable(&self) -> Vec<BlockKey> {
        let mut retired = self.retired.lock();
        // Readers of a block have the last catalog that contains it, or an older one, so blocks
        // become unreachable in the order in which they were removed.
        let free = retired.catalogs.iter().take_while(|r| r.is_free()).count();
        retired.removed += free as u64;
        retired.catalogs.drain(..free).flat_map(|r| r.blocks).collect()
    }

    /// Returns a mark for all readers that have a replaced catalog.
    pub(crate) fn readers(&self) -> ReaderMark {
        let retired = self.retired.lock();
        ReaderMark(retired.removed + retired.catalogs.len() as u64)
    }

    /// Returns whether these readers have finished, and metrics dropped before them are dropped on
    /// disk.
    pub(crate) fn have_ended(&self, readers: ReaderMark) -> bool {
        let retired = self.retired.lock();
        let held = readers.0.saturating_sub(retired.removed) as usize;
        retired.catalogs.iter().take(held).all(RetiredCatalog::is_free)
    }

    /// Returns the days of each tier that have blocks, in the catalog or in use by readers.
    pub(crate) fn days(&self) -> BTreeSet<(Tier, u32)> {
        // In this order, a block that is removed in the meantime is seen twice rather than missed.
        let catalog = self.catalog();
        let present = catalog.metrics().flat_map(|(_, blocks)| blocks.iter().map(|b| b.key));
        let mut days: BTreeSet<(Tier, u32)> = present.map(|key| (key.tier, key.day)).collect();
        let retired = self.retired.lock();
        let held = retired.catalogs.iter().flat_map(|r| &r.blocks);
        days.extend(held.map(|key| (key.tier, key.day)));
        days
    }

    /// Returns the page groups that blocks refer to; `None` while a reader may have a block that is
    /// not in the catalog.
    pub(crate) fn page_groups(&self) -> Option<HashSet<TimePageGroup>> {
        let catalog = self.catalog();
        if !self.retired.lock().catalogs.is_empty() {
            return None;
        }
        Some(catalog.page_groups().map(|(page_group, _)| page_group).collect())
    }

    /// Returns the data of a metric within `range`, of the series in `wanted` (all series if
    /// `None`).
    pub(crate) fn metric(
        &self,
        metric: MetricId,
        range: TimeRange,
        wanted: Option<&RoaringBitmap>,
    ) -> MetricView {
        let state = self.state.read();
        let of_metric = || state.heads().filter_map(|h| h.metric(metric));
        let runs = of_metric().flat_map(|h| h.runs(range, wanted)).collect();
        let cells = of_metric().flat_map(|h| h.cells(range)).collect();
        let catalog = Arc::clone(&state.catalog);
        MetricView { blocks: catalog.metric(metric), runs, cells, _catalog: catalog }
    }

    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.state.read().catalog)
    }

    /// Returns the statistics of all samples of a metric.
    pub(crate) fn stats(&self, metric: MetricId) -> MetricStats {
        self.state.read().stats(metric)
    }

    /// Returns the statistics of all samples of a metric, and the runs with those that are not in
    /// blocks.
    pub(crate) fn stats_and_runs(&self, metric: MetricId) -> (MetricStats, Vec<Arc<Run>>) {
        let state = self.state.read();
        let heads = state.heads().filter_map(|h| h.metric(metric));
        (state.stats(metric), heads.flat_map(|h| h.runs(TimeRange::ALL, None)).collect())
    }

    pub(crate) fn head_size(&self) -> HeadSize {
        let state = self.state.read();
        let heads = || state.sealing.as_deref().into_iter().chain([&state.active]);
        HeadSize {
            points: heads().map(Head::points).sum(),
            active_bytes: state.active.bytes(),
            bytes: heads().map(Head::bytes).sum(),
            memory_bytes: heads().map(Head::memory_bytes).sum(),
        }
    }
}
