//! Everything about the HTTP side that an operator may change, with unit, default and the reason for it.

use std::time::Duration;

use telltale_engine::Memory;

use super::route::BodyKind;
use crate::jobs::JobsSettings;
use crate::limits;
use crate::platform::quota::Quotas;

/// The settings of the HTTP side. `Settings::default()` is right for one machine of a few cores.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The account of memory of the process.
    pub memory: Memory,
    /// Bytes of a JSON body, after decompression. 1 MiB: no single resource is larger.
    pub body_json_bytes_max: usize,
    /// Bytes of a batch body, after decompression. 8 MiB: 500 items of 16 KiB.
    pub body_batch_bytes_max: usize,
    /// Bytes of a bulk body, after decompression. 32 MiB: what agents send at most.
    pub body_bulk_bytes_max: usize,
    /// Points of a bulk body that go to the log in one write; a body of more is several. 1048576, which is also the most:
    /// some 20 MB in memory.
    pub bulk_write_points_max: usize,
    /// Bytes of all bodies that are being read or answered; more is `overloaded`. 256 MiB.
    pub body_bytes_in_flight_max: usize,
    /// Requests that are being answered; more is `overloaded`. 4096: more only wait for each other.
    pub requests_in_flight_max: usize,
    /// Requests whose sender only their bodies tell, while they are read; more is `overloaded`. 64: an SDK sends a few kilobytes.
    pub strangers_in_flight_max: usize,
    /// Of these, those of one address, or of one site of IPv6. 16: the users behind one proxy.
    pub strangers_per_address_max: usize,
    /// How long the body of such a request may take. 10 s.
    pub stranger_body_timeout: Duration,
    /// Requests a second of one address, or of one site of IPv6, that no key comes with, in the long run; twice as many at once. 0 is no
    /// limit. 100: a browser that opens the page of the documentation, and monitors.
    pub stranger_requests_per_second: u32,
    /// How long a connection that has not shown a key may wait for its next request. 20 s: longer than monitors pause.
    pub stranger_idle_timeout: Duration,
    /// How long a query may take. 60 s: who looks at it has gone by then.
    pub query_timeout: Duration,
    /// Bytes a second that a client takes of an answer at least, over a period; slower ones are cut off. 2 KiB: slower than any line.
    pub answer_pace: u64,
    /// The period. 30 s.
    pub answer_pace_period: Duration,
    /// Queries that run at once; more wait. Two per core: a query may wait for the disk.
    pub queries_at_once_max: usize,
    /// Milliseconds that a widget of a dashboard may take, waiting included. 5000: who looks at a dashboard waits no longer.
    pub widget_timeout_ms: u64,
    /// Leases, retries and retention of jobs.
    pub jobs: JobsSettings,
    /// Attributes of OTLP that are tags, beside those of data points.
    pub otlp_attributes: OtlpAttributes,
    /// What is kept of errors.
    pub errors: ErrorSettings,
    /// Open connections; further ones wait to be accepted. 16384: an idle one takes some 16 KiB ([`limits::CONNECTION_BYTES`]).
    pub connections_max: usize,
    /// Of these, connections whose client has not shown a key; where there are as many, a new one takes the place of an older one.
    /// `None` is half of the connections.
    pub stranger_connections_max: Option<usize>,
    /// Of these, those of one address, or of one site of IPv6. `None` is half of them.
    pub stranger_connections_per_address_max: Option<usize>,
    /// Bytes of the request line and headers together. 32 KiB.
    pub header_bytes_max: usize,
    /// Headers of a request. 100: more than browsers and proxies add together.
    pub headers_max: usize,
    /// How long the headers of a request may take. 10 s.
    pub header_timeout: Duration,
    /// How long a connection may wait for its next request. 75 s: longer than the usual proxy waits.
    pub idle_timeout: Duration,
    /// How long a request is answered on after its client has ended its side of the connection. 10 s: longer than nearly all answers
    /// take, and not so long that queries of clients that are gone keep others waiting.
    pub half_closed_grace: Duration,
    /// How long a body may pause. 10 s.
    pub body_idle_timeout: Duration,
    /// How long a whole body may take. 60 s: 32 MiB over a slow line.
    pub body_timeout: Duration,
    /// How long requests in flight may take to end when the server stops. 30 s.
    pub shutdown_timeout: Duration,
    /// How many requests a key may send, by class.
    pub quotas: Quotas,
}

/// Attributes of OTLP that are tags, beside those of data points, by their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtlpAttributes {
    /// Of resources: what tells one instance of a service from another.
    pub resource: Vec<String>,
    /// Of scopes of instrumentation, whose own name and version are `otel.scope.name` and `otel.scope.version`. None: few
    /// ask which library measured, and each one is a series more.
    pub scope: Vec<String>,
}

/// What is kept of errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorSettings {
    /// Groups at most. Where there are more, those go that are needed least of the key that made most; what comes meanwhile is
    /// one group of its key. 100000: more than anybody looks through.
    pub groups_max: usize,
    /// Bytes of the sets of users that stay in memory; others are read from disk. 32 MiB.
    pub users_bytes_max: usize,
    /// Groups that the errors of one key may begin in an hour; what comes beyond is one group of the key. 1000: more distinct
    /// errors than a program has on its worst day, and a hundredth of all groups.
    pub new_groups_per_hour: u64,
    /// Words: the values of keys that contain one, in any case, are not stored; a short one must be a whole word of the key.
    pub scrub_keys: Vec<String>,
    /// How long events are kept. 30 days.
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
    /// Bytes that a body of this kind may have after decompression.
    pub(super) fn body_bytes_max(&self, kind: BodyKind) -> usize {
        match kind {
            BodyKind::None => 0,
            BodyKind::Json => self.body_json_bytes_max,
            BodyKind::Batch => self.body_batch_bytes_max,
            BodyKind::Bulk => self.body_bulk_bytes_max,
        }
    }
}
