//! The JSON that responses about monitors contain.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use telltale_engine::TimestampMs;

use super::condition::{CheckResult, DayTimes, StateChange, Verdict, day_of, uptime_of};
use super::model::{HttpTarget, MonitorTarget};
use super::table::CurrentMonitor;
use super::wire::{CheckMethodName, MonitorKindName};
use crate::areas::status::limits;
use crate::platform::outbound::UserHeader;
use crate::platform::redaction::Secret;
use crate::platform::time::{self, IsoTime};

/// All monitors that were asked for.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MonitorList")]
pub(super) struct MonitorListView {
    monitors: Vec<MonitorView>,
}

/// A monitor. Of the fields of the target, those of its type are present.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Monitor")]
pub(super) struct MonitorView {
    id: String,
    name: String,
    #[serde(rename = "type")]
    #[schemars(with = "MonitorKindName")]
    kind: &'static str,
    #[serde(flatten)]
    target: TargetView,
    interval_seconds: u32,
    timeout_seconds: u32,
    retries: u32,
    paused: bool,
    #[schemars(with = "MonitorStateName")]
    status: &'static str,
    /// Since when it has this status.
    status_since: IsoTime,
    /// Why it has this status; null if there is nothing to say.
    status_reason: Option<String>,
    last_check: Option<CheckView>,
    /// The share of the observed time of the last 90 days in which it was up, in percent; null if
    /// nothing was observed.
    uptime_90d: Option<f64>,
    created_by: String,
    created_at: IsoTime,
}

/// The states of monitors.
#[derive(JsonSchema)]
#[schemars(rename = "MonitorStatus", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum MonitorStateName {
    Pending,
    Up,
    Degraded,
    Down,
    Paused,
}

/// What is checked.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(inline)]
struct TargetView {
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<CheckMethodName>")]
    method: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    headers: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_status: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body_contains: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate_warning_days: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    port: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    degraded_after_ms: Option<Option<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grace_seconds: Option<u32>,
}

/// The last check of a monitor.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MonitorCheck")]
struct CheckView {
    at: IsoTime,
    #[schemars(with = "CheckOutcome")]
    result: &'static str,
    /// Why it was not as expected; null if it was.
    reason: Option<String>,
    response_ms: Option<u32>,
    certificate_ends_at: Option<IsoTime>,
}

/// What a check can find.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum CheckOutcome {
    Up,
    Degraded,
    Failed,
}

/// The changes of the status of a monitor, newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MonitorHistory")]
pub(super) struct HistoryView {
    history: Vec<ChangeView>,
}

/// A change of the status of a monitor.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MonitorStatusChange")]
struct ChangeView {
    at: IsoTime,
    #[schemars(with = "MonitorStateName")]
    status: &'static str,
    reason: Option<String>,
}

/// The uptime of a monitor, by day in UTC.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MonitorUptime")]
pub(super) struct UptimeView {
    /// In percent, over all days; null if nothing was observed.
    uptime: Option<f64>,
    days: Vec<DayView>,
}

/// How long a monitor was in each state on a day, in seconds. What is missing to the whole day was
/// not observed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MonitorDay")]
struct DayView {
    /// As `2026-01-02`.
    date: String,
    uptime: Option<f64>,
    up_seconds: f64,
    degraded_seconds: f64,
    down_seconds: f64,
    maintenance_seconds: f64,
}

/// A deleted monitor.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DeletedMonitor")]
pub(super) struct DeletedMonitorView {
    id: String,
    deleted: bool,
    /// The ids of the status pages that showed it and do not any more.
    removed_from: Vec<String>,
}

impl MonitorListView {
    pub(super) fn new(monitors: Vec<MonitorView>) -> Self {
        Self { monitors }
    }
}

impl MonitorView {
    /// Converts a monitor as it is at `now`.
    pub(super) fn new(current: CurrentMonitor, now: TimestampMs) -> Self {
        let CurrentMonitor { monitor, condition, .. } = current;
        let settings = &monitor.settings;
        let state = condition.state_at(now);
        let (since, reason) = match state == condition.state {
            true => (condition.since, condition.reason.clone()),
            // Nothing is known since then.
            false => (condition.observed_until(), None),
        };
        Self {
            id: monitor.id.text(),
            name: settings.name.clone(),
            kind: settings.target.kind().as_str(),
            target: TargetView::from(&settings.target),
            interval_seconds: settings.interval_seconds,
            timeout_seconds: settings.timeout_seconds,
            retries: settings.retries,
            paused: settings.is_paused,
            status: state.as_str(),
            status_since: IsoTime(since),
            uptime_90d: uptime_of(&condition.last_days(limits::UPTIME_DAYS, now)),
            status_reason: reason,
            last_check: condition.last.map(CheckView::from),
            created_by: monitor.created_by.clone(),
            created_at: IsoTime(monitor.created_at),
        }
    }
}

impl From<&MonitorTarget> for TargetView {
    fn from(target: &MonitorTarget) -> Self {
        match target {
            MonitorTarget::Http(http) => Self::from(http),
            MonitorTarget::Tcp { host, port, degraded_after_ms } => Self {
                host: Some(host.clone()),
                port: Some(*port),
                degraded_after_ms: Some(*degraded_after_ms),
                ..Self::default()
            },
            MonitorTarget::Heartbeat { grace_seconds } => {
                Self { grace_seconds: Some(*grace_seconds), ..Self::default() }
            }
        }
    }
}

impl From<&HttpTarget> for TargetView {
    fn from(http: &HttpTarget) -> Self {
        let header = |header: &UserHeader| (header.name().to_owned(), header.value().redacted());
        Self {
            url: Some(http.url.clone()),
            method: Some(http.method.as_str()),
            headers: Some(http.headers.iter().map(header).collect()),
            body: Some(http.body.as_ref().map(Secret::redacted)),
            expected_status: Some(http.expected_status.iter().map(|one| one.text()).collect()),
            body_contains: Some(http.body_contains.clone()),
            certificate_warning_days: Some(http.certificate_warning_days),
            degraded_after_ms: Some(http.degraded_after_ms),
            ..Self::default()
        }
    }
}

impl From<CheckResult> for CheckView {
    fn from(result: CheckResult) -> Self {
        let (outcome, reason) = match result.verdict {
            Verdict::Up => ("up", None),
            Verdict::Degraded(reason) => ("degraded", Some(reason)),
            Verdict::Failed(reason) => ("failed", Some(reason)),
        };
        Self {
            at: IsoTime(result.at),
            result: outcome,
            reason,
            response_ms: result.response_ms,
            certificate_ends_at: result.certificate_ends_at.map(IsoTime),
        }
    }
}

impl HistoryView {
    pub(super) fn new(changes: Vec<StateChange>) -> Self {
        let view = |change: StateChange| ChangeView {
            at: IsoTime(change.at),
            status: change.state.as_str(),
            reason: change.reason,
        };
        Self { history: changes.into_iter().map(view).collect() }
    }
}

impl UptimeView {
    /// Converts the last days of a monitor as they are at `now`.
    pub(super) fn new(current: &CurrentMonitor, days: i64, now: TimestampMs) -> Self {
        let all = current.condition.last_days(days, now);
        Self { uptime: uptime_of(&all), days: all.into_iter().map(DayView::from).collect() }
    }
}

impl From<(i64, DayTimes)> for DayView {
    fn from((day, times): (i64, DayTimes)) -> Self {
        let seconds = |ms: u32| f64::from(ms) / 1_000.0;
        let DayTimes { up_ms, degraded_ms, down_ms, maintenance_ms } = times;
        Self {
            date: date(day),
            uptime: times.uptime(),
            up_seconds: seconds(up_ms),
            degraded_seconds: seconds(degraded_ms),
            down_seconds: seconds(down_ms),
            maintenance_seconds: seconds(maintenance_ms),
        }
    }
}

impl DeletedMonitorView {
    pub(super) fn new(id: String, removed_from: Vec<String>) -> Self {
        Self { id, deleted: true, removed_from }
    }
}

/// Returns a day as `2026-01-02`.
fn date(day: i64) -> String {
    let start = TimestampMs(day.saturating_mul(86_400_000));
    debug_assert_eq!(day_of(start), day);
    time::format(start).chars().take(10).collect()
}
