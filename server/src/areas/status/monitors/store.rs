//! The stored documents of monitors.
//!
//! The collection is `monitors`, the key a monitor's id.
//!
//! ```text
//! {"name", "target", "interval_seconds", "timeout_seconds", "retries", "paused", "created_by",
//!  "created_at_ms"}
//! target: {"type": "http", "url", "method", "secrets"?, "expected_status", "body_contains"?,
//!          "degraded_after_ms"?, "certificate_warning_days"}
//!         {"type": "tcp", "host", "port", "degraded_after_ms"?}
//!         {"type": "heartbeat", "grace_seconds"}
//! ```
//!
//! `secrets`, the headers and the body of a request, are sealed for the collection, the id and the
//! field `secrets`. Their plain text: `{"headers", "body"?}`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use telltale_engine::{Collection, TimestampMs};

use super::model::{CheckMethod, HttpTarget, Monitor, MonitorSettings, MonitorTarget, StatusRange};
use crate::areas::status::documents::StoredResource;
use crate::areas::status::error::{StatusError, StatusKind};
use crate::areas::status::ids::MonitorId;
use crate::areas::status::limits;
use crate::platform::outbound::{UserHeader, user_headers};
use crate::platform::redaction::Secret;
use crate::platform::sealing::SealContext;

const COLLECTION: Collection = Collection("monitors");

/// A monitor whose secrets are sealed.
#[derive(Clone, Debug)]
pub(in crate::areas::status) struct SealedMonitor {
    id: String,
    document: MonitorDocument,
}

/// The JSON of a stored monitor.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::areas::status) struct MonitorDocument {
    name: String,
    target: TargetDocument,
    interval_seconds: u32,
    timeout_seconds: u32,
    retries: u32,
    paused: bool,
    created_by: String,
    created_at_ms: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum TargetDocument {
    Http(HttpDocument),
    Tcp { host: String, port: u16, degraded_after_ms: Option<u32> },
    Heartbeat { grace_seconds: u32 },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct HttpDocument {
    url: String,
    method: String,
    secrets: Option<String>,
    expected_status: Vec<String>,
    body_contains: Option<String>,
    degraded_after_ms: Option<u32>,
    certificate_warning_days: u32,
}

/// The secrets of a request before they are sealed.
#[derive(Default, Serialize, Deserialize)]
struct PlainSecrets {
    headers: BTreeMap<String, String>,
    body: Option<String>,
}

impl StoredResource for SealedMonitor {
    type Kind = StatusKind;
    type Error = StatusError;
    type Stored = MonitorDocument;
    const COLLECTION: Collection = COLLECTION;
    const KIND: StatusKind = StatusKind::Monitor;
    const COUNT_MAX: usize = limits::MONITORS_MAX;

    fn id(&self) -> Cow<'_, str> {
        (&self.id).into()
    }

    fn to_stored(&self) -> MonitorDocument {
        self.document.clone()
    }

    fn from_stored(id: String, document: MonitorDocument) -> Self {
        Self { id, document }
    }
}

impl SealedMonitor {
    /// Returns whether a request has secrets.
    pub(super) fn has_secrets(&self) -> bool {
        matches!(&self.document.target, TargetDocument::Http(http) if http.secrets.is_some())
    }

    /// Converts a monitor. `seal` seals its secrets for their place.
    pub(super) fn seal(
        monitor: &Monitor,
        seal: impl FnOnce(&[u8], SealContext<'_>) -> Result<String, StatusError>,
    ) -> Result<Self, StatusError> {
        let id = monitor.id.text();
        let settings = &monitor.settings;
        let target = match &settings.target {
            MonitorTarget::Http(http) => {
                let is_secret = settings.target.has_secrets();
                let secrets = match is_secret {
                    true => Some(seal(&plain_of(http), context(&id))?),
                    false => None,
                };
                TargetDocument::Http(HttpDocument {
                    url: http.url.clone(),
                    method: http.method.as_str().to_owned(),
                    secrets,
                    expected_status: http
                        .expected_status
                        .iter()
                        .map(|range| range.text())
                        .collect(),
                    body_contains: http.body_contains.clone(),
                    degraded_after_ms: http.degraded_after_ms,
                    certificate_warning_days: http.certificate_warning_days,
                })
            }
            MonitorTarget::Tcp { host, port, degraded_after_ms } => TargetDocument::Tcp {
                host: host.clone(),
                port: *port,
                degraded_after_ms: *degraded_after_ms,
            },
            MonitorTarget::Heartbeat { grace_seconds } => {
                TargetDocument::Heartbeat { grace_seconds: *grace_seconds }
            }
        };
        let document = MonitorDocument {
            name: settings.name.clone(),
            target,
            interval_seconds: settings.interval_seconds,
            timeout_seconds: settings.timeout_seconds,
            retries: settings.retries,
            paused: settings.is_paused,
            created_by: monitor.created_by.clone(),
            created_at_ms: monitor.created_at.0,
        };
        Ok(Self { id, document })
    }

    /// Returns the monitor. `open` opens its secrets.
    pub(super) fn open(
        &self,
        open: impl FnOnce(&str, SealContext<'_>) -> Result<Vec<u8>, StatusError>,
    ) -> Result<Monitor, StatusError> {
        let document = &self.document;
        let damaged = || StatusError::Damaged(self.id.clone());
        let target = match &document.target {
            TargetDocument::Http(http) => {
                let plain = match &http.secrets {
                    Some(sealed) => {
                        let plain = open(sealed, context(&self.id))?;
                        serde_json::from_slice(&plain).map_err(|_| damaged())?
                    }
                    None => PlainSecrets::default(),
                };
                let ranges = http.expected_status.iter().map(|text| StatusRange::parse(text));
                MonitorTarget::Http(HttpTarget {
                    url: http.url.clone(),
                    method: CheckMethod::parse(&http.method).ok_or_else(damaged)?,
                    headers: user_headers(plain.headers, |_| false).map_err(|_| damaged())?,
                    body: plain.body.map(Secret::new),
                    expected_status: ranges.collect::<Option<_>>().ok_or_else(damaged)?,
                    body_contains: http.body_contains.clone(),
                    degraded_after_ms: http.degraded_after_ms,
                    certificate_warning_days: http.certificate_warning_days,
                })
            }
            TargetDocument::Tcp { host, port, degraded_after_ms } => MonitorTarget::Tcp {
                host: host.clone(),
                port: *port,
                degraded_after_ms: *degraded_after_ms,
            },
            TargetDocument::Heartbeat { grace_seconds } => {
                MonitorTarget::Heartbeat { grace_seconds: *grace_seconds }
            }
        };
        Ok(Monitor {
            id: MonitorId::parse(&self.id).ok_or_else(damaged)?,
            settings: MonitorSettings {
                name: document.name.clone(),
                target,
                interval_seconds: document.interval_seconds,
                timeout_seconds: document.timeout_seconds,
                retries: document.retries,
                is_paused: document.paused,
            },
            created_by: document.created_by.clone(),
            created_at: TimestampMs(document.created_at_ms),
        })
    }
}

fn context(id: &str) -> SealContext<'_> {
    SealContext { collection: COLLECTION.0, id, field: "secrets" }
}

fn plain_of(http: &HttpTarget) -> Vec<u8> {
    let header =
        |header: &UserHeader| (header.name().to_owned(), header.value().reveal().to_owned());
    let plain = PlainSecrets {
        headers: http.headers.iter().map(header).collect(),
        body: http.body.as_ref().map(|body| body.reveal().to_owned()),
    };
    match serde_json::to_vec(&plain) {
        Ok(plain) => plain,
        Err(error) => unreachable!("plain data is always written to a growing buffer: {error}"),
    }
}
