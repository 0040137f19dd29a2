//! Deleting the bytes of blocks that the catalog does not name any more, once no reader can come to them.

use std::collections::BTreeSet;

use super::super::Metrics;
use super::super::block::{BlockKey, Tier};
use crate::error::Result;
use crate::reports::Pace;
use crate::storage::{Batch, KeyRange, Keyspace, Sync};

impl Metrics {
    /// Deletes what is free to go. Answers how many blocks that were. Of the pages of times that no block refers to it looks
    /// for some, or for all.
    pub(crate) fn collect_garbage(&self, pace: Pace) -> Result<u64> {
        self.store.tend()?;
        self.remove_unwanted()?;
        let deleted = self.delete_unreachable()?;
        self.delete_unused_times()?;
        self.sweep_times(pace)?;
        Ok(deleted)
    }

    /// Deletes the blocks that no reader can come to any more. Returns how many.
    pub(super) fn delete_unreachable(&self) -> Result<u64> {
        let keys = self.view.take_unreachable();
        let deleted = self.delete_garbage(&keys);
        if deleted.is_err() {
            // For the next time: deleting twice changes nothing.
            self.view.give_up(keys);
        }
        deleted
    }

    /// Deletes the pages of times of windows that have no blocks any more.
    pub(super) fn delete_unused_times(&self) -> Result<()> {
        let Some(used) = self.view.page_groups() else { return Ok(()) };
        let mut batch = Batch::new();
        let unused = self.times.stage_deletion(&used, &mut batch);
        if !unused.is_empty() {
            self.store.flush_blocks()?;
            self.store.write(batch, Sync::No)?;
            self.times.deleted(&unused);
        }
        Ok(())
    }

    /// Removes blocks that are in the catalog on disk and that no view has named: those of a metric that was dropped while they were
    /// written. They are on disk for good already, so a failure is not one of whoever wrote them: it is logged, the blocks are tried
    /// again with the garbage, and a start removes them in any case.
    pub(in crate::metrics) fn discard(&self, keys: Vec<BlockKey>) {
        self.unwanted.lock().extend(keys);
        if let Err(error) = self.remove_unwanted() {
            tracing::warn!(%error, "blocks of a dropped metric were not removed; this is tried again");
        }
    }

    fn remove_unwanted(&self) -> Result<()> {
        // The lock is not held during the write: whoever seals or merges adds to the list.
        let unwanted = std::mem::take(&mut *self.unwanted.lock());
        self.remove(&unwanted).inspect_err(|_| self.unwanted.lock().extend(&unwanted))
    }

    /// Deletes the bytes of blocks and takes them off the list of garbage. The disk space of days of a tier that are left empty, and
    /// of which no reader holds a block, is given back.
    pub(crate) fn delete_garbage(&self, keys: &[BlockKey]) -> Result<u64> {
        if keys.is_empty() {
            return Ok(0);
        }
        self.store.flush_blocks()?;
        let mut batch = Batch::new();
        for key in keys {
            batch.delete(Keyspace::Blocks, &key.encode());
            batch.delete(Keyspace::Garbage, &key.encode());
            batch.delete(Keyspace::Quarantine, &key.encode());
        }
        self.store.write(batch, Sync::No)?;
        let used = self.view.days();
        let days: BTreeSet<(Tier, u32)> = keys.iter().map(|key| (key.tier, key.day)).collect();
        let empty = |tier: Tier| {
            let of_tier = days.difference(&used).filter(move |(of, _)| *of == tier);
            KeyRange::of_days(&[tier as u8], of_tier.map(|(_, day)| *day))
        };
        let empty: Vec<KeyRange> = Tier::ALL.into_iter().flat_map(empty).collect();
        self.store.reclaim(Keyspace::Blocks, &empty)?;
        Ok(keys.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::metrics::Metrics;
    use crate::model::{
        Aggregation, Interval, Lsn, MetricQuery, MetricType, TimeRange, TimestampMs,
    };
    use crate::options::{Maintenance, Options};
    use crate::reports::Pace;
    use crate::storage::{Batch, Caching, KeyRange, Keyspace, Sync};
    use crate::{Clock, Engine};

    const NOW: TimestampMs = TimestampMs(1_700_000_000_000);

    fn open(dir: &Path) -> Engine {
        let (maintenance, clock) = (Maintenance::Manual, Clock::manual(NOW));
        Engine::open(dir, Options { maintenance, clock, ..Options::default() }).unwrap()
    }

    /// A point of each of two metrics, in blocks.
    fn fill(engine: &Engine) {
        let mut batch = engine.batch();
        for name in ["first", "second"] {
            let series = batch.series(name, MetricType::Gauge, &[]).unwrap();
            batch.number(MetricType::Gauge, series, NOW, 1.0);
        }
        engine.write(batch.finish()).unwrap();
        engine.seal().unwrap();
    }

    fn metrics(engine: &Engine) -> &Metrics {
        &engine.inner().telemetry.metrics
    }

    /// The keys of all entries of a keyspace.
    fn keys(engine: &Engine, keyspace: Keyspace) -> Vec<Box<[u8]>> {
        let (store, mut keys) = (&metrics(engine).store, Vec::new());
        let visit = |key: Box<[u8]>, _: Box<[u8]>| keys.push(key);
        store.read_around_damage(keyspace, &KeyRange::all(), Caching::Bypass, visit).unwrap();
        keys
    }

    #[test]
    fn blocks_of_the_catalog_stay_when_an_entry_of_the_garbage_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let engine = open(dir.path());
        fill(&engine);
        let blocks = keys(&engine, Keyspace::Catalog);
        assert_eq!(blocks.len(), 2);
        let mut batch = Batch::new();
        blocks.iter().for_each(|key| batch.put(Keyspace::Garbage, key, Vec::new()));
        metrics(&engine).store.write(batch, Sync::Yes).unwrap();
        drop(engine);
        let engine = open(dir.path());
        assert_eq!(engine.verify().unwrap().damaged, [""; 0]);
        assert_eq!(keys(&engine, Keyspace::Blocks), blocks);
        assert!(keys(&engine, Keyspace::Garbage).is_empty());
    }

    #[test]
    fn blocks_of_a_dropped_metric_stay_as_long_as_the_catalog_on_disk_names_them() {
        for killed in [true, false] {
            let dir = tempfile::tempdir().unwrap();
            let mut engine = open(dir.path());
            fill(&engine);
            engine.delete_metric("first").unwrap();
            metrics(&engine).collect_garbage(Pace::Whole).unwrap();
            assert_eq!(keys(&engine, Keyspace::Blocks).len(), 2);
            if killed {
                drop(engine);
                assert_eq!(Engine::verify_directory(dir.path()).unwrap().damaged, [""; 0]);
                engine = open(dir.path());
            }
            assert_eq!(engine.stats().blocks, 1);
            engine.seal().unwrap();
            metrics(&engine).collect_garbage(Pace::Whole).unwrap();
            assert_eq!(keys(&engine, Keyspace::Blocks).len(), 1);
            assert_eq!(engine.verify().unwrap().damaged, [""; 0]);
        }
    }

    #[test]
    fn what_could_not_be_deleted_is_deleted_the_next_time() {
        let dir = tempfile::tempdir().unwrap();
        let engine = open(dir.path());
        fill(&engine);
        ["first", "second"].iter().for_each(|name| engine.delete_metric(name).unwrap());
        engine.seal().unwrap();
        let metrics = metrics(&engine);
        assert_eq!(keys(&engine, Keyspace::Garbage).len(), 2);
        metrics.store.close();
        metrics.delete_unreachable().unwrap_err();
        metrics.store.reopen().unwrap();
        assert_eq!(keys(&engine, Keyspace::Blocks).len(), 2);
        metrics.collect_garbage(Pace::Whole).unwrap();
        for keyspace in [Keyspace::Garbage, Keyspace::Blocks] {
            assert!(keys(&engine, keyspace).is_empty(), "{}", keyspace.name());
        }
    }

    #[test]
    fn a_seal_is_done_when_it_is_on_disk_whatever_fails_then() {
        let dir = tempfile::tempdir().unwrap();
        let engine = open(dir.path());
        let mut batch = engine.batch();
        for name in ["first", "second"] {
            let series = batch.series(name, MetricType::Counter, &[]).unwrap();
            batch.number(MetricType::Counter, series, NOW, 1.0);
        }
        engine.write(batch.finish()).unwrap();
        let metrics = metrics(&engine);
        let frozen = metrics.freeze();
        engine.delete_metric("first").unwrap();
        let mut batch = Batch::new();
        let staged = metrics.stage_seal(&frozen, Lsn(1), &mut batch).unwrap();
        metrics.store.write(batch, Sync::Yes).unwrap();
        metrics.store.close();
        // Blocks of the dropped metric cannot be removed.
        metrics.sealed(&frozen, staged);
        metrics.store.reopen().unwrap();
        assert_eq!(keys(&engine, Keyspace::Catalog).len(), 2);
        let sum = |engine: &Engine| {
            let range = TimeRange::new(NOW.0 - NOW.0 % 60_000, NOW.0 + 60_000);
            let query = MetricQuery::of_all("second", range, Interval::HOUR, &[Aggregation::Sum]);
            let groups = engine.query(&query).unwrap().groups;
            groups.iter().flat_map(|group| &group.columns[0]).sum::<f64>()
        };
        assert_eq!(sum(&engine), 1.0);
        metrics.collect_garbage(Pace::Whole).unwrap();
        assert_eq!(keys(&engine, Keyspace::Catalog).len(), 1);
        assert_eq!(keys(&engine, Keyspace::Blocks).len(), 1);
        assert_eq!(engine.verify().unwrap().damaged, [""; 0]);
        assert_eq!(sum(&engine), 1.0);
    }

    #[test]
    fn a_day_that_a_reader_still_reads_is_not_dropped_with_its_other_blocks() {
        let dir = tempfile::tempdir().unwrap();
        let engine = open(dir.path());
        fill(&engine);
        engine.delete_metric("first").unwrap();
        let metrics = metrics(&engine);
        let second = metrics.registry().with_metric("second", |metric| metric.id).unwrap();
        let held = metrics.view.metric(second, TimeRange::new(0, i64::MAX));
        engine.delete_metric("second").unwrap();
        engine.seal().unwrap();
        metrics.collect_garbage(Pace::Whole).unwrap();
        let block = held.blocks.iter().next().unwrap();
        assert!(metrics.read_block(&block.key).is_ok());
        let key = block.key;
        drop(held);
        metrics.collect_garbage(Pace::Whole).unwrap();
        assert!(metrics.store.get(Keyspace::Blocks, &key.encode()).unwrap().is_none());
    }
}
