//! Checks that a request is answered as expected.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method};
use telltale_engine::TimestampMs;

use super::checker::{Checker, failed, slow, unanswered, whole_ms};
use crate::areas::status::limits;
use crate::areas::status::monitors::condition::{CheckResult, Verdict};
use crate::areas::status::monitors::model::{CheckMethod, HttpTarget};
use crate::platform::outbound::{
    BodyUse, Lane, OutboundError, OutboundRequest, OutboundResponse, OutboundUrl, Redirects,
    UserHeader,
};

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

/// Sends a request. `None` if the check could not begin.
pub(super) async fn check(
    checker: &Checker<'_>,
    target: &HttpTarget,
    limit: Duration,
) -> Option<CheckResult> {
    let (client, clock) = (checker.client, checker.clock);
    let url = match OutboundUrl::parse(&target.url, client.policy()) {
        Ok(url) => url,
        Err(error) => return Some(failed(clock.now(), format!("the URL {error}"))),
    };
    let slot = client.enter(&url, checker.lane).await?;
    let (at, began) = (clock.now(), clock.steady());
    let response = match client.send_in(slot, request(target, url, checker.lane, limit)).await {
        Ok(response) => response,
        // A redirect has led to a server to which there are too many requests.
        Err(OutboundError::Busy { .. }) => return None,
        Err(error) => {
            return Some(unanswered(at, clock.steady().saturating_sub(began), &error));
        }
    };
    let ms = whole_ms(response.took);
    let certificate_ends_at = response.certificate_ends_at;
    let verdict = judge(target, &response, ms, clock.now());
    let response_ms = Some(ms);
    Some(CheckResult {
        at,
        verdict,
        response_ms,
        certificate_ends_at,
        timed_out: false,
        took_ms: ms,
    })
}

fn request(
    target: &HttpTarget,
    url: OutboundUrl,
    lane: Lane,
    timeout: Duration,
) -> OutboundRequest {
    OutboundRequest {
        method: method(target.method),
        url,
        headers: target.headers.iter().map(UserHeader::to_http).collect::<HeaderMap>(),
        body: target.body.as_ref().map_or_else(Bytes::new, |body| body.reveal().to_owned().into()),
        redirects: Redirects::Follow(limits::MONITOR_REDIRECTS_MAX),
        lane,
        body_use: match &target.body_contains {
            Some(text) => BodyUse::Search {
                text: text.clone().into(),
                bytes_max: limits::MONITOR_RESPONSE_BYTES_MAX,
            },
            None => BodyUse::Nothing,
        },
        timeout,
    }
}

fn judge(target: &HttpTarget, response: &OutboundResponse, ms: u32, now: TimestampMs) -> Verdict {
    let status = response.status.as_u16();
    if !target.expected_status.iter().any(|range| range.contains(status)) {
        let expected: Vec<String> = target.expected_status.iter().map(|one| one.text()).collect();
        return Verdict::Failed(format!("HTTP {status}, expected {}", expected.join(" or ")));
    }
    if target.body_contains.is_some() && !response.is_found {
        let part =
            if response.is_truncated { "the first MiB of the response" } else { "the response" };
        return Verdict::Failed(format!("{part} does not contain the expected text"));
    }
    let ending = ending(response.certificate_ends_at, target.certificate_warning_days, now);
    let reasons = [slow(ms, target.degraded_after_ms), ending];
    let reasons: Vec<String> = reasons.into_iter().flatten().collect();
    if reasons.is_empty() { Verdict::Up } else { Verdict::Degraded(reasons.join("; ")) }
}

/// Returns when the certificate ends, if that is soon.
fn ending(ends_at: Option<TimestampMs>, warning_days: u32, now: TimestampMs) -> Option<String> {
    let left = ends_at?.0.saturating_sub(now.0);
    if left > i64::from(warning_days) * DAY_MS {
        return None;
    }
    let days = left.div_euclid(DAY_MS);
    let unit = if days == 1 { "day" } else { "days" };
    Some(format!("the certificate ends in {days} {unit}"))
}

fn method(method: CheckMethod) -> Method {
    match method {
        CheckMethod::Get => Method::GET,
        CheckMethod::Head => Method::HEAD,
        CheckMethod::Post => Method::POST,
        CheckMethod::Put => Method::PUT,
        CheckMethod::Patch => Method::PATCH,
        CheckMethod::Delete => Method::DELETE,
        CheckMethod::Options => Method::OPTIONS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_that_ends_soon_is_named_with_the_days_left() {
        let ending = |days, now: i64| {
            ending(Some(TimestampMs(20 * DAY_MS)), days, TimestampMs(now * DAY_MS))
        };
        assert_eq!(ending(14, 5), None);
        assert_eq!(ending(14, 6).unwrap(), "the certificate ends in 14 days");
        assert_eq!(ending(14, 19).unwrap(), "the certificate ends in 1 day");
        assert_eq!(ending(0, 19), None, "switched off");
    }
}
