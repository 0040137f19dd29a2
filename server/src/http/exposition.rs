//! `/metrics`: the server's counts and the engine's gauges in Prometheus exposition format
//! (OpenMetrics).

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};
use telltale_engine::{EngineStats, MemoryOwner};

use super::error::{ApiError, ApiResult};
use super::server::Server;
use super::telemetry::LATENCY_BOUNDS_US;
use crate::platform::process::resident_bytes;
use crate::platform::{logging, panics};

/// Renders the response to one scrape.
pub(super) fn render(server: &Arc<Server>, engine: EngineStats) -> ApiResult<String> {
    let mut registry = Registry::with_prefix("telltale");
    registry.register_collector(Box::new(Scrape { server: Arc::clone(server), engine }));
    let mut out = String::with_capacity(16 << 10);
    text::encode(&mut out, &registry).map_err(ApiError::internal)?;
    Ok(out)
}

#[derive(Debug)]
struct Scrape {
    server: Arc<Server>,
    engine: EngineStats,
}

impl Collector for Scrape {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        self.requests(&mut encoder)?;
        self.latencies(&mut encoder)?;
        self.connections(&mut encoder)?;
        self.load(&mut encoder)?;
        self.jobs(&mut encoder)?;
        self.memory(&mut encoder)?;
        self.clock(&mut encoder)?;
        self.engine(&mut encoder)
    }
}

impl Scrape {
    fn requests(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let mut family = encoder.encode_descriptor(
            "http_requests",
            "Requests completed",
            None,
            MetricType::Counter,
        )?;
        for route in self.server.telemetry.routes() {
            for (status, count) in route.by_status() {
                let labels =
                    ([("method", route.method), ("route", route.path)], [("status", status)]);
                family.encode_family(&labels)?.encode_counter::<Labels, _, u64>(&count, None)?;
            }
        }
        Ok(())
    }

    fn latencies(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Time from the headers of a request to its response";
        let mut family = encoder.encode_descriptor(
            "http_request_duration",
            help,
            Some(&Unit::Seconds),
            MetricType::Histogram,
        )?;
        let bounds = LATENCY_BOUNDS_US.iter().map(|us| *us as f64 / 1e6).chain([f64::INFINITY]);
        for route in self.server.telemetry.routes() {
            let buckets: Vec<(f64, u64)> = bounds.clone().zip(route.latency_buckets()).collect();
            let count = buckets.iter().map(|(_, count)| count).sum();
            if count > 0 {
                let labels = [("method", route.method), ("route", route.path)];
                let sum = route.latency_sum_us() as f64 / 1e6;
                family
                    .encode_family(&labels)?
                    .encode_histogram::<Labels>(sum, count, &buckets, None)?;
            }
        }
        Ok(())
    }

    fn connections(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let total = self.server.telemetry.snapshot();
        gauge(encoder, "http_connections", "Open connections", total.connections)?;
        counter(
            encoder,
            "http_connections_cut",
            "Connections closed because the client read its response too slowly",
            total.closed_slow,
        )?;
        counter(
            encoder,
            "http_connections_evicted",
            "Unauthenticated connections closed in favour of new ones",
            total.evicted,
        )?;
        counter(
            encoder,
            "http_connections_flooding",
            "HTTP/2 connections closed because the client sent too many frames besides its requests",
            total.closed_flooding,
        )
    }

    fn load(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let total = self.server.telemetry.snapshot();
        let admission = &self.server.admission;
        gauge(
            encoder,
            "http_requests_in_flight",
            "Requests in progress",
            admission.requests() as u64,
        )?;
        gauge(
            encoder,
            "http_body_bytes_in_flight",
            "Bytes of the bodies of requests in progress",
            admission.body_bytes() as u64,
        )?;
        counter(
            encoder,
            "http_body_bytes",
            "Bytes of bodies received, decompressed",
            total.body_bytes,
        )?;
        counter(
            encoder,
            "log_lines_dropped",
            "Log lines that could not be written",
            logging::dropped_lines(),
        )?;
        let mut family = encoder.encode_descriptor(
            "http_requests_refused",
            "Requests refused by a limit",
            None,
            MetricType::Counter,
        )?;
        for (limit, count) in [("quota", total.refused_quota), ("load", total.refused_load)] {
            family
                .encode_family(&[("limit", limit)])?
                .encode_counter::<Labels, _, u64>(&count, None)?;
        }
        Ok(())
    }

    fn jobs(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        counter(
            encoder,
            "panics",
            "Panics of all threads, including caught ones",
            panics::count(),
        )?;
        let Some(app) = self.server.app() else { return Ok(()) };
        let (figures, settings) = (app.jobs().figures(), app.jobs().settings());
        gauge(
            encoder,
            "jobs_waiting",
            "Jobs that are ready, scheduled or waiting for a retry",
            figures.waiting(),
        )?;
        let (max, bytes_max) = (settings.waiting_max as u64, settings.waiting_bytes_max() as u64);
        gauge(encoder, "jobs_waiting_max", "Waiting jobs beyond which new ones are refused", max)?;
        gauge(
            encoder,
            "jobs_waiting_bytes",
            "Approximate memory of waiting jobs",
            figures.waiting_bytes(),
        )?;
        gauge(
            encoder,
            "jobs_waiting_bytes_max",
            "Memory of waiting jobs beyond which new ones are refused",
            bytes_max,
        )?;
        counter(
            encoder,
            "jobs_refused",
            "New jobs refused because too many are waiting",
            figures.refused(),
        )?;
        gauge(
            encoder,
            "jobs_fetches_waiting",
            "Fetches waiting for jobs",
            app.jobs().fetches_waiting() as u64,
        )?;
        counter(
            encoder,
            "jobs_ledger_panics",
            "Times that the job ledger was restarted after a panic",
            figures.panics(),
        )
    }

    fn memory(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let memory = &self.server.settings.memory;
        let help = "Memory beyond which work is refused";
        gauge(encoder, "memory_limit_bytes", help, memory.limit())?;
        if let Some(bytes) = resident_bytes() {
            gauge(encoder, "memory_resident_bytes", "Resident memory of the process", bytes)?;
        }
        let help = "Memory accounted for, by owner";
        let mut family =
            encoder.encode_descriptor("memory_bytes", help, None, MetricType::Gauge)?;
        for owner in MemoryOwner::ALL {
            let labels = [("owner", owner.as_str())];
            family.encode_family(&labels)?.encode_gauge(&memory.held_by(owner))?;
        }
        Ok(())
    }

    fn clock(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        encoder
            .encode_descriptor(
                "clock_ahead_seconds",
                "How far the system clock is ahead of the trusted time by which data expires; 0 while the clock is trusted",
                None,
                MetricType::Gauge,
            )?
            .encode_gauge(&(self.engine.clock_ahead_ms / 1_000))
    }

    fn engine(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let stats = &self.engine;
        gauge(encoder, "series", "Number of series", stats.series)?;
        gauge(encoder, "metrics", "Number of metrics", stats.metrics)?;
        counter(
            encoder,
            "points_written",
            "Samples accepted since the start",
            stats.points_written,
        )?;
        gauge(encoder, "head_points", "Samples in the head, not yet in blocks", stats.points_head)?;
        gauge(encoder, "head_bytes", "Memory of the head", stats.head_bytes)?;
        gauge(encoder, "registry_bytes", "Memory of the series registry", stats.registry_bytes)?;
        gauge(encoder, "cache_bytes", "Memory of the block cache", stats.cache_bytes)?;
        gauge(
            encoder,
            "memtable_bytes",
            "Memory of the storage's memtables",
            stats.memtable_bytes,
        )?;
        gauge(
            encoder,
            "queue_bytes",
            "Memory of writes waiting for the write-ahead log",
            stats.queue_bytes,
        )?;
        let sizes = [
            ("log_bytes", "Disk space used by the write-ahead log", stats.log_bytes),
            ("disk_bytes", "Disk space used in total", stats.disk_bytes),
            ("disk_free_bytes", "Disk space available to the server", stats.disk_free_bytes),
        ];
        for (name, help, bytes) in sizes {
            // Unknown while the file system fails.
            let Some(bytes) = bytes else { continue };
            gauge(encoder, name, help, bytes)?;
        }
        let read_only = u64::from(stats.read_only);
        gauge(encoder, "storage_read_only", "1 while writes are refused", read_only)?;
        gauge(encoder, "blocks", "Blocks on disk", stats.blocks)?;
        gauge(encoder, "block_bytes", "Disk space used by blocks", stats.block_bytes)?;
        gauge(
            encoder,
            "blocks_quarantined",
            "Corrupt blocks, quarantined and skipped",
            stats.blocks_quarantined,
        )?;
        gauge(
            encoder,
            "damage_found",
            "Data found lost or corrupt, counted until the file DAMAGE is removed from the data directory",
            stats.damage,
        )?;
        counter(encoder, "seals", "Seals of the head since the start", stats.seals)?;
        counter(encoder, "merges", "Compactions of blocks since the start", stats.merges)?;
        gauge(
            encoder,
            "merges_waiting",
            "Time windows of metrics waiting for compaction",
            stats.compactions_waiting,
        )?;
        gauge(
            encoder,
            "merge_bytes",
            "Memory of the compaction in progress",
            stats.compaction_bytes,
        )?;
        gauge(
            encoder,
            "merge_bytes_peak",
            "Maximum memory of a compaction since the start",
            stats.merge_bytes_peak,
        )
    }
}

type Labels = [(&'static str, &'static str); 0];

fn gauge(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: u64) -> fmt::Result {
    encoder.encode_descriptor(name, help, None, MetricType::Gauge)?.encode_gauge(&value)
}

fn counter(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: u64) -> fmt::Result {
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
    metric.encode_counter::<Labels, _, u64>(&value, None)
}
