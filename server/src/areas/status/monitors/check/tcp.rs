//! Checks that a connection is accepted.

use std::time::Duration;

use super::checker::{Checker, Finding, slow};
use crate::areas::status::monitors::condition::Verdict;

pub(super) async fn check(
    checker: &Checker<'_>,
    host: &str,
    port: u16,
    degraded_after_ms: Option<u32>,
    timeout: Duration,
) -> Finding {
    let began = checker.clock.steady();
    if let Err(error) = checker.client.connect(host, port, timeout).await {
        return Finding::failed(error.to_string());
    }
    let ms = checker.ms_since(began);
    let verdict = slow(ms, degraded_after_ms).map_or(Verdict::Up, Verdict::Degraded);
    Finding { verdict, response_ms: Some(ms), certificate_ends_at: None }
}
