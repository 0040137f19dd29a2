//! All fixed limits of the engine, with unit and reason. Limits that an operator may change are
//! fields of [`crate::Options`].

/// Characters of a metric name. Part of the HTTP contract.
pub const NAME_CHARS_MAX: usize = 200;
/// Tags of a series. Part of the HTTP contract.
pub const TAGS_MAX: usize = 32;
/// Characters of a tag key. Part of the HTTP contract.
pub const TAG_KEY_CHARS_MAX: usize = 100;
/// Characters of a tag value. Part of the HTTP contract.
pub const TAG_VALUE_CHARS_MAX: usize = 500;
/// Characters of an event's user. Part of the HTTP contract.
pub const USER_CHARS_MAX: usize = 200;
/// Bytes of an event's properties. Part of the HTTP contract.
pub const PROPERTIES_BYTES_MAX: usize = 64 << 10;
/// Nesting depth of objects and arrays in an event's properties: the decoder refuses deeper
/// nesting.
pub const PROPERTIES_NESTING_MAX: usize = 64;
/// Rows at which a block of a metric accepts no further series: enough for pco to compress nearly
/// as well as possible. The rows of one series within a block are limited to this too.
pub const BLOCK_ROWS_FULL: usize = 1 << 16;
/// The most rows of a block of a metric: one below [`BLOCK_ROWS_FULL`] accepts up to as many of one
/// more series. Decoders refuse more.
pub const BLOCK_ROWS_MAX: usize = 2 * BLOCK_ROWS_FULL;
/// Rows at which a merged block of points, or of their cells, accepts no further series if its
/// series are long: what each block has besides its rows is shared by more of them.
pub const BLOCK_ROWS_SHARE_MAX: usize = BLOCK_ROWS_MAX / 8 * 7;
/// Rows per series from which the series of a block are long. In a block of many short series a
/// query that reads one of them looks at the ids of all.
pub const LONG_SERIES_ROWS: usize = 1 << 9;
/// Bytes at which a group of records that share a write to the log is closed.
pub const LOG_GROUP_BYTES_MAX: usize = 8 << 20;
/// Events of a block: positions are 16-bit.
pub const EVENT_BLOCK_ROWS_MAX: usize = 1 << 16;
/// Bytes of the strings of a block's events, every occurrence counted: the memory that compacting a
/// block takes, however well it compresses. A block that reaches the limit is closed.
pub const EVENT_BLOCK_STRING_BYTES_MAX: usize = 64 << 20;
/// Distinct tag keys of a block of events: the header lists them all, and listing an event reads
/// the columns of all of them. A block that would exceed the limit is closed.
pub const EVENT_BLOCK_TAG_KEYS_MAX: usize = 1 << 11;
/// Bytes of all strings of one event, at four bytes per character: name, user, tags and properties.
pub const EVENT_STRING_BYTES_MAX: usize = 4 * (NAME_CHARS_MAX + USER_CHARS_MAX)
    + 4 * TAGS_MAX * (TAG_KEY_CHARS_MAX + TAG_VALUE_CHARS_MAX)
    + PROPERTIES_BYTES_MAX;
/// Events in memory above which the head is sealed, whatever their bytes: queries scan the head row
/// by row, so this bounds their cost.
pub const EVENT_HEAD_ROWS_MAX: u64 = 1 << 20;
/// Distinct strings of a column of a block of events, such as a tag, up to which the header lists
/// them with their counts, and their rows are kept as bitmaps in memory. A column with more has a
/// paged dictionary.
pub const EVENT_LISTED_STRINGS_MAX: usize = 256;
/// Property shapes of a block of events that are stored as columns.
pub const EVENT_SHAPES_MAX: usize = 256;
/// Rows above which a property shape is stored as columns; in small blocks one row in a hundred
/// suffices.
pub const EVENT_SHAPE_ROWS_MIN: usize = 32;
/// Bytes of the longest property shape that is stored as columns.
pub const EVENT_SHAPE_BYTES_MAX: usize = 4 << 10;
/// Property columns of a block of events.
pub const EVENT_PROPERTY_COLUMNS_MAX: usize = 256;
/// Values of one query result up to which percentiles are exact; above it they come from an HDR
/// histogram. Part of the HTTP contract.
pub const EVENT_VALUES_EXACT_MAX: usize = 100_000;
/// The prefix of metric names that only [`crate::Engine::own_batch`] accepts: they are reserved for
/// the program that embeds the engine. Part of the HTTP contract.
pub const RESERVED_PREFIX: &str = "telltale.";
/// Keys of one `group_by`: tag keys, or fields of events. Part of the HTTP contract.
pub const GROUP_KEYS_MAX: usize = 4;
/// Non-empty buckets of a histogram sent by an agent: each becomes a column of a cell, so this
/// bounds the memory of a histogram to ten times its bytes in the log.
pub const HISTOGRAM_BUCKETS_MAX: usize = 512;
/// Buckets, empty ones included, that an exponential histogram may list on one side of zero: as
/// many as any known agent sends.
pub const HISTOGRAM_SPAN_MAX: usize = 1 << 14;
/// Values of one percentile bucket that are kept exactly; above it an HDR histogram is used.
pub const EXACT_VALUES_MAX: usize = 64;
/// Distinct members of a set that are kept exactly; above it HyperLogLog is used.
pub const EXACT_MEMBERS_MAX: usize = 1_000;
/// Bytes of a document's id.
pub const DOCUMENT_ID_BYTES_MAX: usize = 1_024;
/// Bytes of a document's JSON: far above any request body, far below what RocksDB can store in one
/// value.
pub const DOCUMENT_BYTES_MAX: usize = 16 << 20;
/// Nesting depth of arrays and objects in a document. The JSON parser that reads them back fails at
/// 128.
pub const DOCUMENT_NESTING_MAX: usize = 120;
/// Bytes of the response in a receipt. Longer responses are not worth keeping for a repeated
/// request.
pub const RECEIPT_RESPONSE_BYTES_MAX: usize = 1 << 20;
/// Milliseconds from the creation of a receipt to its expiry, at least. Repeated requests are
/// recognised within a day, and two receipts with one id that expire less than this apart belong to
/// the same request.
pub const RECEIPT_KEPT_MS_MIN: i64 = 24 * 60 * 60 * 1_000;
/// Bytes of a record's key. Ranges without an upper bound are cut off at a much longer key.
pub const RECORD_KEY_BYTES_MAX: usize = 48;
/// Bytes of a record's value: values are read and written whole.
pub const RECORD_VALUE_BYTES_MAX: usize = 4 << 20;
/// Bytes of a stored file: files are read whole.
pub const FILE_BYTES_MAX: usize = 256 << 20;
/// One part in this many of the memory limit is not available to stores that grow with the data. It
/// remains for bodies, queries, results, connections and a compaction when all stores have reached
/// their limit.
pub const MEMORY_RESERVED_FROM_DATA: u64 = 4;
/// Bytes of memory that a metric takes in addition to what is measured, approximately: descriptions
/// of its blocks, statistics, and entries of hash tables.
pub const METRIC_UNMEASURED_BYTES: usize = 512;
/// Bytes of memory reserved for a new metric and its first samples in the head until they are
/// measured; a generous estimate.
pub const NEW_METRIC_BYTES: i64 = 2 << 10;
/// Bytes of memory reserved for a new series until it is measured; a generous estimate.
pub const NEW_SERIES_BYTES: i64 = 512;
/// Files that the database keeps open at once; further tables are opened when they are read.
pub const DATABASE_FILES_OPEN_MAX: usize = 512;
/// Entries of the damage list; further findings are only logged.
pub const DAMAGE_FOUND_MAX: usize = 1_000;
/// Maximum number of missing files that are named: all of a folder may be missing, and the damage
/// list must have space for other findings.
pub const MISSING_FILES_NAMED_MAX: usize = 10;
/// Corrupt documents whose names are remembered until the next start.
pub const DAMAGED_NAMES_MAX: usize = 1_000;
/// The minimum size of unreferenced pages, in bytes, that justifies a sweep.
pub(crate) const TIME_PAGES_UNUSED_BYTES_MIN: u64 = 64 << 10;
/// The most known vectors of a page group; further ones are written again when they recur.
pub(crate) const TIME_VECTORS_KNOWN_MAX: usize = 1 << 18;
/// The most entries of a block, so that it takes a few megabytes in memory. No cell has more.
pub(crate) const BLOCK_ENTRIES_MAX: usize = 1 << 17;
/// Maximum number of series in a segment; more are split into several, which bounds the memory of
/// encoding and decoding.
pub(crate) const SEGMENT_SERIES_MAX: usize = 1 << 13;
/// For a day that is not over, the minimum number of blocks in a compaction. It must at least halve
/// their number.
pub(crate) const EVENT_COMPACTION_BLOCKS_MIN: usize = 8;
/// Maximum ranges whose disk space is reclaimed at a time: each takes a table and a compaction of
/// its own.
pub(crate) const RANGES_RECLAIMED_MAX: usize = 16;
/// Newest events that are kept for clients that follow them: seconds of a fast sender, and more
/// than a person reads.
pub const EVENT_TAIL_EVENTS_MAX: usize = 10_000;
/// Bytes of these events.
pub const EVENT_TAIL_BYTES_MAX: u64 = 8 << 20;
/// Bytes of events after which a page of the tail ends.
pub const EVENT_TAIL_PAGE_BYTES_MAX: u64 = 4 << 20;
/// Time after the last read of the tail for which events are kept: longer than the pause between
/// two requests of a client.
pub const EVENT_TAIL_FOLLOWED: std::time::Duration = std::time::Duration::from_secs(60);
/// Steps of a funnel.
pub const EVENT_FUNNEL_STEPS_MAX: usize = 10;
/// Units of work of a brief scope: about as many as a thread does in a quarter of a millisecond,
/// since all connections of a thread wait for each other. A unit is the time that a row takes to be
/// decoded.
pub const BRIEF_WORK_MAX: u64 = 1 << 16;
