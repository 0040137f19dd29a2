//! The settings of the HTTP server.

use telltale_engine::Memory;

use super::route::BodyKind;
use crate::limits;
use crate::platform::process;
use crate::platform::quota::Quotas;
use crate::platform::settings::{Auto, ByteSize, FromZero, Period, ThreadCount, settings_section};

/// What the HTTP server is set up with: sections of the configuration, and the memory account of
/// the process.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The memory account of the process.
    pub memory: Memory,
    /// Connections and requests.
    pub http: HttpSettings,
    /// Request bodies.
    pub bodies: BodySettings,
    /// Request quotas of keys, by class.
    pub quotas: Quotas,
    /// How long requests in progress may take to finish when the server is stopped.
    pub drain: Period,
}

settings_section! {
    /// Limits and timeouts of connections and requests.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    "http" HttpSettings {
        /// Maximum number of open connections; further ones wait to be accepted. Reduced if the
        /// process may open too few files, and if 80 KiB for each connection exceed a quarter of
        /// `memory.limit`: to 6553 with 2 GiB, to 819 with 256 MiB.
        connections: usize = "16384";
        /// Maximum number of connections whose client has not presented a valid key yet. When it is
        /// reached, or all connections are in use, a new connection is accepted and the oldest
        /// unauthenticated one of the address that has the most of them is closed, preferably one
        /// without a request in progress. If that is the address of the new connection and all of
        /// its connections are younger than 50 ms, the new one is closed instead. Connections with
        /// a key are never closed for others; a public key does not count, because it is not
        /// secret. `auto` is half of the possible connections, at least 16.
        stranger_connections: Auto<usize> = "auto";
        /// Maximum number of connections without a valid key from one IPv4 address or one /64
        /// network of IPv6. A new connection replaces the oldest of them, or is closed if all of
        /// them are younger than 50 ms. Behind a reverse proxy all clients share the address of the
        /// proxy. `auto` is half of `stranger_connections`, at least 16.
        stranger_connections_per_address: Auto<usize> = "auto";
        /// Maximum number of requests in progress; further ones are shed with 503. Workers that
        /// fetch and finish jobs, and deletions, may exceed it by 64. Clients with a public key
        /// share a separate quarter of this number, and one address may use a quarter of that while
        /// it sends.
        requests_in_flight: usize = "4096";
        /// Maximum number of requests whose key is in their body, while the body is read; further
        /// ones are shed with 503.
        strangers_in_flight: usize = "64";
        /// Maximum number of requests counted by `strangers_in_flight` from one IPv4 address or one
        /// /64 network of IPv6.
        strangers_per_address: usize = "16";
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
        headers: usize = "100";
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
}

settings_section! {
    /// Maximum sizes of request bodies, after decompression.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    "bodies" BodySettings {
        /// Routes without a limit of their own.
        json: ByteSize = "1MiB";
        /// The batch routes.
        batch: ByteSize = "8MiB";
        /// The bulk protocols.
        bulk: ByteSize = "32MiB";
        /// Maximum number of samples of a bulk body that are stored in one write, at most 1048576
        /// and one per KiB of `memory.limit`; larger bodies are stored in several writes. Lower
        /// values take less memory.
        bulk_write_points: usize = "1_048_576";
        /// Maximum size of all bodies being read or processed, both as received and decompressed.
        /// Beyond it requests are shed with 503; a body that is larger on its own is refused with
        /// 413. Workers that fetch and finish jobs, and deletions, may exceed it by up to 1 MiB.
        /// Clients with a public key share a separate half of this size, and one address may use
        /// half of that while it sends. `auto` is an eighth of `memory.limit`, at most 256 MiB.
        in_flight: Auto<ByteSize> = "auto";
    }
}

impl HttpSettings {
    /// Lowers the maximum number of connections to what fits in the file limit and the memory of
    /// the process. The rest stays available to other parts: a database that cannot open a file
    /// fails.
    pub(crate) fn limit_connections(&mut self, files: usize, memory_bytes: u64) {
        let wanted = self.connections;
        let by_files = files.saturating_sub(limits::FILES_RESERVED).max(limits::CONNECTIONS_MIN);
        if wanted > by_files {
            tracing::warn!(
                wanted,
                possible = by_files,
                files,
                "the file limit of this process allows fewer connections than configured"
            );
        }
        let by_memory = memory_bytes / limits::CONNECTIONS_SHARE / limits::CONNECTION_BYTES_MAX;
        let by_memory = usize::try_from(by_memory).unwrap_or(usize::MAX);
        let by_memory = by_memory.max(limits::CONNECTIONS_MIN);
        if wanted > by_memory {
            tracing::info!(
                wanted,
                possible = by_memory,
                "memory.limit allows fewer connections than configured"
            );
        }
        self.connections = wanted.min(by_files).min(by_memory);
    }

    /// Returns the maximum number of concurrent queries. By default two per core, because a query
    /// may wait for the disk.
    pub fn queries_at_once(&self) -> usize {
        let by_cores = || 2 * process::cores();
        self.queries_at_once.set().map_or_else(by_cores, ThreadCount::get)
    }
}

impl BodySettings {
    /// Returns the maximum length in bytes of a decompressed body of this kind.
    pub(super) fn bytes_max(&self, kind: BodyKind) -> usize {
        match kind {
            BodyKind::None => 0,
            BodyKind::Json => self.json.bytes_usize(),
            BodyKind::Batch => self.batch.bytes_usize(),
            BodyKind::Bulk => self.bulk.bytes_usize(),
        }
    }

    /// Returns the maximum bytes of all bodies being read or processed; no limit while the setting
    /// is not derived from `memory.limit`.
    pub(super) fn in_flight_bytes_max(&self) -> usize {
        self.in_flight.set().map_or(usize::MAX, ByteSize::bytes_usize)
    }
}

#[cfg(test)]
impl Settings {
    /// Returns the declared defaults, without a limit of memory and with a change.
    pub(super) fn changed(change: impl FnOnce(&mut Self)) -> Self {
        let mut settings = Self::default();
        change(&mut settings);
        settings
    }
}

#[cfg(test)]
impl Default for Settings {
    fn default() -> Self {
        Self {
            memory: Memory::unlimited(),
            http: HttpSettings::default(),
            bodies: BodySettings::default(),
            quotas: Quotas::default(),
            drain: Period::from(std::time::Duration::from_secs(30)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_to_the_database() {
        let possible = |connections, files, memory_bytes| {
            let mut settings = HttpSettings { connections, ..HttpSettings::default() };
            settings.limit_connections(files, memory_bytes);
            settings.connections
        };
        assert_eq!(possible(16_384, 1_024, 64 << 30), 1_024 - limits::FILES_RESERVED);
        assert_eq!(possible(16_384, 1 << 20, 64 << 30), 16_384);
        assert_eq!(possible(16_384, 64, 64 << 30), limits::CONNECTIONS_MIN);
        assert_eq!(possible(16_384, 1 << 20, 256 << 20), 819);
        assert_eq!(possible(16_384, 1 << 20, 2 << 30), 6_553);
        assert_eq!(possible(100, 1 << 20, 256 << 20), 100);
        assert_eq!(possible(16_384, 1 << 20, 1), limits::CONNECTIONS_MIN);
    }
}
