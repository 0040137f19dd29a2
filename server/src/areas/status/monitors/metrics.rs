//! The metrics that checks write.

use telltale_engine::{Engine, MetricType, Refusal, Result, TimestampMs, Write};

use super::condition::CheckResult;
use super::model::{Monitor, MonitorState};
use crate::areas::status::ids::MonitorId;

/// Whether a monitor is up: 1 while it is up or degraded, 0 while it is down. A failed check that
/// is not confirmed changes nothing. Written with each check, and each minute.
const UP: &str = "telltale.monitor.up";
/// How long its response took, in milliseconds.
const RESPONSE: &str = "telltale.monitor.response_ms";
/// Days until its certificate ends.
const CERTIFICATE: &str = "telltale.monitor.certificate_days";
/// The tag with the id of the monitor.
const MONITOR_TAG: &str = "monitor";

/// Milliseconds of a day.
const DAY_MS: f64 = 86_400_000.0;
/// Maximum number of monitors in one write.
const STATES_PER_WRITE: usize = 1_000;

/// The metrics that are written, with their types.
pub const MONITOR_METRICS: &[(&str, MetricType)] =
    &[(UP, MetricType::Gauge), (RESPONSE, MetricType::Gauge), (CERTIFICATE, MetricType::Gauge)];

/// Returns what a check writes of a monitor that is in this state after it.
pub(super) fn write(
    engine: &Engine,
    monitor: &Monitor,
    state: MonitorState,
    result: &CheckResult,
) -> std::result::Result<Write, Refusal> {
    let id = monitor.id.text();
    let days = result.certificate_ends_at.map(|ends| (ends.0 - result.at.0) as f64 / DAY_MS);
    let values = [
        (UP, up(state)),
        (RESPONSE, result.response_ms.map(f64::from)),
        (CERTIFICATE, days.map(f64::floor)),
    ];
    let mut batch = engine.own_batch();
    for (name, value) in values {
        if let Some(value) = value {
            let series = batch.series(name, MetricType::Gauge, &[(MONITOR_TAG, &id)])?;
            batch.number(MetricType::Gauge, series, result.at, value);
        }
    }
    Ok(Write { points: batch.finish(), ..Write::default() })
}

/// Writes whether monitors are up. Blocks.
pub(super) fn write_states(
    engine: &Engine,
    states: &[(MonitorId, f64)],
    now: TimestampMs,
) -> Result<()> {
    for part in states.chunks(STATES_PER_WRITE) {
        let mut batch = engine.own_batch();
        for (id, is_up) in part {
            let series = batch.series(UP, MetricType::Gauge, &[(MONITOR_TAG, &id.text())])?;
            batch.number(MetricType::Gauge, series, now, *is_up);
        }
        engine.write(batch.finish())?;
    }
    Ok(())
}

/// Returns what is written of a monitor in this state; `None` if nothing is known.
pub(super) fn up(state: MonitorState) -> Option<f64> {
    match state {
        MonitorState::Up | MonitorState::Degraded => Some(1.0),
        MonitorState::Down => Some(0.0),
        MonitorState::Pending | MonitorState::Paused => None,
    }
}
