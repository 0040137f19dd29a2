//! What the disk holds, read when the engine is opened.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::Events;
use super::block::{self, EventBlockInfo, EventBlockKey};
use super::keys::{self, Entry};
use super::view::View;
use crate::error::Result;
use crate::options::Options;
use crate::storage::{Batch, Caching, KeyRange, Keyspace, Store, Sync};

/// The next number of a block: u64, little-endian.
pub(super) const SEQUENCE_KEY: &[u8] = b"event_sequence";
/// The next number of an event: u64, little-endian.
pub(super) const NUMBER_KEY: &[u8] = b"event_number";

#[derive(Default)]
struct Listed {
    blocks: BTreeMap<EventBlockKey, EventBlockInfo>,
    garbage: HashSet<EventBlockKey>,
    quarantined: HashSet<EventBlockKey>,
}

impl Events {
    /// Reads the catalog of a store. Adds a line to `damaged` for what cannot be read.
    pub(crate) fn open(
        store: Arc<Store>,
        options: Options,
        pool: Arc<rayon::ThreadPool>,
        damaged: &mut Vec<String>,
    ) -> Result<Self> {
        let before = damaged.len();
        let mut listed = read_catalog(&store, damaged)?;
        if damaged.len() > before || store.lost_entries_of(Keyspace::EventCatalog)? {
            add_unlisted(&store, &mut listed)?;
            if !store.is_read_only() {
                store.found_entries_of(Keyspace::EventCatalog)?;
            }
        }
        let next = |key: &EventBlockKey| key.sequence + 1;
        let used = listed.blocks.keys().chain(&listed.garbage).map(next).max().unwrap_or(1);
        let sequence = store.number(SEQUENCE_KEY)?.unwrap_or(1).max(used);
        let number = store.number(NUMBER_KEY)?.unwrap_or(1);
        let view = View::new(listed.blocks.into_values());
        let events = Self::new(store, options, pool, view, listed.quarantined, (sequence, number));
        if events.store.is_read_only() {
            return Ok(events);
        }
        events.delete_blocks(&listed.garbage.into_iter().collect::<Vec<_>>())?;
        Ok(events)
    }
}

fn read_catalog(store: &Store, damaged: &mut Vec<String>) -> Result<Listed> {
    let mut listed = Listed::default();
    let visit = |key: Box<[u8]>, entry: Box<[u8]>| {
        let outcome = keys::read(&key).and_then(|read| {
            match read {
                Entry::Block(block) => {
                    let info = EventBlockInfo::from_catalog_entry(&block.encode(), &entry)?;
                    listed.blocks.insert(block, info);
                }
                Entry::Garbage(block) => drop(listed.garbage.insert(block)),
                Entry::Quarantine(block) => drop(listed.quarantined.insert(block)),
            }
            Ok(())
        });
        if let Err(error) = outcome {
            damaged.push(format!("catalog entry of events {key:02x?}: {error}"));
        }
    };
    let all = KeyRange::all();
    let gap = store.read_around_damage(Keyspace::EventCatalog, &all, Caching::Bypass, visit)?;
    if let Some(gap) = gap {
        damaged.push(format!("catalog of events: {}", gap.error));
    }
    Ok(listed)
}

/// Finds blocks that a damaged catalog does not name: every block describes itself.
fn add_unlisted(store: &Store, listed: &mut Listed) -> Result<()> {
    let mut found = BTreeMap::new();
    let visit = |key: Box<[u8]>, bytes: Box<[u8]>| {
        let Ok(key) = EventBlockKey::decode(&key) else { return };
        if !listed.garbage.contains(&key)
            && !listed.blocks.contains_key(&key)
            && let Ok(info) = block::describe(key, &bytes)
        {
            found.insert(key, info);
        }
    };
    let all = KeyRange::all();
    store.read_around_damage(Keyspace::EventBlocks, &all, Caching::Bypass, visit)?;
    // So that the next start finds them in the catalog, whatever becomes of what is damaged now.
    let mut batch = Batch::new();
    for (key, info) in found {
        batch.put(Keyspace::EventCatalog, &keys::block(&key), info.to_catalog_entry());
        listed.blocks.insert(key, info);
    }
    if store.is_read_only() {
        return Ok(());
    }
    store.heal_suspects()?;
    store.write(batch, Sync::Yes)
}
