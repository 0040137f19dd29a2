//! What the disk holds, read when the engine is opened.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use super::Metrics;
use super::block::{BlockInfo, BlockKey};
use super::catalog::Catalog;
use super::readings;
use super::registry::{Registry, load};
use super::times::TimePages;
use super::view::View;
use crate::error::Result;
use crate::model::SeriesId;
use crate::options::Options;
use crate::storage::{Caching, Direction, KeyRange, Keyspace, Store};

/// The next number of a block: u64, little-endian.
pub(super) const SEQUENCE_KEY: &[u8] = b"sequence";

/// One part in so many of the cache for blocks is for decoded times beside it.
const TIMES_CACHE_SHARE: usize = 8;

/// The metrics of a store, before the log is replayed.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) metrics: Metrics,
    /// What could not be read, one line each.
    pub(crate) damaged: Vec<String>,
}

/// Reads registry, catalog and last readings.
pub(crate) fn open(
    store: Arc<Store>,
    options: Options,
    pool: Arc<rayon::ThreadPool>,
) -> Result<Opened> {
    let registry = Registry::new(options.series_per_metric, options.series_total);
    let loaded = load(&store, &registry)?;
    let mut damaged = loaded.damaged;
    let mut blocks = read_catalog(&store, &mut damaged)?;
    let garbage = read_keys(&store, Keyspace::Garbage)?;
    let quarantined = read_keys(&store, Keyspace::Quarantine)?;
    if !damaged.is_empty() {
        add_unlisted(&store, &garbage, &mut blocks)?;
    }
    let stored = store.number(SEQUENCE_KEY)?.unwrap_or(1);
    let past = |key: &BlockKey| key.sequence + 1;
    let sequence = blocks.keys().chain(&garbage).map(past).fold(stored.max(1), u64::max);
    // Blocks of a metric that is not there were written while it was dropped.
    let known = |info: &BlockInfo| registry.name_of(info.key.metric).is_some();
    let (known, orphans): (Vec<BlockInfo>, Vec<BlockInfo>) =
        blocks.into_values().partition(|info| known(info) || !damaged.is_empty());
    let catalog = Catalog::default().changed(&known, &HashSet::new());
    let view = View::new(catalog, loaded.stats);
    let series = registry.all_series();
    let series_end = series.iter().map(|(series, _)| series.0 + 1).max().unwrap_or(0);
    view.define(series.into_iter());
    let quarantined = quarantined.into_iter().collect();
    let times_bytes = options.cache_bytes / TIMES_CACHE_SHARE;
    let times = TimePages::open(Arc::clone(&store), times_bytes)?;
    let rooms = (view, times);
    let metrics = Metrics::new(store, options, pool, registry, rooms, quarantined, sequence);
    *metrics.baselines.lock() = readings::load(&metrics.store, SeriesId(series_end), &mut damaged)?;
    metrics.delete_garbage(&garbage)?;
    metrics.remove(&orphans.iter().map(|info| info.key).collect::<Vec<_>>())?;
    metrics.release_readable_blocks()?;
    Ok(Opened { metrics, damaged })
}

/// Reads the catalog and nothing else, for verification: changes nothing, and knows no names.
pub(crate) fn inspect(
    store: Arc<Store>,
    options: Options,
    pool: Arc<rayon::ThreadPool>,
) -> Result<Metrics> {
    let blocks: Vec<BlockInfo> = read_catalog(&store, &mut Vec::new())?.into_values().collect();
    let view = View::new(Catalog::default().changed(&blocks, &HashSet::new()), HashMap::new());
    let times = TimePages::open(Arc::clone(&store), options.cache_bytes)?;
    let registry = Registry::new(0, 0);
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
    let gap =
        store.read_around_damage(Keyspace::Catalog, &KeyRange::all(), Caching::Bypass, visit)?;
    if let Some(gap) = gap {
        damaged.push(format!("catalog: {}", gap.error));
    }
    Ok(blocks)
}

/// Finds blocks that a damaged catalog does not name: every block describes itself.
fn add_unlisted(
    store: &Store,
    garbage: &[BlockKey],
    blocks: &mut HashMap<BlockKey, BlockInfo>,
) -> Result<()> {
    let garbage: HashSet<BlockKey> = garbage.iter().copied().collect();
    let visit = |key: Box<[u8]>, bytes: Box<[u8]>| {
        let Ok(key) = BlockKey::decode(&key) else { return };
        if !garbage.contains(&key)
            && !blocks.contains_key(&key)
            && let Ok(info) = super::block::describe(key, &bytes)
        {
            blocks.insert(key, info);
        }
    };
    store
        .read_around_damage(Keyspace::Blocks, &KeyRange::all(), Caching::Bypass, visit)
        .map(|_gap| ())
}

fn read_keys(store: &Store, keyspace: Keyspace) -> Result<Vec<BlockKey>> {
    let mut keys = Vec::new();
    for entry in store.scan(keyspace, &KeyRange::all(), Direction::Forward, Caching::Bypass) {
        let (key, _) = entry?;
        keys.push(BlockKey::decode(&key)?);
    }
    Ok(keys)
}
