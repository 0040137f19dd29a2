//! How much there is of everything, for whoever watches the engine.

use std::sync::atomic::Ordering;

use crate::engine_inner::EngineInner;
use crate::memory::MergeMemory;
use crate::storage::{disk_free, disk_used};

/// Sizes and counts. Counts of events are since the engine was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineStats {
    /// Metrics.
    pub metrics: u64,
    /// Series of all metrics.
    pub series: u64,
    /// Events written since the engine was opened.
    pub events_written: u64,
    /// Events in memory.
    pub events_head: u64,
    /// Events in blocks.
    pub events_stored: u64,
    /// Blocks of events.
    pub event_blocks: u64,
    /// Bytes of the blocks of events.
    pub event_block_bytes: u64,
    /// Points written since the engine was opened.
    pub points_written: u64,
    /// Readings of cumulative series that were no news: not later than the one before, as a batch that is sent again.
    pub readings_late: u64,
    /// Points in memory.
    pub points_head: u64,
    /// Bytes of the points and events in memory.
    pub head_bytes: u64,
    /// Bytes of the registry in memory, the last readings of cumulative series included.
    pub registry_bytes: u64,
    /// Bytes of the cache of the database, its memtables included.
    pub cache_bytes: u64,
    /// Bytes of decoded columns of events in the cache for them.
    pub event_cache_bytes: u64,
    /// Bytes of the memtables of the database.
    pub memtable_bytes: u64,
    /// Bytes that wait to be written to the log.
    pub queue_bytes: u64,
    /// Bytes of the log on disk.
    pub log_bytes: u64,
    /// Bytes of the data directory.
    pub disk_bytes: u64,
    /// Bytes free on its disk.
    pub disk_free_bytes: u64,
    /// Blocks of points.
    pub blocks: u64,
    /// Bytes of the blocks of points.
    pub block_bytes: u64,
    /// Blocks that are damaged and set aside.
    pub blocks_quarantined: u64,
    /// Things found damaged that no operator has seen yet.
    pub damage: u64,
    /// Seals done.
    pub seals: u64,
    /// Windows merged.
    pub merges: u64,
    /// Windows that wait to be merged, as of the last look.
    pub merges_waiting: u64,
    /// Bytes that the merge under way holds, about.
    pub merge_bytes: u64,
    /// The most that any merge held since the engine was opened.
    pub merge_bytes_peak: u64,
    /// Milliseconds that the clock is ahead of the time that is believed, negative when it is behind; 0 while it is believed.
    pub clock_ahead_ms: i64,
    /// Whether writes are refused.
    pub read_only: bool,
}

impl EngineStats {
    pub(crate) fn of(rooms: &EngineInner) -> Self {
        let (metrics, series, registry_bytes) = rooms.telemetry.metrics.registry().size();
        let head = rooms.telemetry.metrics.view().head_size();
        let catalog = rooms.telemetry.metrics.view().catalog();
        let events = rooms.telemetry.events.sizes();
        let counters = &rooms.telemetry.metrics.counters;
        let merges = [&counters.merge_memory, &rooms.telemetry.events.merge_memory];
        let series_bytes = registry_bytes + rooms.telemetry.metrics.series_bytes();
        // Figures that cannot be had read as zero: watching must not fail because the disk does.
        let figures = rooms.store.figures().unwrap_or_default();
        Self {
            metrics: metrics as u64,
            series: series as u64,
            events_written: events.written,
            events_head: events.head_rows,
            events_stored: events.stored_rows,
            event_blocks: events.blocks,
            event_block_bytes: events.block_bytes,
            points_written: counters.points.load(Ordering::Relaxed),
            readings_late: counters.readings_late.load(Ordering::Relaxed),
            points_head: head.points,
            head_bytes: head.bytes as u64 + events.head_bytes,
            registry_bytes: series_bytes as u64,
            cache_bytes: figures.cache_bytes,
            event_cache_bytes: events.cache_bytes,
            memtable_bytes: figures.memtable_bytes,
            queue_bytes: rooms.committer.queued_bytes() as u64,
            log_bytes: rooms.segments.bytes().unwrap_or_default(),
            disk_bytes: disk_used(&rooms.dir).unwrap_or_default(),
            disk_free_bytes: disk_free(&rooms.dir).unwrap_or_default(),
            blocks: catalog.blocks(),
            block_bytes: catalog.bytes(),
            blocks_quarantined: rooms.telemetry.metrics.quarantined() + events.quarantined,
            damage: rooms.damage.len() as u64,
            seals: counters.seals.load(Ordering::Relaxed),
            merges: counters.merges.load(Ordering::Relaxed),
            merges_waiting: counters.merges_waiting.load(Ordering::Relaxed),
            merge_bytes: merges.map(MergeMemory::current).iter().sum::<usize>() as u64,
            merge_bytes_peak: merges.map(MergeMemory::peak).into_iter().max().unwrap_or(0) as u64,
            clock_ahead_ms: rooms.trusted.read().deviation.map_or(0, |d| d.ahead_ms),
            read_only: rooms.alarm.trouble().is_some(),
        }
    }
}
