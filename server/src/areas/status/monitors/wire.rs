//! The JSON that requests about monitors contain.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};
use telltale_engine::TimestampMs;

use super::change::{self, MonitorChange, MonitorKind, TargetChange};
use super::condition::{CheckResult, Verdict};
use super::model::{CheckMethod, MonitorSettings, StatusRange};
use crate::areas::status::limits;
use crate::http::ApiError;
use crate::platform::bounded::AtMost;
use crate::platform::fields::{self, Invalid};
use crate::platform::json::{integer_or_null, nullable};
use crate::platform::patterns;

/// A change of a monitor; absent fields are unchanged, and `null` stands for the default. The type
/// cannot be changed.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MonitorPatch {
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "String", length(max = limits::STATUS_NAME_CHARS_MAX), regex(pattern = patterns::LINE))]
    name: Option<Option<String>>,
    /// `http` sends a request, `tcp` opens a connection, `heartbeat` waits for reports.
    #[serde(rename = "type")]
    #[schemars(with = "MonitorKindName")]
    kind: Option<String>,
    /// Seconds between two checks, or two reports of a heartbeat. Defaults to 60.
    #[serde(default, deserialize_with = "nullable_integer")]
    #[schemars(with = "Option<u32>", range(min = limits::MONITOR_INTERVAL_SECONDS_MIN, max = limits::MONITOR_INTERVAL_SECONDS_MAX))]
    interval_seconds: Option<Option<u32>>,
    /// Seconds after which a check has failed, at most `interval_seconds`. Defaults to 10.
    #[serde(default, deserialize_with = "nullable_integer")]
    #[schemars(with = "Option<u32>", range(min = 1, max = limits::MONITOR_TIMEOUT_SECONDS_MAX))]
    timeout_seconds: Option<Option<u32>>,
    /// Checks after a failed one that have to fail too before the monitor is down. Defaults to 2.
    #[serde(default, deserialize_with = "nullable_integer")]
    #[schemars(with = "Option<u32>", range(max = limits::MONITOR_RETRIES_MAX))]
    retries: Option<Option<u32>>,
    /// Whether nothing is checked. Defaults to false.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<bool>")]
    paused: Option<Option<bool>>,
    /// Of an `http` monitor, where it is required.
    #[schemars(length(max = limits::MONITOR_URL_CHARS_MAX))]
    url: Option<String>,
    /// Of an `http` monitor. Defaults to `GET`.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<CheckMethodName>")]
    method: Option<Option<String>>,
    /// Of an `http` monitor. Values are shown redacted; one that is sent as it is shown is kept.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    headers: Option<Option<BTreeMap<String, String>>>,
    /// Of an `http` monitor. It is shown redacted; if it is sent as it is shown, it is kept.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>", length(max = limits::MONITOR_BODY_CHARS_MAX))]
    body: Option<Option<String>>,
    /// Of an `http` monitor: a status, such as `200`, a range, such as `"200-399"`, a class, such
    /// as `"2xx"`, or a list of these. Defaults to `["2xx"]`.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<ExpectedStatus>")]
    expected_status: Option<Option<ExpectedStatus>>,
    /// Of an `http` monitor: a text that the first MiB of the response must contain.
    #[serde(default, deserialize_with = "nullable")]
    #[schemars(with = "Option<String>", length(min = 1, max = limits::MONITOR_CONTAINS_CHARS_MAX))]
    body_contains: Option<Option<String>>,
    /// Of an `http` monitor: days before the end of the certificate from which on it is degraded; 0
    /// does not warn. Defaults to 14.
    #[serde(default, deserialize_with = "nullable_integer")]
    #[schemars(with = "Option<u32>", range(max = limits::MONITOR_CERTIFICATE_DAYS_MAX))]
    certificate_warning_days: Option<Option<u32>>,
    /// Of an `http` or `tcp` monitor: milliseconds; a slower one is degraded.
    #[serde(default, deserialize_with = "nullable_integer")]
    #[schemars(with = "Option<u32>", range(min = 1, max = limits::MONITOR_DEGRADED_MS_MAX))]
    degraded_after_ms: Option<Option<u32>>,
    /// Of a `tcp` monitor, where it is required: a domain or an address.
    #[schemars(length(max = limits::MONITOR_HOST_CHARS_MAX))]
    host: Option<String>,
    /// Of a `tcp` monitor, where it is required.
    #[serde(default, deserialize_with = "integer_or_null")]
    #[schemars(with = "u16", range(min = 1, max = 65_535))]
    port: Option<u32>,
    /// Of a `heartbeat` monitor: seconds by which a report may be late. Defaults to 30.
    #[serde(default, deserialize_with = "nullable_integer")]
    #[schemars(with = "Option<u32>", range(max = limits::MONITOR_GRACE_SECONDS_MAX))]
    grace_seconds: Option<Option<u32>>,
}

/// A new monitor, with the same fields.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct MonitorInput(MonitorPatch);

impl JsonSchema for MonitorInput {
    fn schema_name() -> Cow<'static, str> {
        "MonitorInput".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = MonitorPatch::json_schema(generator);
        schema.insert("required".to_owned(), ["name", "type"].as_slice().into());
        schema.insert("description".to_owned(), "A new monitor.".into());
        schema
    }
}

/// The types of monitors.
#[derive(JsonSchema)]
#[schemars(rename = "MonitorType", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used: an unknown type has an error of its own")]
pub(super) enum MonitorKindName {
    Http,
    Tcp,
    Heartbeat,
}

/// The methods of checks.
#[derive(JsonSchema)]
#[schemars(rename = "CheckMethod", rename_all = "UPPERCASE")]
#[expect(dead_code, reason = "only its schema is used: an unknown method has an error of its own")]
pub(super) enum CheckMethodName {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
    Options,
}

/// One expected status, or several.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum ExpectedStatus {
    One(StatusOrRange),
    Several(
        #[schemars(with = "Vec<StatusOrRange>")]
        AtMost<StatusOrRange, { limits::MONITOR_STATUSES_MAX }>,
    ),
}

/// A status, or a range of them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum StatusOrRange {
    Status(u16),
    Range(String),
}

/// A report of a heartbeat.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HeartbeatInput {
    /// `up` or `down`. Defaults to `up`.
    #[schemars(with = "Option<HeartbeatStatus>")]
    status: Option<String>,
    /// Why it is down.
    #[schemars(length(max = limits::HEARTBEAT_MESSAGE_CHARS_MAX), regex(pattern = patterns::NO_CONTROL))]
    message: Option<String>,
    /// How long the work took, in milliseconds.
    #[serde(default, deserialize_with = "integer_or_null")]
    duration_ms: Option<u32>,
}

/// What a heartbeat reports.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used: an unknown status has an error of its own")]
enum HeartbeatStatus {
    Up,
    Down,
}

impl MonitorInput {
    /// Returns the settings of a new monitor.
    pub(super) fn into_settings(self) -> Result<MonitorSettings, ApiError> {
        let Self(mut fields) = self;
        fields.name.get_or_insert_default();
        let kind = fields.kind.take().ok_or_else(|| Invalid::missing("type"))?;
        let kind = read_kind(&kind)?;
        Ok(MonitorSettings::new(kind, fields.into_change()?)?)
    }
}

impl MonitorPatch {
    /// Returns the change.
    pub(super) fn into_change(self) -> Result<MonitorChange, ApiError> {
        if self.kind.is_some() {
            return Err(Invalid::field("type", "cannot be changed").into());
        }
        let name = |name| fields::name(name, limits::STATUS_NAME_CHARS_MAX);
        let interval = limits::MONITOR_INTERVAL_SECONDS_MIN..=limits::MONITOR_INTERVAL_SECONDS_MAX;
        let of_timeout = 1..=limits::MONITOR_TIMEOUT_SECONDS_MAX;
        let of_retries = 0..=limits::MONITOR_RETRIES_MAX;
        let of_days = 0..=limits::MONITOR_CERTIFICATE_DAYS_MAX;
        let of_grace = 0..=limits::MONITOR_GRACE_SECONDS_MAX;
        let target = TargetChange {
            url: self.url.map(read_url).transpose()?,
            method: self.method.map(read_method).transpose()?,
            headers: self.headers.map(Option::unwrap_or_default),
            body: read_optional("body", self.body, limits::MONITOR_BODY_CHARS_MAX)?,
            expected_status: self.expected_status.map(read_statuses).transpose()?,
            body_contains: read_contains(self.body_contains)?,
            certificate_warning_days: read_number(
                "certificate_warning_days",
                self.certificate_warning_days,
                change::CERTIFICATE_WARNING_DAYS,
                of_days,
            )?,
            degraded_after_ms: read_degraded(self.degraded_after_ms)?,
            host: self.host.map(read_host).transpose()?,
            port: self.port.map(read_port).transpose()?,
            grace_seconds: read_number(
                "grace_seconds",
                self.grace_seconds,
                change::GRACE_SECONDS,
                of_grace,
            )?,
        };
        Ok(MonitorChange {
            name: self.name.map(name).transpose()?,
            interval_seconds: read_number(
                "interval_seconds",
                self.interval_seconds,
                change::INTERVAL_SECONDS,
                interval,
            )?,
            timeout_seconds: read_number(
                "timeout_seconds",
                self.timeout_seconds,
                change::TIMEOUT_SECONDS,
                of_timeout,
            )?,
            retries: read_number("retries", self.retries, change::RETRIES, of_retries)?,
            is_paused: self.paused.map(Option::unwrap_or_default),
            target,
        })
    }
}

impl HeartbeatInput {
    /// Returns the result of a check that the report stands for.
    pub(super) fn into_result(self, at: TimestampMs) -> Result<CheckResult, ApiError> {
        let message = read_message(self.message)?;
        let verdict = match self.status.as_deref() {
            None | Some("up") => Verdict::Up,
            Some("down") => {
                Verdict::Failed(message.unwrap_or_else(|| "it reported that it is down".to_owned()))
            }
            Some(_) => return Err(Invalid::field("status", "must be up or down").into()),
        };
        let response_ms = self.duration_ms;
        Ok(CheckResult {
            at,
            verdict,
            response_ms,
            certificate_ends_at: None,
            timed_out: false,
            took_ms: 0,
        })
    }
}

/// Parses the type of a monitor.
fn read_kind(text: &str) -> Result<MonitorKind, Invalid> {
    let all = MonitorKind::ALL.map(MonitorKind::as_str).join(", ");
    MonitorKind::parse(text).ok_or_else(|| Invalid::field("type", format!("must be one of {all}")))
}

fn read_url(url: String) -> Result<String, Invalid> {
    let max = limits::MONITOR_URL_CHARS_MAX;
    if url.chars().count() > max {
        return Err(Invalid::field("url", format!("must have at most {max} characters")));
    }
    Ok(url)
}

fn read_host(host: String) -> Result<String, Invalid> {
    let max = limits::MONITOR_HOST_CHARS_MAX;
    if host.is_empty() || host.len() > max {
        return Err(Invalid::field("host", format!("must have 1 to {max} characters")));
    }
    Ok(host)
}

fn read_port(port: u32) -> Result<u16, Invalid> {
    let port = u16::try_from(port).ok().filter(|port| *port > 0);
    port.ok_or_else(|| Invalid::field("port", "must be from 1 to 65535"))
}

fn read_method(sent: Option<String>) -> Result<CheckMethod, Invalid> {
    let Some(text) = sent else { return Ok(CheckMethod::Get) };
    let all = CheckMethod::ALL.map(CheckMethod::as_str).join(", ");
    CheckMethod::parse(&text.to_ascii_uppercase())
        .ok_or_else(|| Invalid::field("method", format!("must be one of {all}")))
}

fn read_statuses(sent: Option<ExpectedStatus>) -> Result<Vec<StatusRange>, Invalid> {
    let field = "expected_status";
    let max = limits::MONITOR_STATUSES_MAX;
    let number = || Invalid::field(field, format!("must have 1 to {max} members"));
    let sent = match sent {
        None => return Ok(vec![StatusRange::SUCCESS]),
        Some(ExpectedStatus::One(one)) => vec![one],
        Some(ExpectedStatus::Several(several)) => several.all().map_err(|_| number())?,
    };
    if sent.is_empty() {
        return Err(number());
    }
    let read = |sent: StatusOrRange| {
        let text = match sent {
            StatusOrRange::Status(status) => status.to_string(),
            StatusOrRange::Range(text) => text,
        };
        let expected =
            "must consist of statuses from 100 to 599, such as 200, \"200-399\" or \"2xx\"";
        StatusRange::parse(&text).ok_or_else(|| Invalid::field(field, expected))
    };
    sent.into_iter().map(read).collect()
}

fn read_contains(sent: Option<Option<String>>) -> Result<Option<Option<String>>, Invalid> {
    if let Some(Some(text)) = &sent
        && text.is_empty()
    {
        return Err(Invalid::field("body_contains", "must not be empty"));
    }
    read_optional("body_contains", sent, limits::MONITOR_CONTAINS_CHARS_MAX)
}

fn read_optional(
    field: &'static str,
    sent: Option<Option<String>>,
    chars_max: usize,
) -> Result<Option<Option<String>>, Invalid> {
    sent.map(|text| fields::text(field, text, chars_max)).transpose()
}

fn read_degraded(sent: Option<Option<u32>>) -> Result<Option<Option<u32>>, Invalid> {
    let max = limits::MONITOR_DEGRADED_MS_MAX;
    match sent {
        Some(Some(ms)) if !(1..=max).contains(&ms) => {
            Err(Invalid::field("degraded_after_ms", format!("must be from 1 to {max}")))
        }
        sent => Ok(sent),
    }
}

fn read_message(sent: Option<String>) -> Result<Option<String>, Invalid> {
    let message = fields::text("message", sent, limits::HEARTBEAT_MESSAGE_CHARS_MAX)?;
    match message {
        Some(text) if text.chars().any(char::is_control) => {
            Err(Invalid::field("message", "must not contain control characters"))
        }
        message => Ok(message.filter(|text| !text.trim().is_empty())),
    }
}

fn read_number(
    field: &'static str,
    sent: Option<Option<u32>>,
    default: u32,
    range: std::ops::RangeInclusive<u32>,
) -> Result<Option<u32>, Invalid> {
    let Some(number) = sent.map(|sent| sent.unwrap_or(default)) else { return Ok(None) };
    if !range.contains(&number) {
        let (first, last) = range.into_inner();
        return Err(Invalid::field(field, format!("must be from {first} to {last}")));
    }
    Ok(Some(number))
}

fn nullable_integer<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<u32>>, D::Error> {
    integer_or_null(deserializer).map(Some)
}
