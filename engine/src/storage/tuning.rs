//! Every RocksDB setting that matters to Telltale, set explicitly and with its reason, so that an
//! upgrade of RocksDB does not change one unnoticed.
//!
//! # Durability
//!
//! Documents are acknowledged when RocksDB's own log is synced, so its recovery must not drop
//! anything silently. Of its recovery modes, *point in time* (the default) stops at the first bad
//! record and opens without the records after it, which would be silent. *Absolute consistency*
//! refuses even the torn record that any power loss may leave. *Tolerate corrupted tail records*
//! fits: a record that is cut short at the end of a log was never synced, hence never acknowledged,
//! and is dropped. A record with a wrong checksum in the middle fails the open; what can be saved
//! is then saved and the rest reported (`open.rs`). Logs are not recycled, because old records
//! could then follow the tail. The manifest records which logs were synced and their lengths, so
//! that a missing log is noticed too.
//!
//! # A full disk
//!
//! When a write to a log, table or manifest finds no space, RocksDB enters a read-only state and
//! leaves it by itself: every five seconds its file manager checks whether space for at least one
//! write buffer of the largest size is free again, flushes the memtables, starts a new log and
//! accepts writes again. Reads go on throughout; the write that failed is not applied. When a
//! compaction finds the disk full, writes do not even stop. Any other failed write or sync of the
//! log (a disk that returns EIO, a user's quota) is fatal for the open database: reads go on and
//! writes fail until it is reopened (`recover.rs`), which happens without a restart once files can
//! be written. It is right that RocksDB does not resume by itself: after a failed `fsync` the
//! contents of the disk are unknown until the log is read again. Batches whose write failed are cut
//! from the log before it is read (`journal`).
//!
//! # Memory
//!
//! Table blocks, their indexes and filters, and the memtables all draw on one cache of
//! `Options::cache_bytes`. Memtables may take a quarter of it before the largest is flushed.

use std::sync::Arc;

use rocksdb::{
    BlockBasedIndexType, BlockBasedOptions, Cache, ChecksumType, CompactionPri, DBCompactionStyle,
    DBCompressionType, DBRecoveryMode, DataBlockIndexType, InfoLogger, LogLevel, Options,
    WriteBufferManager,
};

use super::findings::Findings;
use super::keyspace::Keyspace;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// Minimum bytes for memtables, however small the cache.
const MEMTABLE_BYTES_MIN: usize = 8 * MIB;
/// Bytes for memtables above which flushes gain nothing and restarts only get slower.
const MEMTABLE_BYTES_MAX: usize = 128 * MIB;
/// Bytes of RocksDB's log above which the keyspace with the oldest entries is flushed. This bounds
/// what a restart replays.
const LOG_BYTES_MAX: u64 = 128 << 20;
/// Maximum open table files. Systems commonly allow a process 1 024 files; the rest is for
/// connections.
const FILES_OPEN_MAX: i32 = crate::limits::DATABASE_FILES_OPEN_MAX as i32;

/// Settings that the binding lacks. With `allow_fallocate` RocksDB would preallocate megabytes for
/// its log and manifest at the first byte written, more than a small database uses. The id in the
/// file `IDENTITY` is in the manifest as well, and RocksDB removes the file where an older version
/// wrote one.
const SET_BY_NAME: &str = "allow_fallocate=false;write_identity_file=false";

/// State shared by the keyspaces of one database.
pub(super) struct Shared {
    pub(super) cache: Cache,
    pub(super) memtables: WriteBufferManager,
    findings: Arc<Findings>,
    threads: i32,
}

/// How much damage an open tolerates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strictness {
    /// None: everything acknowledged is present, and a failure stops writes.
    Strict,
    /// Any that can be skipped, to save what can be read. No compaction runs, and only salvaged
    /// entries are written.
    Salvage,
}

impl Shared {
    /// Returns settings with a budget of `cache_bytes` for everything that RocksDB keeps in memory
    /// and `threads` for its background work.
    pub(super) fn new(cache_bytes: usize, threads: usize, findings: Arc<Findings>) -> Self {
        // The hyper clock cache needs no lock for a hit. Without an estimate of the entry size it
        // grows its table as needed, which suits blocks of 4 to 300 KB.
        let cache = Cache::new_hyper_clock_cache(cache_bytes, 0);
        let memtable_bytes = (cache_bytes / 4).clamp(MEMTABLE_BYTES_MIN, MEMTABLE_BYTES_MAX);
        // Writers never stall for memory: the flush that starts anyway is quick, and a stalled seal
        // would hold the head, which is larger.
        let memtables = WriteBufferManager::new_write_buffer_manager_with_cache(
            memtable_bytes,
            false,
            cache.clone(),
        );
        // At least two: one flushes and never waits for the other, which compacts.
        let threads = threads.clamp(2, 8) as i32;
        Self { cache, memtables, findings, threads }
    }
}

/// Returns the settings of the database as a whole.
pub(super) fn database(shared: &Shared, strictness: Strictness) -> Result<Options, rocksdb::Error> {
    let mut options = Options::default().get_options_from_string(SET_BY_NAME)?;
    options.create_if_missing(true);
    // Keyspaces that a later version introduced are added to an older database.
    options.create_missing_column_families(true);
    set_durability(&mut options, strictness);
    set_files(&mut options);

    options.set_write_buffer_manager(&shared.memtables);
    options.set_max_background_jobs(shared.threads);
    // Splitting one compaction over threads would take the other core from queries.
    options.set_max_subcompactions(1);
    // One queue of writers: pipelining only helps with far more cores, and breaks the grouping of
    // syncs.
    options.set_enable_pipelined_write(false);
    options.set_unordered_write(false);
    options.set_allow_concurrent_memtable_write(true);
    // Files are deleted in the background, not by the reader that drops the last reference.
    options.set_avoid_unnecessary_blocking_io(true);

    // RocksDB's warnings go to the program's log. A log file of its own would start with 100 KB of
    // settings each time. Statistics are off, since they would be written to the database.
    let findings = Arc::clone(&shared.findings);
    options.set_info_logger(InfoLogger::new_callback_logger(
        LogLevel::Warn,
        move |level, message| {
            findings.note_message(message);
            log_message(level, message);
        },
    ));
    options.set_stats_dump_period_sec(0);
    options.set_stats_persist_period_sec(0);
    Ok(options)
}

fn log_message(level: LogLevel, message: &str) {
    match level {
        LogLevel::Error | LogLevel::Fatal => tracing::error!(target: "rocksdb", "{message}"),
        LogLevel::Warn => tracing::warn!(target: "rocksdb", "{message}"),
        LogLevel::Debug | LogLevel::Info | LogLevel::Header => {}
    }
}

fn set_durability(options: &mut Options, strictness: Strictness) {
    let strict = strictness == Strictness::Strict;
    options.set_wal_recovery_mode(if strict {
        DBRecoveryMode::TolerateCorruptedTailRecords
    } else {
        DBRecoveryMode::SkipAnyCorruptedRecord
    });
    options.set_recycle_log_file_num(0);
    options.set_track_and_verify_wals_in_manifest(strict);
    options.set_manual_wal_flush(false);
    // Large values in the log are compressed already.
    options.set_wal_compression_type(DBCompressionType::None);
    // Any inconsistency stops writes instead of spreading. Without this, a write after a torn one
    // would count as durable. `online_repair.rs` repairs what a damaged table stopped.
    options.set_paranoid_checks(strict);
    // A batch is complete after a crash because its log is replayed. Flushing all keyspaces
    // together would only be needed without a log.
    options.set_atomic_flush(false);
    options.set_use_fsync(false);
}

fn set_files(options: &mut Options) {
    options.set_max_total_wal_size(LOG_BYTES_MAX);
    // Write-back starts while files grow, so that the final sync finds little to do and does not
    // delay the telemetry log on the same disk.
    options.set_bytes_per_sync(MIB as u64);
    options.set_wal_bytes_per_sync(512 * KIB as u64);
    options.set_max_manifest_file_size(16 * MIB);
    options.set_max_open_files(FILES_OPEN_MAX);
    // Statistics of every table would be read at open only to choose compactions slightly better.
    options.set_skip_stats_update_on_db_open(true);
    options.set_use_direct_reads(false);
    options.set_use_direct_io_for_flush_and_compaction(false);
    options.set_allow_mmap_reads(false);
    options.set_allow_mmap_writes(false);
}

/// Settings that differ between keyspaces.
struct Shape {
    /// Divisor of the memory for memtables that yields this keyspace's memtable size.
    memtable_part: usize,
    /// Bytes of a table file.
    table_bytes: u64,
    /// Bytes of a block inside a table: the unit that is read, verified and cached.
    page_bytes: usize,
    /// Compression of the upper levels, and of the bottom level, which contains nearly all data.
    compression: (DBCompressionType, DBCompressionType),
}

fn shape(keyspace: Keyspace) -> Shape {
    use DBCompressionType::{Lz4, None, Zstd};
    match keyspace {
        // Each value fills a page of its own. Tables of 32 MB, since retention drops whole tables.
        // No blob files: dropping a table does not tell its blob files which values died, so a blob
        // file with one live value would keep all its dead ones. And since keys start with the day,
        // compaction moves most tables instead of rewriting them.
        Keyspace::Blocks | Keyspace::Times | Keyspace::EventBlocks => Shape {
            memtable_part: 4,
            table_bytes: 32 << 20,
            page_bytes: 4 * KIB,
            compression: (None, None),
        },
        // Read sequentially, with strings or sorted keys: large pages compress best.
        Keyspace::Registry | Keyspace::Copies | Keyspace::Catalog | Keyspace::EventCatalog => {
            Shape {
                memtable_part: 16,
                table_bytes: 16 << 20,
                page_bytes: 32 * KIB,
                compression: (Lz4, Zstd),
            }
        }
        // Values of a few KB, frequently overwritten: tables of the upper levels are small and soon
        // compacted away.
        Keyspace::LastValues => Shape {
            memtable_part: 16,
            table_bytes: 8 << 20,
            page_bytes: 4 * KIB,
            compression: (None, None),
        },
        // Small values, read one by one and by prefix.
        Keyspace::Documents | Keyspace::Receipts => Shape {
            memtable_part: 16,
            table_bytes: 16 << 20,
            page_bytes: 8 * KIB,
            compression: (Lz4, Zstd),
        },
        // Small values that are written, replaced and soon deleted. They compress quickly, and the
        // memtable is larger, so that most of them die before they reach a table.
        Keyspace::Records => Shape {
            memtable_part: 8,
            table_bytes: 16 << 20,
            page_bytes: 8 * KIB,
            compression: (Lz4, Lz4),
        },
        // A handful of entries.
        Keyspace::Meta | Keyspace::Garbage | Keyspace::Quarantine => Shape {
            memtable_part: 64,
            table_bytes: 4 << 20,
            page_bytes: 4 * KIB,
            compression: (None, None),
        },
    }
}

/// Returns the target size of a keyspace's table files, in bytes.
pub(super) fn table_bytes(keyspace: Keyspace) -> u64 {
    shape(keyspace).table_bytes
}

/// Returns the settings of one keyspace.
pub(super) fn keyspace(keyspace: Keyspace, shared: &Shared, strictness: Strictness) -> Options {
    let shape = shape(keyspace);
    let memtable_bytes = shared.memtables.get_buffer_size() / shape.memtable_part;
    let mut options = Options::default();
    options.set_write_buffer_size(memtable_bytes);
    // One being filled, one being flushed, and one more for blocks, so that a seal does not wait
    // for a flush.
    let of_blocks = matches!(keyspace, Keyspace::Blocks | Keyspace::Times | Keyspace::EventBlocks);
    options.set_max_write_buffer_number(if of_blocks { 3 } else { 2 });
    options.set_min_write_buffer_number_to_merge(1);
    options.set_max_write_buffer_size_to_maintain(0);
    // The memtables of many keyspaces grow in steps of this size. The default step is up to 1 MB
    // each.
    options.set_arena_block_size(64 * KIB);

    options.set_compaction_style(DBCompactionStyle::Level);
    options.set_level_compaction_dynamic_level_bytes(true);
    options.set_compaction_pri(CompactionPri::MinOverlappingRatio);
    options.set_level_zero_file_num_compaction_trigger(4);
    options.set_level_zero_slowdown_writes_trigger(20);
    options.set_level_zero_stop_writes_trigger(36);
    options.set_target_file_size_base(shape.table_bytes);
    options.set_max_bytes_for_level_base(shape.table_bytes * 4);
    options.set_max_bytes_for_level_multiplier(10.0);
    // Old tables need no rewriting; doing so every 30 days would only wear the disk.
    options.set_ttl(0);
    options.set_periodic_compaction_seconds(0);

    let (young, bottom) = shape.compression;
    options.set_compression_type(young);
    options.set_bottommost_compression_type(bottom);
    options.set_enable_blob_files(false);
    options.set_disable_auto_compactions(strictness == Strictness::Salvage);
    options.set_block_based_table_factory(&tables(shape.page_bytes, &shared.cache));
    options
}

/// Returns the settings of the default keyspace, which RocksDB requires and Telltale does not use.
/// By default it has a write buffer of 64 MB, and a database on a full disk would wait until that
/// much space is free.
pub(super) fn unused(shared: &Shared, strictness: Strictness) -> Options {
    keyspace(Keyspace::Meta, shared, strictness)
}

fn tables(page_bytes: usize, cache: &Cache) -> BlockBasedOptions {
    let mut tables = BlockBasedOptions::default();
    tables.set_block_cache(cache);
    // Indexes and filters count against the budget like everything else, and are evicted last.
    tables.set_cache_index_and_filter_blocks(true);
    tables.set_cache_index_and_filter_blocks_with_high_priority(true);
    tables.set_pin_l0_filter_and_index_blocks_in_cache(true);
    tables.set_block_size(page_bytes);
    tables.set_index_type(BlockBasedIndexType::BinarySearch);
    tables.set_data_block_index_type(DataBlockIndexType::BinarySearch);
    // Keys and positions in indexes are stored as differences, but for one in so many.
    tables.set_index_block_restart_interval(8);
    // Most new documents and receipts are looked up before they exist, and upper-level tables
    // overlap.
    tables.set_bloom_filter(10.0, false);
    tables.set_optimize_filters_for_memory(true);
    tables.set_whole_key_filtering(true);
    // A checksum for every page, also where values carry their own: a flipped byte in a key, an
    // index or a filter is equally harmful.
    tables.set_checksum_type(ChecksumType::XXH3);
    // Every RocksDB since 10.4 reads version 7. Part of the disk format.
    tables.set_format_version(7);
    tables
}
