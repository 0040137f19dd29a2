//! Reads the catalog and the counters when the engine is opened.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::Events;
use super::block::{self, EventBlockInfo, EventBlockKey};
use super::keys::{self, CatalogEntry};
use super::view::View;
use crate::error::Result;
use crate::options::Options;
use crate::storage::{Batch, Caching, Fact, Keyspace, RangeOf, Store, Sync, keyspaces};

/// The decoded catalog.
#[derive(Default)]
struct CatalogContents {
    blocks: BTreeMap<EventBlockKey, EventBlockInfo>,
    garbage: HashSet<EventBlockKey>,
    quarantined: HashSet<EventBlockKey>,
}

impl Events {
    /// Reads the catalog of a store. Appends a line to `damaged` for each entry that cannot be
    /// read. If the catalog is damaged, the blocks it lost are found by scanning the block
    /// keyspace.
    pub(crate) fn open(
        store: Arc<Store>,
        options: Options,
        pool: Arc<rayon::ThreadPool>,
        damaged: &mut Vec<String>,
    ) -> Result<Self> {
        let before = damaged.len();
        let mut catalog = read_catalog(&store, damaged)?;
        if damaged.len() > before || store.has_lost_entries(Keyspace::EventCatalog)? {
            recover_unlisted(&store, &mut catalog, damaged)?;
            if !store.is_read_only() {
                store.clear_lost_entries(Keyspace::EventCatalog)?;
            }
        }
        let next = |key: &EventBlockKey| key.sequence + 1;
        let used = catalog.blocks.keys().chain(&catalog.garbage).map(next).max().unwrap_or(1);
        let has_blocks = !catalog.blocks.is_empty();
        let sequence = store.expected_number(Fact::EventSequence, has_blocks, damaged)?;
        let sequence = sequence.unwrap_or(1).max(used);
        let number = store.expected_number(Fact::EventNumber, has_blocks, damaged)?.unwrap_or(1);
        let view = View::new(catalog.blocks.into_values());
        let events = Self::new(store, options, pool, view, catalog.quarantined, (sequence, number));
        if events.store.is_read_only() {
            return Ok(events);
        }
        events.delete_blocks(&catalog.garbage.into_iter().collect::<Vec<_>>())?;
        Ok(events)
    }
}

fn read_catalog(store: &Store, damaged: &mut Vec<String>) -> Result<CatalogContents> {
    let mut catalog = CatalogContents::default();
    let visit = |key: Box<[u8]>, entry: Box<[u8]>| {
        let outcome = keys::read(&key).and_then(|read| {
            match read {
                CatalogEntry::Block(block) => {
                    let info = EventBlockInfo::from_catalog_entry(&block.encode(), &entry)?;
                    catalog.blocks.insert(block, info);
                }
                CatalogEntry::Garbage(block) => drop(catalog.garbage.insert(block)),
                CatalogEntry::Quarantine(block) => drop(catalog.quarantined.insert(block)),
            }
            Ok(())
        });
        if let Err(error) = outcome {
            damaged.push(format!("event catalog entry {key:02x?}: {error}"));
        }
    };
    let all = RangeOf::all(keyspaces::EventCatalog);
    let gap = store.read_skipping_damage(all, Caching::Bypass, visit)?;
    if let Some(gap) = gap {
        damaged.push(format!("event catalog: {}", gap.error));
    }
    Ok(catalog)
}

/// Scans the block keyspace for blocks missing from a damaged catalog; the header of a block
/// contains everything that its catalog entry does. Appends a line to `damaged` for each block that
/// is lost with its entry.
fn recover_unlisted(
    store: &Store,
    catalog: &mut CatalogContents,
    damaged: &mut Vec<String>,
) -> Result<()> {
    let mut found = BTreeMap::new();
    let visit = |stored: Box<[u8]>, bytes: Box<[u8]>| {
        let key = match EventBlockKey::decode(&stored) {
            Ok(key) => key,
            Err(error) => return damaged.push(format!("event block {stored:02x?}: {error}")),
        };
        if catalog.garbage.contains(&key) || catalog.blocks.contains_key(&key) {
            return;
        }
        match block::describe(key, &bytes) {
            Ok(info) => drop(found.insert(key, info)),
            Err(error) => damaged.push(format!("event block {key:?}, not in the catalog: {error}")),
        }
    };
    let all = RangeOf::all(keyspaces::EventBlocks);
    let gap = store.read_skipping_damage(all, Caching::Bypass, visit)?;
    // Blocks in the gap that the catalog lists are found corrupt when they are read; others are
    // lost here.
    damaged.extend(gap.map(|gap| format!("event blocks not in the catalog: {}", gap.error)));
    // The recovered entries are written back, so that later starts do not depend on this scan.
    let mut batch = Batch::new();
    for (key, info) in found {
        batch.put(keyspaces::EventCatalog, &CatalogEntry::Block(key), info);
        catalog.blocks.insert(key, info);
    }
    if store.is_read_only() {
        return Ok(());
    }
    store.repair_suspect_tables()?;
    store.write(batch, Sync::Yes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Interval, NewEvent, TimestampMs};
    use crate::options::Maintenance;
    use crate::{Clock, Engine, Write};

    #[test]
    fn blocks_that_a_damaged_catalog_lost_are_recovered_or_reported() {
        let dir = tempfile::tempdir().unwrap();
        let day = Interval::DAY.ms();
        let options = || Options {
            maintenance: Maintenance::Manual,
            clock: Clock::manual(TimestampMs(20_003 * day)),
            ..Options::default()
        };
        let engine = Engine::open(dir.path(), options()).unwrap();
        let mut batch = engine.event_batch();
        for time in [20_000 * day, 20_001 * day] {
            let (name, time, tags) = ("a", TimestampMs(time), &[][..]);
            let new = NewEvent { name, time, user: None, value: None, tags, properties: None };
            batch.push(&new).unwrap();
        }
        engine.submit(Write { events: Some(batch), ..Write::default() }, |_| ());
        engine.seal().unwrap();
        let inner = engine.inner();
        let blocks = inner.telemetry.events.view.blocks();
        let [intact, corrupt] = &blocks[..] else { panic!("{blocks:?}") };
        let mut harm = Batch::new();
        for info in [intact, corrupt] {
            harm.put(Keyspace::EventCatalog, &CatalogEntry::Block(info.key).encode(), vec![1]);
        }
        harm.put(Keyspace::EventBlocks, &corrupt.key.encode(), vec![1]);
        harm.put(Keyspace::EventBlocks, b"no key", vec![1]);
        inner.store.write(harm, Sync::Yes).unwrap();
        let (intact, corrupt) = (intact.key, corrupt.key);
        drop((blocks, engine));
        let engine = Engine::open(dir.path(), options()).unwrap();
        let recovered: Vec<_> =
            engine.inner().telemetry.events.view.blocks().iter().map(|info| info.key).collect();
        assert_eq!(recovered, [intact]);
        let damage = engine.damage();
        let reported = |start: String| damage.iter().any(|line| line.starts_with(&start));
        assert!(
            reported(format!("lost: event block {corrupt:?}, not in the catalog")),
            "{damage:?}"
        );
        assert!(reported(format!("lost: event block {:02x?}", b"no key")), "{damage:?}");
        assert!(!reported(format!("lost: event block {intact:?}")), "{damage:?}");
    }
}
