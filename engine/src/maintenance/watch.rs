//! What must be looked after within a blink, by a thread of its own, since a merge keeps the keeper for seconds: new tables get
//! their guards, a database that has stopped is opened again, a disk that runs short gets its ballast, and the account of memory learns
//! what is held.

use std::sync::Arc;
use std::time::Duration;

use crate::ballast::Ballast;
use crate::limits::METRIC_UNMEASURED_BYTES;
use crate::log::Committer;
use crate::memory::{Memory, MemoryOwner};
use crate::panics::caught;
use crate::storage::Store;
use crate::telemetry::Alarm;
use crate::telemetry::Telemetry;

/// How often it looks.
const ROUND: Duration = Duration::from_millis(100);
/// Rounds after which guards are tried again when that failed. The keeper tries too, and tells what stands in the way.
const GUARD_RETRY_ROUNDS: u32 = 100;
/// Rounds from one look whether the database works to the next: it costs something.
const SLOW_ROUNDS: u32 = 10;
/// Bytes that are known of a block unread, with its place in the catalog, about.
const BLOCK_BYTES: u64 = 256;

/// What the thread looks at.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) store: Arc<Store>,
    pub(crate) alarm: Arc<Alarm>,
    pub(crate) ballast: Ballast,
    pub(crate) holdings: Holdings,
}

/// What the engine holds in memory.
#[derive(Clone, Debug)]
pub(crate) struct Holdings {
    pub(crate) telemetry: Arc<Telemetry>,
    pub(crate) committer: Arc<Committer>,
}

impl Watch {
    /// The work of the thread, until it is stopped.
    pub(crate) fn run(&self) {
        let (mut round, mut guards_at) = (0, 0);
        while self.alarm.pause(ROUND) {
            if round >= guards_at {
                let guarded = caught("guarding tables", || self.store.guard_new());
                guards_at = match guarded {
                    Ok(Ok(())) => round,
                    _ => round + GUARD_RETRY_ROUNDS,
                };
            }
            let _looked = caught("looking at the disk", || self.ballast.look());
            let _looked = caught("counting memory", || self.holdings.update_account());
            if round % SLOW_ROUNDS == 0 {
                let stopped = caught("looking after the database", || self.store.recover());
                let failed = |error: crate::Error| Some(error.to_string());
                self.alarm.set_stopped(stopped.map_or_else(Some, |why| why.unwrap_or_else(failed)));
            }
            round = round.wrapping_add(1);
        }
    }
}

impl Holdings {
    /// Tells the account what is held. Owners count what they hold where it changes, so this costs the same however much that is.
    pub(crate) fn update_account(&self) {
        let Self { telemetry, committer } = self;
        let options = telemetry.options();
        let memory: &Memory = &options.memory;
        let head = telemetry.metrics.view().head_size();
        let events = telemetry.events.sizes();
        let heads = head.memory_bytes as u64 + events.head_bytes;
        let heads = heads.max(2 * options.head_bytes as u64);
        let of_log = committer.queued_bytes() + committer.copies_bytes();
        memory.hold(MemoryOwner::Heads, heads + of_log as u64);
        // What is read at the moment is in the cache of the database also where there is no room for it.
        let of_store = telemetry.store().cache_bytes().max(options.cache_bytes);
        // Pages of times have an eighth of the cache for themselves.
        let caches = of_store + options.cache_bytes / 8 + options.event_cache_bytes;
        memory.hold(MemoryOwner::Caches, caches as u64);
        let blocks = telemetry.metrics.view().catalog().blocks() + events.blocks;
        memory.hold(MemoryOwner::Catalog, blocks * BLOCK_BYTES);
        let merging = telemetry.metrics.counters.merge_memory.current()
            + telemetry.events.merge_memory.current();
        memory.hold(MemoryOwner::Merges, merging as u64);
        let registry = telemetry.metrics.registry();
        let (metrics, _, bytes) = registry.size();
        let bytes = bytes + telemetry.metrics.series_bytes() + metrics * METRIC_UNMEASURED_BYTES;
        memory.hold(MemoryOwner::Registry, bytes as u64);
        // What is new until the next round is off this room.
        registry.set_room(memory.room_for_data());
    }
}
