//! Deleting the bytes of blocks that the catalog does not name any more, once no reader can come to them.

use std::collections::BTreeSet;

use super::super::Metrics;
use super::super::block::{BlockKey, Tier};
use crate::error::Result;
use crate::maintenance::Pace;
use crate::storage::{Batch, KeyRange, Keyspace, Sync};

impl Metrics {
    /// Deletes what is free to go. Answers how many blocks that were. Of the pages of times that no block refers to it looks
    /// for some, or for all.
    pub(crate) fn collect_garbage(&self, pace: Pace) -> Result<u64> {
        self.store.tend()?;
        let keys = self.view.take_unreachable();
        let deleted = self.delete_garbage(&keys)?;
        if let Some(used) = self.view.shelves() {
            let mut batch = Batch::new();
            if self.times.stage_deletion(&used, &mut batch) {
                self.store.flush_blocks()?;
                self.store.write(batch, Sync::No)?;
            }
        }
        self.sweep_times(pace)?;
        Ok(deleted)
    }

    /// Deletes the bytes of blocks and takes them off the list of garbage. Days of a tier that are left empty, and
    /// of which no reader holds a block, are dropped as a range, which gives their files back at once.
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
        for (tier, day) in days.difference(&used) {
            let range = day_range(*tier, *day);
            if let Some(to) = &range.to {
                self.store.delete_range_now(Keyspace::Blocks, &range.from, to)?;
            }
        }
        Ok(keys.len() as u64)
    }
}

fn day_range(tier: Tier, day: u32) -> KeyRange {
    let [a, b, c, d] = day.to_be_bytes();
    KeyRange::prefix(&[tier as u8, a, b, c, d])
}

#[cfg(test)]
mod tests {
    use crate::maintenance::Pace;
    use crate::model::{MetricType, TimeRange, TimestampMs};
    use crate::options::{Maintenance, Options};
    use crate::{Clock, Engine};

    #[test]
    fn a_day_that_a_reader_still_reads_is_not_dropped_with_its_other_blocks() {
        let dir = tempfile::tempdir().unwrap();
        let now = TimestampMs(1_700_000_000_000);
        let clock = Clock::manual(now);
        let options = Options { maintenance: Maintenance::Manual, clock, ..Options::default() };
        let engine = Engine::open(dir.path(), options).unwrap();
        let mut batch = engine.batch();
        for name in ["first", "second"] {
            let series = batch.series(name, MetricType::Gauge, &[]).unwrap();
            batch.number(MetricType::Gauge, series, now, 1.0);
        }
        let points = batch.finish();
        engine.write(points).unwrap();
        engine.seal().unwrap();
        engine.delete_metric("first").unwrap();
        let metrics = &engine.rooms().telemetry.metrics;
        let second = metrics.registry().with_metric("second", |metric| metric.id).unwrap();
        let held = metrics.view.metric(second, TimeRange::new(0, i64::MAX));
        engine.delete_metric("second").unwrap();
        metrics.collect_garbage(Pace::Whole).unwrap();
        let block = held.blocks.iter().next().unwrap();
        assert!(metrics.read_block(&block.key).is_ok());
        let key = block.key;
        drop(held);
        metrics.collect_garbage(Pace::Whole).unwrap();
        assert!(metrics.store.get(super::Keyspace::Blocks, &key.encode()).unwrap().is_none());
    }
}
