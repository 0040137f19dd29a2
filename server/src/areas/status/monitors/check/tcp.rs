//! Checks that a connection is accepted.

use std::time::Duration;

use super::checker::{Checker, failed, slow, unanswered, whole_ms};
use crate::areas::status::monitors::condition::{CheckResult, Verdict};
use crate::platform::outbound::OutboundHost;

/// Connects to a host. `None` if the check could not begin.
pub(super) async fn check(
    checker: &Checker<'_>,
    host: &str,
    port: u16,
    degraded_after_ms: Option<u32>,
    limit: Duration,
) -> Option<CheckResult> {
    let (client, clock) = (checker.client, checker.clock);
    let host = match OutboundHost::parse(host, client.policy()) {
        Ok(host) => host,
        Err(error) => return Some(failed(clock.now(), format!("the host {error}"))),
    };
    let slot = client.enter_host(&host, port, checker.lane).await?;
    let (at, began) = (clock.now(), clock.steady());
    let took = match client.connect(slot, limit).await {
        Ok(took) => took,
        Err(error) => {
            return Some(unanswered(at, clock.steady().saturating_sub(began), &error));
        }
    };
    let ms = whole_ms(took);
    let verdict = slow(ms, degraded_after_ms).map_or(Verdict::Up, Verdict::Degraded);
    let response_ms = Some(ms);
    Some(CheckResult {
        at,
        verdict,
        response_ms,
        certificate_ends_at: None,
        timed_out: false,
        took_ms: ms,
    })
}
