//! Garbage collection: deletes the bytes of blocks that are no longer in the catalog, once no
//! reader can reach them.

use std::collections::BTreeSet;

use super::super::Metrics;
use super::super::block::{BlockDay, BlockKey, Tier};
use crate::error::Result;
use crate::reports::Pace;
use crate::storage::{Batch, RangeOf, Sync, keyspaces};

impl Metrics {
    /// Deletes unreachable blocks and returns their number, then sweeps unused time pages, one step
    /// or all of it depending on `pace`.
    pub(crate) fn collect_garbage(&self, pace: Pace) -> Result<u64> {
        self.store.tend()?;
        self.remove_unwanted()?;
        let deleted = self.delete_unreachable()?;
        self.delete_unused_times()?;
        self.sweep_times(pace)?;
        Ok(deleted)
    }

    /// Deletes the blocks that no reader can reach any more. Returns their number.
    pub(super) fn delete_unreachable(&self) -> Result<u64> {
        let keys = self.view.take_unreachable();
        let deleted = self.delete_garbage(&keys);
        if deleted.is_err() {
            // Retried later; deleting a block twice has no effect.
            self.view.give_up(keys);
        }
        deleted
    }

    /// Deletes the time pages of windows that have no blocks any more.
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

    /// Removes blocks that are in the catalog on disk and were never in a view: those of a metric
    /// that was dropped while they were written. The write that produced them is durable, so a
    /// failure here must not fail it: the failure is logged and the removal retried with the next
    /// garbage collection; a start removes them in any case.
    pub(in crate::metrics) fn discard(&self, keys: Vec<BlockKey>) {
        self.unwanted.lock().extend(keys);
        if let Err(error) = self.remove_unwanted() {
            tracing::warn!(%error, "could not remove the blocks of a dropped metric; it will be retried");
        }
    }

    fn remove_unwanted(&self) -> Result<()> {
        // The lock is not held during the write, because seals and compactions append to the list.
        let unwanted = std::mem::take(&mut *self.unwanted.lock());
        self.remove(&unwanted).inspect_err(|_| self.unwanted.lock().extend(&unwanted))
    }

    /// Deletes the bytes of blocks and their entries on the garbage list. Reclaims the disk space
    /// of the days of a tier that become empty and of which no reader holds a block.
    pub(crate) fn delete_garbage(&self, keys: &[BlockKey]) -> Result<u64> {
        if keys.is_empty() {
            return Ok(0);
        }
        self.store.flush_blocks()?;
        let mut batch = Batch::new();
        for key in keys {
            self.opened().close(key);
            batch.delete(keyspaces::Blocks, key);
            batch.delete(keyspaces::Garbage, key);
            // Hardly ever: deleting what is not there would leave a tombstone for every block.
            if self.is_quarantined(key) {
                batch.delete(keyspaces::Quarantine, key);
            }
        }
        self.store.write(batch, Sync::No)?;
        self.forget_quarantined(keys);
        let used = self.view.days();
        let days: BTreeSet<(Tier, u32)> = keys.iter().map(|key| (key.tier, key.day)).collect();
        let empty = |tier: Tier| {
            let of_tier = days.difference(&used).filter(move |(of, _)| *of == tier);
            let of_tier = of_tier.map(|(_, day)| *day);
            RangeOf::of_days(keyspaces::Blocks, of_tier, move |day| BlockDay { tier, day })
        };
        let empty: Vec<_> = Tier::ALL.into_iter().flat_map(empty).collect();
        self.store.reclaim(&empty)?;
        Ok(keys.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::metrics::Metrics;
    use crate::metrics::block::BlockKey;
    use crate::model::{
        Aggregation, Interval, Lsn, MetricQuery, MetricType, TimeRange, TimestampMs,
    };
    use crate::options::{Maintenance, Options};
    use crate::reports::Pace;
    use crate::storage::{Batch, Caching, Keyspace, RangeOf, Sync};
    use crate::{Clock, Engine};

    const NOW: TimestampMs = TimestampMs(1_700_000_000_000);

    fn open(dir: &Path) -> Engine {
        let (maintenance, clock) = (Maintenance::Manual, Clock::manual(NOW));
        Engine::open(dir, Options { maintenance, clock, ..Options::default() }).unwrap()
    }

    /// Writes a point of each of two metrics and seals them.
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

    /// Returns the keys of all entries of a keyspace.
    fn keys(engine: &Engine, keyspace: Keyspace) -> Vec<Box<[u8]>> {
        let (store, mut keys) = (&metrics(engine).store, Vec::new());
        let visit = |key: Box<[u8]>, _: Box<[u8]>| keys.push(key);
        store.read_skipping_damage(RangeOf::all(keyspace), Caching::Bypass, visit).unwrap();
        keys
    }

    #[test]
    fn blocks_in_the_catalog_are_kept_when_a_garbage_entry_reappears() {
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
    fn blocks_of_a_dropped_metric_are_kept_while_the_catalog_on_disk_lists_them() {
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
    fn a_failed_deletion_is_retried() {
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
    fn a_seal_on_disk_succeeds_even_if_a_later_step_fails() {
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
        // The removal of the blocks of the dropped metric fails.
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
    fn only_quarantined_blocks_are_deleted_from_the_quarantine() {
        for restarted in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let mut engine = open(dir.path());
            fill(&engine);
            metrics(&engine).store.flush().unwrap();
            engine.delete_metric("first").unwrap();
            engine.seal().unwrap();
            metrics(&engine).collect_garbage(Pace::Whole).unwrap();
            metrics(&engine).store.flush().unwrap();
            let bytes = metrics(&engine).store.table_bytes(Keyspace::Quarantine).unwrap();
            assert_eq!(bytes, 0, "nothing was quarantined");
            let block = BlockKey::decode(&keys(&engine, Keyspace::Blocks)[0]).unwrap();
            metrics(&engine).quarantine(&block, "corrupt");
            assert_eq!(keys(&engine, Keyspace::Quarantine).len(), 1);
            engine.delete_metric("second").unwrap();
            engine.seal().unwrap();
            if restarted {
                drop(engine);
                engine = open(dir.path());
            }
            metrics(&engine).collect_garbage(Pace::Whole).unwrap();
            assert!(keys(&engine, Keyspace::Blocks).is_empty());
            assert!(keys(&engine, Keyspace::Quarantine).is_empty(), "restarted: {restarted}");
            assert_eq!(engine.stats().blocks_quarantined, 0);
        }
    }

    #[test]
    fn the_blocks_of_a_day_are_kept_while_a_reader_holds_one() {
        let dir = tempfile::tempdir().unwrap();
        let engine = open(dir.path());
        fill(&engine);
        engine.delete_metric("first").unwrap();
        let metrics = metrics(&engine);
        let second = metrics.registry().with_metric("second", |metric| metric.id).unwrap();
        let held = metrics.view.metric(second, TimeRange::new(0, i64::MAX), None);
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
