//! Every fixed limit of the engine, with its unit and its reason. Limits that an operator may change are
//! fields of [`crate::Options`]; their defaults stand here too.

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
/// Objects and arrays of an event's properties that stand in each other: what reads them goes no deeper.
pub const PROPERTIES_NESTING_MAX: usize = 64;
/// Rows with which a block of a metric is full and takes no further series: what pco needs to come near
/// its best ratio. A piece of a series is no longer than this either.
pub const BLOCK_ROWS_FULL: usize = 1 << 16;
/// The most rows of a block of a metric: those of one that is not full, and the longest piece. No decoder
/// accepts more.
pub const BLOCK_ROWS_MAX: usize = 2 * BLOCK_ROWS_FULL;
/// Events of a block: what 16-bit positions can name.
pub const EVENT_BLOCK_ROWS_MAX: usize = 1 << 16;
/// Bytes of the texts of a block's events, each counted where it stands: what merging a block takes in memory, however well it
/// is packed. A block that reaches it is full.
pub const EVENT_BLOCK_TEXT_BYTES_MAX: usize = 64 << 20;
/// Distinct tag keys of a block of events: its header lists them all, and a row of a list is put together from all their
/// columns. A block that would have more is closed.
pub const EVENT_BLOCK_TAG_KEYS_MAX: usize = 1 << 11;
/// Bytes of all texts of one event, at four bytes a character: name, user, tags and properties.
pub const EVENT_TEXT_BYTES_MAX: usize = 4 * (NAME_CHARS_MAX + USER_CHARS_MAX)
    + 4 * TAGS_MAX * (TAG_KEY_CHARS_MAX + TAG_VALUE_CHARS_MAX)
    + PROPERTIES_BYTES_MAX;
/// Events in memory that are sealed whatever their bytes: the head is read row by row, so this bounds what a question costs.
pub const EVENT_HEAD_ROWS_MAX: u64 = 1 << 20;
/// Texts of a column of a block of events, such as a tag, that its header lists with their counts, and whose rows are
/// kept as bitmaps while in memory; a column of more has a dictionary in pages.
pub const EVENT_FEW_TEXTS_MAX: usize = 256;
/// Shapes of properties that a block of events takes apart into columns.
pub const EVENT_SHAPES_MAX: usize = 256;
/// Rows that make a shape of properties worth columns; in small blocks one row in a hundred does.
pub const EVENT_SHAPE_ROWS_MIN: usize = 32;
/// Bytes of a shape of properties that is taken apart.
pub const EVENT_SHAPE_BYTES_MAX: usize = 4 << 10;
/// Columns of properties of a block of events.
pub const EVENT_PROPERTY_COLUMNS_MAX: usize = 256;
/// Numbers of one answer of which percentiles are exact; beyond it the HDR histogram takes over. Part of the HTTP contract.
pub const EVENT_VALUES_EXACT_MAX: usize = 100_000;
/// Names of metrics that begin with this are written by [`crate::Engine::own_batch`] only: they belong to the program that the engine is
/// a part of. Part of the HTTP contract.
pub const RESERVED_PREFIX: &str = "telltale.";
/// Tag keys, or texts of events, of one `group_by`. Part of the HTTP contract.
pub const GROUP_KEYS_MAX: usize = 4;
/// Buckets of a histogram of an agent that hold values: what a cell keeps as columns, so that no histogram takes more than ten
/// times its bytes of the log.
pub const HISTOGRAM_BUCKETS_MAX: usize = 512;
/// Buckets that an exponential histogram spells out on one side of zero, empty ones included: as wide as any that agents make.
pub const HISTOGRAM_SPAN_MAX: usize = 1 << 14;
/// Values of one percentile bucket that are kept exactly; beyond it the HDR histogram takes over.
pub const EXACT_VALUES_MAX: usize = 64;
/// Distinct members of a set that are kept exactly; beyond it HyperLogLog takes over.
pub const EXACT_MEMBERS_MAX: usize = 1_000;
/// Bytes of a document's id.
pub const DOCUMENT_ID_BYTES_MAX: usize = 1_024;
/// Bytes of a document's JSON: far above any request body, far below what RocksDB stores in one value.
pub const DOCUMENT_BYTES_MAX: usize = 16 << 20;
/// Arrays and objects of a document that stand in each other. What reads them again gives up at 128.
pub const DOCUMENT_NESTING_MAX: usize = 120;
/// Bytes of the answer in a receipt. Longer answers are not worth keeping for a repeated request.
pub const RECEIPT_ANSWER_BYTES_MAX: usize = 1 << 20;
/// Milliseconds from the issue of a receipt to its end at least: within a day a repeated request is recognised, and two
/// receipts of one id that end less than this apart are of the same request.
pub const RECEIPT_KEPT_MS_MIN: i64 = 24 * 60 * 60 * 1_000;
/// Bytes of a record's key: far below the end that a range of keys without one is cut at.
pub const RECORD_KEY_BYTES_MAX: usize = 48;
/// Bytes of a record's value: it is read and written whole.
pub const RECORD_VALUE_BYTES_MAX: usize = 4 << 20;
/// One part of this many of the limit of memory is kept from stores that grow with the data: what remains for bodies, queries, answers,
/// connections and a merge when all stores hold as much as they may.
pub const MEMORY_KEPT_FROM_DATA: u64 = 4;
/// Bytes that a metric takes in memory beside what is measured, about: what is known of its blocks, figures, and rows of tables.
pub const METRIC_UNMEASURED_BYTES: usize = 512;
/// Bytes of memory that a new metric is expected to take, with its first points in the head, until it is measured: generous.
pub const NEW_METRIC_BYTES: i64 = 2 << 10;
/// Bytes of memory that a new series is expected to take until it is measured: generous.
pub const NEW_SERIES_BYTES: i64 = 512;
/// Files that the database holds open at once: tables beyond are opened when they are read.
pub const DATABASE_FILES_OPEN_MAX: usize = 512;
/// Things found damaged that are listed until an operator has seen them; more are logged only.
pub const DAMAGE_FOUND_MAX: usize = 1_000;
/// Damaged documents that are remembered by name until the next start.
pub const DAMAGED_NAMES_MAX: usize = 1_000;
