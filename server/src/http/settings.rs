//! The settings of the HTTP server, with units, defaults and the reasons for the defaults.

use std::time::Duration;

use telltale_engine::Memory;

use super::route::BodyKind;
use crate::jobs::JobsSettings;
use crate::limits;
use crate::platform::quota::Quotas;

/// The settings of the HTTP server. `Settings::default()` suits a machine with a few cores.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The memory account of the process.
    pub memory: Memory,
    /// Maximum length of a JSON body in bytes, after decompression. Default 1 MiB: no single
    /// resource is larger.
    pub body_json_bytes_max: usize,
    /// Maximum length of a batch body in bytes, after decompression. Default 8 MiB: 500 items of 16
    /// KiB.
    pub body_batch_bytes_max: usize,
    /// Maximum length of a bulk body in bytes, after decompression. Default 32 MiB: the most that
    /// agents send.
    pub body_bulk_bytes_max: usize,
    /// Maximum number of samples of a bulk body written to the log in one write; a larger body is
    /// split into several writes. Default and maximum 1048576: about 20 MB in memory.
    pub bulk_write_points_max: usize,
    /// Maximum bytes of all bodies being read or processed; beyond it, requests are refused with
    /// `overloaded`. Default 256 MiB.
    pub body_bytes_in_flight_max: usize,
    /// Maximum number of requests in progress; beyond it, requests are refused with `overloaded`.
    /// Default 4096: more would only wait for each other.
    pub requests_in_flight_max: usize,
    /// Maximum number of requests whose sender is identified only by the body, while it is read;
    /// beyond it, they are refused with `overloaded`. Default 64: an SDK sends a few kilobytes.
    pub strangers_in_flight_max: usize,
    /// Maximum number of these from one address (IPv6: one /64 network). Default 16: the users
    /// behind one proxy.
    pub strangers_per_address_max: usize,
    /// Time limit for the body of such a request. Default 10 s.
    pub stranger_body_timeout: Duration,
    /// Requests per second without a valid key from one address (IPv6: one /64 network), sustained;
    /// bursts may have twice as many. 0 means unlimited. Default 100: a browser that opens the
    /// documentation page, and monitors.
    pub stranger_requests_per_second: u32,
    /// Idle timeout of an unauthenticated connection. Default 20 s: longer than monitors pause.
    pub stranger_idle_timeout: Duration,
    /// Time limit of a query. Default 60 s: few clients wait longer.
    pub query_timeout: Duration,
    /// Minimum rate in bytes per second, averaged over a period, at which a client must read a
    /// response; slower clients are disconnected. Default 2 KiB: slower than any usable line.
    pub answer_pace: u64,
    /// Length of that period. Default 30 s.
    pub answer_pace_period: Duration,
    /// Maximum number of concurrent queries; further ones wait. Default two per core: a query may
    /// wait for the disk.
    pub queries_at_once_max: usize,
    /// Time limit of a dashboard widget in milliseconds, including waiting. Default 5000: viewers
    /// wait no longer.
    pub widget_timeout_ms: u64,
    /// Leases, retries and retention of jobs.
    pub jobs: JobsSettings,
    /// OTLP attributes that become tags, in addition to those of data points.
    pub otlp_attributes: OtlpAttributes,
    /// Limits and retention of errors.
    pub errors: ErrorSettings,
    /// Maximum number of open connections; further ones wait to be accepted. Default 16384: an idle
    /// one takes about 16 KiB ([`limits::CONNECTION_BYTES`]).
    pub connections_max: usize,
    /// Maximum number of unauthenticated connections; beyond it, a new one evicts an older one.
    /// `None` means half of `connections_max`.
    pub stranger_connections_max: Option<usize>,
    /// Maximum number of these from one address (IPv6: one /64 network). `None` means half of them.
    pub stranger_connections_per_address_max: Option<usize>,
    /// Maximum bytes of request line and headers together. Default 32 KiB.
    pub header_bytes_max: usize,
    /// Maximum number of headers of a request. Default 100: more than browsers and proxies send
    /// together.
    pub headers_max: usize,
    /// Time limit for the headers of a request. Default 10 s.
    pub header_timeout: Duration,
    /// Idle timeout of a connection. Default 75 s: longer than that of the usual proxy.
    pub idle_timeout: Duration,
    /// Time for which a request continues after its client has closed its sending side. Default 10
    /// s: longer than nearly all responses take, and short enough that queries of disconnected
    /// clients do not delay others.
    pub half_closed_grace: Duration,
    /// Longest pause within a body. Default 10 s.
    pub body_idle_timeout: Duration,
    /// Time limit for a whole body. Default 60 s: 32 MiB over a slow line.
    pub body_timeout: Duration,
    /// Time limit for requests in progress at shutdown. Default 30 s.
    pub shutdown_timeout: Duration,
    /// Request quotas of keys, by class.
    pub quotas: Quotas,
}

/// The OTLP attributes that become tags, in addition to those of data points, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtlpAttributes {
    /// Resource attributes, which distinguish the instances of a service.
    pub resource: Vec<String>,
    /// Attributes of instrumentation scopes; the scope's name and version are `otel.scope.name` and
    /// `otel.scope.version`. Default none: queries rarely group by library, and each attribute
    /// multiplies the series.
    pub scope: Vec<String>,
}

/// Limits and retention of errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorSettings {
    /// Maximum number of groups. Beyond it, the least useful groups of the key with the most groups
    /// are removed; new errors meanwhile are counted in one group per key. Default 100000: more
    /// than anyone can inspect.
    pub groups_max: usize,
    /// Bytes of user sets kept in memory; others are read from disk. Default 32 MiB.
    pub users_bytes_max: usize,
    /// Maximum number of groups that the errors of one key may create per hour; errors beyond it
    /// are counted in one group of the key. Default 1000: more distinct errors than a program
    /// produces on its worst day, and a hundredth of all groups.
    pub new_groups_per_hour: u64,
    /// Words that mark sensitive keys: the value of a key that contains one, in any case, is not
    /// stored. A short word must match a whole word of the key.
    pub scrub_keys: Vec<String>,
    /// Time for which events are kept. Default 30 days.
    pub retention: Duration,
}

impl Default for ErrorSettings {
    fn default() -> Self {
        let scrub_keys = [
            "password",
            "passwd",
            "passphrase",
            "pwd",
            "secret",
            "token",
            "authorization",
            "cookie",
            "api_key",
            "api-key",
            "apikey",
            "credential",
            "private_key",
            "session_id",
            "sessionid",
            "csrf",
            "auth",
            "jwt",
        ];
        Self {
            groups_max: limits::ERROR_GROUPS_AUTO_MAX as usize,
            users_bytes_max: limits::ERROR_USERS_BYTES_MAX,
            new_groups_per_hour: 1_000,
            scrub_keys: scrub_keys.map(str::to_owned).to_vec(),
            retention: Duration::from_secs(30 * 24 * 60 * 60),
        }
    }
}

impl Default for OtlpAttributes {
    fn default() -> Self {
        let resource = [
            "service.name",
            "service.namespace",
            "service.instance.id",
            "host.name",
            "deployment.environment.name",
        ];
        Self { resource: resource.map(str::to_owned).to_vec(), scope: Vec::new() }
    }
}

impl Default for Settings {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            memory: Memory::unlimited(),
            body_json_bytes_max: 1 << 20,
            body_batch_bytes_max: 8 << 20,
            body_bulk_bytes_max: 32 << 20,
            bulk_write_points_max: limits::BULK_WRITE_POINTS_MAX,
            body_bytes_in_flight_max: 256 << 20,
            requests_in_flight_max: 4_096,
            strangers_in_flight_max: 64,
            strangers_per_address_max: 16,
            stranger_requests_per_second: 100,
            stranger_body_timeout: Duration::from_secs(10),
            stranger_idle_timeout: Duration::from_secs(20),
            query_timeout: Duration::from_secs(60),
            answer_pace: 2 << 10,
            answer_pace_period: Duration::from_secs(30),
            queries_at_once_max: 2 * cores,
            widget_timeout_ms: 5_000,
            jobs: JobsSettings::default(),
            otlp_attributes: OtlpAttributes::default(),
            errors: ErrorSettings::default(),
            connections_max: 16_384,
            stranger_connections_max: None,
            stranger_connections_per_address_max: None,
            header_bytes_max: 32 << 10,
            headers_max: 100,
            header_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            half_closed_grace: Duration::from_secs(10),
            body_idle_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(60),
            shutdown_timeout: Duration::from_secs(30),
            quotas: Quotas::default(),
        }
    }
}

impl Settings {
    /// Returns the maximum length in bytes of a decompressed body of this kind.
    pub(super) fn body_bytes_max(&self, kind: BodyKind) -> usize {
        match kind {
            BodyKind::None => 0,
            BodyKind::Json => self.body_json_bytes_max,
            BodyKind::Batch => self.body_batch_bytes_max,
            BodyKind::Bulk => self.body_bulk_bytes_max,
        }
    }
}
