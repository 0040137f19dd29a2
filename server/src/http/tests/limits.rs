//! Quotas and admission through the whole pipeline.

use super::bench::Bench;
use crate::http::Settings;
use crate::platform::quota::{KeyLimits, Quota, Quotas};
use crate::platform::settings::{Auto, ByteSize, FromZero};

#[tokio::test]
async fn a_request_over_the_quota_is_refused_with_retry_after() {
    let bench = Bench::new();
    for left in (0..10).rev() {
        let answer = bench.post("/t/batch", "{}").await;
        answer.ok();
        let headers = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"]
            .map(|name| answer.header(name));
        let expected = ["10".to_owned(), left.to_string(), ((10 - left) * 6).to_string()];
        assert_eq!(headers, expected.each_ref().map(|text| Some(text.as_str())));
    }
    bench.pass_ms(2_500);
    let answer = bench.post("/t/batch", "{}").await;
    answer.refused(429, "rate_limited");
    assert_eq!(answer.header("retry-after"), Some("4"));
    assert_eq!(answer.header("ratelimit-remaining"), Some("0"));
    bench.get("/t/large").await.ok();
    bench.pass_ms(3_500);
    bench.post("/t/batch", "{}").await.ok();
    bench.post("/t/batch", "{}").await.refused(429, "rate_limited");
}

#[tokio::test]
async fn a_key_may_have_quotas_of_its_own() {
    let quotas = Quotas { batch: Quota::PerMinute(1), ..Quotas::default() };
    let bench = Bench::with(Settings::changed(|s| s.quotas = quotas));
    let limits = KeyLimits { batch: Some(Quota::Unlimited), ..KeyLimits::default() };
    let free = format!("Bearer {}", bench.new_key(&[crate::http::Scope::Ingest], limits));
    for _ in 0..50 {
        let answer = bench.send("POST /t/batch", &[("authorization", &free)], "{}").await;
        answer.ok();
        assert_eq!(answer.header("ratelimit-limit"), None);
    }
    bench.post("/t/batch", "{}").await.ok();
    bench.post("/t/batch", "{}").await.refused(429, "rate_limited");
}

#[tokio::test]
async fn refusals_carry_the_quota_headers() {
    let bench = Bench::new();
    let answer = bench.post("/t/body", "{").await;
    answer.refused(400, "invalid_json");
    assert_eq!(answer.header("ratelimit-remaining"), Some("599"));
}

#[tokio::test]
async fn requests_over_the_limits_are_shed() {
    let bench = Bench::with(Settings::changed(|s| {
        s.bodies.in_flight = Auto::Set(ByteSize::at_least_one(10))
    }));
    // The body would not fit even on an idle server.
    bench.post("/t/body", "{\"a\": \"long\"}").await.refused(413, "payload_too_large");
    bench.post("/t/body", "{}").await.ok();
    let full = Bench::with(Settings::changed(|s| s.http.requests_in_flight = 0));
    let answer = full.get("/t/large").await;
    answer.refused(503, "overloaded");
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(full.get("/healthz").await.status, 200);
    assert_eq!(full.server.telemetry().snapshot().refused_load, 1);
}

#[tokio::test]
async fn requests_without_a_key_are_rate_limited() {
    let settings = Settings::changed(|s| s.http.stranger_requests_per_second = FromZero(10));
    let bench = Bench::with(settings);
    let no_key = [("authorization", "")];
    for path in ["/t/open", "/t/large", "/nowhere", "/healthz"] {
        for _ in 0..5 {
            let answer = bench.send(&format!("GET {path}"), &no_key, "").await;
            assert!([200, 401, 404].contains(&answer.status), "{path}: {answer:?}");
        }
    }
    for path in ["/t/open", "/t/large", "/nowhere", "/healthz"] {
        let answer = bench.send(&format!("GET {path}"), &no_key, "").await;
        answer.refused(429, "rate_limited");
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    bench.get("/t/large").await.ok();
    bench.pass_ms(100);
    bench.send("GET /t/open", &no_key, "").await.ok();
}
