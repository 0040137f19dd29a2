//! What readers see: the heads and the catalog, changed together.
//!
//! A point is in exactly one of the active head, the head being sealed, and the blocks of the catalog, and
//! moves from one to the next under one lock. A reader takes what it needs under that lock and then reads
//! without it: runs and catalogs are immutable. Blocks that a newer catalog does not name are deleted when nobody
//! holds an older one and the catalog on disk does not name them either: those of a dropped metric go after the next seal.

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
use super::series_map::SeriesMap;
use super::times::TimePageGroup;
use crate::model::{MetricId, PointBatch, SeriesId, TimeRange};

/// Points that later ones replaced, by their metric; those that have any.
pub(crate) type Replaced = HashMap<MetricId, u64>;

/// The points, wherever they are.
#[derive(Debug, Default)]
pub(crate) struct View {
    state: RwLock<State>,
    retired: Mutex<RetiredCatalogs>,
}

#[derive(Debug, Default)]
struct State {
    active: Head,
    sealing: Option<Arc<Head>>,
    catalog: Arc<Catalog>,
    /// The metric of every series that is in the log or on disk; none when it was dropped or has retired.
    metric_of: SeriesMap<MetricId>,
    /// How much each metric was given that is in blocks by now.
    sealed_stats: HashMap<MetricId, MetricStats>,
    /// Metrics that were dropped while their points were being sealed.
    dropped: HashSet<MetricId>,
}

impl State {
    /// The heads, in the order of writing.
    fn heads(&self) -> impl Iterator<Item = &Head> {
        self.sealing.as_deref().into_iter().chain([&self.active])
    }

    fn stats(&self, metric: MetricId) -> MetricStats {
        let mut stats = self.sealed_stats.get(&metric).copied().unwrap_or(MetricStats::EMPTY);
        self.heads().filter_map(|h| h.metric(metric)).for_each(|h| stats.merge(h.stats));
        stats
    }
}

/// The catalogs before the current one that readers may hold, oldest first.
#[derive(Debug, Default)]
struct RetiredCatalogs {
    catalogs: VecDeque<Retired>,
    /// How many there were before the first of them.
    gone: u64,
}

/// A catalog that was replaced, and the blocks that no catalog after it names.
#[derive(Debug)]
struct Retired {
    catalog: Weak<Catalog>,
    blocks: Vec<BlockKey>,
    /// The metric that was dropped with these blocks, until the disk knows: a kill before that brings them back.
    dropped: Option<MetricId>,
}

impl Retired {
    /// Whether nobody can come to the blocks any more.
    fn is_free(&self) -> bool {
        self.dropped.is_none() && self.catalog.strong_count() == 0
    }
}

/// What one query needs of one metric.
#[derive(Debug)]
pub(crate) struct MetricView {
    pub(crate) blocks: Arc<MetricBlocks>,
    /// Runs of both heads, in the order of writing.
    pub(crate) runs: Vec<Arc<Run>>,
    /// Cells of both heads.
    pub(crate) cells: Vec<Arc<CellRun>>,
    /// Keeps the blocks from being deleted.
    _catalog: Arc<Catalog>,
}

/// How much the heads hold.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct HeadSize {
    pub(crate) points: u64,
    pub(crate) active_bytes: usize,
    pub(crate) bytes: usize,
    /// As the account of memory counts them.
    pub(crate) memory_bytes: usize,
}

impl View {
    pub(crate) fn new(catalog: Catalog, stats: HashMap<MetricId, MetricStats>) -> Self {
        let state = State { catalog: Arc::new(catalog), sealed_stats: stats, ..State::default() };
        Self { state: RwLock::new(state), retired: Mutex::default() }
    }

    /// Learns of new series, before any of their points.
    pub(crate) fn define(&self, series: impl Iterator<Item = (SeriesId, MetricId)>) {
        let mut state = self.state.write();
        for (series, metric) in series {
            state.metric_of.insert(series, metric);
        }
    }

    /// Forgets series that have retired. Few at a time: writers and readers wait.
    pub(crate) fn forget(&self, series: &RoaringBitmap) {
        let mut state = self.state.write();
        for series in series {
            state.metric_of.remove(SeriesId(series));
        }
    }

    /// Bytes of what is known of every series.
    pub(crate) fn series_bytes(&self) -> usize {
        self.state.read().metric_of.bytes()
    }

    /// Adds the points of a record, and the values that its histograms came to.
    pub(crate) fn add(&self, batch: &PointBatch, cells: Vec<NewCell>) {
        let mut state = self.state.write();
        let State { active, metric_of, .. } = &mut *state;
        active.add(batch, metric_of);
        active.add_cells(cells, metric_of);
    }

    /// Runs `read` with what tells whether a series has a metric.
    pub(crate) fn with_known<T>(&self, read: impl FnOnce(&dyn Fn(SeriesId) -> bool) -> T) -> T {
        let state = self.state.read();
        read(&|series| state.metric_of.get(series).is_some())
    }

    /// Forgets a metric: its points in the active head and its blocks, which are answered. What is being sealed of
    /// it is left out when the seal is done. The blocks are reachable until [`Self::drops_written`]: the catalog on disk names them.
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

    /// The catalog on disk names no blocks of these metrics any more.
    pub(crate) fn drops_written(&self, metrics: &HashSet<MetricId>) {
        if metrics.is_empty() {
            return;
        }
        for retired in &mut self.retired.lock().catalogs {
            retired.dropped.take_if(|metric| metrics.contains(metric));
        }
    }

    /// Moves the active head aside to be sealed; a head that is already there stays and nothing moves.
    pub(crate) fn freeze(&self) -> Option<Arc<Head>> {
        let mut state = self.state.write();
        if state.sealing.is_none() && !state.active.is_empty() {
            state.sealing = Some(Arc::new(std::mem::take(&mut state.active)));
        }
        state.sealing.clone()
    }

    /// What was sealed of a metric before `head`, and with it.
    pub(crate) fn stats_after(&self, metric: MetricId, head: MetricStats) -> MetricStats {
        let mut stats =
            self.state.read().sealed_stats.get(&metric).copied().unwrap_or(MetricStats::EMPTY);
        stats.merge(head);
        stats
    }

    /// Puts blocks in the place of the head that was being sealed, of which they have all points but those that were replaced. Answers
    /// those that are not wanted any more because their metric was dropped meanwhile.
    pub(crate) fn sealed(&self, blocks: &[BlockInfo], replaced: &Replaced) -> Vec<BlockKey> {
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

    /// What was sealed of a metric, without points that a merge left out; nothing when it was dropped.
    pub(crate) fn sealed_without(&self, metric: MetricId, replaced: u64) -> Option<MetricStats> {
        self.state.read().sealed_stats.get(&metric).map(|stats| stats.without(replaced))
    }

    /// Counts points no more that a merge left out.
    pub(crate) fn replaced_points(&self, metric: MetricId, replaced: u64) {
        if let Some(stats) = self.state.write().sealed_stats.get_mut(&metric) {
            *stats = stats.without(replaced);
        }
    }

    /// Puts blocks in the place of others. Answers false, changing nothing, when one of those is gone.
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
        state: &mut State,
        added: &[BlockInfo],
        removed: &HashSet<BlockKey>,
        dropped: Option<MetricId>,
    ) {
        let next = Arc::new(state.catalog.changed(added, removed));
        let old = std::mem::replace(&mut state.catalog, next);
        let blocks = removed.iter().copied().collect();
        // Also where nothing was removed: its readers may hold blocks that a later change removes.
        let retired = Retired { catalog: Arc::downgrade(&old), blocks, dropped };
        self.retired.lock().catalogs.push_back(retired);
    }

    /// Gives up blocks that no catalog names: new ones of a merge that failed, and those whose deletion failed after they were
    /// returned by [`Self::take_unreachable`].
    pub(crate) fn give_up(&self, blocks: Vec<BlockKey>) {
        if !blocks.is_empty() {
            let retired = Retired { catalog: Weak::new(), blocks, dropped: None };
            self.retired.lock().catalogs.push_back(retired);
        }
    }

    /// The blocks that no reader can come to any more. Each is returned once.
    pub(crate) fn take_unreachable(&self) -> Vec<BlockKey> {
        let mut retired = self.retired.lock();
        // Readers of a block hold the catalog that was the last to name it, or an older one: blocks are free in the order in
        // which they went.
        let free = retired.catalogs.iter().take_while(|r| r.is_free()).count();
        retired.gone += free as u64;
        retired.catalogs.drain(..free).flat_map(|r| r.blocks).collect()
    }

    /// All readers who hold a catalog that is not the current one.
    pub(crate) fn readers(&self) -> ReaderMark {
        let retired = self.retired.lock();
        ReaderMark(retired.gone + retired.catalogs.len() as u64)
    }

    /// Whether these readers are gone, and what was dropped before them is gone from disk.
    pub(crate) fn are_gone(&self, readers: ReaderMark) -> bool {
        let retired = self.retired.lock();
        let held = readers.0.saturating_sub(retired.gone) as usize;
        retired.catalogs.iter().take(held).all(Retired::is_free)
    }

    /// The days of tiers that have blocks, in the catalog or in the hands of readers.
    pub(crate) fn days(&self) -> BTreeSet<(Tier, u32)> {
        // In this order: a block that is let go meanwhile is seen twice and not missed.
        let catalog = self.catalog();
        let present = catalog.metrics().flat_map(|(_, blocks)| blocks.iter().map(|b| b.key));
        let mut days: BTreeSet<(Tier, u32)> = present.map(|key| (key.tier, key.day)).collect();
        let retired = self.retired.lock();
        let held = retired.catalogs.iter().flat_map(|r| &r.blocks);
        days.extend(held.map(|key| (key.tier, key.day)));
        days
    }

    /// The page groups of times that blocks refer to; none while a reader may have a block that is not in the catalog.
    pub(crate) fn page_groups(&self) -> Option<HashSet<TimePageGroup>> {
        let catalog = self.catalog();
        if !self.retired.lock().catalogs.is_empty() {
            return None;
        }
        Some(catalog.page_groups().map(|(page_group, _)| page_group).collect())
    }

    /// What a query needs.
    pub(crate) fn metric(&self, metric: MetricId, range: TimeRange) -> MetricView {
        let state = self.state.read();
        let of_metric = || state.heads().filter_map(|h| h.metric(metric));
        let runs = of_metric().flat_map(|h| h.runs(range)).collect();
        let cells = of_metric().flat_map(|h| h.cells(range)).collect();
        let catalog = Arc::clone(&state.catalog);
        MetricView { blocks: catalog.metric(metric), runs, cells, _catalog: catalog }
    }

    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.state.read().catalog)
    }

    /// How much a metric was given, wherever it is.
    pub(crate) fn stats(&self, metric: MetricId) -> MetricStats {
        self.state.read().stats(metric)
    }

    /// How much a metric was given, and those of its points that are in no block.
    pub(crate) fn stats_and_runs(&self, metric: MetricId) -> (MetricStats, Vec<Arc<Run>>) {
        let state = self.state.read();
        let heads = state.heads().filter_map(|h| h.metric(metric));
        (state.stats(metric), heads.flat_map(|h| h.runs(TimeRange::ALL)).collect())
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
