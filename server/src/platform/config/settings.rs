//! Every setting of the server: its name, type, default and description, declared once.
//!
//! The structs, their reading, the listing of effective values and the reference of `telltale
//! config --reference` all come from this declaration. The environment variable is `TELLTALE_` and
//! the key in capitals, with underscores for dots; a few settings have a second, shorter variable.
//! Any setting can be set by the flag `--set key=value`.

use std::net::SocketAddr;
use std::path::PathBuf;

use telltale_engine::Durability;

use super::auto::{Auto, ThreadCount};
use super::error::ConfigError;
use super::load::Reader;
use super::memory::MemoryPlan;
use super::network::Cidr;
use super::units::{ByteSize, Period};
use super::value::{Directives, FromZero, LogFormat, RetentionOverride, SettingValue};
use crate::platform::quota::Quota;

/// The declaration of a setting, for the reference and the layers.
#[derive(Debug)]
pub(super) struct Setting {
    /// The section and the name, joined with a dot.
    pub(super) key: &'static str,
    /// The default, as it would be written in an environment variable.
    pub(super) default: &'static str,
    /// A second environment variable.
    pub(super) short_variable: Option<&'static str>,
    /// A flag of its own, in addition to `--set`.
    pub(super) flag: Option<&'static str>,
    /// A description of valid values.
    pub(super) expects: &'static str,
    /// Whether a value in the environment or in a flag may be a TOML list.
    pub(super) is_list: bool,
    /// The description of the setting.
    pub(super) doc: &'static str,
}

/// A section of the file.
#[derive(Debug)]
pub(super) struct Section {
    /// The name in square brackets.
    pub(super) path: &'static str,
    /// The description of the section.
    pub(super) doc: &'static str,
    /// Its settings, in order.
    pub(super) settings: &'static [Setting],
}

macro_rules! optional {
    () => {
        None
    };
    ($value:literal) => {
        Some($value)
    };
}

macro_rules! settings {
    ($(
        $(#[doc = $section_doc:literal])+
        $path:literal $section:ident: $Section:ident {$(
            $(#[doc = $doc:literal])+
            $name:ident: $type:ty = $default:literal $(, variable $variable:literal)? $(, flag $flag:literal)?;
        )+}
    )+) => {
        /// All settings, with types.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Config {
            $(
                $(#[doc = $section_doc])+
                pub $section: $Section,
            )+
            /// The memory plan derived from the settings and this machine.
            pub plan: MemoryPlan,
        }

        $(
            $(#[doc = $section_doc])+
            #[derive(Clone, Debug, PartialEq)]
            pub struct $Section {$(
                $(#[doc = $doc])+
                pub $name: $type,
            )+}
        )+

        impl Config {
            /// Reads every setting from the highest layer that sets it. The plan is for a machine
            /// with `machine_bytes` of memory.
            pub(super) fn read(
                reader: &mut Reader<'_>,
                machine_bytes: u64,
            ) -> Result<Self, ConfigError> {
                let mut config = Self {
                    $($section: $Section {$(
                        $name: reader.value(concat!($path, ".", stringify!($name)))?,
                    )+},)+
                    plan: MemoryPlan::default(),
                };
                config.plan = MemoryPlan::of(&config, machine_bytes);
                Ok(config)
            }
        }

        /// The declarations, in the order of the reference.
        pub(super) const SECTIONS: &[Section] = &[$(Section {
            path: $path,
            doc: concat!($($section_doc),+),
            settings: &[$(Setting {
                key: concat!($path, ".", stringify!($name)),
                default: $default,
                short_variable: optional!($($variable)?),
                flag: optional!($($flag)?),
                expects: <$type as SettingValue>::EXPECTS,
                is_list: <$type as SettingValue>::IS_LIST,
                doc: concat!($($doc),+),
            }),+],
        }),+];
    };
}

/// Private address ranges that outbound requests may nevertheless reach.
pub type OutboundRanges = Vec<Cidr>;
/// Words to search for.
pub type Words = Vec<String>;
/// Names of attributes.
pub type AttributeNames = Vec<String>;
/// Retention of metrics by name prefix.
pub type Overrides = Vec<RetentionOverride>;

settings! {
    /// Where the server listens and stores its data.
    "server" server: Server {
        /// The address and port to listen on. With port 0 the system chooses a free port; the log
        /// reports it.
        listen: SocketAddr = "127.0.0.1:8080", variable "TELLTALE_LISTEN", flag "--listen";
        /// The data directory. It is created if it does not exist.
        data: PathBuf = "./data", variable "TELLTALE_DATA", flag "--data";
        /// How long requests in progress may take to finish when the server is stopped.
        drain: Period = "30s";
    }

    /// Requests per minute and key. A key may override them.
    "limits" limits: Limits {
        /// Batches of telemetry.
        batch: Quota = "10";
        /// Metric queries; event lists, counts and statistics.
        query: Quota = "60";
        /// Requests with a single sample or event.
        single: Quota = "1000";
        /// Everything else.
        other: Quota = "600";
    }

    /// Limits and timeouts of connections and requests.
    "http" http: Http {
        /// Maximum number of open connections; further ones wait to be accepted. Reduced if the
        /// process may open too few files, and if 80 KiB for each connection exceed a quarter of
        /// `memory.limit`: to 6553 with 2 GiB, to 819 with 256 MiB.
        connections: u64 = "16384";
        /// Maximum number of connections whose client has not presented a valid key yet. When it is
        /// reached, or all connections are in use, a new connection is accepted and the oldest
        /// unauthenticated one of the address that has the most of them is closed, preferably one
        /// without a request in progress. If that is the address of the new connection and all of
        /// its connections are younger than 50 ms, the new one is closed instead. Connections with
        /// a key are never closed for others; a public key does not count, because it is not
        /// secret. `auto` is half of the possible connections, at least 16.
        stranger_connections: Auto<u64> = "auto";
        /// Maximum number of connections without a valid key from one IPv4 address or one /64
        /// network of IPv6. A new connection replaces the oldest of them, or is closed if all of
        /// them are younger than 50 ms. Behind a reverse proxy all clients share the address of the
        /// proxy. `auto` is half of `stranger_connections`, at least 16.
        stranger_connections_per_address: Auto<u64> = "auto";
        /// Maximum number of requests in progress; further ones are shed with 503. Workers that
        /// fetch and finish jobs, and deletions, may exceed it by 64. Clients with a public key
        /// share a separate quarter of this number, and one address may use a quarter of that while
        /// it sends.
        requests_in_flight: u64 = "4096";
        /// Maximum number of requests whose key is in their body, while the body is read; further
        /// ones are shed with 503.
        strangers_in_flight: u64 = "64";
        /// Maximum number of requests counted by `strangers_in_flight` from one IPv4 address or one
        /// /64 network of IPv6.
        strangers_per_address: u64 = "16";
        /// Timeout of reading the body of a request whose key is in its body.
        stranger_body_timeout: Period = "10s";
        /// Requests per second without a valid key from one IPv4 address or one /64 network of
        /// IPv6, on connections that have not presented a key. A burst of twice as many is allowed;
        /// the rest is refused with 429. Behind a reverse proxy all clients share the address of
        /// the proxy. 0 means no limit.
        stranger_requests_per_second: FromZero = "100";
        /// How long a connection that has not presented a key may be idle between requests.
        stranger_idle_timeout: Period = "20s";
        /// Timeout of a query, not counting the time it is queued; then it ends with 503
        /// `overloaded`. A query also ends when its client disconnects; see `half_closed_grace`.
        query_timeout: Period = "60s";
        /// Minimum rate, in bytes per second averaged over `answer_pace_period`, at which a client
        /// must read a response; slower connections are closed.
        answer_pace: ByteSize = "2KiB";
        /// The period over which `answer_pace` is averaged.
        answer_pace_period: Period = "30s";
        /// Maximum number of queries that run concurrently; further ones are queued. `auto` is two
        /// per core.
        queries_at_once: Auto<ThreadCount> = "auto";
        /// Maximum size of the request line and the headers together.
        header_bytes: ByteSize = "32KiB";
        /// Maximum number of headers of a request.
        headers: u64 = "100";
        /// Timeout of reading the headers of a request.
        header_timeout: Period = "10s";
        /// How long a connection may be idle between requests.
        idle_timeout: Period = "75s";
        /// How long a request continues after its client has closed its side of an HTTP/1
        /// connection (a half-closed connection). After that, or at once if the connection was
        /// reset, the request is dropped and its query ends.
        half_closed_grace: Period = "10s";
        /// Maximum pause while reading a body.
        body_idle_timeout: Period = "10s";
        /// Timeout of reading a whole body.
        body_timeout: Period = "60s";
    }

    /// Memory of the process.
    "memory" memory: MemorySettings {
        /// Limit of the memory of the whole process, not counting the overhead of the allocator.
        /// Beyond it, queries, bodies and responses are refused with 503 `overloaded` until memory
        /// is released. New data, caches, jobs, errors, metrics and series together take at most
        /// three quarters of it: settings that would leave less than a sixteenth to metrics and
        /// series are refused at start, and new series are refused when three quarters are in use.
        /// Workers that fetch and finish jobs, and deletions, may exceed the limit by up to 8 MiB.
        /// `auto` is half of the memory of the machine, or of its control group if that is less, at
        /// least 256 MiB and at most 2 GiB.
        limit: Auto<ByteSize> = "auto";
    }

    /// Maximum sizes of request bodies, after decompression.
    "bodies" bodies: Bodies {
        /// Routes without a limit of their own.
        json: ByteSize = "1MiB";
        /// The batch routes.
        batch: ByteSize = "8MiB";
        /// The bulk protocols.
        bulk: ByteSize = "32MiB";
        /// Maximum number of samples of a bulk body that are stored in one write, at most 1048576
        /// and one per KiB of `memory.limit`; larger bodies are stored in several writes. Lower
        /// values take less memory.
        bulk_write_points: u64 = "1_048_576";
        /// Maximum size of all bodies being read or processed, both as received and decompressed.
        /// Beyond it requests are shed with 503; a body that is larger on its own is refused with
        /// 413. Workers that fetch and finish jobs, and deletions, may exceed it by up to 1 MiB.
        /// Clients with a public key share a separate half of this size, and one address may use
        /// half of that while it sends. `auto` is an eighth of `memory.limit`, at most 256 MiB.
        in_flight: Auto<ByteSize> = "auto";
    }

    /// Durability, memory and disk of the engine.
    "storage" storage: Storage {
        /// When a write is acknowledged: `sync` after it is synced to disk, `interval` after it is
        /// passed to the operating system, with a sync at least every so many milliseconds, `os`
        /// after it is passed to the operating system.
        durability: Durability = "sync";
        /// Size of the samples in memory before they are sealed into blocks. Up to twice this is
        /// used. `auto` is a sixteenth of `memory.limit`, at least 8 MiB and at most 32 MiB.
        head_bytes: Auto<ByteSize> = "auto";
        /// Age of the oldest sample in memory at which the head is sealed.
        head_age: Period = "10m";
        /// Size of the shared cache of blocks read from disk; the cache of time pages takes an
        /// eighth of this in addition. `auto` is an eighth of `memory.limit`, at most 256 MiB.
        cache_bytes: Auto<ByteSize> = "auto";
        /// Size of the cache of decoded event columns. `auto` is an eighth of `memory.limit`, at
        /// most 512 MiB.
        event_cache_bytes: Auto<ByteSize> = "auto";
        /// Minimum average number of samples per rollup cell for a rollup to be written while its
        /// samples are still kept. Lower values make queries over long ranges faster and take more
        /// disk space. Rollups of samples that expire are written in any case.
        rollup_points_min: u64 = "60";
        /// After a forward jump of the system clock, also while the server is stopped, data is not
        /// expired by the new time until the clock has kept it for the length of the jump, or for
        /// this long if that is less. `/readyz` reports it meanwhile.
        clock_grace: Period = "1d";
        /// Free disk space below which writes are refused; reads continue.
        disk_free_bytes: ByteSize = "256MiB";
        /// Number of threads that run queries and compactions.
        threads: Auto<ThreadCount> = "auto";
        /// Retention of metrics by name prefix. The longest matching prefix applies; tiers that it
        /// does not set keep the general retention.
        retention_override: Overrides = "";
    }

    /// How long events and each tier of metrics are kept.
    "storage.retention" retention: StorageRetention {
        /// Raw samples.
        raw: Period = "30d";
        /// One-minute rollups of gauges and counters.
        minute: Period = "2d";
        /// Five-minute rollups.
        five_minutes: Period = "90d";
        /// One-hour rollups.
        hour: Period = "2y";
        /// One-day rollups.
        day: Period = "2y";
        /// Events.
        events: Period = "30d";
    }

    /// Limits of metrics and their queries.
    "metrics" metrics: Metrics {
        /// Maximum number of series of one metric.
        series_per_metric: u64 = "1_000_000";
        /// Maximum number of distinct tag keys of one metric.
        tag_keys_per_metric: u64 = "1_000";
        /// Maximum number of series of all metrics.
        series_total: u64 = "10_000_000";
        /// Maximum number of samples and rollup cells that one query may read.
        query_points: u64 = "2_000_000_000";
        /// Maximum number of buckets per series in the result of a query.
        query_buckets: u64 = "50_000";
        /// Maximum memory of one query. `auto` is a quarter of `memory.limit`, at most 512 MiB.
        query_bytes: Auto<ByteSize> = "auto";
        /// Maximum memory of a compaction of blocks, however many series or events there are. Lower
        /// values leave events with long strings in smaller blocks. `auto` is a sixteenth of
        /// `memory.limit`, at most 128 MiB.
        merge_bytes: Auto<ByteSize> = "auto";
    }

    /// Limits of event queries.
    "events" events: EventLimits {
        /// Maximum number of groups in the result of a query.
        query_groups: u64 = "100_000";
    }

    /// Limits of dashboards.
    "dashboards" dashboards: Dashboards {
        /// Timeout of a widget in milliseconds, including the time it is queued; then the widget
        /// carries an error, and the others are returned.
        widget_timeout_ms: u64 = "5000";
    }

    /// Leases, retries and retention of jobs.
    "jobs" jobs: Jobs {
        /// Lease of a job without `timeout_seconds`.
        lease: Period = "30m";
        /// How long a worker may go without a heartbeat before it is considered dead and its jobs
        /// are returned to their queues. Workers are asked to send heartbeats four times as often.
        worker_silence: Period = "60s";
        /// Factor of the fourth power of the attempt in the delay before a retry, in seconds.
        retry_exponent_factor: FromZero = "1";
        /// Constant part of the delay before a retry, in seconds.
        retry_base_seconds: FromZero = "15";
        /// Maximum of the random part of the delay before a retry, in seconds per attempt made.
        retry_jitter_seconds: FromZero = "10";
        /// Waiting time of the oldest ready job beyond which a queue is `degraded` instead of
        /// `healthy`.
        degraded_latency: Period = "5m";
        /// How long finished jobs are kept.
        finished_keep: Period = "1h";
        /// Maximum number of finished jobs that are kept.
        finished_max: u64 = "100_000";
        /// How long dead jobs are kept.
        dead_keep: Period = "180d";
        /// Maximum number of dead jobs that are kept.
        dead_max: u64 = "100_000";
        /// Maximum number of waiting jobs (ready, scheduled or to be retried) in all queues;
        /// further ones are refused with 503 `overloaded`.
        waiting_max: u64 = "2_000_000";
        /// Maximum number of waiting jobs in one queue; further ones are refused with 503
        /// `overloaded`.
        queue_waiting_max: u64 = "1_000_000";
        /// Maximum memory of waiting jobs; further ones are refused with 503 `overloaded`. `auto`
        /// is what new data (twice `storage.head_bytes`) and caches leave of half of
        /// `memory.limit`, at least a sixteenth of the limit and at most 512 MiB: 28 MiB with a
        /// limit of 256 MiB, 416 MiB with 2 GiB.
        waiting_bytes_max: Auto<ByteSize> = "auto";
        /// How long an unused queue is kept: one that is not paused and has no jobs, finished and
        /// dead ones included, and no workers. When the maximum number of queues is reached, an
        /// unused queue is deleted at once for a new one.
        queue_keep: Period = "1d";
        /// Maximum number of worker fetches that wait for jobs at the same time; further ones are
        /// answered at once, even if there are no jobs.
        waiting_fetches_max: u64 = "10_000";
        /// Maximum number of fetches of one key that wait for jobs at the same time; further ones
        /// are answered at once.
        key_waiting_fetches_max: u64 = "5_000";
    }

    /// Limits of stored errors, and the removal of sensitive data.
    "errors" errors: Errors {
        /// Maximum number of groups. When it is reached, groups of the key that recently created
        /// most of them are deleted: resolved and ignored ones first, then those not seen for the
        /// longest time; never assigned, commented, reopened or merged ones.
        /// Until then, errors that would need a new group are collected in one group per key.
        /// `auto` is the number that fits into a twentieth of `memory.limit` at 1 KiB each, at most
        /// 100000: 13107 with a limit of 256 MiB. In addition, the sets of their users take a
        /// sixty-fourth of the limit, at most 32 MiB; other sets are read from disk.
        groups_max: Auto<u64> = "auto";
        /// Maximum number of groups that the errors of one key may create in an hour; further
        /// errors are collected in one group of the key.
        new_groups_per_hour: u64 = "1_000";
        /// The values of keys that contain one of these words, in any case, are not stored; a word
        /// of up to four letters must be a whole word of the key. Such values are also removed from
        /// strings (`key=value`, `key: 'value'`), and so are credentials of well-known formats.
        scrub_keys: Words = "password,passwd,passphrase,pwd,secret,token,authorization,cookie,api_key,api-key,apikey,credential,private_key,session_id,sessionid,csrf,auth,jwt";
    }

    /// OTLP metrics: the attributes that become tags, in addition to those of data points.
    "otlp" otlp: Otlp {
        /// Resource attributes. Each of them can increase the number of series.
        resource_attributes: AttributeNames = "service.name,service.namespace,service.instance.id,host.name,deployment.environment.name";
        /// Scope attributes; the name and the version of a scope are `otel.scope.name` and
        /// `otel.scope.version`.
        scope_attributes: AttributeNames = "";
    }

    /// Requests that the server sends on behalf of its users.
    "outbound" outbound: Outbound {
        /// Private, loopback and other special address ranges that may be reached nevertheless.
        allow: OutboundRanges = "";
    }

    /// The log on standard error.
    "log" log: Log {
        /// Format of the lines; `auto` is `human` on a terminal, otherwise `json`.
        format: LogFormat = "auto";
        /// Minimum severity (`error`, `warn`, `info`, `debug`, `trace`, `off`), in general and for
        /// single modules. Libraries log errors only, unless they are named, as in `info,h2=warn`:
        /// otherwise clients could cause any number of lines.
        level: Directives = "info", variable "TELLTALE_LOG";
        /// Maximum number of queued lines. When nobody reads them or they cannot be written,
        /// further lines are dropped and counted.
        queue_lines: u64 = "8192";
    }
}

/// The variables that are not settings, with their descriptions.
pub(super) const OTHER_VARIABLES: [(&str, &str); 4] = [
    (CONFIG_VARIABLE, "The configuration file, as `--config`."),
    (
        ADMIN_KEY_VARIABLE,
        "The admin key of a server that starts on an empty data directory: `tt_<id>_<secret>`. Without it, a key is generated and printed once.",
    ),
    (URL_VARIABLE, "The server that commands connect to, as `--url`."),
    (
        KEY_VARIABLE,
        "The key for that server, as `--key`, which other users of the machine can see.",
    ),
];

/// The variable with the address of a remote server.
pub(super) const URL_VARIABLE: &str = "TELLTALE_URL";
/// The variable with the key for it.
pub(super) const KEY_VARIABLE: &str = "TELLTALE_KEY";

/// The variable with the path of the configuration file.
pub(super) const CONFIG_VARIABLE: &str = "TELLTALE_CONFIG";
/// The variable with the first admin key.
pub(super) const ADMIN_KEY_VARIABLE: &str = "TELLTALE_ADMIN_KEY";
/// Variables with this prefix belong to tests and are ignored.
pub(super) const TEST_VARIABLE_PREFIX: &str = "TELLTALE_TEST_";

/// Returns all settings, section by section.
pub(super) fn all() -> impl Iterator<Item = &'static Setting> {
    SECTIONS.iter().flat_map(|section| section.settings)
}

impl Setting {
    /// Returns the environment variable derived from the key.
    pub(super) fn variable(&self) -> String {
        format!("TELLTALE_{}", self.key.replace('.', "_").to_uppercase())
    }
}
