//! All fixed limits of the server, with unit and reason. Limits that an operator may change are
//! settings.

/// Parameters of a query string: far more than any route has, few enough for a linear search.
pub const QUERY_PAIRS_MAX: usize = 256;
/// Characters of an unknown query parameter's name that an error message repeats.
pub const PARAMETER_NAME_SHOWN_CHARS_MAX: usize = 100;
/// Characters of an `X-Request-Id` that is echoed: every scheme in use fits, short in a log line.
pub const REQUEST_ID_CHARS_MAX: usize = 128;
/// Characters of an `Idempotency-Key`. Part of the HTTP contract.
pub const IDEMPOTENCY_KEY_CHARS_MAX: usize = 255;
/// Milliseconds that a response is kept for a repeated request. Part of the HTTP contract.
pub const IDEMPOTENCY_KEPT_MS: i64 = 24 * 60 * 60 * 1_000;
/// Bytes of a response that is kept for a repeated request: the limit of the engine minus space for
/// the headers.
pub const IDEMPOTENT_BODY_BYTES_MAX: usize =
    telltale_engine::limits::RECEIPT_RESPONSE_BYTES_MAX - (64 << 10);
/// Items per page if the request has no `limit`. Part of the HTTP contract.
pub const PAGE_LIMIT_DEFAULT: usize = 100;
/// Items per page at most. Part of the HTTP contract.
pub const PAGE_LIMIT_MAX: usize = 1_000;
/// Bytes below which a response is not compressed: the saving is less than a packet.
pub const COMPRESS_BYTES_MIN: u64 = 1_024;
/// Seconds in `Retry-After` while the server starts, drains or accepts no writes.
pub const UNAVAILABLE_RETRY_SECONDS: u32 = 5;
/// Seconds in `Retry-After` when the server sheds load.
pub const OVERLOADED_RETRY_SECONDS: u32 = 1;
/// Characters of a key's name: one line in a list.
pub const KEY_NAME_CHARS_MAX: usize = 200;
/// Characters of a key's user: the longest possible email address.
pub const KEY_USER_CHARS_MAX: usize = 254;
/// Characters of a key's id, at least. Part of the HTTP contract.
pub const KEY_ID_CHARS_MIN: usize = 8;
/// Characters of a key's id, at most. Part of the HTTP contract.
pub const KEY_ID_CHARS_MAX: usize = 32;
/// Keys, including revoked ones: all of them are in memory.
pub const KEYS_MAX: usize = 100_000;
/// Milliseconds that a timestamp may be in the future: clocks drift, and time zones are confused.
/// Part of the HTTP contract.
pub const FUTURE_MS_MAX: i64 = 24 * 60 * 60 * 1_000;
/// Nesting depth of arrays and objects in a telemetry body: the formats need five, free-form
/// properties a few more.
pub const JSON_DEPTH_MAX: usize = 128;
/// Nesting depth of arrays and objects in any other JSON body: the limit of `serde_json`.
pub const JSON_OBJECT_DEPTH_MAX: usize = 127;
/// Values of one telemetry body: a parsed value takes at least 24 bytes, so a body of nothing but
/// commas would take thirty times its size.
pub const JSON_VALUES_MAX: usize = 2_000_000;
/// Bytes of memory counted per value or key of a parsed document: its node, two entries in the
/// index of the parser, and the spare capacity of both.
pub const JSON_VALUE_BYTES: u64 = 40;
/// Bytes of memory counted per object key, besides its string, while duplicates are detected.
pub const JSON_KEY_BYTES: u64 = 96;
/// Bytes by which memory for object keys is taken, and below which none is taken: the size of
/// ordinary bodies.
pub const JSON_KEYS_STEP_BYTES: u64 = 64 << 10;
/// Bytes of a telemetry body up to which a thread keeps the memory used for parsing for the next
/// body: twice the size of a full batch of ordinary samples.
pub const JSON_SCRATCH_BYTES_MAX: usize = 256 << 10;
/// Bytes of one line of a bulk body: the limit of a body with one metric.
pub const BULK_LINE_BYTES_MAX: usize = 1 << 20;
/// Bytes of a bulk body up to which it is parsed on the thread that serves the request: a fraction
/// of a millisecond of work. A larger body is parsed on another thread, so that it does not delay
/// other requests.
pub const BULK_INLINE_BYTES_MAX: usize = 256 << 10;
/// Bytes up to which a Snappy body is decompressed on the thread that receives the request: half a
/// millisecond of work.
pub const SNAPPY_INLINE_BYTES_MAX: usize = 1 << 20;
/// Bytes up to which a deflate or Brotli body is decompressed on the thread that receives the
/// request: a millisecond of work.
pub const INFLATE_INLINE_BYTES_MAX: usize = 256 << 10;
/// Samples of a bulk body per write: some 20 MB in memory. A larger body is written in several
/// parts. An operator may configure fewer.
pub const BULK_WRITE_POINTS_MAX: usize = 1 << 20;
/// Bytes of `memory.limit` per sample in a part of a bulk body: limits a part to some 20 MB,
/// including its log record, at 256 MiB.
pub const MEMORY_BYTES_PER_BULK_POINT: u64 = 1 << 10;
/// Samples that a part of a bulk body may have, however small `memory.limit` is.
pub const BULK_WRITE_POINTS_MIN: usize = 1 << 16;
/// Samples of a part after which its memory is first counted while it is parsed, and then each time
/// the number doubles.
pub const BULK_STEP_POINTS_MIN: usize = 1 << 14;
/// Bytes of memory counted per byte of samples in a part: columns that grow by doubling, and the
/// log record encoded from them.
pub const MEMORY_PER_POINT_BYTE: usize = 2;
/// Characters of the message about a rejected line: the rest only repeats the input.
pub const BULK_MESSAGE_CHARS_MAX: usize = 300;
/// Labels of a series in a remote-write request, empty ones included: twice the tags of a series.
pub const REMOTE_WRITE_LABELS_MAX: usize = 2 * telltale_engine::limits::TAGS_MAX;
/// Bytes of a series' labels in a remote-write 2.0 request: more than the longest name and tags.
pub const REMOTE_WRITE_LABEL_BYTES_MAX: usize = 128 << 10;
/// Symbols of a remote-write 2.0 request: 8 MB for their offsets.
pub const REMOTE_WRITE_SYMBOLS_MAX: usize = 1 << 20;
/// Bytes of labels that the references of one remote-write 2.0 request resolve to: ten times that
/// of the largest body of an agent, and a fraction of a second of work.
pub const REMOTE_WRITE_RESOLVED_BYTES_MAX: usize = 1 << 30;
/// Milliseconds since the start time of a counter up to which its first sample counts as an
/// increase from zero: the time after which Prometheus treats a series without samples as stale,
/// and longer than a scrape interval.
pub const COUNTER_YOUNG_MS_MAX: i64 = 5 * 60 * 1_000;
/// Metric families whose type is remembered: ten times what a large installation has, and 30 MB if
/// all names have the maximum length.
pub const FAMILIES_MAX: usize = 1 << 15;
/// Bytes of a family's name: the limit of metric names.
pub const FAMILY_NAME_BYTES_MAX: usize = 4 * telltale_engine::limits::NAME_CHARS_MAX;
/// Histogram buckets per write, for each sample that a write may have: 32 MB together. A larger
/// body is written in several parts.
pub const BULK_WRITE_BUCKETS_PER_POINT: usize = 4;
/// Nesting depth of lists and maps in an attribute value: more than any instrumentation uses, and
/// few enough for recursion.
pub const OTLP_VALUE_DEPTH_MAX: usize = 16;
/// Reasons that an OTLP response lists: what fits in a log line of an agent.
pub const OTLP_REASONS_LISTED_MAX: usize = 5;
/// Items of one batch. Part of the HTTP contract.
pub const BATCH_ITEMS_MAX: usize = 500;
/// Rejected items of a batch that are listed individually. Part of the HTTP contract.
pub const BATCH_ERRORS_LISTED_MAX: usize = 50;
/// Characters of a set's member. Part of the HTTP contract.
pub const MEMBER_CHARS_MAX: usize = 500;
/// Milliseconds that a metric query without `from` covers. Part of the HTTP contract.
pub const QUERY_RANGE_DEFAULT_MS: i64 = 60 * 60 * 1_000;
/// Milliseconds that event counts and statistics without `from` cover. Part of the HTTP contract.
pub const EVENT_RANGE_DEFAULT_MS: i64 = 24 * 60 * 60 * 1_000;
/// Buckets per series with an automatic interval: what a screen shows. Part of the HTTP contract.
pub const AUTO_BUCKETS_MAX: u64 = 1_500;
/// Maximum number of buckets per series of a result. Part of the HTTP contract.
pub const QUERY_BUCKETS_MAX: u64 = 50_000;
/// Days of a bucket, at most: ten years, longer than any retention. Part of the HTTP contract.
pub const BUCKET_WIDTH_DAYS_MAX: i64 = 3_650;
/// Tag conditions of one query: one for every tag that a series can have.
pub const QUERY_FILTERS_MAX: usize = telltale_engine::limits::TAGS_MAX;
/// Metrics of one multi-metric query: more than a dashboard shows together.
pub const QUERY_METRICS_MAX: usize = 50;
/// Data points of one response over all groups, including filled ones: some 130 MB of JSON.
pub const RESPONSE_POINTS_MAX: u64 = 2_000_000;
/// Errors whose titles a search by name compares.
pub const SEARCH_ERRORS_MAX: usize = 1_000;
/// Dashboards in total: listing them reads every one.
pub const DASHBOARDS_MAX: usize = 10_000;
/// Widgets of one dashboard: far more than a screen shows, few enough to compute at once.
pub const WIDGETS_MAX: usize = 100;
/// Characters of a dashboard's name and of a widget's title: one line.
pub const DASHBOARD_NAME_CHARS_MAX: usize = 200;
/// Characters of a dashboard's description: a paragraph.
pub const DASHBOARD_DESCRIPTION_CHARS_MAX: usize = 2_000;
/// Columns of the widget grid. Part of the HTTP contract.
pub const GRID_COLUMNS: u32 = 12;
/// Columns of a widget without a position. Part of the HTTP contract.
pub const WIDGET_WIDTH_DEFAULT: u32 = 4;
/// Rows of a widget without a position. Part of the HTTP contract.
pub const WIDGET_HEIGHT_DEFAULT: u32 = 3;
/// Rows of the grid: a hundred widgets of a hundred rows each.
pub const GRID_ROWS_MAX: u32 = 10_000;
/// Milliseconds of a widget's time range if it has none. Part of the HTTP contract.
pub const WIDGET_RANGE_DEFAULT_MS: i64 = 24 * 60 * 60 * 1_000;
/// Milliseconds of a widget's time range, at most: ten years, longer than any retention.
pub const WIDGET_RANGE_MS_MAX: i64 = 3_650 * 24 * 60 * 60 * 1_000;
/// Items of a bar, pie or table widget without a limit. Part of the HTTP contract.
pub const WIDGET_ITEMS_DEFAULT: usize = 10;
/// Items of a bar, pie or table widget, at most: a page.
pub const WIDGET_ITEMS_MAX: usize = PAGE_LIMIT_MAX;
/// Data points of a graph over all groups: more than any screen shows, some 6 MB of JSON.
pub const WIDGET_POINTS_MAX: usize = 100_000;
/// Columns of a table widget: more do not fit side by side.
pub const WIDGET_COLUMNS_MAX: usize = 20;
/// Characters of a string in a widget's query or options: the longest tag value.
pub const WIDGET_TEXT_CHARS_MAX: usize = 500;
/// Characters of the prefix and suffix of a widget's number: a unit.
pub const WIDGET_FORMAT_CHARS_MAX: usize = 20;
/// Decimal places of a widget's number: the precision of a double.
pub const WIDGET_DECIMALS_MAX: u8 = 15;
/// Attempts to change a dashboard that concurrent requests change too: every other request in
/// flight may succeed first once.
pub const DASHBOARD_TRIES_MAX: usize = 1_000;
/// Milliseconds that a client may continue to send a rejected body, so that it reads the response.
pub const LINGER_MS: u64 = 2_000;
/// Bytes of an unread body that are discarded to reuse its connection; with more left, the
/// connection is closed.
pub const LEFTOVER_BYTES_MAX: u64 = 256 << 10;
/// Milliseconds that a response waits for the rest of such a body.
pub const LEFTOVER_MS: u64 = 500;
/// Milliseconds that the rest of a body may take once it uses the memory reserve beyond
/// `memory.limit`, which all requests that shrink stores share.
pub const RESERVE_BODY_MS: u64 = 2_000;
/// Milliseconds between attempts to accept a connection after the system ran out of sockets.
pub const ACCEPT_PAUSE_MS: u64 = 100;
/// Characters of a queue's name. Part of the HTTP contract.
pub const QUEUE_NAME_CHARS_MAX: usize = 128;
/// The prefix of queue names that are reserved for the server. Part of the HTTP contract.
pub const OWN_QUEUES_PREFIX: &str = "telltale";
/// Queues in total: each takes some memory, and a list shows all of them.
pub const QUEUES_MAX: usize = 10_000;
/// Bytes of memory counted per waiting job: its entry, its place in the queue order, its timer.
pub const WAITING_JOB_BYTES: usize = 160;
/// Bytes of memory counted per unique key of a job.
pub const UNIQUE_KEY_BYTES: usize = 96;
/// Jobs of the server itself that may wait beyond the limit of all queues: work that frees memory
/// must not be refused.
pub const OWN_JOBS_RESERVE: usize = 1_000;
/// Seconds in `Retry-After` when a job is refused because too many are waiting.
pub const JOBS_FULL_RETRY_SECONDS: u32 = 10;
/// Characters of a job class. Part of the HTTP contract.
pub const JOB_CLASS_CHARS_MAX: usize = 200;
/// Bytes of the arguments of a job. Part of the HTTP contract.
pub const JOB_ARGUMENTS_BYTES_MAX: usize = 64 << 10;
/// Attempts of a job, at most.
pub const JOB_ATTEMPTS_MAX: u16 = 1_000;
/// Attempts of a job that does not specify them. Part of the HTTP contract.
pub const JOB_ATTEMPTS_DEFAULT: u16 = 25;
/// Seconds of a job's timeout, at most: a day.
pub const JOB_TIMEOUT_SECONDS_MAX: u32 = 86_400;
/// Characters of a unique key.
pub const UNIQUE_KEY_CHARS_MAX: usize = 500;
/// Jobs of one batch. Part of the HTTP contract.
pub const JOB_BATCH_MAX: usize = 1_000;
/// Jobs returned by one fetch: with the largest arguments some 6 MB.
pub const JOB_FETCH_MAX: u32 = 100;
/// Bytes of jobs returned by one fetch when the memory limit is reached, in addition to the first
/// job: many concurrent fetches, including those of slow readers, fit in the memory reserve.
pub const JOB_FETCH_RESERVED_BYTES_MAX: u64 = 256 << 10;
/// Seconds that a fetch waits for jobs. Part of the HTTP contract.
pub const JOB_WAIT_SECONDS_MAX: u32 = 30;
/// Waiting fetches of the server's own workers beyond the limit: one per queue, and some to spare.
pub const OWN_WAITERS_RESERVE: usize = 64;
/// Failures of a job that are kept: the latest ones.
pub const JOB_FAILURES_KEPT: u16 = 25;
/// Characters of an error class.
pub const ERROR_CLASS_CHARS_MAX: usize = 100;
/// Characters of the message of a job's error; the rest is cut off.
pub const JOB_ERROR_MESSAGE_CHARS_MAX: usize = 10_000;
/// Lines of a backtrace; the rest is cut off.
pub const BACKTRACE_LINES_MAX: usize = 50;
/// Characters of a line of a backtrace; the rest is cut off.
pub const BACKTRACE_LINE_CHARS_MAX: usize = 1_000;
/// Workers at the same time.
pub const WORKERS_MAX: usize = 10_000;
/// Milliseconds after which the last heartbeat and the vitals of a worker are stored if nothing
/// else changed: otherwise every heartbeat would cost a disk sync.
pub const WORKER_HEARTBEAT_STORED_MS: u64 = 60_000;
/// Megabytes of memory, and percent of a processor, that a worker may report: more than any has,
/// and small enough that the values of all workers can be added.
pub const WORKER_VITAL_MAX: f64 = 1e9;
/// Queues of one worker.
pub const WORKER_QUEUES_MAX: usize = 100;
/// Jobs that a worker reports to run concurrently, at most.
pub const WORKER_CONCURRENCY_MAX: u32 = 10_000;
/// Characters of a host name.
pub const HOSTNAME_CHARS_MAX: usize = 255;
/// Lost jobs that one heartbeat response reports to a worker.
pub const WORKER_LOST_REPORTED_MAX: usize = 1_000;
/// Queued commands of the job ledger; further ones are shed.
pub const LEDGER_QUEUE_MAX: usize = 8_192;
/// Commands that share one sync: more only increase latency.
pub const LEDGER_CYCLE_COMMANDS_MAX: usize = 2_048;
/// Bytes of changes after which the ledger writes a batch, even if more commands are queued.
pub const LEDGER_CYCLE_BYTES_MAX: usize = 8 << 20;
/// Timers that fire in one batch of the ledger, and jobs that one step of a bulk change modifies.
pub const LEDGER_STEP_JOBS_MAX: usize = 5_000;
/// Jobs that one step of a bulk change inspects.
pub const LEDGER_STEP_INSPECTED_MAX: usize = 100_000;
/// Jobs that one step of a bulk change looks up by id, which is slower than a scan.
pub const LEDGER_STEP_LOOKUPS_MAX: usize = 20_000;
/// Ids of one bulk change of dead jobs.
pub const DEAD_IDS_MAX: usize = 10_000;
/// Dead jobs per page if the request has no `limit`. Part of the HTTP contract.
pub const DEAD_PAGE_DEFAULT: usize = 50;
/// Dead jobs per page, at most: their arguments and messages are read from disk.
pub const DEAD_PAGE_MAX: usize = 500;
/// Bytes of a failed attempt on disk, without its error class: characters have up to four bytes.
pub const JOB_FAILURE_BYTES_MAX: usize =
    4 * (JOB_ERROR_MESSAGE_CHARS_MAX + BACKTRACE_LINES_MAX * BACKTRACE_LINE_CHARS_MAX);
/// Bytes read from disk at once for a page of jobs or dead jobs, assuming the maximum size of each.
/// They are taken from the memory account first.
pub const JOB_PAGE_READ_BYTES: usize = 2 << 20;
/// Jobs that a request for a page of waiting or running jobs inspects: a fraction of a second of
/// work. If more would have to be inspected, the page ends early.
pub const JOB_LIST_INSPECTED_MAX: usize = 200_000;
/// Jobs that such a request reads from disk, unless the page is larger.
pub const JOB_LIST_READS_MAX: usize = 2_000;
/// Jobs that one step of such a request finds and reads.
pub const JOB_LIST_STEP_JOBS: usize = 100;
/// Bytes of arguments after which a page of jobs ends.
pub const JOB_LIST_BYTES_MAX: usize = 8 << 20;
/// Characters of a search string for jobs: the longest class name.
pub const JOB_SEARCH_CHARS_MAX: usize = 200;
/// Classes of jobs, and of errors, that histories distinguish; further ones are counted as `other`.
pub const JOB_CLASSES_DISTINCT_MAX: usize = 1_000;
/// Durations per class and queue added to histories at once; further ones are only counted.
pub const JOB_DURATIONS_KEPT_MAX: usize = 1_000;
/// Classes that the detail of a queue lists.
pub const TOP_CLASSES_MAX: usize = 10;
/// Clients with a public key may use one part in this many of the requests in flight, …
pub const PUBLIC_KEYS_SHARE: usize = 4;
/// … one part in this many of the bytes of bodies in flight, …
pub const PUBLIC_KEYS_BYTES_SHARE: usize = 2;
/// … and while one address sends, it may use one part in this many of these requests …
pub const PUBLIC_KEYS_ADDRESS_SHARE: usize = 4;
/// … and one part in this many of these bytes.
pub const PUBLIC_KEYS_ADDRESS_BYTES_SHARE: usize = 2;
/// Bytes of a header line of an envelope: SDKs send a few hundred.
pub const ENVELOPE_HEADER_BYTES_MAX: usize = 8 << 10;
/// Bytes of a decompressed envelope, including attachments and other items that are discarded as
/// they are received: the limit of Sentry. The part that is kept has at most `bodies.bulk`.
pub const ENVELOPE_BYTES_MAX: usize = 200 << 20;
/// Seconds for which SDKs are asked not to send items of unsupported kinds. Afterwards they try
/// again with the next event.
pub const ENVELOPE_UNSUPPORTED_SECONDS: u32 = 60 * 60;
/// Items of an envelope: the limit of Sentry, and the most that SDKs send.
pub const ENVELOPE_ITEMS_MAX: usize = 100;
/// Characters of a message and of the value of an exception, as in Sentry.
pub const ERROR_MESSAGE_CHARS_MAX: usize = 8_192;
/// Characters of a single-line field of an occurrence: a path, a function, a release.
pub const ERROR_FIELD_CHARS_MAX: usize = 500;
/// Characters of the key and the value of an occurrence's tag, as in Sentry.
pub const ERROR_TAG_CHARS_MAX: usize = 200;
/// Tags of an occurrence; further ones are dropped.
pub const ERROR_TAGS_MAX: usize = 100;
/// Frames of a stack; of more, the outermost and innermost half. Part of the HTTP contract.
pub const ERROR_FRAMES_MAX: usize = 50;
/// Exceptions of a chain: of more, the outermost are kept.
pub const ERROR_EXCEPTIONS_MAX: usize = 20;
/// Parts of an explicit fingerprint.
pub const ERROR_FINGERPRINTS_MAX: usize = 32;
/// Bytes of the variables of one frame that are kept.
pub const ERROR_VARS_BYTES_MAX: usize = 512;
/// Nesting depth of objects and lists that is kept of free-form data of an SDK: deeper levels are
/// not useful to people.
pub const ERROR_DEPTH_MAX: usize = 10;
/// Characters of the title of a group. Part of the HTTP contract.
pub const ERROR_TITLE_CHARS_MAX: usize = 200;
/// Characters of a group's message that are searchable in addition to its title; both together are
/// most of the memory of a group.
pub const ERROR_SEARCH_CHARS_MAX: usize = 2_000;
/// The same while the strings of groups use all the memory that they may.
pub const ERROR_SEARCH_CHARS_REDUCED: usize = 300;
/// Bytes of title and message that every group may have, included in [`ERROR_GROUP_BYTES`].
pub const ERROR_SHORT_STRING_BYTES: usize = 512;
/// Bytes of longer strings per possible group; they form a budget that all groups share.
pub const ERROR_LONG_STRING_BYTES: usize = 256;
/// Tags of an occurrence that lists of errors can be filtered by; an event has 32 tags, some of
/// which the server uses itself.
pub const ERROR_TAGS_INDEXED_MAX: usize = 24;
/// Groups per event query when errors are filtered by their occurrences.
pub const ERROR_GROUPS_PER_QUERY: usize = 256;
/// Milliseconds that an SDK's clock may be ahead; later occurrences get the time of receipt.
pub const ERROR_AHEAD_MS_MAX: i64 = 60 * 1_000;
/// Milliseconds that an occurrence may be in the past; an earlier one gets the time of its receipt.
/// As long as SDKs keep events that they could not send.
pub const ERROR_AGE_MS_MAX: i64 = 30 * 24 * 60 * 60 * 1_000;
/// Bytes of one event of an SDK, as in Sentry.
pub const ERROR_EVENT_BYTES_MAX: usize = 1 << 20;
/// Error groups per page if the request has no `limit`. Part of the HTTP contract.
pub const ERRORS_PAGE_DEFAULT: usize = 50;
/// Groups that one request may name.
pub const ERRORS_NAMED_MAX: usize = 1_000;
/// Groups merged into one: event queries of that group list all of them.
pub const ERRORS_MERGED_MAX: usize = 1_000;
/// Bytes of occurrences that are deferred while their groups are merged or deleted, approximately;
/// beyond that, occurrences of these groups are refused.
pub const ERRORS_DEFERRED_BYTES_MAX: usize = 8 << 20;
/// Characters of a note, a reason or an assignee.
pub const ERROR_NOTE_CHARS_MAX: usize = 1_000;
/// Milliseconds that an ignore may last: ten years, practically for ever.
pub const ERROR_IGNORE_MS_MAX: i64 = 3_650 * 24 * 60 * 60 * 1_000;
/// Milliseconds for which a group counts as new when the sources of new groups are ranked: a day.
pub const ERROR_FLOOD_MS: i64 = 24 * 60 * 60 * 1_000;
/// Days for which the id of an occurrence is remembered, at least, to detect repetitions.
pub const ERROR_ID_DAYS: i64 = 7;
/// Error groups at most if `errors.groups_max` is not set: more than anybody reads.
pub const ERROR_GROUPS_AUTO_MAX: u64 = 100_000;
/// Bytes of user sets in memory, at most; fewer if `memory.limit` is small.
pub const ERROR_USERS_BYTES_MAX: usize = 32 << 20;
/// File descriptors reserved for the rest of the process: those of the database, 128 for logs,
/// compactions and copies, and those of closing connections.
pub const FILES_RESERVED: usize =
    telltale_engine::limits::DATABASE_FILES_OPEN_MAX + 128 + CONNECTIONS_CLOSING_MAX;
/// Connections in the accept queue, if the system allows as many. A client that finds it full
/// retries after a second.
pub const CONNECTIONS_UNACCEPTED_MAX: u32 = 4_096;
/// Connections that are possible however few files the process may open.
pub const CONNECTIONS_MIN: usize = 16;
/// Connections of unauthenticated clients, at least, if their share is not set: small machines have
/// as many clients at once.
pub const UNAUTHENTICATED_CONNECTIONS_MIN: usize = 16;
/// Milliseconds for which an unauthenticated connection is not closed in favour of another one from
/// its address, from the first check of its socket: enough to send a request with a key. If more
/// connect within this time than are allowed, the rest is refused.
pub const UNAUTHENTICATED_EVICTION_AGE_MS: u64 = 50;
/// Connections that were closed in favour of others and have not ended yet, at most: beyond that
/// the listener waits, so that they do not accumulate uncounted files and memory. Each ends at its
/// next turn.
pub const CONNECTIONS_CLOSING_MAX: usize = 256;
/// Seconds between log lines about connections closed in favour of others.
pub const EVICTIONS_LOG_SECONDS: u64 = 10;
/// Requests that shrink stores (workers that fetch and finish jobs, deletions) and are admitted
/// when others use all slots.
pub const DRAINING_REQUESTS: usize = 64;
/// Bytes of bodies of such requests that are received when others use all memory for bodies: they
/// are small.
pub const DRAINING_BODY_BYTES: usize = 1 << 20;
/// Bytes of a response below which it is not counted in the memory account.
pub const RESPONSE_BYTES_COUNTED: u64 = 1 << 10;
/// Bytes of a body that are handed to the connection at a time, which is the granularity at which
/// the progress of a client is measured. Smaller if a client need not receive two such pieces per
/// period.
pub const RESPONSE_PIECE_BYTES: usize = 16 << 10;
/// The minimum of the above: smaller pieces cost more than they reveal.
pub const RESPONSE_PIECE_BYTES_MIN: usize = 256;
/// Bytes of a response above which it is compressed in steps, so that it does not delay others.
pub const COMPRESS_UNTHROTTLED_BYTES_MAX: usize = 128 << 10;
/// Such responses that are compressed at the same time: each has an encoder.
pub const COMPRESSIONS_AT_ONCE: usize = 4;
/// Concurrent requests of one HTTP/2 connection, at most.
pub const HTTP2_STREAMS_MAX: u32 = 100;
/// Bytes that a client may send before they are read, on an HTTP/2 connection and on each stream.
pub const HTTP2_WINDOW_BYTES: u32 = 64 << 10;
/// Bytes of an HTTP/2 frame without its header: the smallest limit that the protocol allows.
pub const HTTP2_FRAME_BYTES_MAX: u32 = 16 << 10;
/// HTTP/2 frames other than requests and bodies that a client may send in a burst on an
/// unauthenticated connection: clients start a connection with about ten.
pub const HTTP2_STRANGER_FRAMES_BURST: u64 = 200;
/// The sustained rate of these frames per second: clients ping every few seconds.
pub const HTTP2_STRANGER_FRAMES_PER_SECOND: u64 = 20;
/// [`HTTP2_STRANGER_FRAMES_BURST`] after authentication: some clients ping whenever they receive
/// data, and all streams may be reset at once.
pub const HTTP2_KNOWN_FRAMES_BURST: u64 = 10_000;
/// The sustained rate of these frames per second.
pub const HTTP2_KNOWN_FRAMES_PER_SECOND: u64 = 2_000;
/// Frames per request that are not counted: its priority, an empty frame at the end of the body,
/// and acknowledgements of a short response on the stream and the connection.
pub const HTTP2_FRAMES_PER_REQUEST: u64 = 4;
/// Bytes sent to a client that earn it one more frame. Clients acknowledge a few KiB at a time, on
/// the stream and on the connection.
pub const HTTP2_BYTES_PER_FRAME_EARNED: usize = 1 << 10;
/// The same after authentication: some clients acknowledge every KiB and send frames in between.
pub const HTTP2_KNOWN_BYTES_PER_FRAME_EARNED: usize = 128;
/// Frames that a client may have earned and not sent.
pub const HTTP2_FRAMES_EARNED_MAX: u64 = 10_000;
/// Bytes below which a body frame counts like other frames on an unauthenticated connection.
pub const HTTP2_STRANGER_DATA_BYTES_MIN: u32 = 128;
/// Such small body frames that an unauthenticated connection may send: those sent together with the
/// request that has the key. h2 receives some 130 of them before that request is inspected.
pub const HTTP2_STRANGER_SMALL_DATA_MAX: u64 = 512;
/// Frames that a stream reset or a priority frame counts as on an unauthenticated connection: 50 of
/// them in a burst.
pub const HTTP2_STRANGER_RESET_PRICE: u64 = 4;
/// Bytes above which a frame counts as several, unless it is part of a request. Clients send a few
/// settings of six bytes each.
pub const HTTP2_FRAME_BYTES_COUNTED: u32 = 64;
/// Requests that a client may send in a burst on an unauthenticated HTTP/2 connection, including
/// refused ones: several times the number of its streams.
pub const HTTP2_STRANGER_REQUESTS_BURST: u64 = 4 * HTTP2_STREAMS_MAX as u64;
/// The sustained rate of these requests per second.
pub const HTTP2_STRANGER_REQUESTS_PER_SECOND: u64 = 200;
/// Responses of any length that an unauthenticated connection may leave unread: as many as it may
/// request at once.
pub const UNAUTHENTICATED_UNREAD_MAX: usize = HTTP2_STREAMS_MAX as usize;
/// Addresses whose requests without a key are counted individually; others share one counter.
pub const UNAUTHENTICATED_ADDRESSES_MAX: usize = 4_096;
/// Seconds of their rate for which such requests may arrive in a burst.
pub const UNAUTHENTICATED_REQUESTS_BURST_SECONDS: u32 = 2;
/// Log lines per second about refused requests without a key. The rest are counted.
pub const REFUSAL_LOG_LINES_PER_SECOND: u64 = 10;
/// Bytes of memory of an open connection without its read buffer, approximately.
pub const CONNECTION_BYTES: u64 = 16 << 10;
/// The same with the read buffer, for a client that sends headers of the maximum size and does not
/// complete them.
pub const CONNECTION_BYTES_MAX: u64 = 80 << 10;
const _: () = assert!(CONNECTION_BYTES + HTTP2_WINDOW_BYTES as u64 <= CONNECTION_BYTES_MAX);
/// Connections may take one part in this many of `memory.limit`.
pub const CONNECTIONS_SHARE: u64 = 4;
/// Bytes of memory of an error group, approximately.
pub const ERROR_GROUP_BYTES: u64 = 1 << 10;
/// The same for each group that was merged into another: ids and hashes that refer to it.
pub const ERROR_MERGED_BYTES: usize = 160;
/// Milliseconds between updates of the memory account with the sizes of areas and of the process.
pub const MEMORY_MEASURE_MS: u64 = 100;
/// Bytes of a recurrence rule: longer than any rule that a calendar program writes.
pub const RECURRENCE_RULE_BYTES_MAX: usize = 500;
/// Times of day at which a recurrence rule may give occurrences: one each hour.
pub const RECURRENCE_TIMES_MAX: usize = 24;
/// Milliseconds of an occurrence of a recurrence: a year. The search for the occurrence that covers
/// an instant looks back by this much.
pub const RECURRENCE_DURATION_MS_MAX: i64 = 366 * 24 * 60 * 60 * 1_000;
/// Characters of an unknown part of a recurrence rule that an error message repeats.
pub const RECURRENCE_PART_SHOWN_CHARS_MAX: usize = 30;
/// Headers that a user adds to an outbound request: more than receivers use for authorization and
/// routing.
pub const USER_HEADERS_MAX: usize = 20;
/// Characters of the name of such a header: far more than any name in use.
pub const USER_HEADER_NAME_CHARS_MAX: usize = 100;
/// Characters of the value of such a header: a large signed token.
pub const USER_HEADER_VALUE_CHARS_MAX: usize = 2_000;
/// Characters of a secret from which on its last four are shown: twelve unknown ones remain.
pub const SECRET_SHOWN_CHARS_MIN: usize = 16;
/// Milliseconds for which finished jobs of the server itself are kept, at most: long enough to see
/// what it is doing.
pub const OWN_FINISHED_KEPT_MS: i64 = 60_000;
/// Finished jobs of the server itself that are kept, at most.
pub const OWN_FINISHED_MAX: usize = 10_000;
