//! The pages on disk: reading them, remembering for the next merge what they hold, and deleting them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hashbrown::{HashMap, HashSet};
use parking_lot::{Mutex, MutexGuard};
use quick_cache::sync::{Cache, DefaultLifecycle};

use super::page::{PageNumber, PlaceInPage, TimePage, TimePageGroup, key, parse_key, prefix};
use super::sweep::{GroupPages, Sweep, Swept};
use super::writer::{NewPage, PLACES_MAX, Places, TimesWriter, hash};
use crate::error::{Error, Result};
use crate::model::MetricId;
use crate::storage::{Batch, Caching, KeyRange, Keyspace, Store};

/// Page groups whose vectors are remembered for the next merge: the windows of a backlog come one after the other for each metric.
const SHELVES_REMEMBERED: usize = 4;
/// Bytes of a decoded page, as a guess for the size of the table of the cache.
const PAGE_BYTES: usize = 512 << 10;

/// All pages of one engine.
pub(crate) struct TimePages {
    store: Arc<Store>,
    decoded: Cache<PageNumber, Arc<TimePage>, Weighter, hashbrown::DefaultHashBuilder>,
    /// The page groups that have pages.
    page_groups: Mutex<HashMap<TimePageGroup, GroupPages>>,
    /// The search for unused pages that is under way.
    sweep: Mutex<Option<Sweep>>,
    /// Whether pages were written since it was last looked whether a sweep is due.
    has_new: AtomicBool,
    /// The vectors of the page groups that were written last, by the turn in which they were.
    remembered: Mutex<BTreeMap<u64, (TimePageGroup, Places)>>,
}

#[derive(Clone)]
struct Weighter;

impl quick_cache::Weighter<PageNumber, Arc<TimePage>> for Weighter {
    fn weight(&self, _: &PageNumber, page: &Arc<TimePage>) -> u64 {
        page.bytes() as u64
    }
}

impl TimePages {
    /// The pages of a store, of which `cache_bytes` are kept decoded.
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
        let all = KeyRange::all();
        let gap = store.read_around_damage(Keyspace::Times, &all, Caching::Bypass, visit)?;
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

    /// A page of a page group.
    pub(crate) fn find(
        &self,
        page_group: TimePageGroup,
        number: PageNumber,
    ) -> Result<Arc<TimePage>> {
        if let Some(page) = self.decoded.get(&number) {
            return Ok(page);
        }
        let bytes = self.store.get(Keyspace::Times, &key(page_group, number))?;
        let missing = || Error::Corrupt(format!("page {} of times is not on disk", number.0));
        let page = Arc::new(TimePage::decode(&bytes.ok_or_else(missing)?)?);
        self.decoded.insert(number, Arc::clone(&page));
        Ok(page)
    }

    /// A writer for blocks of any page groups: it begins its own pages.
    pub(crate) fn writer<'m>(&self, sequence: &'m AtomicU64) -> TimesWriter<'m> {
        TimesWriter::new(sequence)
    }

    /// A writer for blocks of a page group; it knows the vectors that are on disk.
    pub(crate) fn writer_of<'m>(
        &'m self,
        page_group: TimePageGroup,
        sequence: &'m AtomicU64,
    ) -> Result<TimesWriter<'m>> {
        let writer = TimesWriter::over(sequence, self);
        let sparse = self.page_groups.lock().get(&page_group).map(|pages| pages.sparse.clone());
        if let Some(sparse) = sparse {
            let remembered = {
                let mut remembered = self.remembered.lock();
                let turn = remembered.iter().find(|(_, (s, _))| *s == page_group).map(|(t, _)| *t);
                turn.and_then(|turn| remembered.remove(&turn))
            };
            let mut places = match remembered {
                Some((_, places)) => places,
                None => self.read_places(page_group)?,
            };
            if !sparse.is_empty() {
                places.retain(|_, place| !sparse.contains(&place.page));
            }
            writer.know(page_group, places);
        }
        Ok(writer)
    }

    fn read_places(&self, page_group: TimePageGroup) -> Result<Places> {
        let mut places = Places::new();
        let range = KeyRange::prefix(&prefix(page_group));
        // A damaged page is told by the blocks that refer to it; new blocks refer to another.
        let visit = |key: Box<[u8]>, bytes: Box<[u8]>| {
            if let (Some((_, page)), Ok(vectors)) = (parse_key(&key), TimePage::decode(&bytes)) {
                for (place, times) in vectors.vectors() {
                    if places.len() >= PLACES_MAX {
                        break;
                    }
                    places.insert(hash(times), PlaceInPage { page, place });
                }
            }
        };
        self.store.read_around_damage(Keyspace::Times, &range, Caching::Bypass, visit)?;
        Ok(places)
    }

    /// Adds the new pages to the batch of the blocks that refer to them. Answers their bytes.
    pub(crate) fn stage(&self, pages: Vec<NewPage>, batch: &mut Batch) -> u64 {
        let mut page_groups = self.page_groups.lock();
        let mut bytes = 0;
        for NewPage { key, bytes: page } in pages {
            if let Some((page_group, number)) = parse_key(&key) {
                page_groups.entry(page_group).or_default().add(number, page.len() as u64);
            }
            bytes += page.len() as u64;
            batch.put(Keyspace::Times, &key, page);
        }
        if bytes > 0 {
            self.has_new.store(true, Ordering::Relaxed);
        }
        bytes
    }

    /// Remembers what a writer knew, once its batch is on disk. The pages of before that its blocks refer to are not unused.
    pub(crate) fn written(&self, writer: TimesWriter<'_>) {
        let mut sweep = self.sweep.lock();
        let mut remembered = self.remembered.lock();
        for (page_group, places, reused) in writer.into_places() {
            if let Some(sweep) = sweep.as_mut().filter(|sweep| sweep.page_group == page_group) {
                reused.iter().for_each(|(page, places)| sweep.mark_all(*page, places));
            }
            if !places.is_empty() {
                let turn = remembered.last_key_value().map_or(0, |(turn, _)| turn + 1);
                remembered.insert(turn, (page_group, places));
            }
        }
        while remembered.len() > SHELVES_REMEMBERED {
            remembered.pop_first();
        }
    }

    /// Adds the deletion of pages to a batch: of all page groups but those that have blocks. To be called when no reader has a
    /// block that is not in the catalog. Returns the page groups that are deleted, for [`Self::deleted`].
    pub(crate) fn stage_deletion(
        &self,
        used: &HashSet<TimePageGroup>,
        batch: &mut Batch,
    ) -> Vec<TimePageGroup> {
        let page_groups = self.page_groups.lock();
        let unused: Vec<TimePageGroup> =
            page_groups.keys().filter(|s| !used.contains(*s)).copied().collect();
        for page_group in &unused {
            batch.delete_range(Keyspace::Times, KeyRange::prefix(&prefix(*page_group)));
        }
        unused
    }

    /// Forgets page groups whose pages are deleted on disk. Not before that: a deletion that failed is tried again.
    pub(crate) fn deleted(&self, gone: &[TimePageGroup]) {
        let mut sweep = self.sweep.lock();
        let mut page_groups = self.page_groups.lock();
        for page_group in gone {
            page_groups.remove(page_group);
            self.remembered.lock().retain(|_, (remembered, _)| remembered != page_group);
            sweep.take_if(|sweep| sweep.page_group == *page_group);
        }
    }

    /// The sweep that is under way, if there is one.
    pub(crate) fn sweep(&self) -> MutexGuard<'_, Option<Sweep>> {
        self.sweep.lock()
    }

    /// StartTime the sweep that is due most. `blocks` tells the bytes of the blocks that refer to pages, by page group, and is asked only
    /// when there may be one; `metrics` tells which metrics have such blocks. Answers false when none is due.
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
            // Blocks raise what a page group may have, so without any the most page groups are due.
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

    /// Puts the next sweep of a page group off, after one that failed: not all blocks could be asked, so its pages must stay.
    pub(crate) fn give_up_sweep(&self, page_group: TimePageGroup) {
        if let Some(pages) = self.page_groups.lock().get_mut(&page_group) {
            pages.put_off();
        }
    }

    /// Adds the deletion of the pages that a sweep found unused to a batch: no block refers to them. [`Self::swept`] is to follow
    /// once the batch is on disk.
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
        for (_, (page_group, places)) in self.remembered.lock().iter_mut() {
            if *page_group == sweep.page_group {
                places.retain(|_, place| !unused.contains(&place.page));
            }
        }
        for number in &unused {
            self.decoded.remove(number);
            batch.delete(Keyspace::Times, &key(sweep.page_group, *number));
        }
        Ok(Swept { page_group: sweep.page_group, unused, sparse, used_bytes })
    }

    /// Notes the result of a sweep that is over, with what it found unused deleted.
    pub(crate) fn swept(&self, swept: Swept) {
        let mut page_groups = self.page_groups.lock();
        let pages = page_groups.entry(swept.page_group).or_default();
        swept.unused.iter().for_each(|number| pages.remove(*number));
        pages.sparse.extend(swept.sparse);
        pages.swept(swept.used_bytes);
    }

    /// Visits all pages: the key of each, its bytes, and what is wrong with it.
    pub(crate) fn verify(&self, mut visit: impl FnMut(&[u8], usize, Option<String>)) -> Result<()> {
        let all = KeyRange::all();
        let each = |key: Box<[u8]>, bytes: Box<[u8]>| {
            let damage = TimePage::decode(&bytes).err().map(|error| error.to_string());
            visit(&key, bytes.len(), damage);
        };
        let gap = self.store.read_around_damage(Keyspace::Times, &all, Caching::Bypass, each)?;
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

    /// Two hours of two agents, each of which reports three metrics at once, late by its own jitter.
    fn fill(engine: &Engine, hour: i64) {
        let mut batch = engine.batch();
        for host in ["a", "b"] {
            for metric in METRICS {
                let series = batch.series(metric, MetricType::Gauge, &[("host", host)]).unwrap();
                for i in hour * 360..(hour + 2) * 360 {
                    let late = i * i % if host == "a" { 97 } else { 89 };
                    let time = TimestampMs(START + i * 10_000 + late);
                    batch.number(MetricType::Gauge, series, time, (i % 7) as f64);
                }
            }
        }
        engine.write(batch.finish()).unwrap();
        engine.seal().unwrap();
    }

    fn ask(engine: &Engine, metric: &str) -> Vec<f64> {
        engine.averages(metric, TimeRange::new(START, START + DAY), Interval::MINUTE)
    }

    /// Pages on disk, those of loose blocks first.
    fn pages(engine: &Engine) -> (usize, usize) {
        let times = engine.inner().telemetry.metrics.times();
        let (mut loose, mut of_units) = (0, 0);
        times
            .verify(|key, _, damage| {
                assert_eq!(damage, None);
                let (page_group, _) = super::parse_key(key).unwrap();
                *(if page_group.of_unit { &mut of_units } else { &mut loose }) += 1;
            })
            .unwrap();
        (loose, of_units)
    }

    #[test]
    fn no_block_is_asked_for_while_no_shelf_can_be_due_for_a_sweep() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(TimestampMs(START + DAY / 2));
        let engine = open(dir.path(), &clock);
        fill(&engine, 0);
        let times = engine.inner().telemetry.metrics.times();
        let begun = times.begin_sweep(
            || panic!("the pages are too few for any sweep"),
            |_| panic!("no sweep has begun"),
        );
        assert!(!begun);
    }

    #[test]
    fn metrics_of_an_agent_share_pages_and_pages_go_with_the_last_block() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Clock::manual(TimestampMs(START + DAY / 2));
        let engine = open(dir.path(), &clock);
        (0..6).step_by(2).for_each(|hour| fill(&engine, hour));
        assert_eq!(pages(&engine), (3, 0));
        let before = METRICS.map(|metric| ask(&engine, metric));
        engine.merge().unwrap();
        assert_eq!(pages(&engine), (0, 3), "a page for each window, whatever the metrics");
        drop(engine);
        clock.set(TimestampMs(START + 2 * DAY));
        let engine = open(dir.path(), &clock);
        engine.merge().unwrap();
        assert_eq!(pages(&engine), (0, 1), "the day has one");
        assert_eq!(METRICS.map(|metric| ask(&engine, metric)), before);
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
