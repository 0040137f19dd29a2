//! Loads the metric state from disk when the engine is opened: the registry, the catalog and the
//! last cumulative values. Repairs what damage and interrupted writes have left behind.

use std::collections::BTreeSet;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use roaring::RoaringBitmap;

use super::Metrics;
use super::block::{BlockInfo, BlockKey};
use super::catalog::Catalog;
use super::cumulative;
use super::registry::{CardinalityLimits, LoadedRegistry, Registry, day_of, load};
use super::times::TimePages;
use super::view::View;
use crate::error::Result;
use crate::model::{MetricId, SeriesId};
use crate::options::Options;
use crate::storage::{
    Batch, Caching, Fact, KeyOf, Keyspace, RangeOf, Schema, Store, Sync, keyspaces,
};

/// The size of the cache for decoded time pages is `Options::cache_bytes` divided by this.
const TIMES_CACHE_SHARE: usize = 8;

/// The metrics of a store, before the write-ahead log is replayed.
#[derive(Debug)]
pub(crate) struct OpenedMetrics {
    pub(crate) metrics: Metrics,
    /// The ids of dropped metrics.
    pub(crate) dropped: RoaringBitmap,
    /// Descriptions of what could not be read, one line each.
    pub(crate) damaged: Vec<String>,
}

/// Loads the registry, the catalog and the last cumulative values.
pub(crate) fn open(
    store: Arc<Store>,
    options: Options,
    pool: Arc<rayon::ThreadPool>,
) -> Result<OpenedMetrics> {
    let registry = Registry::new(CardinalityLimits {
        per_metric: options.series_per_metric,
        tag_keys: options.tag_keys_per_metric,
        total: options.series_total,
    });
    let loaded = load(&store, &registry, &pool)?;
    let mut damaged = loaded.damaged.clone();
    let is_registry_whole = damaged.is_empty() && !store.has_lost_entries(Keyspace::Registry)?;
    let before = damaged.len();
    let mut blocks = read_catalog(&store, &mut damaged)?;
    let is_catalog_whole = damaged.len() == before && !store.has_lost_entries(Keyspace::Catalog)?;
    let mut garbage = read_keys(&store, keyspaces::Garbage, &mut damaged)?;
    if is_catalog_whole {
        keep_cataloged(&store, &blocks, &mut garbage)?;
    }
    let quarantined = read_keys(&store, keyspaces::Quarantine, &mut damaged)?;
    if damaged.len() > before || store.has_lost_entries(Keyspace::Catalog)? {
        recover_uncataloged(&store, &garbage, &mut blocks, &mut damaged)?;
        store.clear_lost_entries(Keyspace::Catalog)?;
    }
    let has_blocks = !blocks.is_empty();
    let stored = store.expected_number(Fact::Sequence, has_blocks, &mut damaged)?.unwrap_or(1);
    let past = |key: &BlockKey| key.sequence + 1;
    let sequence = blocks.keys().chain(&garbage).map(past).fold(stored.max(1), u64::max);
    // Compacted sets and time pages take their numbers from the same sequence: the stored number
    // may be lost, and a number must not be used again.
    let sets = blocks.values().filter_map(|info| info.unit).map(|set| set.0 + 1);
    let sequence = sets.fold(sequence, u64::max);
    reserve_ids(&registry, &loaded, &blocks, &garbage);
    // Blocks of a dropped metric were written while it was being dropped: they are removed. Blocks
    // of an unknown metric are kept: only its registry rows are lost.
    let (orphans, known): (Vec<BlockInfo>, Vec<BlockInfo>) =
        blocks.into_values().partition(|info| loaded.dropped.contains(&info.key.metric));
    report_unnamed(&registry, &known, &mut damaged);
    let catalog = Catalog::default().changed(&known, &HashSet::new());
    let view = View::new(catalog, loaded.stats);
    let series = registry.all_series();
    let series_end = registry.next_ids().1;
    let pages: RoaringBitmap = series.iter().map(|(id, _)| cumulative::page_of(*id)).collect();
    view.define(series.into_iter());
    let quarantined = quarantined.into_iter().collect();
    let times_bytes = options.cache_bytes / TIMES_CACHE_SHARE;
    let times = TimePages::open(Arc::clone(&store), times_bytes, &mut damaged)?;
    let sequence = sequence.max(times.number_after_all());
    let view_and_times = (view, times);
    let metrics =
        Metrics::new(store, options, pool, registry, view_and_times, quarantined, sequence);
    *metrics.last_values.lock() =
        cumulative::load(&metrics.store, series_end, &pages, &mut damaged)?;
    metrics.complete_last_days(is_registry_whole)?;
    metrics.delete_garbage(&garbage)?;
    metrics.remove(&orphans.iter().map(|info| info.key).collect::<Vec<_>>())?;
    metrics.release_readable_blocks()?;
    let dropped = loaded.dropped.iter().map(|metric| metric.0).collect();
    Ok(OpenedMetrics { metrics, dropped, damaged })
}

impl Metrics {
    /// Ensures that every series has a last day that is not too early. Older versions wrote none,
    /// and where registry rows were lost, older versions of the rows may have reappeared.
    fn complete_last_days(&self, is_registry_whole: bool) -> Result<()> {
        let catalog = self.view.catalog();
        let last_of = |metric| {
            let blocks = catalog.metric(metric);
            blocks.iter().map(|info| day_of(info.last_time)).max().unwrap_or(0)
        };
        let last: HashMap<MetricId, u32> =
            catalog.metrics().map(|(metric, _)| (metric, last_of(metric))).collect();
        let last_of = |metric| last.get(&metric).copied().unwrap_or(0);
        self.registry.complete_last_days(!is_registry_whole, last_of);
        let mut last_values = self.last_values.lock();
        let mut unknown = RoaringBitmap::new();
        self.view.with_known(|mut known| {
            for (series, time) in last_values.times() {
                if known.contains(series) {
                    self.registry.raise_last_day(series, time);
                } else {
                    unknown.insert(series.0);
                }
            }
        });
        if is_registry_whole {
            // Series that retired or were deleted just before the process was killed.
            last_values.forget(&unknown);
            return Ok(());
        }
        let mut batch = Batch::new();
        let pages = self.registry.stage_last_days(&mut batch)?;
        self.store.repair_suspect_tables()?;
        self.store.write(batch, Sync::Yes)?;
        self.registry.last_days_written(&pages);
        self.store.clear_lost_entries(Keyspace::Registry)
    }
}

/// Loads the catalog and the time pages only, for verification. Changes nothing on disk; the
/// registry is empty.
pub(crate) fn inspect(
    store: Arc<Store>,
    options: Options,
    pool: Arc<rayon::ThreadPool>,
) -> Result<Metrics> {
    let blocks: Vec<BlockInfo> = read_catalog(&store, &mut Vec::new())?.into_values().collect();
    let view = View::new(Catalog::default().changed(&blocks, &HashSet::new()), HashMap::new());
    // Verification reads the time pages again and reports those it cannot read.
    let times = TimePages::open(Arc::clone(&store), options.cache_bytes, &mut Vec::new())?;
    let registry = Registry::new(CardinalityLimits::default());
    Ok(Metrics::new(store, options, pool, registry, (view, times), HashSet::new(), 1))
}

fn read_catalog(store: &Store, damaged: &mut Vec<String>) -> Result<HashMap<BlockKey, BlockInfo>> {
    let mut blocks = HashMap::new();
    let visit = |key: Box<[u8]>, entry: Box<[u8]>| match BlockInfo::from_catalog_entry(&key, &entry)
    {
        Ok(info) => {
            blocks.insert(info.key, info);
        }
        Err(error) => damaged.push(format!("catalog entry {key:02x?}: {error}")),
    };
    let all = RangeOf::all(keyspaces::Catalog);
    let gap = store.read_skipping_damage(all, Caching::Bypass, visit)?;
    if let Some(gap) = gap {
        damaged.push(format!("catalog: {}", gap.error));
    }
    Ok(blocks)
}

/// Removes from the garbage list the blocks that the catalog contains. After damage a deleted entry
/// of either can reappear; the catalog is intact here, so it decides.
fn keep_cataloged(
    store: &Store,
    blocks: &HashMap<BlockKey, BlockInfo>,
    garbage: &mut Vec<BlockKey>,
) -> Result<()> {
    let mut batch = Batch::new();
    for key in garbage.extract_if(.., |key| blocks.contains_key(key)) {
        tracing::warn!(?key, "a block in the catalog was also on the garbage list; it is kept");
        batch.delete(keyspaces::Garbage, &key);
    }
    if batch.len() > 0 { store.write(batch, Sync::No) } else { Ok(()) }
}

/// Recovers the blocks that a damaged catalog does not contain, from the blocks themselves: each
/// block describes itself. Appends a line to `damaged` for each block that is lost with its entry.
fn recover_uncataloged(
    store: &Store,
    garbage: &[BlockKey],
    blocks: &mut HashMap<BlockKey, BlockInfo>,
    damaged: &mut Vec<String>,
) -> Result<()> {
    let garbage: HashSet<BlockKey> = garbage.iter().copied().collect();
    let mut found = Vec::new();
    let visit = |stored: Box<[u8]>, bytes: Box<[u8]>| {
        let key = match BlockKey::decode(&stored) {
            Ok(key) => key,
            Err(error) => return damaged.push(format!("block {stored:02x?}: {error}")),
        };
        if garbage.contains(&key) || blocks.contains_key(&key) {
            return;
        }
        match super::block::describe(key, &bytes) {
            Ok(info) => found.push(info),
            Err(error) => damaged.push(format!("block {key:?}, not in the catalog: {error}")),
        }
    };
    let all = RangeOf::all(keyspaces::Blocks);
    let gap = store.read_skipping_damage(all, Caching::Bypass, visit)?;
    // Blocks in the gap that the catalog lists are found corrupt when they are read; others are
    // lost here.
    damaged.extend(gap.map(|gap| format!("blocks not in the catalog: {}", gap.error)));
    // Written back, so that the next start finds them in the catalog even if the damage gets worse.
    let mut batch = Batch::new();
    for info in found {
        batch.put(keyspaces::Catalog, &info.key, info);
        blocks.insert(info.key, info);
    }
    store.repair_suspect_tables()?;
    store.write(batch, Sync::Yes)
}

/// Reserves all metric and series ids in use on disk, so that none is reused even if registry rows
/// are lost.
fn reserve_ids(
    registry: &Registry,
    loaded: &LoadedRegistry,
    blocks: &HashMap<BlockKey, BlockInfo>,
    garbage: &[BlockKey],
) {
    let metrics = blocks.keys().chain(garbage).map(|key| key.metric);
    let metrics = metrics.chain(loaded.stats.keys().copied()).chain(loaded.dropped.iter().copied());
    let next_metric = metrics.map(|metric| metric.0.saturating_add(1)).max().unwrap_or(0);
    let series = blocks.values().map(|info| info.last_series.saturating_add(1));
    registry.reserve(MetricId(next_metric), SeriesId(series.max().unwrap_or(0)));
}

/// Reports the blocks whose metric is not in the registry.
fn report_unnamed(registry: &Registry, blocks: &[BlockInfo], damaged: &mut Vec<String>) {
    let metrics: BTreeSet<u32> = blocks.iter().map(|info| info.key.metric.0).collect();
    for metric in metrics {
        if registry.name_of(MetricId(metric)).is_none() {
            let count = blocks.iter().filter(|info| info.key.metric.0 == metric).count();
            damaged.push(format!(
                "registry: the name of metric {metric} is lost; its {count} blocks are kept"
            ));
        }
    }
}

fn read_keys<S: Schema>(
    store: &Store,
    keyspace: S,
    damaged: &mut Vec<String>,
) -> Result<Vec<BlockKey>>
where
    BlockKey: KeyOf<S>,
{
    let name = keyspace.keyspace().name();
    let mut keys = Vec::new();
    let mut unread = Vec::new();
    let visit = |key: Box<[u8]>, _: Box<[u8]>| match BlockKey::decode(&key) {
        Ok(key) => keys.push(key),
        Err(error) => unread.push(format!("{name} {key:02x?}: {error}")),
    };
    let gap = store.read_skipping_damage(RangeOf::all(keyspace), Caching::Bypass, visit)?;
    damaged.extend(unread);
    damaged.extend(gap.map(|gap| format!("{name}: {}", gap.error)));
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{MetricType, TimestampMs};
    use crate::options::Maintenance;
    use crate::{Clock, Engine, Write};

    fn keys_of(catalog: &Catalog) -> Vec<BlockKey> {
        let blocks = catalog.metrics().flat_map(|(_, blocks)| blocks.iter());
        blocks.map(|info| info.key).collect()
    }

    #[test]
    fn blocks_and_numbers_that_were_lost_are_recovered_or_reported() {
        let dir = tempfile::tempdir().unwrap();
        let now = TimestampMs(1_700_000_000_000);
        let options = || Options {
            maintenance: Maintenance::Manual,
            clock: Clock::manual(now),
            ..Options::default()
        };
        let engine = Engine::open(dir.path(), options()).unwrap();
        let mut batch = engine.batch();
        for name in ["intact", "corrupt"] {
            let series = batch.series(name, MetricType::Gauge, &[]).unwrap();
            batch.number(MetricType::Gauge, series, now, 1.0);
        }
        let points = batch.finish();
        engine.submit(Write { points, ..Write::default() }, |_| ());
        engine.seal().unwrap();
        let inner = engine.inner();
        let catalog = inner.telemetry.metrics.view().catalog();
        let mut keys = keys_of(&catalog);
        keys.sort_by_key(|key| key.metric.0);
        let [intact, corrupt] = keys[..] else { panic!("{keys:?}") };
        let mut harm = Batch::new();
        for key in [intact, corrupt] {
            harm.put(Keyspace::Catalog, &key.encode(), vec![1]);
        }
        harm.put(Keyspace::Blocks, &corrupt.encode(), vec![1]);
        harm.put(Keyspace::Blocks, b"no key", vec![1]);
        harm.delete(Keyspace::Meta, b"sequence".as_slice());
        inner.store.write(harm, Sync::Yes).unwrap();
        drop((catalog, engine));
        let engine = Engine::open(dir.path(), options()).unwrap();
        let catalog = engine.inner().telemetry.metrics.view().catalog();
        assert_eq!(keys_of(&catalog), [intact]);
        let damage = engine.damage();
        let reported = |start: String| damage.iter().any(|line| line.contains(&start));
        assert!(reported(format!("block {corrupt:?}, not in the catalog")), "{damage:?}");
        assert!(reported(format!("block {:02x?}", b"no key")), "{damage:?}");
        assert!(!reported(format!("block {intact:?}")), "{damage:?}");
        assert!(reported("the number Sequence is lost".to_owned()), "{damage:?}");
    }
}
