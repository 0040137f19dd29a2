//! The resource monitor: short periodic tasks on a thread of their own, since a compaction may keep
//! the maintenance thread busy for seconds. New tables get checksum and parity files, a database
//! that has stopped is reopened, the ballast file is updated, and the memory account is updated.

use std::sync::Arc;
use std::time::Duration;

use crate::ballast::Ballast;
use crate::limits::METRIC_UNMEASURED_BYTES;
use crate::log::Committer;
use crate::memory::{Memory, MemoryOwner};
use crate::metrics::{database_cache_bytes, opened_blocks_bytes};
use crate::panics::catch_panic;
use crate::storage::Store;
use crate::telemetry::MaintenanceState;
use crate::telemetry::Telemetry;

/// The period of passes.
const PASS_PERIOD: Duration = Duration::from_millis(100);
/// Passes until checksum and parity files are retried after a failure. The maintenance thread
/// retries them too, and reports the cause.
const GUARD_RETRY_PASSES: u32 = 100;
/// Passes between two checks of the database, which are more expensive.
const SLOW_CHECK_PASSES: u32 = 10;
/// Bytes of the metadata of a block, with its entry in the catalog, approximately.
const BLOCK_BYTES: u64 = 256;

/// The resources that the thread monitors.
#[derive(Debug)]
pub(crate) struct ResourceMonitor {
    pub(crate) store: Arc<Store>,
    pub(crate) maintenance_state: Arc<MaintenanceState>,
    pub(crate) ballast: Ballast,
    pub(crate) holdings: EngineHoldings,
}

/// The stores of the engine, for the memory account.
#[derive(Clone, Debug)]
pub(crate) struct EngineHoldings {
    pub(crate) telemetry: Arc<Telemetry>,
    pub(crate) committer: Arc<Committer>,
}

impl ResourceMonitor {
    /// Runs the thread until it is stopped.
    pub(crate) fn run(&self) {
        let (mut pass, mut guards_at) = (0, 0);
        while self.maintenance_state.pause(PASS_PERIOD) {
            if pass >= guards_at {
                let guarded = catch_panic("writing checksum files of tables", || {
                    self.store.guard_new_tables()
                });
                guards_at = match guarded {
                    Ok(Ok(())) => pass,
                    Ok(Err(error)) => {
                        tracing::warn!(%error, "new tables have no checksum files yet; they are retried");
                        pass + GUARD_RETRY_PASSES
                    }
                    // The panic is logged.
                    Err(_) => pass + GUARD_RETRY_PASSES,
                };
            }
            // Where the disk cannot be examined, writes are refused with the same error.
            let _done = catch_panic("updating the ballast file", || self.ballast.update());
            let _done =
                catch_panic("updating the memory account", || self.holdings.update_account());
            if pass % SLOW_CHECK_PASSES == 0 {
                let stopped = catch_panic("checking the database", || self.store.recover());
                let failed = |error: crate::Error| Some(error.to_string());
                self.maintenance_state.set_database_stopped(
                    stopped.map_or_else(Some, |why| why.unwrap_or_else(failed)),
                );
            }
            pass = pass.wrapping_add(1);
        }
    }
}

impl EngineHoldings {
    /// Updates the memory account with the current sizes. Stores track their size as it changes, so
    /// the cost does not depend on it.
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
        // Blocks being read are in the database's cache even if they exceed its limit, or belong to
        // the query that opens them.
        let of_database = telemetry.store().cache_bytes().max(database_cache_bytes(options));
        // The cache of time pages is an eighth of the block cache, in addition to it.
        let of_metrics = opened_blocks_bytes(options) + options.cache_bytes / 8;
        let caches = of_database + of_metrics + options.event_cache_bytes;
        memory.hold(MemoryOwner::Caches, caches as u64);
        let blocks = telemetry.metrics.view().catalog().blocks() + events.blocks;
        memory.hold(MemoryOwner::Catalog, blocks * BLOCK_BYTES);
        let merging = telemetry.metrics.counters.compaction_memory.current()
            + telemetry.events.compaction_memory.current();
        memory.hold(MemoryOwner::Merges, merging as u64);
        let registry = telemetry.metrics.registry();
        let (metrics, _, bytes) = registry.size();
        let bytes = bytes + telemetry.metrics.series_bytes() + metrics * METRIC_UNMEASURED_BYTES;
        memory.hold(MemoryOwner::Registry, bytes as u64);
        // New series may use this much until the next pass.
        registry.set_memory_left(memory.bytes_left_for_data());
    }
}
