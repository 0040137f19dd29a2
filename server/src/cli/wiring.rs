//! Builds the configuration from flags and environment, and the settings of the subsystems from the
//! configuration.

use std::path::Path;

use telltale_engine::Memory;

use super::args::{Command, Common, RemoteArgs};
use super::error::CliError;
use crate::http::{ErrorSettings, OtlpAttributes, Settings};
use crate::jobs::JobsSettings;
use crate::limits;
use crate::platform::config::{
    Config, ConfigError, Environment, Flag, Loaded, Period, Sources, ThreadCount,
};
use crate::platform::remote::Remote;

/// Loads the configuration from file, environment and flags.
pub(super) fn load(
    common: &Common,
    listen: Option<&str>,
    environment: &Environment,
) -> Result<Loaded, CliError> {
    let path = common.config.clone().or_else(|| environment.config_file());
    let file = match path {
        Some(path) => {
            let text = read_file(&path)?;
            Some((path, text))
        }
        None => None,
    };
    let sources = Sources { file, environment: environment.clone(), flags: flags(common, listen)? };
    Ok(Loaded::from_sources(&sources)?)
}

/// Returns the remote server given by flags or environment, for a command that supports one. Other
/// commands reject the flags and ignore the environment.
pub(super) fn remote(
    args: &RemoteArgs,
    environment: &Environment,
    command: &Command,
) -> Result<Option<Remote>, CliError> {
    if let Some(name) = local_only(command) {
        let flags = [args.url.as_ref().map(|_| "--url"), args.key.as_ref().map(|_| "--key")];
        return match flags.into_iter().flatten().next() {
            Some(flag) => Err(CliError::Usage(format!(
                "{name} does not take {flag}: it works on this machine only"
            ))),
            None => Ok(None),
        };
    }
    let Some(url) = args.url.as_deref().or_else(|| environment.url()) else {
        return match args.key {
            Some(_) => Err(CliError::Usage("--key needs --url or TELLTALE_URL".to_owned())),
            None => Ok(None),
        };
    };
    let key = args.key.as_deref().or_else(|| environment.key());
    let remote = Remote::new(url, key).map_err(|error| CliError::Usage(error.to_string()))?;
    Ok(Some(remote))
}

/// Returns the name of a command that works only on this machine.
fn local_only(command: &Command) -> Option<&'static str> {
    match command {
        Command::Serve(_) => Some("serve"),
        Command::Config(_) => Some("config"),
        Command::Restore { .. } => Some("restore"),
        Command::Import { .. } => Some("import"),
        Command::Health => Some("health"),
        Command::Completions { .. } => Some("completions"),
        Command::Man { .. } => Some("man"),
        Command::Keys { .. }
        | Command::Query(_)
        | Command::Backup { .. }
        | Command::Verify
        | Command::Seal
        | Command::Merge => None,
    }
}

fn read_file(path: &Path) -> Result<String, ConfigError> {
    std::fs::read_to_string(path)
        .map_err(|source| ConfigError::File { path: path.to_owned(), source })
}

/// Returns the flags as settings, `--set` first: a dedicated flag takes precedence.
fn flags(common: &Common, listen: Option<&str>) -> Result<Vec<Flag>, CliError> {
    let mut flags = Vec::new();
    for set in &common.set {
        let (key, value) = set
            .split_once('=')
            .ok_or_else(|| CliError::Usage(format!("--set {set:?} is not KEY=VALUE")))?;
        let (key, value, spelled) = (key.to_owned(), value.to_owned(), "--set".to_owned());
        flags.push(Flag { key, value, spelled });
    }
    let own =
        [("server.data", "--data", common.data.as_deref()), ("server.listen", "--listen", listen)];
    for (key, spelled, value) in own {
        flags.extend(value.map(|value| Flag {
            key: key.to_owned(),
            value: value.to_owned(),
            spelled: spelled.to_owned(),
        }));
    }
    Ok(flags)
}

/// Returns the settings of the HTTP server.
pub(super) fn http_settings(config: &Config, memory: &Memory) -> Settings {
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
pub(super) fn connections_possible(wanted: usize, files: usize, memory_bytes: u64) -> usize {
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
