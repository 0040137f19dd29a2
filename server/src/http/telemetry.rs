//! The server's counts of its own work: atomic counters, allocated per route before the first
//! request.
//!
//! Counting takes a few nanoseconds and never locks. The exposition renders the counts in
//! Prometheus format; the self-metrics read [`Telemetry::snapshot`].

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::StatusCode;

use super::buffers::Buffers;
use super::route::Route;
use crate::limits;

/// The statuses that are counted separately; any other counts as the last.
const STATUSES: [u16; 20] = [
    200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 408, 409, 412, 413, 415, 422, 429, 503, 504,
    500,
];

/// Upper bounds of the latency buckets in microseconds; slower requests count in one more bucket.
pub const LATENCY_BOUNDS_US: [u64; 14] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 5_000_000,
];

/// The counts of a server.
#[derive(Debug)]
pub struct Telemetry {
    /// One entry per route, and one for requests that match no route.
    routes: Vec<RouteCounts>,
    connections: AtomicU64,
    evicted: AtomicU64,
    closed_flooding: AtomicU64,
    buffers: Buffers,
    body_bytes: AtomicU64,
    refused_quota: AtomicU64,
    refused_load: AtomicU64,
    closed_slow: AtomicU64,
}

/// The counts of one route.
#[derive(Debug)]
pub struct RouteCounts {
    /// The method; `-` if no route matched.
    pub method: &'static str,
    /// The path in the route table; `-` if no route matched.
    pub path: &'static str,
    statuses: [AtomicU64; STATUSES.len()],
    buckets: [AtomicU64; LATENCY_BOUNDS_US.len() + 1],
    latency_sum_us: AtomicU64,
}

/// The counts of the whole server since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Requests completed.
    pub requests: u64,
    /// Of these, with a status from 400 to 499.
    pub client_errors: u64,
    /// Of these, with a status of 500 or more.
    pub server_errors: u64,
    /// Requests by latency: one bucket for each bound in [`LATENCY_BOUNDS_US`], and one for slower
    /// ones.
    pub latency_buckets: [u64; LATENCY_BOUNDS_US.len() + 1],
    /// Sum of the latencies of all requests, in microseconds.
    pub latency_sum_us: u64,
    /// Bytes of bodies received, after decompression.
    pub body_bytes: u64,
    /// Connections open now.
    pub connections: u64,
    /// Requests refused because a key was over its quota.
    pub refused_quota: u64,
    /// Requests shed because the server was overloaded.
    pub refused_load: u64,
    /// Connections closed because the client read its response too slowly.
    pub closed_slow: u64,
    /// Unauthenticated connections closed in favour of new ones.
    pub evicted: u64,
    /// HTTP/2 connections closed because of too many frames besides requests.
    pub closed_flooding: u64,
}

impl Telemetry {
    pub(super) fn new(routes: &[&'static Route]) -> Self {
        let known = routes.iter().map(|route| RouteCounts::new(route.method.as_str(), route.path));
        Self {
            routes: known.chain([RouteCounts::new("-", "-")]).collect(),
            connections: AtomicU64::new(0),
            evicted: AtomicU64::new(0),
            closed_flooding: AtomicU64::new(0),
            buffers: Buffers::default(),
            body_bytes: AtomicU64::new(0),
            refused_quota: AtomicU64::new(0),
            refused_load: AtomicU64::new(0),
            closed_slow: AtomicU64::new(0),
        }
    }

    /// Counts a completed request. `route` is its index in the router.
    pub(super) fn answered(
        &self,
        route: Option<usize>,
        status: StatusCode,
        elapsed: Duration,
        body_bytes: usize,
    ) {
        let last = self.routes.len() - 1;
        self.routes[route.unwrap_or(last)].add(status, elapsed);
        self.body_bytes.fetch_add(body_bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn refused_quota(&self) {
        self.refused_quota.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn refused_load(&self) {
        self.refused_load.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a connection closed because the client read responses too slowly.
    pub(super) fn closed_slow(&self) {
        self.closed_slow.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an unauthenticated connection closed in favour of a new one.
    pub(super) fn evicted(&self) {
        self.evicted.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a connection closed because of too many frames besides requests.
    pub(super) fn closed_flooding(&self) {
        self.closed_flooding.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a connection as open until the returned value is dropped.
    pub(super) fn connection(&self) -> Connected<'_> {
        self.connections.fetch_add(1, Ordering::Relaxed);
        Connected(self)
    }

    /// Returns the connections' read buffers.
    pub(super) fn buffers(&self) -> &Buffers {
        &self.buffers
    }

    /// Returns the approximate memory of all connections in bytes.
    pub fn connection_bytes(&self) -> u64 {
        let connections = self.connections.load(Ordering::Relaxed);
        connections * limits::CONNECTION_BYTES + self.buffers.bytes()
    }

    /// Returns the counts by route.
    pub fn routes(&self) -> &[RouteCounts] {
        &self.routes
    }

    /// Returns the totals of all routes.
    pub fn snapshot(&self) -> Snapshot {
        let mut total = Snapshot {
            body_bytes: self.body_bytes.load(Ordering::Relaxed),
            connections: self.connections.load(Ordering::Relaxed),
            refused_quota: self.refused_quota.load(Ordering::Relaxed),
            refused_load: self.refused_load.load(Ordering::Relaxed),
            closed_slow: self.closed_slow.load(Ordering::Relaxed),
            evicted: self.evicted.load(Ordering::Relaxed),
            closed_flooding: self.closed_flooding.load(Ordering::Relaxed),
            ..Snapshot::default()
        };
        for route in &self.routes {
            for (status, count) in route.by_status() {
                total.requests += count;
                match status {
                    400..=499 => total.client_errors += count,
                    500.. => total.server_errors += count,
                    _ => {}
                }
            }
            for (sum, bucket) in total.latency_buckets.iter_mut().zip(route.latency_buckets()) {
                *sum += bucket;
            }
            total.latency_sum_us += route.latency_sum_us();
        }
        total
    }
}

/// An open connection, counted until it is dropped.
#[derive(Debug)]
pub(super) struct Connected<'a>(&'a Telemetry);

impl Drop for Connected<'_> {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

impl RouteCounts {
    fn new(method: &'static str, path: &'static str) -> Self {
        Self {
            method,
            path,
            statuses: std::array::from_fn(|_| AtomicU64::new(0)),
            buckets: std::array::from_fn(|_| AtomicU64::new(0)),
            latency_sum_us: AtomicU64::new(0),
        }
    }

    fn add(&self, status: StatusCode, elapsed: Duration) {
        let status =
            STATUSES.iter().position(|s| *s == status.as_u16()).unwrap_or(STATUSES.len() - 1);
        let took_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        let bucket = LATENCY_BOUNDS_US.partition_point(|bound| *bound < took_us);
        self.statuses[status].fetch_add(1, Ordering::Relaxed);
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.latency_sum_us.fetch_add(took_us, Ordering::Relaxed);
    }

    /// Returns the statuses that occurred and their counts.
    pub fn by_status(&self) -> impl Iterator<Item = (u16, u64)> {
        let counts = self.statuses.iter().map(|count| count.load(Ordering::Relaxed));
        STATUSES.into_iter().zip(counts).filter(|(_, count)| *count > 0)
    }

    /// Returns the requests by latency: one bucket for each bound in [`LATENCY_BOUNDS_US`], and one
    /// for slower ones.
    pub fn latency_buckets(&self) -> impl Iterator<Item = u64> {
        self.buckets.iter().map(|count| count.load(Ordering::Relaxed))
    }

    /// Returns the sum of the latencies in microseconds.
    pub fn latency_sum_us(&self) -> u64 {
        self.latency_sum_us.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_status_and_latency() {
        let telemetry = Telemetry::new(&[]);
        telemetry.answered(None, StatusCode::OK, Duration::from_micros(100), 10);
        telemetry.answered(None, StatusCode::NOT_FOUND, Duration::from_micros(101), 0);
        telemetry.answered(None, StatusCode::IM_A_TEAPOT, Duration::from_secs(60), 0);
        let total = telemetry.snapshot();
        assert_eq!((total.requests, total.client_errors, total.server_errors), (3, 1, 1));
        assert_eq!(total.latency_buckets[..2], [1, 1]);
        assert_eq!(total.latency_buckets[LATENCY_BOUNDS_US.len()], 1);
        assert_eq!((total.latency_sum_us, total.body_bytes), (60_000_201, 10));
    }
}
