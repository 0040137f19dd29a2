//! The blocks that stay open between queries, bounded in bytes.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashSet;
use parking_lot::Mutex;
use quick_cache::sync::{Cache, DefaultLifecycle};

use super::block::{BlockInfo, BlockKey, OpenedBlock};
use super::times::PageNumber;
use crate::model::TimestampMs;
use crate::options::Options;

/// The share of [`Options::cache_bytes`] that opened blocks may take; the rest is for tables of the
/// database, which hold the same blocks.
const SHARE: usize = 8;
/// The assumed size of an opened block in bytes, for the number of slots of the cache.
const BLOCK_BYTES: usize = 64 << 10;
/// Bytes of an entry of the cache besides the block.
const ENTRY_BYTES: usize = 128;

/// A query whose blocks have more than this share of the cache keeps none of them open.
const QUERY_SHARE: u64 = 4;

/// Returns the bytes that opened blocks may take.
pub(crate) fn opened_blocks_bytes(options: &Options) -> usize {
    options.cache_bytes / SHARE
}

/// Returns the bytes that are left for what the database caches.
pub(crate) fn database_cache_bytes(options: &Options) -> usize {
    options.cache_bytes - opened_blocks_bytes(options)
}

/// A cache of opened blocks. Keys of blocks are never reused, so an entry is never outdated.
pub(crate) struct OpenedBlocks {
    blocks: Cache<BlockKey, KeptBlock, Weighter, hashbrown::DefaultHashBuilder>,
}

/// A block that is open, and its size when it was put into the cache.
#[derive(Clone, Debug)]
pub(crate) struct KeptBlock {
    block: Arc<OpenedBlock>,
    /// 0 when it is not in the cache yet.
    counted_bytes: usize,
}

impl KeptBlock {
    pub(crate) fn new(block: OpenedBlock) -> Self {
        Self { block: Arc::new(block), counted_bytes: 0 }
    }

    pub(crate) fn block(&self) -> &OpenedBlock {
        &self.block
    }
}

#[derive(Clone)]
struct Weighter;

impl quick_cache::Weighter<BlockKey, KeptBlock> for Weighter {
    fn weight(&self, _: &BlockKey, kept: &KeptBlock) -> u64 {
        (kept.counted_bytes + ENTRY_BYTES) as u64
    }
}

impl OpenedBlocks {
    /// Returns a cache of at most `bytes` bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        let hasher = hashbrown::DefaultHashBuilder::default();
        let items = bytes / BLOCK_BYTES + 1;
        let lifecycle = DefaultLifecycle::default();
        Self { blocks: Cache::with(items, bytes as u64, Weighter, hasher, lifecycle) }
    }

    /// Returns a block if it is open.
    pub(crate) fn get(&self, key: &BlockKey) -> Option<KeptBlock> {
        self.blocks.get(key)
    }

    /// Returns whether a block is open.
    pub(crate) fn contains(&self, key: &BlockKey) -> bool {
        self.blocks.contains_key(key)
    }

    /// Returns what `of` returns for a block, if it is open, without counting that as a use.
    pub(crate) fn peek<T>(&self, key: &BlockKey, of: impl FnOnce(&OpenedBlock) -> T) -> Option<T> {
        self.blocks.peek(key).map(|kept| of(kept.block()))
    }

    /// Returns the bytes of the blocks that one query may keep open.
    pub(crate) fn query_bytes_max(&self) -> u64 {
        self.blocks.capacity() / QUERY_SHARE
    }

    /// Returns the bytes of the blocks that are open.
    pub(crate) fn bytes(&self) -> u64 {
        self.blocks.weight()
    }

    /// Keeps a block open that was read without an error. Reading columns for the first time makes
    /// it larger, so it is counted again.
    pub(crate) fn keep(&self, key: BlockKey, KeptBlock { block, counted_bytes }: KeptBlock) {
        let bytes = block.bytes();
        if bytes > counted_bytes {
            self.blocks.insert(key, KeptBlock { block, counted_bytes: bytes });
        }
    }

    /// Returns where a seal collects its blocks. A seal of many of them leaves most of the cache to
    /// what queries have read.
    pub(crate) fn newly_opened(&self) -> NewlyOpened {
        NewlyOpened { bytes_max: self.query_bytes_max(), blocks: Mutex::default() }
    }

    /// Keeps the blocks of a seal open, which are on disk now.
    pub(crate) fn keep_new(&self, new: NewlyOpened) {
        for (key, block) in new.blocks.into_inner().blocks.into_values() {
            self.keep(key, KeptBlock::new(block));
        }
    }

    /// Closes a block that is not read any more.
    pub(crate) fn close(&self, key: &BlockKey) {
        self.blocks.remove(key);
    }
}

/// Blocks of one seal that are open already, since each was decoded to compare it. Those of the
/// newest windows have room: whoever looks at the newest data reads them next, and blocks of
/// windows that have ended are soon merged.
#[derive(Debug, Default)]
pub(crate) struct NewlyOpened {
    bytes_max: u64,
    blocks: Mutex<NewestBlocks>,
}

#[derive(Debug, Default)]
struct NewestBlocks {
    bytes: u64,
    /// In the order in which they make room for others: the oldest window, its last block.
    blocks: BTreeMap<(TimestampMs, Reverse<u64>), (BlockKey, OpenedBlock)>,
}

impl NewlyOpened {
    /// Returns whether there may be room for a block of so many encoded bytes.
    pub(crate) fn may_take(&self, info: &BlockInfo, bytes: usize) -> bool {
        let NewestBlocks { bytes: taken, blocks } = &*self.blocks.lock();
        let fits = taken.saturating_add(bytes as u64) <= self.bytes_max;
        let oldest = blocks.first_key_value().map(|((window, _), _)| *window);
        fits || oldest.is_some_and(|oldest| oldest < info.window.start)
    }

    /// Adds a block, if there is room for it.
    pub(crate) fn add(&self, info: &BlockInfo, block: OpenedBlock) {
        let bytes = block.bytes() as u64;
        if bytes > self.bytes_max {
            return;
        }
        let newest = &mut *self.blocks.lock();
        newest.bytes += bytes;
        let place = (info.window.start, Reverse(info.key.sequence));
        newest.blocks.insert(place, (info.key, block));
        while newest.bytes > self.bytes_max {
            let Some((_, (_, block))) = newest.blocks.pop_first() else { return };
            newest.bytes -= block.bytes() as u64;
        }
    }

    /// Returns the time pages that the blocks refer to.
    pub(crate) fn time_pages(&self) -> HashSet<PageNumber> {
        let newest = self.blocks.lock();
        newest.blocks.values().flat_map(|(_, block)| block.time_pages()).copied().collect()
    }
}

impl std::fmt::Debug for OpenedBlocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenedBlocks").field("bytes", &self.blocks.weight()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::codec::integers::Effort;
    use crate::engine::Engine;
    use crate::metrics::block::{BlockBuilder, DecodedFrom, PointBlockBuilder, sample_info};
    use crate::metrics::times::TimePageWriter;
    use crate::model::{
        Aggregation, Interval, MetricQuery, MetricType, SeriesId, TagCondition, TagFilter,
        TimeRange,
    };
    use crate::options::Maintenance;

    const START: i64 = 20_000 * 86_400_000;

    fn block(sequence: u64) -> (BlockKey, KeptBlock) {
        let mut builder = PointBlockBuilder::default();
        for series in 0..100 {
            let times: Vec<i64> = (0..100).map(|i| i * 1000).collect();
            // Small values are frequent, so that the column has tables to decode it.
            let values = (1..101u32).map(|i| f64::from(i.trailing_zeros())).collect::<Vec<_>>();
            builder.push(SeriesId(series), &times, &values);
        }
        let mut info = sample_info(MetricType::Gauge, crate::metrics::block::Tier::Raw);
        info.key.sequence = sequence;
        let number = AtomicU64::new(3);
        let bytes = builder.finish(&info, &TimePageWriter::new(&number), Effort::Seal).unwrap();
        let info = BlockInfo { bytes: bytes.len() as u32, ..info };
        (info.key, KeptBlock::new(OpenedBlock::open(&info, &bytes).unwrap()))
    }

    #[test]
    fn opened_blocks_take_no_more_than_their_bytes() {
        let (key, first) = block(0);
        let one = first.block().bytes();
        let opened = OpenedBlocks::new(10 * (one + ENTRY_BYTES));
        opened.keep(key, first);
        assert!(opened.contains(&key));
        for sequence in 1..100 {
            let (key, block) = block(sequence);
            opened.keep(key, block);
        }
        assert!(opened.blocks.len() > 5, "{opened:?}");
        assert!(opened.blocks.weight() <= 10 * (one + ENTRY_BYTES) as u64, "{opened:?}");
        let none = OpenedBlocks::new(0);
        none.keep(key, block(0).1);
        assert!(none.get(&key).is_none());
    }

    #[test]
    fn a_block_that_has_grown_is_counted_again() {
        let opened = OpenedBlocks::new(1 << 20);
        let (key, kept) = block(1);
        opened.keep(key, kept);
        let before = opened.blocks.weight();
        let kept = opened.get(&key).unwrap();
        let mut points = kept.block().points(|_, _| unreachable!("times are regular")).unwrap();
        points.append(0, (0, i64::MAX), &mut Vec::new(), &mut Vec::new()).unwrap();
        drop(points);
        opened.keep(key, kept);
        assert!(opened.blocks.weight() > before);
        let counted = opened.get(&key).unwrap();
        assert_eq!(counted.counted_bytes, counted.block().bytes());
        opened.close(&key);
        assert_eq!((opened.blocks.weight(), opened.contains(&key)), (0, false));
    }

    fn engine_with_samples(dir: &std::path::Path, cache_bytes: usize) -> Engine {
        let maintenance = Maintenance::Manual;
        let options = Options { maintenance, cache_bytes, ..Options::default() };
        let engine = Engine::open(dir, options).unwrap();
        let mut batch = engine.batch();
        for host in 0..200 {
            let host_name = format!("h{host}");
            let tags = [("host", host_name.as_str())];
            let series = batch.series("cpu", MetricType::Gauge, &tags).unwrap();
            for i in 0..300 {
                let time = TimestampMs(START + i * 10_000 + i * i % 7);
                // Small steps, so that there are codes with stops.
                let value = i % 20 * 3 + (i * i * 31 + i * host) % 7;
                batch.number(MetricType::Gauge, series, time, value as f64);
            }
        }
        engine.write(batch.finish()).unwrap();
        engine
    }

    #[test]
    fn blocks_stay_open_for_further_queries() {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine_with_samples(dir.path(), Options::default().cache_bytes);
        engine.seal().unwrap();
        let opened = || engine.inner().telemetry.metrics.opened().bytes();
        let range = TimeRange::new(START, START + 3_600_000);
        let all = MetricQuery::of_all("cpu", range, Interval::MINUTE, &[Aggregation::Max]);
        let condition = TagCondition::AnyOf(vec!["h7".to_owned()].into());
        let filters = vec![TagFilter { key: "host".into(), condition }];
        let one = MetricQuery { filters, ..all.clone() };
        let first = engine.query(&one).unwrap();
        let bytes = opened();
        assert!(bytes > 0);
        for _ in 0..2 {
            let again = engine.query(&one).unwrap();
            assert_eq!((again.groups, again.stats), (first.groups.clone(), first.stats));
        }
        assert_eq!(opened(), bytes);
        assert!(engine.stats().cache_bytes >= bytes);
        let (first, again) = (engine.query(&all).unwrap(), engine.query(&all).unwrap());
        assert_eq!((again.groups, again.stats), (first.groups, first.stats));
        assert!((bytes..2 * bytes).contains(&opened()), "{bytes}, {}", opened());
        // A sample in the head replaces one of the block.
        replace_sample(&engine);
        let max = |query: &MetricQuery| {
            let result = engine.query(query).unwrap();
            result.groups[0].columns[0].iter().copied().fold(f64::MIN, f64::max)
        };
        assert_eq!((max(&one), max(&one)), (99.0, 99.0));
    }

    #[test]
    fn sealed_blocks_are_open_for_their_first_query() {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine_with_samples(dir.path(), Options::default().cache_bytes);
        engine.seal().unwrap();
        let metrics = &engine.inner().telemetry.metrics;
        let bytes = metrics.opened().bytes();
        let keys: Vec<BlockKey> = {
            let catalog = metrics.view().catalog();
            catalog.metrics().flat_map(|(_, blocks)| blocks.iter()).map(|info| info.key).collect()
        };
        assert!(!keys.is_empty());
        for key in &keys {
            let from = metrics.opened().peek(key, OpenedBlock::decoded_from);
            assert_eq!(from, Some(DecodedFrom::AnyStop));
            let kept = metrics.opened().get(key).unwrap();
            let stored = metrics.read_block(key).unwrap();
            assert!(kept.block().has_bytes(&stored), "{key:?} is not what is on disk");
        }
        let range = TimeRange::new(START + 2_000_000, START + 3_600_000);
        let all = MetricQuery::of_all("cpu", range, Interval::MINUTE, &[Aggregation::Max]);
        let condition = TagCondition::AnyOf(vec!["h7".to_owned()].into());
        let one = MetricQuery {
            filters: vec![TagFilter { key: "host".into(), condition }],
            ..all.clone()
        };
        let open = [&one, &all].map(|query| engine.query(query).unwrap());
        assert_eq!(metrics.opened().bytes(), bytes, "a column was read for the first time");
        keys.iter().for_each(|key| metrics.opened().close(key));
        for (query, open) in [&one, &all].into_iter().zip(open) {
            let closed = engine.query(query).unwrap();
            assert_eq!((open.groups, open.stats), (closed.groups, closed.stats));
        }
    }

    #[test]
    fn blocks_that_are_deleted_are_closed() {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine_with_samples(dir.path(), Options::default().cache_bytes);
        engine.seal().unwrap();
        let opened = || engine.inner().telemetry.metrics.opened().bytes();
        assert!(opened() > 0);
        engine.merge().unwrap();
        assert_eq!(opened(), 0, "blocks that were merged are open");
    }

    #[test]
    fn a_seal_leaves_most_of_the_cache_to_queries() {
        let one = block(0).1.block().bytes();
        let opened = OpenedBlocks::new(12 * (one + ENTRY_BYTES));
        let new = opened.newly_opened();
        let info = |sequence: u64, day: i64| {
            let mut info = sample_info(MetricType::Gauge, crate::metrics::block::Tier::Raw);
            info.key.sequence = sequence;
            info.window = TimeRange::new(day * 86_400_000, (day + 1) * 86_400_000);
            info
        };
        // The oldest window makes room, and of a window the block that came last.
        for (sequence, day) in [(0, 1), (1, 5), (2, 2), (3, 4), (4, 4), (5, 1), (6, 5), (7, 4)] {
            let block = Arc::into_inner(block(sequence).1.block).unwrap();
            new.add(&info(sequence, day), block);
        }
        assert!(new.may_take(&info(9, 5), one) && !new.may_take(&info(9, 4), one));
        opened.keep_new(new);
        let kept = (0..8).filter(|sequence| opened.contains(&info(*sequence, 0).key));
        assert_eq!(kept.collect::<Vec<_>>(), [1, 3, 6]);
        let none = OpenedBlocks::new(0).newly_opened();
        assert!(!none.may_take(&info(0, 1), 1));
        none.add(&info(0, 1), Arc::into_inner(block(0).1.block).unwrap());
        assert!(none.blocks.into_inner().blocks.is_empty());
    }

    #[test]
    fn queries_of_too_many_bytes_keep_no_block_open() {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine_with_samples(dir.path(), 256 << 10);
        engine.seal().unwrap();
        let range = TimeRange::new(START, START + 3_600_000);
        let all = MetricQuery::of_all("cpu", range, Interval::MINUTE, &[Aggregation::Max]);
        assert_eq!(engine.query(&all).unwrap().stats.points, 60_000);
        assert_eq!(engine.inner().telemetry.metrics.opened().bytes(), 0);
    }

    /// Writes a later value of a sample that is in a block.
    fn replace_sample(engine: &Engine) {
        let mut batch = engine.batch();
        let series = batch.series("cpu", MetricType::Gauge, &[("host", "h7")]).unwrap();
        batch.number(MetricType::Gauge, series, TimestampMs(START), 99.0);
        engine.write(batch.finish()).unwrap();
    }
}
