//! Deleting the bytes of blocks that the catalog does not name any more, once no reader can come to them.

use std::collections::{BTreeMap, BTreeSet};

use super::super::Metrics;
use super::super::block::{BlockKey, Tier};
use crate::error::Result;
use crate::storage::{Batch, KeyRange, Keyspace, Sync};

impl Metrics {
    /// Deletes what is free to go. Answers how many blocks that were.
    pub(crate) fn collect_garbage(&self) -> Result<u64> {
        let keys = self.view.take_unreachable();
        self.delete_garbage(&keys)
    }

    /// Deletes the bytes of blocks and takes them off the list of garbage. Days of a tier that are left empty
    /// are dropped as a range, which gives their files back at once.
    pub(crate) fn delete_garbage(&self, keys: &[BlockKey]) -> Result<u64> {
        if keys.is_empty() {
            return Ok(0);
        }
        let mut days: BTreeMap<(Tier, u32), usize> = BTreeMap::new();
        let mut batch = Batch::new();
        for key in keys {
            batch.delete(Keyspace::Blocks, &key.encode());
            batch.delete(Keyspace::Garbage, &key.encode());
            batch.delete(Keyspace::Quarantine, &key.encode());
            *days.entry((key.tier, key.day)).or_default() += 1;
        }
        self.store.write(batch, Sync::No)?;
        let catalog = self.view.catalog();
        let used: BTreeSet<(Tier, u32)> = catalog
            .metrics()
            .flat_map(|(_, blocks)| blocks.iter().map(|b| (b.key.tier, b.key.day)))
            .collect();
        for (tier, day) in days.into_keys().filter(|d| !used.contains(d)) {
            let range = day_range(tier, day);
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
