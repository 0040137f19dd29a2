//! Every setting of the server: its name, type, default and meaning, declared once.
//!
//! The structs, the reading, the effective listing and the reference of `telltale config --reference` all
//! come from this declaration. The variable of the environment is `TELLTALE_` and the key in capitals, dots as
//! underscores; a few settings have a short one too. Any setting is a flag as `--set key=value`.

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

/// What the reference and the layers know of a setting.
#[derive(Debug)]
pub(super) struct Setting {
    /// The section and the name, joined with a dot.
    pub(super) key: &'static str,
    /// The default as it would be written in the environment.
    pub(super) default: &'static str,
    /// A second variable of the environment.
    pub(super) short_variable: Option<&'static str>,
    /// The flag of its own, beside `--set`.
    pub(super) flag: Option<&'static str>,
    /// What is expected as a value.
    pub(super) expects: &'static str,
    /// Whether text may be a TOML list.
    pub(super) is_list: bool,
    /// What the setting does.
    pub(super) doc: &'static str,
}

/// A section of the file, for the reference.
#[derive(Debug)]
pub(super) struct Section {
    /// The name in square brackets.
    pub(super) path: &'static str,
    /// What the section is about.
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
            /// What follows from the settings and this machine.
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
            /// Takes every setting from the highest layer that has it. The plan is that of a machine with so much memory.
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

        /// The declaration, in the order of the listing.
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

/// The ranges that outbound requests may reach although they are private.
pub type OutboundRanges = Vec<Cidr>;
/// Words that are looked for.
pub type Words = Vec<String>;
/// Names of attributes.
pub type AttributeNames = Vec<String>;
/// Retention of the metrics whose names begin alike.
pub type Overrides = Vec<RetentionOverride>;

settings! {
    /// Where the server listens and keeps its data.
    "server" server: Server {
        /// Address and port of the one listener. Port 0 takes any free port; the log says which.
        listen: SocketAddr = "127.0.0.1:8080", variable "TELLTALE_LISTEN", flag "--listen";
        /// The data directory. It is made when absent.
        data: PathBuf = "./data", variable "TELLTALE_DATA", flag "--data";
        /// How long requests under way may take to finish when the server is told to stop.
        drain: Period = "30s";
    }

    /// Requests per minute and key. A key may have its own.
    "limits" limits: Limits {
        /// Batches of telemetry.
        batch: Quota = "10";
        /// Metric queries; event lists, counts and statistics.
        query: Quota = "60";
        /// One point or one event per request.
        single: Quota = "1000";
        /// Everything else.
        other: Quota = "600";
    }

    /// Connections, requests, and how long a client may take.
    "http" http: Http {
        /// Open connections; further ones wait to be accepted. Fewer where the system allows the process too few files, and where 80 KiB for each are more than a quarter of `memory.limit`: 6553 where that is 2 GiB, 819 where it is 256 MiB.
        connections: u64 = "16384";
        /// Of these, connections whose client has not shown a valid key yet. Where there are as many, or no connection is left, a new one is accepted at once and the oldest of these is closed for it, of the address that has most, if possible one without a request in progress. Of an address that has most itself, a new one is closed instead where all others are younger than 50 ms. Connections with a key are never closed for others; a public key, which anybody may have, does not count. `auto` is half of the connections there may be, at least 16.
        stranger_connections: Auto<u64> = "auto";
        /// Of these, those of one address, or of one /64 network of IPv6; a new one takes the place of the oldest of them, or is closed where all are younger than 50 ms. Behind a reverse proxy all clients have its address. `auto` is half of the connections without a key, at least 16.
        stranger_connections_per_address: Auto<u64> = "auto";
        /// Requests being answered; more are shed with 503. Workers that fetch and finish jobs, and deletions, may exceed it by 64. Clients with a public key have a quarter of as many for themselves, and one address a quarter of that while it sends.
        requests_in_flight: u64 = "4096";
        /// Requests that only their bodies tell the sender of, while they are read; more are shed with 503.
        strangers_in_flight: u64 = "64";
        /// Of these, those of one address, or of one site of IPv6.
        strangers_per_address: u64 = "16";
        /// How long the body of such a request may take.
        stranger_body_timeout: Period = "10s";
        /// Requests a second without a valid key that one address may send, or one /64 network of IPv6, on connections that have not shown a key; twice as many at once, the rest is refused with 429. Behind a reverse proxy all clients have its address. 0 is no limit.
        stranger_requests_per_second: FromZero = "100";
        /// How long a connection that has not shown a key may wait for its next request.
        stranger_idle_timeout: Period = "20s";
        /// How long a query may take, the time that it waits for its turn aside; then it ends with 503 `overloaded`. It ends too when its client is gone; see `half_closed_grace`.
        query_timeout: Period = "60s";
        /// Bytes a second, on average over `answer_pace_period`, that a client takes of an answer; the connection of a slower one is closed.
        answer_pace: ByteSize = "2KiB";
        /// See `answer_pace`.
        answer_pace_period: Period = "30s";
        /// Queries that run at once; more wait. `auto` is two per core.
        queries_at_once: Auto<ThreadCount> = "auto";
        /// The request line and the headers together.
        header_bytes: ByteSize = "32KiB";
        /// Headers of a request.
        headers: u64 = "100";
        /// How long the headers of a request may take.
        header_timeout: Period = "10s";
        /// How long a connection may wait for its next request.
        idle_timeout: Period = "75s";
        /// How long a request is answered on after its client has ended its side of an HTTP/1 connection (a half-closed connection). Then, and at once where the connection was reset, the request is dropped and its query ends.
        half_closed_grace: Period = "10s";
        /// How long a body may pause.
        body_idle_timeout: Period = "10s";
        /// How long a whole body may take.
        body_timeout: Period = "60s";
    }

    /// What the process may take of the machine's memory.
    "memory" memory: MemorySettings {
        /// Memory of the whole process, the overhead of the allocator aside. Past it queries, bodies and answers are refused with 503 `overloaded` until there is room. New data, caches, jobs, errors, metrics and series take three quarters of it at most together: settings by which the others leave less than a sixteenth to metrics and series are refused at start, and new series once they are at three quarters. Workers that fetch and finish jobs, and deletions, may exceed it by up to 8 MiB. `auto` is half of the machine, or of what its group may take, 256 MiB at least and 2 GiB at most.
        limit: Auto<ByteSize> = "auto";
    }

    /// The largest bodies of requests, counted after decompression.
    "bodies" bodies: Bodies {
        /// Of routes with no limit of their own.
        json: ByteSize = "1MiB";
        /// Of the batch routes.
        batch: ByteSize = "8MiB";
        /// Of the bulk protocols.
        bulk: ByteSize = "32MiB";
        /// Points of a bulk body that are stored in one write, at most 1048576 and one for each KiB of `memory.limit`; a body of more is several. Fewer take less memory.
        bulk_write_points: u64 = "1_048_576";
        /// Of all bodies being read or answered, as they came and unpacked; past it requests are shed with 503, and one that is larger alone is refused with 413. Workers that fetch and finish jobs, and deletions, may exceed it by up to 1 MiB. Clients with a public key have half as much for themselves, and one address half of that while it sends. `auto` is an eighth of `memory.limit`, 256 MiB at most.
        in_flight: Auto<ByteSize> = "auto";
    }

    /// The engine: durability, memory and disk.
    "storage" storage: Storage {
        /// When a write is answered: after a sync to disk, after the operating system has it with a sync at least every so many milliseconds, or after the operating system has it.
        durability: Durability = "sync";
        /// Points in memory before they are sealed into blocks. At most twice this is taken. `auto` is a sixteenth of `memory.limit`, 8 MiB at least and 32 MiB at most.
        head_bytes: Auto<ByteSize> = "auto";
        /// The oldest point in memory is sealed after this time.
        head_age: Period = "10m";
        /// The shared cache of blocks read from disk; beside it an eighth as much for pages of times. `auto` is an eighth of `memory.limit`, 256 MiB at most.
        cache_bytes: Auto<ByteSize> = "auto";
        /// The cache of decoded columns of events. `auto` is an eighth of `memory.limit`, 512 MiB at most.
        event_cache_bytes: Auto<ByteSize> = "auto";
        /// Points that a cell of a rollup stands for, on average, where the rollup is written beside the points. Less makes long ranges quicker and takes more disk; points that expire leave their rollups behind in any case.
        rollup_points_min: u64 = "60";
        /// A clock that jumps forward, also while the server is off, must stand by that before data expires by it: for as long as the jump, and at most this long. `/readyz` tells meanwhile.
        clock_grace: Period = "1d";
        /// Free disk below which writes are refused and reads go on.
        disk_free_bytes: ByteSize = "256MiB";
        /// Threads that answer queries and merge blocks.
        threads: Auto<ThreadCount> = "auto";
        /// Retention of the metrics whose names begin alike. The longest prefix that matches wins; tiers that it does not name keep the general retention.
        retention_override: Overrides = "";
    }

    /// How long each tier of the metrics is kept, and events.
    "storage.retention" retention: StorageRetention {
        /// Points as they came.
        raw: Period = "30d";
        /// One-minute cells of gauges and counters.
        minute: Period = "2d";
        /// Five-minute cells.
        five_minutes: Period = "90d";
        /// One-hour cells.
        hour: Period = "2y";
        /// One-day cells.
        day: Period = "2y";
        /// Events.
        events: Period = "30d";
    }

    /// What metrics and their queries may cost.
    "metrics" metrics: Metrics {
        /// Series of one metric.
        series_per_metric: u64 = "1_000_000";
        /// Distinct tag keys of one metric.
        tag_keys_per_metric: u64 = "1_000";
        /// Series in all.
        series_total: u64 = "10_000_000";
        /// Points and rollup cells that one query may read.
        query_points: u64 = "2_000_000_000";
        /// Buckets per series that one query may answer.
        query_buckets: u64 = "50_000";
        /// Memory that one query may take. `auto` is a quarter of `memory.limit`, 512 MiB at most.
        query_bytes: Auto<ByteSize> = "auto";
        /// Memory that a merge of blocks may take, however many series or events there are. Less leaves events with much text in smaller blocks. `auto` is a sixteenth of `memory.limit`, 128 MiB at most.
        merge_bytes: Auto<ByteSize> = "auto";
    }

    /// Events: what one question may take.
    "events" events: EventLimits {
        /// Groups that one question may answer.
        query_groups: u64 = "100_000";
    }

    /// What dashboards may cost.
    "dashboards" dashboards: Dashboards {
        /// Milliseconds that a widget may take, waiting included; then it carries an error and the others are answered.
        widget_timeout_ms: u64 = "5000";
    }

    /// Jobs: leases, retries, and how long they are kept when they are over.
    "jobs" jobs: Jobs {
        /// How long a job is reserved that has no `timeout_seconds` of its own.
        lease: Period = "30m";
        /// How long a worker may be silent before it is gone and its jobs go to others. Workers are asked to be heard of four times as often.
        worker_silence: Period = "60s";
        /// Seconds by which the fourth power of the attempt is multiplied before the next one.
        retry_exponent_factor: FromZero = "1";
        /// Seconds before the next attempt at least.
        retry_base_seconds: FromZero = "15";
        /// Seconds times the attempt, of which a random part is added before the next one.
        retry_jitter_seconds: FromZero = "10";
        /// How long the oldest job may wait in a queue that is `healthy`; beyond it the queue is `degraded`.
        degraded_latency: Period = "5m";
        /// How long a finished job can be asked for.
        finished_keep: Period = "1h";
        /// Finished jobs that can be asked for.
        finished_max: u64 = "100_000";
        /// How long dead jobs are kept.
        dead_keep: Period = "180d";
        /// Dead jobs that are kept.
        dead_max: u64 = "100_000";
        /// Jobs that wait, ready, scheduled or to be tried again, in all queues; further ones are refused with 503 `overloaded`.
        waiting_max: u64 = "2_000_000";
        /// The same of one queue.
        queue_waiting_max: u64 = "1_000_000";
        /// Memory that the jobs that wait may take; past it further ones are refused likewise. `auto` is what new data (twice `storage.head_bytes`) and caches leave of half of `memory.limit`, a sixteenth of it at least and 512 MiB at most: 28 MiB where the limit is 256 MiB, 416 MiB where it is 2 GiB.
        waiting_bytes_max: Auto<ByteSize> = "auto";
        /// How long a queue is kept that is not paused and has no jobs, finished and dead ones included, and no workers. Where there are as many queues as can be, it makes room for a new one at once.
        queue_keep: Period = "1d";
        /// Fetches of workers that wait for jobs at once; further ones are answered at once, without jobs where there are none.
        waiting_fetches_max: u64 = "10_000";
        /// The same of one key.
        key_waiting_fetches_max: u64 = "5_000";
    }

    /// Errors: how much is kept of them, and what is not.
    "errors" errors: Errors {
        /// Groups at most. Where they do not suffice, the key that made most of them of late loses those needed least: first what is resolved or ignored, then what was last seen longest ago, never what a person cares for. What comes meanwhile is one group of its key. `auto` is as many as fit into a twentieth of `memory.limit` at 1 KiB each, 100000 at most: 13107 where the limit is 256 MiB. Beside them the sets of their users take a sixty-fourth of the limit, 32 MiB at most; others are read from disk.
        groups_max: Auto<u64> = "auto";
        /// Groups that the errors of one key may begin in an hour; what comes beyond is one group of the key.
        new_groups_per_hour: u64 = "1_000";
        /// Words: the values of keys that contain one, in any case, are not stored; one of up to four letters must be a whole word of the key. In texts (`key=value`, `key: 'value'`) they are removed likewise, and so are credentials that are known by their form.
        scrub_keys: Words = "password,passwd,passphrase,pwd,secret,token,authorization,cookie,api_key,api-key,apikey,credential,private_key,session_id,sessionid,csrf,auth,jwt";
    }

    /// Metrics by OTLP: which attributes are tags, beside those of data points.
    "otlp" otlp: Otlp {
        /// Attributes of resources. More of them tell more series apart.
        resource_attributes: AttributeNames = "service.name,service.namespace,service.instance.id,host.name,deployment.environment.name";
        /// Attributes of scopes; the name and the version of a scope are `otel.scope.name` and `otel.scope.version`.
        scope_attributes: AttributeNames = "";
    }

    /// What the server may fetch on behalf of its users.
    "outbound" outbound: Outbound {
        /// Private, loopback and other special address ranges that may be reached all the same.
        allow: OutboundRanges = "";
    }

    /// What is written to standard error.
    "log" log: Log {
        /// How lines look; `auto` is `human` on a terminal, else `json`.
        format: LogFormat = "auto";
        /// The least severe level written (`error`, `warn`, `info`, `debug`, `trace`, `off`), and that of single modules. Of libraries only errors are written unless they are named, as in `info,h2=warn`: clients could make them write without end.
        level: Directives = "info", variable "TELLTALE_LOG";
        /// Lines that wait to be written, at most: when nobody reads them, or there is no room, the rest is dropped and counted.
        queue_lines: u64 = "8192";
    }
}

/// Variables that are no settings, with their meaning.
pub(super) const OTHER_VARIABLES: [(&str, &str); 4] = [
    (CONFIG_VARIABLE, "The configuration file, as `--config`."),
    (
        ADMIN_KEY_VARIABLE,
        "The admin key of a server that starts on an empty data directory: `tt_<id>_<secret>`. Without it one is made and printed once.",
    ),
    (URL_VARIABLE, "The server that commands reach, as `--url`."),
    (
        KEY_VARIABLE,
        "The key with which commands reach it, as `--key`, which others on the machine can see.",
    ),
];

/// The variable that names a server elsewhere.
pub(super) const URL_VARIABLE: &str = "TELLTALE_URL";
/// The variable that holds the key for it.
pub(super) const KEY_VARIABLE: &str = "TELLTALE_KEY";

/// The variable that names the configuration file.
pub(super) const CONFIG_VARIABLE: &str = "TELLTALE_CONFIG";
/// The variable that holds the first admin key.
pub(super) const ADMIN_KEY_VARIABLE: &str = "TELLTALE_ADMIN_KEY";
/// Variables that begin so belong to tests and are not looked at.
pub(super) const TEST_VARIABLE_PREFIX: &str = "TELLTALE_TEST_";

/// All settings, section after section.
pub(super) fn all() -> impl Iterator<Item = &'static Setting> {
    SECTIONS.iter().flat_map(|section| section.settings)
}

impl Setting {
    /// The variable of the environment that follows from the key.
    pub(super) fn variable(&self) -> String {
        format!("TELLTALE_{}", self.key.replace('.', "_").to_uppercase())
    }
}
