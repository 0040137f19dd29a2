//! Derives the settings of the subsystems from the configuration.

use telltale_engine::Memory;

use crate::http::{ErrorSettings, OtlpAttributes, Settings};
use crate::jobs::JobsSettings;
use crate::limits;
use crate::platform::config::{Config, Period, ThreadCount};

/// Returns the settings of the HTTP server.
pub(crate) fn http_settings(config: &Config, memory: &Memory) -> Settings {
    let (http, bodies) = (&config.http, &config.bodies);
    let plan = &config.plan;
    let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    Settings {
        memory: memory.clone(),
        body_json_bytes_max: bodies.json.bytes_usize(),
        body_batch_bytes_max: bodies.batch.bytes_usize(),
        body_bulk_bytes_max: bodies.bulk.bytes_usize(),
        bulk_write_points_max: count(bulk_write_points(bodies.bulk_write_points, memory.limit())),
        body_bytes_in_flight_max: count(plan.bodies),
        requests_in_flight_max: count(http.requests_in_flight),
        strangers_in_flight_max: count(http.strangers_in_flight),
        strangers_per_address_max: count(http.strangers_per_address),
        stranger_requests_per_second: u32::try_from(http.stranger_requests_per_second.0)
            .unwrap_or(u32::MAX),
        stranger_body_timeout: http.stranger_body_timeout.duration(),
        stranger_idle_timeout: http.stranger_idle_timeout.duration(),
        query_timeout: http.query_timeout.duration(),
        answer_pace: http.answer_pace.bytes(),
        answer_pace_period: http.answer_pace_period.duration(),
        queries_at_once_max: http
            .queries_at_once
            .set()
            .map_or(Settings::default().queries_at_once_max, ThreadCount::get),
        widget_timeout_ms: config.dashboards.widget_timeout_ms,
        jobs: jobs_settings(config),
        otlp_attributes: OtlpAttributes {
            resource: config.otlp.resource_attributes.clone(),
            scope: config.otlp.scope_attributes.clone(),
        },
        errors: ErrorSettings {
            groups_max: count(plan.error_groups),
            users_bytes_max: count(plan.error_users),
            new_groups_per_hour: config.errors.new_groups_per_hour,
            scrub_keys: config.errors.scrub_keys.clone(),
            retention: config.retention.events.duration(),
        },
        connections_max: count(http.connections),
        stranger_connections_max: http.stranger_connections.set().map(count),
        stranger_connections_per_address_max: http
            .stranger_connections_per_address
            .set()
            .map(count),
        header_bytes_max: http.header_bytes.bytes_usize(),
        headers_max: count(http.headers),
        header_timeout: http.header_timeout.duration(),
        idle_timeout: http.idle_timeout.duration(),
        half_closed_grace: http.half_closed_grace.duration(),
        body_idle_timeout: http.body_idle_timeout.duration(),
        body_timeout: http.body_timeout.duration(),
        shutdown_timeout: config.server.drain.duration(),
        quotas: config.quotas(),
    }
}

/// Returns the samples of a bulk body per write: fewer than configured if memory is small.
fn bulk_write_points(wanted: u64, memory_limit: u64) -> u64 {
    let fitting = memory_limit / limits::MEMORY_BYTES_PER_BULK_POINT;
    wanted.min(fitting.max(limits::BULK_WRITE_POINTS_MIN))
}

/// Returns how many of the wanted connections fit in the file limit and the memory of the process.
/// The rest stays available to other parts: a database that cannot open a file fails.
pub(crate) fn connections_possible(wanted: usize, files: usize, memory_bytes: u64) -> usize {
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
    let by_memory = usize::try_from(by_memory).unwrap_or(usize::MAX).max(limits::CONNECTIONS_MIN);
    if wanted > by_memory {
        tracing::info!(
            wanted,
            possible = by_memory,
            "memory.limit allows fewer connections than configured"
        );
    }
    wanted.min(by_files).min(by_memory)
}

/// Returns the settings of the job ledger.
fn jobs_settings(config: &Config) -> JobsSettings {
    let jobs = &config.jobs;
    let ms = |period: Period| i64::try_from(period.duration().as_millis()).unwrap_or(i64::MAX);
    let seconds = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    JobsSettings {
        lease_ms: ms(jobs.lease),
        worker_silence_ms: ms(jobs.worker_silence),
        retry_exponent_factor: seconds(jobs.retry_exponent_factor.0),
        retry_base_seconds: seconds(jobs.retry_base_seconds.0),
        retry_jitter_seconds: seconds(jobs.retry_jitter_seconds.0),
        degraded_latency_ms: ms(jobs.degraded_latency),
        finished_keep_ms: ms(jobs.finished_keep),
        finished_max: count(jobs.finished_max),
        dead_keep_ms: ms(jobs.dead_keep),
        dead_max: count(jobs.dead_max),
        waiting_max: count(jobs.waiting_max),
        queue_waiting_max: count(jobs.queue_waiting_max),
        waiting_bytes_max: count(config.plan.jobs_waiting),
        queue_keep_ms: ms(jobs.queue_keep),
        waiting_fetches_max: count(jobs.waiting_fetches_max),
        key_waiting_fetches_max: count(jobs.key_waiting_fetches_max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::config::{Flag, Loaded, Sources};

    #[test]
    fn connections_leave_files_to_the_database() {
        let possible = |files| connections_possible(16_384, files, 64 << 30);
        assert_eq!(possible(1_024), 1_024 - limits::FILES_RESERVED);
        assert_eq!((possible(1 << 20), possible(64)), (16_384, limits::CONNECTIONS_MIN));
        assert_eq!(connections_possible(16_384, 1 << 20, 256 << 20), 819);
        assert_eq!(connections_possible(16_384, 1 << 20, 2 << 30), 6_553);
        assert_eq!(connections_possible(100, 1 << 20, 256 << 20), 100);
        assert_eq!(connections_possible(16_384, 1 << 20, 1), limits::CONNECTIONS_MIN);
    }

    #[test]
    fn parts_of_bulk_bodies_are_smaller_with_less_memory() {
        assert_eq!(bulk_write_points(1 << 20, 2 << 30), 1 << 20);
        assert_eq!(bulk_write_points(1 << 20, 256 << 20), 1 << 18);
        assert_eq!(bulk_write_points(1_000, 256 << 20), 1_000, "fewer are configured");
        assert_eq!(bulk_write_points(1 << 20, 1), limits::BULK_WRITE_POINTS_MIN);
    }

    #[test]
    fn the_defaults_of_the_configuration_are_those_of_the_http_side() {
        // Settings derived from memory are those of a large machine.
        let (key, value) = ("memory.limit".to_owned(), "2GiB".to_owned());
        let flags = vec![Flag { key, value, spelled: "--set".to_owned() }];
        let loaded = Loaded::from_sources(&Sources { flags, ..Sources::default() }).unwrap();
        let memory = loaded.config.memory();
        let defaults = Settings { memory: memory.clone(), ..Settings::default() };
        assert_eq!(http_settings(&loaded.config, &memory), defaults);
    }
}
