//! Sizes and counts of the engine, for monitoring.

use std::sync::atomic::Ordering;

use crate::engine_inner::EngineInner;
use crate::memory::CompactionMemory;
use crate::storage::{disk_free, disk_used};

/// Sizes and counts. Counters start at zero when the engine is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineStats {
    /// Number of metrics.
    pub metrics: u64,
    /// Number of series of all metrics.
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
    /// Samples written since the engine was opened.
    pub points_written: u64,
    /// Cumulative samples ignored since the engine was opened because they were not later than the
    /// previous sample of their series, for example in a batch that was sent again.
    pub late_samples: u64,
    /// Samples in memory.
    pub points_head: u64,
    /// Bytes of the samples and events in memory.
    pub head_bytes: u64,
    /// Bytes of the registry in memory, including the last cumulative values of series.
    pub registry_bytes: u64,
    /// Bytes of the database's block cache, including its memtables.
    pub cache_bytes: u64,
    /// Bytes of the cache for decoded columns of events.
    pub event_cache_bytes: u64,
    /// Bytes of the database's memtables.
    pub memtable_bytes: u64,
    /// Bytes queued for the write-ahead log.
    pub queue_bytes: u64,
    /// Bytes of the write-ahead log on disk; `None` if the file system fails.
    pub log_bytes: Option<u64>,
    /// Bytes of the data directory; `None` if the file system fails.
    pub disk_bytes: Option<u64>,
    /// Free bytes on the disk of the data directory; `None` if the file system fails.
    pub disk_free_bytes: Option<u64>,
    /// Blocks of samples.
    pub blocks: u64,
    /// Bytes of the blocks of samples.
    pub block_bytes: u64,
    /// Quarantined blocks.
    pub blocks_quarantined: u64,
    /// Entries of the damage list.
    pub damage: u64,
    /// Completed seals.
    pub seals: u64,
    /// Compacted windows.
    pub merges: u64,
    /// Windows that wait for compaction, as of the last pass.
    pub compactions_waiting: u64,
    /// Bytes of memory that the current compaction holds, approximately.
    pub compaction_bytes: u64,
    /// The largest number of bytes that a compaction has held since the engine was opened.
    pub merge_bytes_peak: u64,
    /// Milliseconds by which the wall clock is ahead of the trusted time, negative when it is
    /// behind; 0 while the clock is trusted.
    pub clock_ahead_ms: i64,
    /// Whether writes are refused.
    pub read_only: bool,
}

impl EngineStats {
    pub(crate) fn of(inner: &EngineInner) -> Self {
        let (metrics, series, registry_bytes) = inner.telemetry.metrics.registry().size();
        let head = inner.telemetry.metrics.view().head_size();
        let catalog = inner.telemetry.metrics.view().catalog();
        let events = inner.telemetry.events.sizes();
        let counters = &inner.telemetry.metrics.counters;
        let merges = [&counters.compaction_memory, &inner.telemetry.events.compaction_memory];
        let series_bytes = registry_bytes + inner.telemetry.metrics.series_bytes();
        // Figures that cannot be read are reported as zero: monitoring must not fail with the disk.
        let figures = inner.store.figures().unwrap_or_default();
        Self {
            metrics: metrics as u64,
            series: series as u64,
            events_written: events.written,
            events_head: events.head_rows,
            events_stored: events.stored_rows,
            event_blocks: events.blocks,
            event_block_bytes: events.block_bytes,
            points_written: counters.points.load(Ordering::Relaxed),
            late_samples: counters.late_samples.load(Ordering::Relaxed),
            points_head: head.points,
            head_bytes: head.bytes as u64 + events.head_bytes,
            registry_bytes: series_bytes as u64,
            cache_bytes: figures.cache_bytes + inner.telemetry.metrics.opened().bytes(),
            event_cache_bytes: events.cache_bytes,
            memtable_bytes: figures.memtable_bytes,
            queue_bytes: inner.committer.queued_bytes() as u64,
            log_bytes: inner.segments.bytes().ok(),
            disk_bytes: disk_used(&inner.dir).ok(),
            disk_free_bytes: disk_free(&inner.dir).ok(),
            blocks: catalog.blocks(),
            block_bytes: catalog.bytes(),
            blocks_quarantined: inner.telemetry.metrics.quarantined() + events.quarantined,
            damage: inner.damage.len() as u64,
            seals: counters.seals.load(Ordering::Relaxed),
            merges: counters.merges.load(Ordering::Relaxed),
            compactions_waiting: counters.compactions_waiting.load(Ordering::Relaxed),
            compaction_bytes: merges.map(CompactionMemory::current).iter().sum::<usize>() as u64,
            merge_bytes_peak: merges.map(CompactionMemory::peak).into_iter().max().unwrap_or(0)
                as u64,
            clock_ahead_ms: inner.trusted.read().deviation.map_or(0, |d| d.ahead_ms),
            read_only: inner.maintenance_state.trouble().is_some(),
        }
    }
}
