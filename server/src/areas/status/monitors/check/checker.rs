//! Checks of targets: each runs within its timeout and ends with a result, never with an error.
//!
//! A reason names what was found in our words and numbers. Nothing of what a server answered is in
//! it beyond the status: it may be shown to others.

use std::time::Duration;

use telltale_engine::{Clock, TimestampMs};
use tokio::sync::Semaphore;

use super::{http, tcp};
use crate::areas::status::monitors::condition::{CheckResult, Verdict};
use crate::areas::status::monitors::model::{MonitorSettings, MonitorTarget};
use crate::platform::outbound::OutboundClient;

/// What checks use.
#[derive(Debug)]
pub(in crate::areas::status::monitors) struct Checker<'a> {
    pub(in crate::areas::status::monitors) client: &'a OutboundClient,
    pub(in crate::areas::status::monitors) clock: &'a Clock,
    /// Held while a response is kept that is searched for a text.
    pub(in crate::areas::status::monitors) bodies: &'a Semaphore,
}

/// What a check found, before the time is added.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) verdict: Verdict,
    pub(super) response_ms: Option<u32>,
    pub(super) certificate_ends_at: Option<TimestampMs>,
}

impl Checker<'_> {
    /// Checks a target. `None` for one that reports itself.
    pub(in crate::areas::status::monitors) async fn check(
        &self,
        settings: &MonitorSettings,
    ) -> Option<CheckResult> {
        let at = self.clock.now();
        let timeout = Duration::from_secs(settings.timeout_seconds.into());
        let finding = match &settings.target {
            MonitorTarget::Http(target) => http::check(self, target, timeout).await,
            MonitorTarget::Tcp { host, port, degraded_after_ms } => {
                tcp::check(self, host, *port, *degraded_after_ms, timeout).await
            }
            MonitorTarget::Heartbeat { .. } => return None,
        };
        let Finding { verdict, response_ms, certificate_ends_at } = finding;
        Some(CheckResult { at, verdict, response_ms, certificate_ends_at })
    }

    /// Returns the milliseconds since `began`, on the monotonic clock.
    pub(super) fn ms_since(&self, began: Duration) -> u32 {
        let passed = self.clock.steady().saturating_sub(began);
        u32::try_from(passed.as_millis()).unwrap_or(u32::MAX)
    }
}

impl Finding {
    pub(super) fn failed(reason: impl Into<String>) -> Self {
        let verdict = Verdict::Failed(reason.into());
        Self { verdict, response_ms: None, certificate_ends_at: None }
    }
}

/// Returns why a response that took `ms` was slow, if it was.
pub(super) fn slow(ms: u32, degraded_after_ms: Option<u32>) -> Option<String> {
    let limit = degraded_after_ms.filter(|limit| ms > *limit)?;
    Some(format!("it took {ms} ms, more than {limit} ms"))
}
