//! Every fixed limit of the server, with its unit and its reason. What an operator may change is in the
//! configuration.

/// Parameters of one query string: far more than any route has, few enough to search linearly.
pub const QUERY_PAIRS_MAX: usize = 256;
/// Characters of the name of a query parameter that a refusal repeats: more than any name of ours has.
pub const PARAMETER_NAME_SHOWN_CHARS_MAX: usize = 100;
/// Characters of an `X-Request-Id` that is echoed: enough for every scheme in use, short enough for a log line.
pub const REQUEST_ID_CHARS_MAX: usize = 128;
/// Characters of an `Idempotency-Key`. Part of the HTTP contract.
pub const IDEMPOTENCY_KEY_CHARS_MAX: usize = 255;
/// Milliseconds that an answer is kept for a repeated request. Part of the HTTP contract.
pub const IDEMPOTENCY_KEPT_MS: i64 = 24 * 60 * 60 * 1_000;
/// Bytes of an answer that is kept for a repeated request: what the engine takes, less the headers.
pub const IDEMPOTENT_BODY_BYTES_MAX: usize =
    telltale_engine::limits::RECEIPT_ANSWER_BYTES_MAX - (64 << 10);
/// Items of a list when the caller does not say. Part of the HTTP contract.
pub const PAGE_LIMIT_DEFAULT: usize = 100;
/// Items of a list at most. Part of the HTTP contract.
pub const PAGE_LIMIT_MAX: usize = 1_000;
/// Bytes below which a response is not compressed: the saving is smaller than a packet.
pub const COMPRESS_BYTES_MIN: u64 = 1_024;
/// Seconds that a caller is told to wait when the server starts, drains or takes no writes.
pub const UNAVAILABLE_RETRY_SECONDS: u32 = 5;
/// Seconds that a caller is told to wait when the server sheds load.
pub const OVERLOADED_RETRY_SECONDS: u32 = 1;
/// Characters of a key's name: one line in a list.
pub const KEY_NAME_CHARS_MAX: usize = 200;
/// Characters of a key's user: the longest email address there can be.
pub const KEY_USER_CHARS_MAX: usize = 254;
/// Characters of a key's id at least. Part of the HTTP contract.
pub const KEY_ID_CHARS_MIN: usize = 8;
/// Characters of a key's id at most. Part of the HTTP contract.
pub const KEY_ID_CHARS_MAX: usize = 32;
/// Keys in all, revoked ones included: all of them are in memory.
pub const KEYS_MAX: usize = 100_000;

/// Milliseconds that the time of something recorded may lie ahead of ours: clocks drift, zones get mixed up.
/// Part of the HTTP contract.
pub const FUTURE_MS_MAX: i64 = 24 * 60 * 60 * 1_000;
/// Levels of nested arrays and objects in a telemetry body: ours have five, free-form properties a few more.
pub const JSON_DEPTH_MAX: usize = 128;
/// Levels of nested arrays and objects in any other JSON body: the most that `serde_json` reads.
pub const JSON_OBJECT_DEPTH_MAX: usize = 127;
/// Values of one telemetry body: a parsed value takes 24 bytes and more, so that a body of nothing but commas
/// would take thirty times its size.
pub const JSON_VALUES_MAX: usize = 2_000_000;
/// Bytes of memory that a value or a key of a parsed document is counted with: its node, two places in the index of the
/// parser, and a part of the memory that both have to spare as they grow.
pub const JSON_VALUE_BYTES: u64 = 40;
/// Bytes of memory that a key of an object is counted with beside its text, while it is looked for whether it stands twice.
pub const JSON_KEY_BYTES: u64 = 96;
/// Bytes by which memory for such keys is taken, and that need none: what ordinary bodies have.
pub const JSON_KEYS_STEP_BYTES: u64 = 64 << 10;
/// Bytes of a telemetry body up to which a thread keeps the memory that parsing took for the next body: a full
/// batch of ordinary points is half of it.
pub const JSON_SCRATCH_BYTES_MAX: usize = 256 << 10;

/// Bytes of one line of a bulk body: what a body of one metric may have.
pub const BULK_LINE_BYTES_MAX: usize = 1 << 20;
/// Bytes of a bulk body up to which it is read where the request is answered: a fraction of a millisecond of work. A
/// larger one is read beside, so that others do not wait for it.
pub const BULK_INLINE_BYTES_MAX: usize = 256 << 10;
/// Bytes up to which a body packed by Snappy is unpacked where the request is received: a millisecond of work.
pub const SNAPPY_INLINE_BYTES_MAX: usize = 2 << 20;
/// Bytes up to which a body packed by deflate or Brotli is unpacked where the request is received: some milliseconds of work.
pub const INFLATE_INLINE_BYTES_MAX: usize = 1 << 20;
/// Points of a bulk body that go to the log in one write: some 20 MB in memory. A body of more is several writes. An operator
/// may choose fewer.
pub const BULK_WRITE_POINTS_MAX: usize = 1 << 20;
/// A part of a bulk body has at most one point for so many bytes of `memory.limit`: some 20 MB at 256 MiB, with its record.
pub const MEMORY_BYTES_PER_BULK_POINT: u64 = 1 << 10;
/// Points that a part of a bulk body may have however little memory there is.
pub const BULK_WRITE_POINTS_MIN: u64 = 1 << 16;
/// Points of a part after which its memory is counted first, while it is read; then each time that it has twice as many.
pub const BULK_STEP_POINTS_MIN: usize = 1 << 14;
/// Bytes that a part takes for each byte of its points: columns that grow by doubling, and the record of the log that is made of them.
pub const MEMORY_PER_POINT_BYTE: usize = 2;
/// Characters of the message about one rejected line: the rest of it only repeats what was sent.
pub const BULK_MESSAGE_CHARS_MAX: usize = 300;
/// Labels of a series in a request of remote-write, those included that are empty: twice what a series can have.
pub const REMOTE_WRITE_LABELS_MAX: usize = 2 * telltale_engine::limits::TAGS_MAX;
/// Bytes of the labels of a series in a request of remote-write 2.0: more than the longest name and tags have.
pub const REMOTE_WRITE_LABEL_BYTES_MAX: usize = 128 << 10;
/// Symbols of a request of remote-write 2.0: 8 MB for where they stand.
pub const REMOTE_WRITE_SYMBOLS_MAX: usize = 1 << 20;
/// Bytes of labels that the references of one request of remote-write 2.0 stand for: ten times what the largest body of an
/// agent stands for, and a fraction of a second of work.
pub const REMOTE_WRITE_RESOLVED_BYTES_MAX: usize = 1 << 30;
/// Milliseconds that a counter has counted at most when its first reading is taken for an increase from zero: how
/// long Prometheus takes a series for alive that it hears nothing of, and longer than the pause between two readings.
pub const COUNTER_YOUNG_MS_MAX: i64 = 5 * 60 * 1_000;
/// Metric families whose type is remembered: ten times what a large house has, and 30 MB if all have the longest names.
pub const FAMILIES_MAX: usize = 1 << 15;
/// Bytes of a family's name: what the name of a metric can have.
pub const FAMILY_NAME_BYTES_MAX: usize = 4 * telltale_engine::limits::NAME_CHARS_MAX;
/// Buckets of histograms that go to the log in one write, for each point that may go: 32 MB together. A body of more is
/// several writes.
pub const BULK_WRITE_BUCKETS_PER_POINT: usize = 4;
/// Levels of lists and maps in the value of an attribute: more than any instrumentation has, and few enough to be read
/// one inside the other.
pub const OTLP_VALUE_DEPTH_MAX: usize = 16;
/// Reasons that an answer to OTLP tells: what fits into a line of an agent's log.
pub const OTLP_REASONS_TOLD_MAX: usize = 5;
/// Items of one batch. Part of the HTTP contract.
pub const BATCH_ITEMS_MAX: usize = 500;
/// Rejected items of a batch that are listed one by one. Part of the HTTP contract.
pub const BATCH_ERRORS_LISTED_MAX: usize = 50;
/// Characters of a set's member. Part of the HTTP contract.
pub const MEMBER_CHARS_MAX: usize = 500;
/// Milliseconds before `to` at which a metric query begins when it has no `from`. Part of the HTTP contract.
pub const QUERY_RANGE_DEFAULT_MS: i64 = 60 * 60 * 1_000;
/// Milliseconds before `to` at which counts and statistics of events begin when there is no `from`. Part of the
/// HTTP contract.
pub const EVENT_RANGE_DEFAULT_MS: i64 = 24 * 60 * 60 * 1_000;
/// Buckets per series that an automatically chosen interval gives at most: what a screen can show. Part of
/// the HTTP contract.
pub const AUTO_BUCKETS_MAX: u64 = 1_500;
/// Buckets per series that an answer has at most. Part of the HTTP contract.
pub const QUERY_BUCKETS_MAX: u64 = 50_000;
/// Conditions on tags in one query: one for every tag that a series can have.
pub const QUERY_FILTERS_MAX: usize = telltale_engine::limits::TAGS_MAX;
/// Metrics that one request may ask the same question of: more than a dashboard shows together.
pub const QUERY_METRICS_MAX: usize = 50;
/// Points of one answer over all its groups, filled ones included: some 130 MB of text.
pub const ANSWER_POINTS_MAX: u64 = 2_000_000;
/// Dashboards in all: listing reads every one of them.
pub const DASHBOARDS_MAX: usize = 10_000;
/// Widgets of one dashboard: far more than a screen shows, and few enough to be computed at once.
pub const WIDGETS_MAX: usize = 100;
/// Characters of a dashboard's name and of a widget's title: one line.
pub const DASHBOARD_NAME_CHARS_MAX: usize = 200;
/// Characters of a dashboard's description: a paragraph.
pub const DASHBOARD_DESCRIPTION_CHARS_MAX: usize = 2_000;
/// Columns of the grid that widgets lie on. Part of the HTTP contract.
pub const GRID_COLUMNS: u32 = 12;
/// Columns of a widget that was given no position. Part of the HTTP contract.
pub const WIDGET_WIDTH_DEFAULT: u32 = 4;
/// Rows of a widget that was given no position. Part of the HTTP contract.
pub const WIDGET_HEIGHT_DEFAULT: u32 = 3;
/// Rows of the grid: a hundred widgets of a hundred rows each.
pub const GRID_ROWS_MAX: u32 = 10_000;
/// Milliseconds that a widget looks back when it does not say. Part of the HTTP contract.
pub const WIDGET_RANGE_DEFAULT_MS: i64 = 24 * 60 * 60 * 1_000;
/// Milliseconds that a widget may look back: ten years, longer than anything is kept.
pub const WIDGET_RANGE_MS_MAX: i64 = 3_650 * 24 * 60 * 60 * 1_000;
/// Items of a bar, a pie or a table that does not say. Part of the HTTP contract.
pub const WIDGET_ITEMS_DEFAULT: usize = 10;
/// Items of a bar, a pie or a table at most: a page.
pub const WIDGET_ITEMS_MAX: usize = PAGE_LIMIT_MAX;
/// Points of a graph over all its groups: more than any screen shows, some 6 MB of text.
pub const WIDGET_POINTS_MAX: usize = 100_000;
/// Columns of a table: more do not fit side by side.
pub const WIDGET_COLUMNS_MAX: usize = 20;
/// Characters of a text in a widget's query or options: the longest value of a tag.
pub const WIDGET_TEXT_CHARS_MAX: usize = 500;
/// Characters before or behind a widget's number: a unit.
pub const WIDGET_FORMAT_CHARS_MAX: usize = 20;
/// Digits behind the point of a widget's number: as many as a number has.
pub const WIDGET_DECIMALS_MAX: u8 = 15;
/// Times that a change of a dashboard is tried anew when another one came between: every other change at
/// work may come first once.
pub const DASHBOARD_TRIES_MAX: usize = 1_000;
/// Milliseconds that a client may go on sending a body that was refused, so that it gets to read why.
pub const LINGER_MS: u64 = 2_000;
/// Bytes of a body nobody reads that are taken from the connection so that it can go on; one with more left ends.
pub const LEFTOVER_BYTES_MAX: u64 = 256 << 10;
/// Milliseconds that an answer waits for the rest of such a body.
pub const LEFTOVER_MS: u64 = 500;
/// Milliseconds that the rest of a body may take once it is in the small reserve of memory beyond `memory.limit`, which the requests
/// that make stores smaller share.
pub const RESERVE_BODY_MS: u64 = 2_000;
/// Milliseconds between two attempts to accept when the system has no more sockets to give.
pub const ACCEPT_PAUSE_MS: u64 = 100;
/// Seconds between two rounds of storing when keys were last used: a write per request would be too much.
pub const KEY_USE_SECONDS: u64 = 60;

/// Characters of a queue's name. Part of the HTTP contract.
pub const QUEUE_NAME_CHARS_MAX: usize = 128;
/// Names of queues that begin with this belong to the server. Part of the HTTP contract.
pub const OWN_QUEUES_PREFIX: &str = "telltale";
/// Queues in all: each takes some memory, and a list shows them all.
pub const QUEUES_MAX: usize = 10_000;
/// Bytes of memory that a job that waits is counted with: its entry, its place in the order of its queue, its timer.
pub const WAITING_JOB_BYTES: usize = 160;
/// Bytes of memory that a unique key of a job is counted with.
pub const UNIQUE_KEY_BYTES: usize = 96;
/// Jobs of the server's own work that may wait beyond the limit of all queues: what makes room must not be refused.
pub const OWN_JOBS_RESERVE: usize = 1_000;
/// Seconds after which a job that was refused because too many wait should be sent again.
pub const JOBS_FULL_RETRY_SECONDS: u32 = 10;
/// Characters of the class of a job. Part of the HTTP contract.
pub const JOB_CLASS_CHARS_MAX: usize = 200;
/// Bytes of the arguments of a job. Part of the HTTP contract.
pub const JOB_ARGUMENTS_BYTES_MAX: usize = 64 << 10;
/// Attempts that a job may ask for.
pub const JOB_ATTEMPTS_MAX: u16 = 1_000;
/// Attempts of a job that does not say. Part of the HTTP contract.
pub const JOB_ATTEMPTS_DEFAULT: u16 = 25;
/// Seconds that a job may be reserved for: a day.
pub const JOB_TIMEOUT_SECONDS_MAX: u32 = 86_400;
/// Characters of a unique key.
pub const UNIQUE_KEY_CHARS_MAX: usize = 500;
/// Jobs of one batch. Part of the HTTP contract.
pub const JOB_BATCH_MAX: usize = 1_000;
/// Jobs that one fetch hands out: with the largest arguments some 6 MB.
pub const JOB_FETCH_MAX: u32 = 100;
/// Bytes of the jobs that one fetch hands out where memory is full, the first job aside: many fetches at once, also those whose
/// workers read slowly, fit into what the account of memory keeps for them.
pub const JOB_FETCH_RESERVED_BYTES_MAX: u64 = 256 << 10;
/// Seconds that a fetch waits. Part of the HTTP contract.
pub const JOB_WAIT_SECONDS_MAX: u32 = 30;
/// Fetches of the server's own workers that may wait beyond the limit of all: one for each of its queues, and some to spare.
pub const OWN_WAITERS_RESERVE: usize = 64;
/// Failures of a job whose story is kept: the newest.
pub const JOB_FAILURES_KEPT: u16 = 25;
/// Characters of the class of an error.
pub const ERROR_CLASS_CHARS_MAX: usize = 100;
/// Characters of the message of an error; what is longer is cut.
pub const JOB_ERROR_MESSAGE_CHARS_MAX: usize = 10_000;
/// Lines of a backtrace; further ones are cut.
pub const BACKTRACE_LINES_MAX: usize = 50;
/// Characters of a line of a backtrace; what is longer is cut.
pub const BACKTRACE_LINE_CHARS_MAX: usize = 1_000;
/// Workers at once.
pub const WORKERS_MAX: usize = 10_000;
/// Milliseconds after which the time that a worker was heard of, and how it was doing, are stored where nothing else
/// changed: every heartbeat would be a sync of the disk.
pub const WORKER_HEARD_STORED_MS: u64 = 60_000;
/// Megabytes of memory, and percent of a processor, that a worker may say it takes: more than any has, and few enough that
/// those of all workers can be added.
pub const WORKER_VITAL_MAX: f64 = 1e9;
/// Queues of one worker.
pub const WORKER_QUEUES_MAX: usize = 100;
/// Jobs that a worker says it does at once.
pub const WORKER_CONCURRENCY_MAX: u32 = 10_000;
/// Characters of a host's name.
pub const HOSTNAME_CHARS_MAX: usize = 255;
/// Jobs that a worker is told it lost with one heartbeat.
pub const WORKER_LOST_TOLD_MAX: usize = 1_000;
/// Commands that wait for the ledger of jobs; further ones are shed.
pub const LEDGER_QUEUE_MAX: usize = 8_192;
/// Commands that share one sync: more only make each of them wait longer.
pub const LEDGER_ROUND_COMMANDS_MAX: usize = 2_048;
/// Bytes of changes after which a round of the ledger is written, whatever waits.
pub const LEDGER_ROUND_BYTES_MAX: usize = 8 << 20;
/// Timers that fire in one round of the ledger, and jobs that one step of a bulk change takes.
pub const LEDGER_STEP_JOBS_MAX: usize = 5_000;
/// Jobs that one step of a bulk change looks at.
pub const LEDGER_STEP_LOOKS_MAX: usize = 100_000;
/// Jobs that one step of a bulk change looks up by their ids, which takes longer than to look at one after another.
pub const LEDGER_STEP_LOOKUPS_MAX: usize = 20_000;
/// Ids of one bulk change of dead jobs.
pub const DEAD_IDS_MAX: usize = 10_000;
/// Dead jobs of a page when the caller does not say. Part of the HTTP contract.
pub const DEAD_PAGE_DEFAULT: usize = 50;
/// Dead jobs of a page at most: their arguments and messages are read from disk.
pub const DEAD_PAGE_MAX: usize = 500;
/// Bytes of a failed attempt on disk, at most, apart from the class of its error: characters have up to four.
pub const JOB_FAILURE_BYTES_MAX: usize =
    4 * (JOB_ERROR_MESSAGE_CHARS_MAX + BACKTRACE_LINES_MAX * BACKTRACE_LINE_CHARS_MAX);
/// Bytes that are read from disk at once for a page of jobs or dead jobs, taking each to be as large as it may be. They are borrowed from
/// the account of memory before.
pub const JOB_PAGE_READ_BYTES: usize = 2 << 20;
/// Jobs that a request for a page of the jobs that wait or run looks at: some of a second's work. Where more would have to be looked at, its
/// page ends early.
pub const JOB_LIST_LOOKS_MAX: usize = 200_000;
/// Jobs that such a request reads from disk, where a page does not have more places.
pub const JOB_LIST_READS_MAX: usize = 2_000;
/// Jobs that one step of such a request finds and reads.
pub const JOB_LIST_STEP_JOBS: usize = 100;
/// Bytes of arguments after which a page of jobs ends.
pub const JOB_LIST_BYTES_MAX: usize = 8 << 20;
/// Characters of a text that jobs are searched for: the longest name of a class.
pub const JOB_SEARCH_CHARS_MAX: usize = 200;
/// Classes of jobs, and of errors, that histories tell apart; further ones are `other`.
pub const JOB_CLASSES_TOLD_MAX: usize = 1_000;
/// Durations of one class and queue that go into histories at once; further ones are counted and not measured.
pub const JOB_DURATIONS_KEPT_MAX: usize = 1_000;
/// Classes of a queue that its detail lists.
pub const TOP_CLASSES_MAX: usize = 10;

/// Clients with a public key have one part of this many of the requests in flight, …
pub const PUBLIC_KEYS_SHARE: usize = 4;
/// … of the bytes of bodies in flight, …
pub const PUBLIC_KEYS_BYTES_SHARE: usize = 2;
/// … and one address, while it sends, of these requests …
pub const PUBLIC_KEYS_ADDRESS_SHARE: usize = 4;
/// … and of these bytes.
pub const PUBLIC_KEYS_ADDRESS_BYTES_SHARE: usize = 2;

/// Bytes of a line of headers of an envelope: SDKs send a few hundred.
pub const ENVELOPE_HEADER_BYTES_MAX: usize = 8 << 10;
/// Bytes of an envelope after decompression, with attachments and other items that are dropped as they come: as much as Sentry takes. What is
/// kept of it has at most `bodies.bulk`.
pub const ENVELOPE_BYTES_MAX: usize = 200 << 20;
/// For so many seconds SDKs keep items to themselves of kinds that are not taken. They ask again with the next event then.
pub const ENVELOPE_UNTAKEN_SECONDS: u32 = 60 * 60;
/// Items of an envelope: what SDKs send at most, as Sentry has it.
pub const ENVELOPE_ITEMS_MAX: usize = 100;
/// Characters of a message and of the text of an exception, as Sentry has it.
pub const ERROR_MESSAGE_CHARS_MAX: usize = 8_192;
/// Characters of a field of an occurrence that is one line: a path, a function, a release.
pub const ERROR_FIELD_CHARS_MAX: usize = 500;
/// Characters of the key and the value of a tag of an occurrence, as Sentry has it.
pub const ERROR_TAG_CHARS_MAX: usize = 200;
/// Tags of an occurrence; more are left out.
pub const ERROR_TAGS_MAX: usize = 100;
/// Frames of a stack: of more, the outermost and the innermost half. Part of the HTTP contract.
pub const ERROR_FRAMES_MAX: usize = 50;
/// Exceptions of a chain: of more, the outermost.
pub const ERROR_EXCEPTIONS_MAX: usize = 20;
/// Parts of an explicit fingerprint.
pub const ERROR_FINGERPRINTS_MAX: usize = 32;
/// Bytes of the variables of one frame that are kept.
pub const ERROR_VARS_BYTES_MAX: usize = 512;
/// Levels of objects and lists that are kept of what an SDK sends along: people look no deeper.
pub const ERROR_DEPTH_MAX: usize = 10;
/// Characters of the title of a group. Part of the HTTP contract.
pub const ERROR_TITLE_CHARS_MAX: usize = 200;
/// Characters of the message of a group that are searched beside its title; with the title they are most of what a group takes
/// in memory.
pub const ERROR_SEARCH_CHARS_MAX: usize = 2_000;
/// The same while the texts of groups take all the memory that they may.
pub const ERROR_SEARCH_CHARS_CROWDED: usize = 300;
/// Bytes of title and message that every group may have, which are in [`ERROR_GROUP_BYTES`].
pub const ERROR_SHORT_TEXT_BYTES: usize = 512;
/// Bytes of longer texts, for each group that there may be: together they are whose they are.
pub const ERROR_LONG_TEXT_BYTES: usize = 256;
/// Tags of an occurrence that lists of errors can be filtered by; an event has 32 tags, of which some are ours.
pub const ERROR_TAGS_INDEXED_MAX: usize = 24;
/// Groups that one question to the events is about, where errors are filtered by their occurrences.
pub const ERRORS_ASKED_TOGETHER: usize = 256;
/// Milliseconds that an SDK's clock may be ahead of ours; the time of a later occurrence is that of its receipt.
pub const ERROR_AHEAD_MS_MAX: i64 = 60 * 1_000;
/// Milliseconds that an occurrence may lie back; the time of an earlier one is that of its receipt. As long as SDKs keep what
/// they could not send.
pub const ERROR_AGE_MS_MAX: i64 = 30 * 24 * 60 * 60 * 1_000;
/// Bytes of one event of an SDK, as Sentry has it.
pub const ERROR_EVENT_BYTES_MAX: usize = 1 << 20;
/// Groups of errors in a list when the caller does not say. Part of the HTTP contract.
pub const ERRORS_PAGE_DEFAULT: usize = 50;
/// Groups that one request may name.
pub const ERRORS_NAMED_MAX: usize = 1_000;
/// Groups that are one after a merge: all of them are named in questions about the events of the one.
pub const ERRORS_MERGED_MAX: usize = 1_000;
/// Bytes of occurrences that wait while their groups are merged or deleted, about; past it, more of those groups are refused.
pub const ERRORS_HELD_BACK_BYTES_MAX: usize = 8 << 20;
/// Characters of a note, a reason, an assignee.
pub const ERROR_NOTE_CHARS_MAX: usize = 1_000;
/// Milliseconds that an ignore may last: ten years is for ever.
pub const ERROR_IGNORE_MS_MAX: i64 = 3_650 * 24 * 60 * 60 * 1_000;
/// Seconds between two rounds of storing what is known of groups: what a start after a crash has to read again.
pub const ERRORS_STORE_SECONDS: u64 = 1;
/// Seconds between two looks for groups whose events are to be deleted.
pub const ERRORS_DELETE_SECONDS: u64 = 2;
/// Seconds between two looks whether there are too many groups.
pub const ERRORS_ROOM_SECONDS: u64 = 2;
/// Milliseconds for which a group is counted as new when it is asked who made most: a day.
pub const ERROR_FLOOD_MS: i64 = 24 * 60 * 60 * 1_000;
/// Seconds between two rounds of removing what is too old.
pub const ERRORS_TRIM_SECONDS: u64 = 60 * 60;
/// Days for which a given id of an occurrence is remembered at least, so that one that is sent again is known.
pub const ERROR_ID_DAYS: i64 = 7;
/// Groups of errors at most where `errors.groups_max` is not set: more than anybody looks through.
pub const ERROR_GROUPS_AUTO_MAX: u64 = 100_000;
/// Bytes of sets of users that stay in memory, at most; fewer where `memory.limit` is small.
pub const ERROR_USERS_BYTES_MAX: usize = 32 << 20;
/// Files that connections leave to the rest of the process: those of the database, 128 for logs, merges and copies, and those of
/// connections that end.
pub const FILES_RESERVED: usize =
    telltale_engine::limits::DATABASE_FILES_OPEN_MAX + 128 + CONNECTIONS_CLOSING_MAX;
/// Connections that may wait to be accepted, where the system allows as many. A client that finds no place tries again after a second.
pub const CONNECTIONS_UNACCEPTED_MAX: u32 = 4_096;
/// Connections that there may be however few files the process may open.
pub const CONNECTIONS_MIN: usize = 16;
/// Connections that clients without a key have at least where their share is not set: so many connect at once on small machines.
pub const STRANGER_CONNECTIONS_MIN: usize = 16;
/// Milliseconds for which the connection of a client without a key is not closed for another of its address, once the server has looked at
/// its socket: long enough to send a request that has one. Of more that connect in this time than there are places, the rest is refused.
pub const STRANGER_EVICTION_AGE_MS: u64 = 50;
/// Connections that were closed for others and have not ended yet, at most: the listener waits while there are more, so that they do
/// not add up to files and memory that nobody counts. Each ends at its next turn.
pub const CONNECTIONS_CLOSING_MAX: usize = 256;
/// Seconds between two lines of the log about connections that were closed for others.
pub const EVICTIONS_LOG_SECONDS: u64 = 10;

/// Requests that make stores smaller (workers that fetch and finish jobs, deletions) and are let in where others have taken all places.
pub const DRAINING_REQUESTS: usize = 64;
/// Bytes of bodies of such requests that are received where others have taken all room: they are small.
pub const DRAINING_BODY_BYTES: usize = 1 << 20;
/// Answers of fewer bytes are not counted in the account of memory: what an answer takes besides is as much.
pub const ANSWER_BYTES_COUNTED: u64 = 1 << 10;
/// Bytes of a body that are handed to the connection at a time: by such pieces it is seen what a client takes. Fewer where a client must
/// take less than two such pieces in a period.
pub const ANSWER_PIECE_BYTES: usize = 16 << 10;
/// The same at least: smaller pieces cost more than they tell.
pub const ANSWER_PIECE_BYTES_MIN: usize = 256;
/// An answer of more bytes is compressed in turns, so that others are not kept waiting by it.
pub const PACKED_AT_ONCE_BYTES_MAX: usize = 128 << 10;
/// Such answers that are compressed at the same time: each has an encoder.
pub const PACKED_TOGETHER: usize = 4;
/// Requests of one HTTP/2 connection at the same time, at most.
pub const HTTP2_STREAMS_MAX: u32 = 100;
/// Bytes that a client may send ahead of what is read, on an HTTP/2 connection and on each stream of it.
pub const HTTP2_WINDOW_BYTES: u32 = 64 << 10;
/// Bytes of an HTTP/2 frame, without its head: the least that the protocol allows as a limit.
pub const HTTP2_FRAME_BYTES_MAX: u32 = 16 << 10;
/// HTTP/2 frames beside requests and bodies that a client may send at once on a connection on which no key was shown: clients begin a
/// connection with about ten.
pub const HTTP2_STRANGER_FRAMES_BURST: u64 = 200;
/// The same a second, in the long run: clients ping every few seconds.
pub const HTTP2_STRANGER_FRAMES_PER_SECOND: u64 = 20;
/// The same as [`HTTP2_STRANGER_FRAMES_BURST`] once a key was shown: some ping whenever they receive, and all streams may be reset at once.
pub const HTTP2_KNOWN_FRAMES_BURST: u64 = 10_000;
/// The same a second, in the long run.
pub const HTTP2_KNOWN_FRAMES_PER_SECOND: u64 = 2_000;
/// Frames that a request may have beside what is counted: its priority, an empty one at the end of the body, and acknowledgements of a
/// short answer on the stream and on the connection.
pub const HTTP2_FRAMES_PER_REQUEST: u64 = 4;
/// Bytes sent to a client for which it may send a frame more. Clients acknowledge a few KiB at a time, on the stream and on the connection.
pub const HTTP2_BYTES_PER_FRAME_EARNED: usize = 1 << 10;
/// The same once a key was shown: some acknowledge every KiB, and send what else they have to say between.
pub const HTTP2_KNOWN_BYTES_PER_FRAME_EARNED: usize = 128;
/// Frames that a client may have earned and not sent.
pub const HTTP2_FRAMES_EARNED_MAX: u64 = 10_000;
/// Frames with less of a body count as frames beside it while no key was shown.
pub const HTTP2_STRANGER_DATA_BYTES_MIN: u32 = 128;
/// Such frames that a connection may have before a key was shown: what comes with the request that has it. h2 takes some 130 of them
/// before that request is looked at.
pub const HTTP2_STRANGER_SMALL_DATA_MAX: u64 = 512;
/// Frames that a reset stream and a priority count as while no key was shown: 50 of them at once.
pub const HTTP2_STRANGER_RESET_PRICE: u64 = 4;
/// A frame with more bytes than this counts as several, unless it is part of a request. Clients have a few settings of six bytes each.
pub const HTTP2_FRAME_BYTES_COUNTED: u32 = 64;
/// Requests that a client may send at once on an HTTP/2 connection on which no key was shown, refused ones included: several times as
/// many as it may have open.
pub const HTTP2_STRANGER_REQUESTS_BURST: u64 = 4 * HTTP2_STREAMS_MAX as u64;
/// The same a second, in the long run.
pub const HTTP2_STRANGER_REQUESTS_PER_SECOND: u64 = 200;
/// Answers, however long, that a connection on which no key was shown may leave unread: as many as it may ask for at once.
pub const STRANGER_UNREAD_MAX: usize = HTTP2_STREAMS_MAX as usize;

/// Addresses whose requests without a key are counted each; those beyond are counted together.
pub const STRANGER_ADDRESSES_MAX: usize = 4_096;
/// Such requests may come at once for so many seconds of their rate.
pub const STRANGER_REQUESTS_BURST_SECONDS: u32 = 2;
/// Lines of the log about refused requests without a key, a second. The rest are counted.
pub const STRANGER_LINES_PER_SECOND: u64 = 10;

/// Memory of an open connection, about, without the buffer that it reads into.
pub const CONNECTION_BYTES: u64 = 16 << 10;

/// The same with its buffer, of one whose client sends headers as long as they may be and does not end them.
pub const CONNECTION_BYTES_MAX: u64 = 80 << 10;
const _: () = assert!(CONNECTION_BYTES + HTTP2_WINDOW_BYTES as u64 <= CONNECTION_BYTES_MAX);

/// Connections may take one part of this many of `memory.limit`.
pub const CONNECTIONS_SHARE: u64 = 4;

/// Memory of a group of errors in bytes, about.
pub const ERROR_GROUP_BYTES: u64 = 1 << 10;

/// The same of each group that became part of another: ids and hashes that lead to it.
pub const ERROR_MERGED_BYTES: usize = 160;

/// How often the account of memory learns what areas hold, and what the process takes is looked at.
pub const MEMORY_LOOK_MS: u64 = 100;
