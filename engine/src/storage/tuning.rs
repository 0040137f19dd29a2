//! Every RocksDB setting that matters to us, set here and with its reason, so that an upgrade of RocksDB
//! does not change one behind our back.
//!
//! # Durability
//!
//! Documents are acknowledged when RocksDB's own log is synced, so its recovery may drop nothing silently.
//! Of the modes, *point in time* (the default) stops at the first bad record and opens without what comes
//! after: silence. *Absolute consistency* refuses even the torn record that every power loss may leave.
//! *Tolerate corrupted tail records* is the one that fits: a record cut short at the end of a log was never
//! synced, hence never acknowledged, and is dropped; a record whose checksum fails in the middle refuses to
//! open, and what can be saved around it is, and the rest told (`open.rs`). Recycling of logs is off, because with it old records may follow the tail. The manifest remembers
//! which logs were synced and how long they were, so that a log that is missing is noticed too.
//!
//! # A full disk
//!
//! RocksDB puts itself into a read-only state when a log, table or manifest write finds no space, and
//! leaves it by itself: its file manager looks every five seconds whether at least one write buffer of the
//! largest size is free again, writes the memtables out, starts a new log and takes writes again. Reads go
//! on all the time; the write that failed is not applied. A full disk found by a compaction does not
//! even stop writes. Every other failed write or sync of the log (a disk that returns EIO, a user's quota) is
//! fatal for the open database: reads go on, writes fail until it is opened again (`recover.rs`), which happens
//! without a restart once files can be written. That RocksDB does not go on by itself is right: after a failed
//! `fsync` nobody knows what the disk holds, and only reading the log again tells. Batches whose write
//! failed are cut from the log before it is read (`journal`).
//!
//! # Memory
//!
//! Blocks of tables, their indexes and filters, and the memtables all draw on one cache of
//! `Options::cache_bytes`; memtables may take a quarter of it before the largest is written out.

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

/// Bytes of memtables that are worth having however small the cache.
const MEMTABLE_BYTES_MIN: usize = 8 * MIB;
/// Bytes of memtables beyond which a flush gains nothing and a restart only gets slower.
const MEMTABLE_BYTES_MAX: usize = 128 * MIB;
/// Bytes of RocksDB's log after which the keyspace that holds the oldest part is flushed: the bound of what
/// a restart reads again.
const LOG_BYTES_MAX: u64 = 128 << 20;
/// Open table files. Systems commonly allow a process 1 024 files; the rest is for connections.
const FILES_OPEN_MAX: i32 = crate::limits::DATABASE_FILES_OPEN_MAX as i32;

/// What the keyspaces of one database share.
pub(super) struct Shared {
    pub(super) cache: Cache,
    pub(super) memtables: WriteBufferManager,
    findings: Arc<Findings>,
    threads: i32,
}

/// How much damage an open takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strictness {
    /// None: what is acknowledged is there, and what fails stops writes.
    Strict,
    /// Any that can be gone around, to save what there is. No compaction runs; nothing but salvage is written.
    Salvage,
}

impl Shared {
    /// A budget of `cache_bytes` for everything that RocksDB keeps in memory, and `threads` for its work in
    /// the background.
    pub(super) fn new(cache_bytes: usize, threads: usize, findings: Arc<Findings>) -> Self {
        // The hyper clock cache needs no lock for a hit; without an estimate of the entry size it grows
        // its table as needed, which suits blocks from 4 to 300 KB.
        let cache = Cache::new_hyper_clock_cache(cache_bytes, 0);
        let memtable_bytes = (cache_bytes / 4).clamp(MEMTABLE_BYTES_MIN, MEMTABLE_BYTES_MAX);
        // Never stall writers for memory: the flush that is started anyway is quick, and a stalled seal
        // would hold the head, which is larger.
        let memtables = WriteBufferManager::new_write_buffer_manager_with_cache(
            memtable_bytes,
            false,
            cache.clone(),
        );
        // Two: one flushes, so that it never waits for the other, which compacts.
        let threads = i32::try_from(threads.clamp(2, 8)).unwrap_or(2);
        Self { cache, memtables, findings, threads }
    }
}

/// The settings of the database as a whole.
pub(super) fn database(shared: &Shared, strictness: Strictness) -> Result<Options, rocksdb::Error> {
    // RocksDB would set aside megabytes for its log and its list of tables as soon as a byte is written to them: more
    // than a small database takes.
    let mut options = Options::default().get_options_from_string("allow_fallocate=false")?;
    options.create_if_missing(true);
    // Keyspaces that came with a later version are added to an older database.
    options.create_missing_column_families(true);
    set_durability(&mut options, strictness);
    set_files(&mut options);

    options.set_write_buffer_manager(&shared.memtables);
    options.set_max_background_jobs(shared.threads);
    // Splitting one compaction over threads would take the other core from queries.
    options.set_max_subcompactions(1);
    // One queue of writers: pipelining gains only with far more cores and breaks the grouping of syncs.
    options.set_enable_pipelined_write(false);
    options.set_unordered_write(false);
    options.set_allow_concurrent_memtable_write(true);
    // Files are deleted in the background, not by the reader that drops the last reference.
    options.set_avoid_unnecessary_blocking_io(true);

    // What RocksDB warns of goes into the log of the program. A file of its own would begin with 100 KB of settings each
    // time; and no statistics, which are written into the database otherwise.
    let findings = Arc::clone(&shared.findings);
    options.set_info_logger(InfoLogger::new_callback_logger(
        LogLevel::Warn,
        move |level, message| {
            findings.hear(message);
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
    // What is large in the log is packed already.
    options.set_wal_compression_type(DBCompressionType::None);
    // Any inconsistency stops writes instead of spreading. Without it a write after a torn one would be taken for durable; what a
    // damaged table stops is healed, see `heal.rs`.
    options.set_paranoid_checks(strict);
    // A batch is whole after a crash because its log is replayed; flushing all keyspaces together would
    // only be needed without a log.
    options.set_atomic_flush(false);
    options.set_use_fsync(false);
}

fn set_files(options: &mut Options) {
    options.set_max_total_wal_size(LOG_BYTES_MAX);
    // Write-back is started as the files grow, so that the sync at the end finds little to do and does not
    // hold up the telemetry log on the same disk.
    options.set_bytes_per_sync(MIB as u64);
    options.set_wal_bytes_per_sync(512 * KIB as u64);
    options.set_max_manifest_file_size(16 * MIB);
    options.set_max_open_files(FILES_OPEN_MAX);
    // Statistics of every table would be read at open only to pick compactions a little better.
    options.set_skip_stats_update_on_db_open(true);
    options.set_use_direct_reads(false);
    options.set_use_direct_io_for_flush_and_compaction(false);
    options.set_allow_mmap_reads(false);
    options.set_allow_mmap_writes(false);
}

/// What distinguishes the keyspaces.
struct Shape {
    /// The memtable's part of the memory for memtables, as a divisor.
    memtable_part: usize,
    /// Bytes of a table file.
    table_bytes: u64,
    /// Bytes of a block inside a table: what is read, checked and cached at once.
    page_bytes: usize,
    /// Compression of young tables, and of those at the bottom, which hold nearly everything.
    compression: (DBCompressionType, DBCompressionType),
}

fn shape(keyspace: Keyspace) -> Shape {
    use DBCompressionType::{Lz4, None, Zstd};
    match keyspace {
        // A value is a page of its own. Tables of 32 MB, since a table is what retention drops at once.
        // No blob files: a dropped table does not tell its blob files what they lost, so a blob file
        // with one living value would keep all its dead ones; and keys that begin with the day make
        // compaction move most tables instead of rewriting them.
        Keyspace::Blocks | Keyspace::Times | Keyspace::EventBlocks => Shape {
            memtable_part: 4,
            table_bytes: 32 << 20,
            page_bytes: 4 * KIB,
            compression: (None, None),
        },
        // Read from end to end, and text or sorted keys: large pages compress best.
        Keyspace::Registry | Keyspace::Copies | Keyspace::Catalog | Keyspace::EventCatalog => {
            Shape {
                memtable_part: 16,
                table_bytes: 16 << 20,
                page_bytes: 32 * KIB,
                compression: (Lz4, Zstd),
            }
        }
        // Values of a few KB, written over and over: young tables are small and soon merged away.
        Keyspace::Baselines => Shape {
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
        // Small values that are written, replaced and soon deleted: quick to pack again, and a larger memtable, in which most
        // of them die before they reach a table.
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

/// Bytes of the table files of a keyspace, where there is so much.
pub(super) fn table_bytes(keyspace: Keyspace) -> u64 {
    shape(keyspace).table_bytes
}

/// The settings of one keyspace.
pub(super) fn keyspace(keyspace: Keyspace, shared: &Shared, strictness: Strictness) -> Options {
    let shape = shape(keyspace);
    let memtable_bytes = shared.memtables.get_buffer_size() / shape.memtable_part;
    let mut options = Options::default();
    options.set_write_buffer_size(memtable_bytes);
    // One filled, one being flushed, and for blocks one more, so that a seal does not wait for the flush.
    let of_blocks = matches!(keyspace, Keyspace::Blocks | Keyspace::Times | Keyspace::EventBlocks);
    options.set_max_write_buffer_number(if of_blocks { 3 } else { 2 });
    options.set_min_write_buffer_number_to_merge(1);
    options.set_max_write_buffer_size_to_maintain(0);
    // Memtables of many keyspaces grow in steps of this; the default step is up to 1 MB for each.
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
    // Old tables are right as they are; rewriting them every 30 days would be pure wear.
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

/// The settings of the keyspace that RocksDB insists on and nobody uses. Left to itself it would have a write
/// buffer of 64 MB, and a database that met a full disk would wait until so much is free.
pub(super) fn unused(shared: &Shared, strictness: Strictness) -> Options {
    keyspace(Keyspace::Meta, shared, strictness)
}

fn tables(page_bytes: usize, cache: &Cache) -> BlockBasedOptions {
    let mut tables = BlockBasedOptions::default();
    tables.set_block_cache(cache);
    // Indexes and filters count against the budget like everything else, and leave it last.
    tables.set_cache_index_and_filter_blocks(true);
    tables.set_cache_index_and_filter_blocks_with_high_priority(true);
    tables.set_pin_l0_filter_and_index_blocks_in_cache(true);
    tables.set_block_size(page_bytes);
    tables.set_index_type(BlockBasedIndexType::BinarySearch);
    tables.set_data_block_index_type(DataBlockIndexType::BinarySearch);
    // Most new documents and receipts are looked for before they are there; young tables overlap.
    tables.set_bloom_filter(10.0, false);
    tables.set_optimize_filters_for_memory(true);
    tables.set_whole_key_filtering(true);
    // Of every page, also where values carry checksums of their own: a flipped byte in a key, an index or a filter is as bad.
    tables.set_checksum_type(ChecksumType::XXH3);
    // 7 reads with every RocksDB since 10.4. Part of the disk format.
    tables.set_format_version(7);
    tables
}
