//! `Idempotency-Key` through the whole pipeline.

use serde_json::json;

use super::bench::{Answer, Bench};
use crate::http::Scope;
use crate::platform::quota::KeyLimits;

async fn count(bench: &Bench, key: &str, body: &'static str) -> Answer {
    bench.send("POST /t/count", &[("idempotency-key", key)], body).await
}

fn replayed(answer: &Answer) -> bool {
    answer.header("idempotency-replayed") == Some("true")
}

#[tokio::test]
async fn a_repeated_request_gets_the_first_response_and_has_no_effect() {
    let bench = Bench::new();
    let first = count(&bench, "k", "{}").await;
    assert_eq!((first.status, first.ok(), replayed(&first)), (201, json!({ "runs": 1 }), false));
    for _ in 0..3 {
        let again = count(&bench, "k", "{}").await;
        assert_eq!((again.status, &again.body), (201, &first.body));
        assert_eq!(again.header("content-type"), Some("application/json"));
        assert!(replayed(&again));
        assert_ne!(again.header("x-request-id"), first.header("x-request-id"));
    }
    assert_eq!(count(&bench, "l", "{}").await.ok(), json!({ "runs": 2 }));
    assert_eq!(bench.post("/t/count", "{}").await.ok(), json!({ "runs": 3 }));
}

#[tokio::test]
async fn another_body_or_query_under_the_same_key_is_a_conflict() {
    let bench = Bench::new();
    count(&bench, "k", "{}").await.ok();
    count(&bench, "k", "{ }").await.refused(409, "conflict");
    let answer = bench.send("POST /t/count?a=1", &[("idempotency-key", "k")], "{}").await;
    answer.refused(409, "conflict");
}

#[tokio::test]
async fn an_idempotency_key_applies_to_one_caller_and_path_for_a_day() {
    let bench = Bench::new();
    count(&bench, "k", "{}").await.ok();
    let other = format!("Bearer {}", bench.new_key(&[Scope::Write], KeyLimits::default()));
    let headers = [("idempotency-key", "k"), ("authorization", other.as_str())];
    assert!(!replayed(&bench.send("POST /t/count", &headers, "{}").await));
    assert!(!replayed(&bench.send("POST /t/batch", &[("idempotency-key", "k")], "{}").await));
    bench.pass_ms(24 * 3_600_000 - 1);
    assert!(replayed(&count(&bench, "k", "{}").await));
    bench.pass_ms(2);
    assert!(!replayed(&count(&bench, "k", "{}").await));
}

#[tokio::test]
async fn an_ingest_route_stores_the_receipt_with_its_write() {
    let bench = Bench::new();
    let send = || bench.send("POST /t/batch", &[("idempotency-key", "k")], "{}");
    let first = send().await;
    bench.pass_ms(1_000);
    let again = send().await;
    assert_eq!((again.ok(), replayed(&again)), (first.ok(), true));
}

#[tokio::test]
async fn a_failure_is_not_stored() {
    let bench = Bench::new();
    for _ in 0..2 {
        let answer = bench.send("POST /t/panic", &[("idempotency-key", "k")], "{}").await;
        answer.refused(500, "internal");
        assert!(!replayed(&answer));
    }
}

#[tokio::test]
async fn concurrent_requests_with_one_key_run_once() {
    let bench = Bench::new();
    let (one, other) = tokio::join!(count(&bench, "k", "{}"), count(&bench, "k", "{}"));
    for answer in [one, other] {
        if answer.status != 201 {
            answer.refused(409, "conflict");
        }
    }
    assert_eq!(count(&bench, "l", "{}").await.ok(), json!({ "runs": 2 }));
}

#[tokio::test]
async fn a_malformed_idempotency_key_is_refused() {
    let bench = Bench::new();
    let long = "k".repeat(256);
    for wrong in ["", "a b", &long] {
        let error = bench
            .send("POST /t/count", &[("idempotency-key", wrong)], "{}")
            .await
            .refused(400, "invalid_parameter");
        assert_eq!(error["details"]["field"], "Idempotency-Key");
    }
}
