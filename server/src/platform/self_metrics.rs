//! Health metrics of the server, written into its own engine under names that begin with
//! `telltale.`.
//!
//! Counters are written as increases since the last write, so that a restart is no dip. The server
//! keeps latencies as counts per bucket; they are converted back to at most `OBSERVATIONS_MAX`
//! observations per route and write, which preserve the shares of the buckets and approximate the
//! mean. The points count as ingested like all others.

use std::collections::HashMap;
use std::fmt;

use telltale_engine::{BatchBuilder, Engine, EngineStats, MetricType, Refusal, TimestampMs};

use super::process::resident_bytes;

/// The names of all metrics.
mod names {
    use telltale_engine::MetricType::{self, Counter, Distribution, Gauge};

    /// All metrics with their types.
    pub(super) const ALL: [(&str, MetricType); 16] = [
        (REQUESTS, Counter),
        (REQUEST_DURATION, Distribution),
        (REFUSED, Counter),
        (QUERIES, Counter),
        (CONNECTIONS, Gauge),
        (RECEIVED, Counter),
        (INGESTED, Counter),
        (METRICS, Gauge),
        (SERIES, Gauge),
        (MEMORY, Gauge),
        (STORAGE, Gauge),
        (STORAGE_FREE, Gauge),
        (LOG, Gauge),
        (BLOCKS, Gauge),
        (SEALS, Counter),
        (MERGES, Counter),
    ];
    /// Requests completed, by `route`, `method` and class of the `status`.
    pub(super) const REQUESTS: &str = "telltale.requests";
    /// Milliseconds from the headers of a request to its response, by `route` and `method`.
    pub(super) const REQUEST_DURATION: &str = "telltale.request.duration_ms";
    /// Requests refused by a `limit`: `quota` or `load`.
    pub(super) const REFUSED: &str = "telltale.requests.refused";
    /// Metric queries among the requests.
    pub(super) const QUERIES: &str = "telltale.queries";
    /// Open connections.
    pub(super) const CONNECTIONS: &str = "telltale.connections";
    /// Bytes of request bodies received.
    pub(super) const RECEIVED: &str = "telltale.received.bytes";
    /// Points stored.
    pub(super) const INGESTED: &str = "telltale.ingest.points";
    /// The number of metrics.
    pub(super) const METRICS: &str = "telltale.metrics";
    /// The number of series.
    pub(super) const SERIES: &str = "telltale.series";
    /// Memory, by `part`: `process` is the resident memory, the others are the engine's accounts.
    pub(super) const MEMORY: &str = "telltale.memory.bytes";
    /// Bytes on disk.
    pub(super) const STORAGE: &str = "telltale.storage.bytes";
    /// Free disk space.
    pub(super) const STORAGE_FREE: &str = "telltale.storage.free_bytes";
    /// Bytes of the write-ahead log on disk.
    pub(super) const LOG: &str = "telltale.log.bytes";
    /// Blocks on disk, by `state`: `whole` or `quarantined`.
    pub(super) const BLOCKS: &str = "telltale.blocks";
    /// Seals of the head.
    pub(super) const SEALS: &str = "telltale.seals";
    /// Compactions of blocks.
    pub(super) const MERGES: &str = "telltale.merges";
}

/// The metrics that are written, with their types.
pub(crate) const HEALTH_METRICS: &[(&str, MetricType)] = &names::ALL;

/// Latency observations per route and write: enough for a 99th percentile.
const OBSERVATIONS_MAX: u64 = 100;

/// Request counters since the start of the process. Only `connections` can decrease.
#[derive(Clone, Debug, Default)]
pub struct RequestCounts {
    /// By route.
    pub routes: Vec<RouteCount>,
    /// Connections currently open.
    pub connections: u64,
    /// Bytes of request bodies received.
    pub body_bytes: u64,
    /// Requests refused because a key was over its quota.
    pub refused_quota: u64,
    /// Requests shed because the server was overloaded.
    pub refused_load: u64,
}

/// Counters of the requests of one route.
#[derive(Clone, Debug, Default)]
pub struct RouteCount {
    /// The method, such as `GET`.
    pub method: &'static str,
    /// The path of the route.
    pub path: &'static str,
    /// Requests by the first digit of their status.
    pub statuses: [u64; 6],
    /// Requests by latency: up to each of `bounds_us`, and a last count of slower ones.
    pub latencies: Vec<u64>,
    /// The upper bounds of the latencies, in microseconds.
    pub bounds_us: &'static [u64],
    /// The sum of the latencies of all requests, in microseconds.
    pub latency_sum_us: u64,
}

/// Writes the health metrics; keeps the counter values of the last write.
pub struct SelfMetrics {
    engine: Engine,
    count: Box<dyn Fn() -> RequestCounts + Send>,
    requests: RequestCounts,
    stats: EngineStats,
}

impl fmt::Debug for SelfMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SelfMetrics").finish_non_exhaustive()
    }
}

impl SelfMetrics {
    /// Returns a writer of the stats of `engine` and of what `count` counts.
    pub fn new(engine: Engine, count: impl Fn() -> RequestCounts + Send + 'static) -> Self {
        let (requests, stats) = (RequestCounts::default(), EngineStats::default());
        Self { engine, count: Box::new(count), requests, stats }
    }

    /// Writes the increases since the last write and the current gauges. Blocks until the points
    /// are stored.
    pub fn write(&mut self, now: TimestampMs) -> telltale_engine::Result<()> {
        let requests = (self.count)();
        let stats = self.engine.stats();
        let mut points = Points { batch: self.engine.own_batch(), now };
        points.requests(&requests, &self.requests)?;
        points.engine(&stats, &self.stats)?;
        let batch = points.batch.finish();
        self.engine.write(batch)?;
        // Only after the write: increases that could not be written are part of the next ones.
        self.requests = requests;
        self.stats = stats;
        Ok(())
    }
}

/// A batch under construction, with points of one time.
struct Points<'a> {
    batch: BatchBuilder<'a>,
    now: TimestampMs,
}

impl Points<'_> {
    fn requests(&mut self, now: &RequestCounts, before: &RequestCounts) -> Result<(), Refusal> {
        let earlier: HashMap<_, _> =
            before.routes.iter().map(|route| ((route.method, route.path), route)).collect();
        let mut queries = 0;
        for route in &now.routes {
            let increase = route.since(earlier.get(&(route.method, route.path)).copied());
            if route.path.ends_with("/query") {
                queries += increase.statuses.iter().sum::<u64>();
            }
            self.route(&increase)?;
        }
        self.counter(names::QUERIES, &[], queries)?;
        self.gauge(names::CONNECTIONS, &[], now.connections)?;
        self.counter(names::RECEIVED, &[], now.body_bytes - before.body_bytes)?;
        let (quota, load) = (("limit", "quota"), ("limit", "load"));
        self.counter(names::REFUSED, &[quota], now.refused_quota - before.refused_quota)?;
        self.counter(names::REFUSED, &[load], now.refused_load - before.refused_load)
    }

    fn route(&mut self, increase: &RouteCount) -> Result<(), Refusal> {
        let (path, method) = (("route", increase.path), ("method", increase.method));
        let classes = ["0xx", "1xx", "2xx", "3xx", "4xx", "5xx"];
        for (class, count) in classes.into_iter().zip(increase.statuses) {
            if count > 0 {
                self.counter(names::REQUESTS, &[path, method, ("status", class)], count)?;
            }
        }
        let observations = increase.observations_us();
        if observations.is_empty() {
            return Ok(());
        }
        let kind = MetricType::Distribution;
        let series = self.batch.series(names::REQUEST_DURATION, kind, &[path, method])?;
        for us in observations {
            self.batch.number(kind, series, self.now, us / 1_000.0);
        }
        Ok(())
    }

    fn engine(&mut self, now: &EngineStats, before: &EngineStats) -> Result<(), Refusal> {
        let since = |now: u64, before: u64| now.saturating_sub(before);
        self.counter(names::INGESTED, &[], since(now.points_written, before.points_written))?;
        self.counter(names::SEALS, &[], since(now.seals, before.seals))?;
        self.counter(names::MERGES, &[], since(now.merges, before.merges))?;
        self.gauge(names::METRICS, &[], now.metrics)?;
        self.gauge(names::SERIES, &[], now.series)?;
        let sizes = [
            (names::STORAGE, now.disk_bytes),
            (names::STORAGE_FREE, now.disk_free_bytes),
            (names::LOG, now.log_bytes),
        ];
        for (name, bytes) in sizes {
            // Unknown while the file system fails.
            let Some(bytes) = bytes else { continue };
            self.gauge(name, &[], bytes)?;
        }
        self.gauge(names::BLOCKS, &[("state", "whole")], now.blocks)?;
        self.gauge(names::BLOCKS, &[("state", "quarantined")], now.blocks_quarantined)?;
        let parts = [
            ("head", Some(now.head_bytes)),
            ("registry", Some(now.registry_bytes)),
            ("cache", Some(now.cache_bytes)),
            ("queue", Some(now.queue_bytes)),
            ("process", resident_bytes()),
        ];
        for (part, bytes) in parts {
            if let Some(bytes) = bytes {
                self.gauge(names::MEMORY, &[("part", part)], bytes)?;
            }
        }
        Ok(())
    }

    fn counter(&mut self, name: &str, tags: &[(&str, &str)], increase: u64) -> Result<(), Refusal> {
        self.number(MetricType::Counter, name, tags, increase)
    }

    fn gauge(&mut self, name: &str, tags: &[(&str, &str)], value: u64) -> Result<(), Refusal> {
        self.number(MetricType::Gauge, name, tags, value)
    }

    fn number(
        &mut self,
        kind: MetricType,
        name: &str,
        tags: &[(&str, &str)],
        value: u64,
    ) -> Result<(), Refusal> {
        let series = self.batch.series(name, kind, tags)?;
        self.batch.number(kind, series, self.now, value as f64);
        Ok(())
    }
}

impl RouteCount {
    /// Returns the increases since `before`.
    fn since(&self, before: Option<&Self>) -> Self {
        let mut increase = self.clone();
        if let Some(before) = before {
            let fields = increase.statuses.iter_mut().zip(&before.statuses);
            fields.for_each(|(now, then)| *now -= then);
            let fields = increase.latencies.iter_mut().zip(&before.latencies);
            fields.for_each(|(now, then)| *now -= then);
            increase.latency_sum_us -= before.latency_sum_us;
        }
        increase
    }

    /// Returns latencies in microseconds that represent the counts: each lies inside its bucket,
    /// and together they approximate the mean that the sum gives.
    fn observations_us(&self) -> Vec<f64> {
        let requests: u64 = self.latencies.iter().sum();
        if requests == 0 {
            return Vec::new();
        }
        let middles: Vec<f64> =
            (0..self.latencies.len()).map(|bucket| self.middle_us(bucket)).collect();
        let sum_of_middles: f64 =
            self.latencies.iter().zip(&middles).map(|(count, us)| *count as f64 * us).sum();
        let factor = self.latency_sum_us as f64 / sum_of_middles;
        // Rounding the running total keeps the share of every bucket within one observation.
        let until = |seen: u64| match requests {
            ..=OBSERVATIONS_MAX => seen,
            _ => (seen * OBSERVATIONS_MAX).div_ceil(requests),
        };
        let (mut seen, mut observations) = (0, Vec::new());
        for (bucket, (count, us)) in self.latencies.iter().zip(&middles).enumerate() {
            let (low, high) = self.range_us(bucket);
            let copies = until(seen + count) - until(seen);
            seen += count;
            observations.extend((0..copies).map(|_| (us * factor).clamp(low, high)));
        }
        observations
    }

    /// Returns the bounds of a bucket, in microseconds.
    fn range_us(&self, bucket: usize) -> (f64, f64) {
        let bound = |i: usize| self.bounds_us.get(i).map(|us| *us as f64);
        let low = bucket.checked_sub(1).and_then(bound).unwrap_or(0.0);
        (low, bound(bucket).unwrap_or(f64::MAX))
    }

    /// Returns the geometric middle of a bucket; the unbounded last one counts as if it ended at
    /// four times its lower bound.
    fn middle_us(&self, bucket: usize) -> f64 {
        let (low, high) = self.range_us(bucket);
        match high {
            f64::MAX => low * 2.0,
            _ if low == 0.0 => high / 2.0,
            _ => (low * high).sqrt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS_US: [u64; 4] = [100, 1_000, 10_000, 100_000];

    fn observations(latencies: [u64; 5], latency_sum_us: u64) -> Vec<f64> {
        let latencies = latencies.to_vec();
        let route = RouteCount {
            latencies,
            bounds_us: &BOUNDS_US,
            latency_sum_us,
            ..RouteCount::default()
        };
        route.observations_us()
    }

    #[test]
    fn one_request_is_one_observation_of_its_latency() {
        let rounded = |seen: Vec<f64>| seen.into_iter().map(f64::round).collect::<Vec<_>>();
        assert_eq!(rounded(observations([0, 1, 0, 0, 0], 700)), [700.0]);
        assert_eq!(rounded(observations([0, 0, 0, 0, 1], 7_000_000)), [7_000_000.0]);
        assert!(observations([0; 5], 0).is_empty());
    }

    #[test]
    fn observations_lie_in_their_buckets_and_preserve_the_mean() {
        let seen = observations([0, 3, 1, 0, 0], 3 * 400 + 9_000);
        assert_eq!(seen.len(), 4);
        assert!(seen[..3].iter().all(|us| (100.0..=1_000.0).contains(us)), "{seen:?}");
        assert!((1_000.0..=10_000.0).contains(&seen[3]), "{seen:?}");
        let mean = seen.iter().sum::<f64>() / 4.0;
        assert!((mean / 2_550.0 - 1.0).abs() < 0.25, "{mean}");
    }

    #[test]
    fn many_requests_become_a_bounded_sample_with_the_same_shares() {
        let seen = observations([9_000, 900, 0, 100, 0], 5_000_000);
        assert_eq!(seen.len() as u64, OBSERVATIONS_MAX);
        assert_eq!(seen.iter().filter(|us| **us > 100.0).count(), 10);
    }

    #[test]
    fn an_increase_is_the_difference_to_the_last_write() {
        let counts = |n: u64| RouteCount {
            statuses: [0, 0, n, 0, 1, 0],
            latencies: vec![n, 1],
            latency_sum_us: 10 * n,
            ..RouteCount::default()
        };
        let increase = counts(7).since(Some(&counts(5)));
        assert_eq!((increase.statuses, increase.latencies), ([0, 0, 2, 0, 0, 0], vec![2, 0]));
        assert_eq!(counts(7).since(None).latency_sum_us, 70);
    }
}
