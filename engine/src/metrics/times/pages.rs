//! The time pages on disk: reads, deletion, and a cache of their vectors for the next compaction.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hashbrown::{HashMap, HashSet};
use parking_lot::{Mutex, MutexGuard};
use quick_cache::sync::{Cache, DefaultLifecycle};

use super::page::{PageNumber, TimePage, TimePageGroup, TimePageKey, TimeVectorRef, parse_key};
use super::sweep::{GroupPages, Sweep, Swept};
use super::writer::{KnownVectors, NewPage, NewlyDecoded, TimePageWriter, hash};
use crate::brief;
use crate::error::{Error, Result};
use crate::limits;
use crate::model::MetricId;
use crate::storage::{Batch, Caching, RangeOf, Store, keyspaces};

/// The number of page groups whose vectors stay in memory for the next compaction. During a
/// backlog, the windows repeat for every metric.
const GROUPS_REMEMBERED: usize = 4;
/// The assumed size of a decoded page in bytes, for the number of slots of the cache.
const PAGE_BYTES: usize = 512 << 10;
/// The most times of a byte of a page: three in a word of one bit.
const TIMES_PER_BYTE: u64 = 24;
/// A seal puts no more than this share of the cache into it.
const SEAL_SHARE: usize = 4;

/// All time pages of an engine.
pub(crate) struct TimePages {
    store: Arc<Store>,
    decoded: Cache<PageNumber, Arc<TimePage>, Weighter, hashbrown::DefaultHashBuilder>,
    /// The page groups that have pages.
    page_groups: Mutex<HashMap<TimePageGroup, GroupPages>>,
    /// The sweep in progress.
    sweep: Mutex<Option<Sweep>>,
    /// Whether pages were written since the last check whether a sweep is due.
    has_new: AtomicBool,
    /// The vectors of the page groups written last, ordered by when they were written.
    remembered: Mutex<BTreeMap<u64, (TimePageGroup, KnownVectors)>>,
}

#[derive(Clone)]
struct Weighter;

impl quick_cache::Weighter<PageNumber, Arc<TimePage>> for Weighter {
    fn weight(&self, _: &PageNumber, page: &Arc<TimePage>) -> u64 {
        page.bytes() as u64
    }
}

impl TimePages {
    /// Opens the pages of a store and caches at most `cache_bytes` of decoded pages. Appends
    /// corrupt ranges to `damaged`.
    pub(crate) fn open(
        store: Arc<Store>,
        cache_bytes: usize,
        damaged: &mut Vec<String>,
    ) -> Result<Self> {
        let mut page_groups: HashMap<TimePageGroup, GroupPages> = HashMap::new();
        let visit = |key: Box<[u8]>, bytes: Box<[u8]>| {
            if let Some((page_group, page)) = parse_key(&key) {
                page_groups.entry(page_group).or_default().add(page, bytes.len() as u64);
            }
        };
        let all = RangeOf::all(keyspaces::Times);
        let gap = store.read_skipping_damage(all, Caching::Bypass, visit)?;
        damaged.extend(gap.map(|gap| format!("times: {}", gap.error)));
        let hasher = hashbrown::DefaultHashBuilder::default();
        let items = cache_bytes / PAGE_BYTES + 1;
        let lifecycle = DefaultLifecycle::default();
        let decoded = Cache::with(items, cache_bytes as u64, Weighter, hasher, lifecycle);
        Ok(Self {
            store,
            decoded,
            page_groups: Mutex::new(page_groups),
            sweep: Mutex::default(),
            has_new: AtomicBool::new(true),
            remembered: Mutex::default(),
        })
    }

    /// Returns a number greater than that of every page.
    pub(crate) fn number_after_all(&self) -> u64 {
        let page_groups = self.page_groups.lock();
        let last = page_groups.values().filter_map(GroupPages::last).max();
        last.map_or(0, |page| page.0 + 1)
    }

    /// Returns a page of a page group. Fails with [`Error::Corrupt`] when it is missing or corrupt.
    pub(crate) fn find(
        &self,
        page_group: TimePageGroup,
        number: PageNumber,
    ) -> Result<Arc<TimePage>> {
        if let Some(page) = self.decoded.get(&number) {
            return Ok(page);
        }
        let bytes = self.store.get(keyspaces::Times, &TimePageKey { page_group, number })?;
        let missing = || Error::Corrupt(format!("time page {} is missing", number.0));
        let bytes = bytes.ok_or_else(missing)?;
        brief::spend((bytes.len() as u64).saturating_mul(TIMES_PER_BYTE))?;
        let page = Arc::new(TimePage::decode(&bytes)?);
        self.decoded.insert(number, Arc::clone(&page));
        Ok(page)
    }

    /// Creates a writer for blocks of any page groups; it uses only new pages.
    pub(crate) fn writer<'m>(&self, sequence: &'m AtomicU64) -> TimePageWriter<'m> {
        TimePageWriter::new(sequence)
    }

    /// Creates a writer for blocks of `page_group`; it also uses the vectors in pages on disk.
    pub(crate) fn writer_of<'m>(
        &'m self,
        page_group: TimePageGroup,
        sequence: &'m AtomicU64,
    ) -> Result<TimePageWriter<'m>> {
        let writer = TimePageWriter::over(sequence, self);
        let sparse = self.page_groups.lock().get(&page_group).map(|pages| pages.sparse.clone());
        if let Some(sparse) = sparse {
            let remembered = {
                let mut remembered = self.remembered.lock();
                let turn = remembered.iter().find(|(_, (s, _))| *s == page_group).map(|(t, _)| *t);
                turn.and_then(|turn| remembered.remove(&turn))
            };
            let mut vectors = match remembered {
                Some((_, vectors)) => vectors,
                None => self.read_known_vectors(page_group)?,
            };
            if !sparse.is_empty() {
                vectors.retain(|_, place| !sparse.contains(&place.page));
            }
            writer.add_known(page_group, vectors);
        }
        Ok(writer)
    }

    fn read_known_vectors(&self, page_group: TimePageGroup) -> Result<KnownVectors> {
        let mut known = KnownVectors::new();
        let range = RangeOf::prefix(keyspaces::Times, &page_group);
        // Corrupt pages are skipped: they are reported for the blocks that refer to them, and new
        // blocks use other pages.
        let visit = |key: Box<[u8]>, bytes: Box<[u8]>| {
            if let (Some((_, page)), Ok(vectors)) = (parse_key(&key), TimePage::decode(&bytes)) {
                for (place, times) in vectors.vectors() {
                    if known.len() >= limits::TIME_VECTORS_KNOWN_MAX {
                        break;
                    }
                    known.insert(hash(times), TimeVectorRef { page, place });
                }
            }
        };
        self.store.read_skipping_damage(range, Caching::Bypass, visit)?;
        Ok(known)
    }

    /// Adds the new pages to the batch of the blocks that refer to them. Returns their size in
    /// bytes.
    pub(crate) fn stage(&self, pages: Vec<NewPage>, batch: &mut Batch) -> u64 {
        let mut page_groups = self.page_groups.lock();
        let mut bytes = 0;
        for NewPage { key, bytes: page } in pages {
            let TimePageKey { page_group, number } = key;
            page_groups.entry(page_group).or_default().add(number, page.len() as u64);
            bytes += page.len() as u64;
            batch.put(keyspaces::Times, &key, page);
        }
        if bytes > 0 {
            self.has_new.store(true, Ordering::Relaxed);
        }
        bytes
    }

    /// Returns the bytes of the pages that one seal may put into the cache.
    pub(crate) fn seal_bytes_max(&self) -> usize {
        usize::try_from(self.decoded.capacity()).unwrap_or(usize::MAX) / SEAL_SHARE
    }

    /// Puts pages that are on disk now into the cache.
    pub(crate) fn keep_new(&self, pages: Vec<NewlyDecoded>) {
        pages.into_iter().for_each(|(number, page)| self.decoded.insert(number, page));
    }

    /// Keeps the vectors of a writer for the next one, once its batch is on disk. Marks the older
    /// pages that its blocks refer to, if a sweep is in progress.
    pub(crate) fn written(&self, writer: TimePageWriter<'_>) {
        let mut sweep = self.sweep.lock();
        let mut remembered = self.remembered.lock();
        for (page_group, vectors, reused) in writer.into_known_vectors() {
            if let Some(sweep) = sweep.as_mut().filter(|sweep| sweep.page_group == page_group) {
                reused.iter().for_each(|(page, places)| sweep.mark_all(*page, places));
            }
            if !vectors.is_empty() {
                let turn = remembered.last_key_value().map_or(0, |(turn, _)| turn + 1);
                remembered.insert(turn, (page_group, vectors));
            }
        }
        while remembered.len() > GROUPS_REMEMBERED {
            remembered.pop_first();
        }
    }

    /// Adds to the batch the deletion of the pages of all page groups except `used`. Must be called
    /// when no reader has a block that is not in the catalog. Returns the deleted page groups, for
    /// [`Self::deleted`].
    pub(crate) fn stage_deletion(
        &self,
        used: &HashSet<TimePageGroup>,
        batch: &mut Batch,
    ) -> Vec<TimePageGroup> {
        let page_groups = self.page_groups.lock();
        let unused: Vec<TimePageGroup> =
            page_groups.keys().filter(|s| !used.contains(*s)).copied().collect();
        for page_group in &unused {
            batch.delete_range(RangeOf::prefix(keyspaces::Times, page_group));
        }
        unused
    }

    /// Forgets page groups whose pages are deleted on disk. Must not be called earlier, as a failed
    /// deletion is retried.
    pub(crate) fn deleted(&self, groups: &[TimePageGroup]) {
        let mut sweep = self.sweep.lock();
        let mut page_groups = self.page_groups.lock();
        for page_group in groups {
            let pages = page_groups.remove(page_group).unwrap_or_default();
            pages.numbers().for_each(|number| drop(self.decoded.remove(&number)));
            self.remembered.lock().retain(|_, (remembered, _)| remembered != page_group);
            sweep.take_if(|sweep| sweep.page_group == *page_group);
        }
    }

    /// Returns the sweep in progress, if any.
    pub(crate) fn sweep(&self) -> MutexGuard<'_, Option<Sweep>> {
        self.sweep.lock()
    }

    /// Starts the sweep that is most overdue. `blocks` returns, per page group, the bytes of the
    /// blocks that refer to pages; it is only called when a sweep may be due. `metrics` returns the
    /// metrics with such blocks. Returns false when no sweep is due.
    pub(crate) fn begin_sweep(
        &self,
        blocks: impl FnOnce() -> HashMap<TimePageGroup, u64>,
        metrics: impl FnOnce(TimePageGroup) -> Vec<MetricId>,
    ) -> bool {
        if !self.has_new.load(Ordering::Relaxed) {
            return false;
        }
        {
            let page_groups = self.page_groups.lock();
            // Blocks only raise the limit of a page group, so 0 bytes of blocks give the most
            // groups that can be due.
            if !page_groups.values().any(|pages| pages.excess(0).is_some()) {
                self.has_new.store(false, Ordering::Relaxed);
                return false;
            }
        }
        let blocks = blocks();
        let mut sweep = self.sweep.lock();
        let page_groups = self.page_groups.lock();
        let due = page_groups.iter().filter_map(|(page_group, pages)| {
            let block_bytes = blocks.get(page_group).copied()?;
            Some((pages.excess(block_bytes)?, *page_group))
        });
        let Some((_, page_group)) = due.max_by_key(|(excess, _)| *excess) else {
            self.has_new.store(false, Ordering::Relaxed);
            return false;
        };
        if let Some(pages) = page_groups.get(&page_group) {
            *sweep = Some(Sweep::begin(page_group, pages, metrics(page_group)));
        }
        true
    }

    /// Postpones the next sweep of a page group after a failed one: not all blocks could be read,
    /// so the pages are kept.
    pub(crate) fn postpone_sweep(&self, page_group: TimePageGroup) {
        if let Some(pages) = self.page_groups.lock().get_mut(&page_group) {
            pages.postpone();
        }
    }

    /// Adds to the batch the deletion of the pages that a sweep found unreferenced. The caller then
    /// calls [`Self::swept`] once the batch is on disk.
    pub(crate) fn stage_unused(&self, sweep: &Sweep, batch: &mut Batch) -> Result<Swept> {
        let mut used_bytes = 0;
        let mut sparse = HashSet::new();
        for (number, places) in sweep.used() {
            let page = self.find(sweep.page_group, number)?;
            let times: usize =
                places.iter().filter_map(|at| page.vector(at)).map(<[i64]>::len).sum();
            let all = page.len().max(1);
            if times * 2 < all {
                sparse.insert(number);
            }
            let bytes =
                self.page_groups.lock().get(&sweep.page_group).map_or(0, |s| s.bytes_of(number));
            used_bytes += bytes * times as u64 / all as u64;
        }
        let unused: HashSet<PageNumber> = sweep.unused().collect();
        for (_, (page_group, vectors)) in self.remembered.lock().iter_mut() {
            if *page_group == sweep.page_group {
                vectors.retain(|_, place| !unused.contains(&place.page));
            }
        }
        for number in &unused {
            self.decoded.remove(number);
            let page_group = sweep.page_group;
            batch.delete(keyspaces::Times, &TimePageKey { page_group, number: *number });
        }
        Ok(Swept { page_group: sweep.page_group, unused, sparse, used_bytes })
    }

    /// Records the result of a completed sweep, whose unreferenced pages are deleted on disk.
    pub(crate) fn swept(&self, swept: Swept) {
        let mut page_groups = self.page_groups.lock();
        let pages = page_groups.entry(swept.page_group).or_default();
        swept.unused.iter().for_each(|number| pages.remove(*number));
        pages.sparse.extend(swept.sparse);
        pages.swept(swept.used_bytes);
    }

    /// Visits all pages with their key, their size in bytes, and the error if they are corrupt.
    pub(crate) fn verify(&self, mut visit: impl FnMut(&[u8], usize, Option<String>)) -> Result<()> {
        let each = |key: Box<[u8]>, bytes: Box<[u8]>| {
            let damage = TimePage::decode(&bytes).err().map(|error| error.to_string());
            visit(&key, bytes.len(), damage);
        };
        let all = RangeOf::all(keyspaces::Times);
        let gap = self.store.read_skipping_damage(all, Caching::Bypass, each)?;
        if let Some(gap) = gap {
            visit(gap.after.as_deref().unwrap_or_default(), 0, Some(gap.error.to_string()));
        }
        Ok(())
    }
}

impl std::fmt::Debug for TimePages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TimePages").field("bytes", &self.decoded.weight()).finish()
    }
}

#[cfg(test)]
mod tests {
    use crate::Clock;
    use crate::engine::Engine;
    use crate::model::{Interval, MetricType, TimeRange, TimestampMs};
    use crate::options::{Maintenance, Options};

    const DAY: i64 = 86_400_000;
    const START: i64 = 20_000 * DAY;
    const METRICS: [&str; 3] = ["cpu", "load", "memory"];

    fn open(dir: &std::path::Path, clock: &Clock) -> Engine {
        let (maintenance, clock) = (Maintenance::Manual, clock.clone());
        Engine::open(dir, Options { maintenance, clock, ..Options::default() }).unwrap()
    }

    /// Writes two hours of samples of two agents, each of which reports three metrics at once with
    /// its own jitter.
    fn fill(engine: &Engine, hour: i64) {
        let mut batch = engine.batch();
        for host in ["a", "b"] {
            for metric in METRICS {
                let series = batch.series(metric, MetricType::Gauge, &[("host", host)]).unwrap();
                for i in hour * 360..(hour + 2) * 360 {
                    let jitter = i * i % if host == "a" { 97 } else { 89 };
                    let time = TimestampMs(START + i * 10_000 + jitter);
                    batch.number(MetricType::Gauge, series, time, (i % 7) as f64);
                }
            }
        }
        engine.write(batch.finish()).unwrap();
        engine.seal().unwrap();
    }

    fn query(engine: &Engine, metric: &str) -> Vec<f64> {
        engine.averages(metric, TimeRange::new(START, START + DAY), Interval::MINUTE)
    }

    /// Returns the number of pages on disk, of blocks from the head and of compacted blocks.
    fn pages(engine: &Engine) -> (usize, usize) {
        let times = engine.inner().telemetry.metrics.times();
        let (mut of_head, mut compacted) = (0, 0);
        times
            .verify(|key, _, damage| {
                assert_eq!(damage, None);
                let (page_group, _) = super::parse_key(key).unwrap();
                *(if page_group.of_compacted_set { &mut compacted } else { &mut of_head }) += 1;
            })
            .unwrap();
        (of_head, compacted)
    }

    #[test]
    fn blocks_are_not_listed_while_no_page_group_can_be_due_for_a_sweep() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(TimestampMs(START + DAY / 2));
        let engine = open(dir.path(), &clock);
        fill(&engine, 0);
        let times = engine.inner().telemetry.metrics.times();
        let started = times.begin_sweep(
            || panic!("there are too few pages for a sweep"),
            |_| panic!("no sweep has started"),
        );
        assert!(!started);
    }

    #[test]
    fn metrics_of_an_agent_share_pages_which_are_deleted_with_their_last_block() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(TimestampMs(START + DAY / 2));
        let engine = open(dir.path(), &clock);
        (0..6).step_by(2).for_each(|hour| fill(&engine, hour));
        assert_eq!(pages(&engine), (3, 0));
        let before = METRICS.map(|metric| query(&engine, metric));
        engine.merge().unwrap();
        assert_eq!(pages(&engine), (0, 3), "one page per window, for all metrics");
        drop(engine);
        clock.set(TimestampMs(START + 2 * DAY));
        let engine = open(dir.path(), &clock);
        engine.merge().unwrap();
        assert_eq!(pages(&engine), (0, 1), "one page per day");
        assert_eq!(METRICS.map(|metric| query(&engine, metric)), before);
        assert!(engine.verify().unwrap().damaged.is_empty());
        fill(&engine, 8);
        drop(engine);
        let engine = open(dir.path(), &clock);
        engine.merge().unwrap();
        assert_eq!(pages(&engine).0, 0);
        METRICS.iter().for_each(|metric| engine.delete_metric(metric).unwrap());
        engine.seal().unwrap();
        engine.merge().unwrap();
        assert_eq!(pages(&engine), (0, 0));
        assert_eq!(engine.stats().blocks, 0);
    }
}
