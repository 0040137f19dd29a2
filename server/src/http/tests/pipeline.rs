//! Routing, identity, request ids and the form of responses.

use std::time::Duration;

use futures_util::FutureExt;
use serde_json::json;

use super::bench::{Bench, send, starting};
use crate::http::{Origin, Scope, Settings};
use crate::platform::quota::KeyLimits;
use crate::platform::settings::ByteSize;

#[tokio::test]
async fn a_handler_receives_the_parameters_and_the_caller() {
    let bench = Bench::new();
    let answer = bench
        .send("GET /t/echo/a%2Fb?x=1&tags%5Bk%5D=v+w", &[("x-request-id", "abc-1.2_3")], "")
        .await;
    let expected = json!({
        "name": "a/b", "query": [["x", "1"], ["tags[k]", "v w"]], "user": "tester@example.com", "id": "abc-1.2_3",
    });
    assert_eq!(answer.ok(), expected);
    assert_eq!(answer.header("x-request-id"), Some("abc-1.2_3"));
}

#[tokio::test]
async fn every_response_has_a_request_id_and_only_a_valid_one_is_echoed() {
    let bench = Bench::new();
    let long = "x".repeat(129);
    for invalid in ["", "a b", "a\"", "é", &long] {
        let answer = bench.send("GET /nowhere", &[("x-request-id", invalid)], "").await;
        answer.refused(404, "not_found");
        assert_eq!(answer.header("x-request-id").map(str::len), Some(26), "{invalid}");
    }
    let valid = "x".repeat(128);
    let answer = bench.send("GET /nowhere", &[("x-request-id", &valid)], "").await;
    assert_eq!(answer.header("x-request-id"), Some(valid.as_str()));
}

#[tokio::test]
async fn an_unsupported_method_is_refused_with_the_supported_ones() {
    let bench = Bench::new();
    for method in ["PUT", "DELETE", "OPTIONS", "TRACE", "BREW"] {
        let answer = bench.send(&format!("{method} /t/tagged"), &[], "").await;
        answer.refused(405, "method_not_allowed");
        assert_eq!(answer.header("allow"), Some("GET, HEAD, PATCH"));
    }
}

#[tokio::test]
async fn a_head_is_a_get_without_its_body() {
    let bench = Bench::new();
    let (get, head) = (bench.get("/t/large").await, bench.send("HEAD /t/large", &[], "").await);
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("content-length"), Some(get.body.len().to_string().as_str()));
    let missing = bench.send("HEAD /nowhere", &[], "").await;
    assert_eq!((missing.status, missing.body.len()), (404, 0));
}

#[tokio::test]
async fn every_invalid_key_gets_the_same_refusal() {
    let bench = Bench::new();
    let revoked = bench.new_key(&[Scope::Read], KeyLimits::default());
    let id = revoked.split('_').nth(1).unwrap();
    bench.app.keys().revoke(id, |_| true).unwrap();
    let missing = send(&bench.server, "GET /t/large", &[], "").await;
    let bodies: Vec<_> = [missing.refused(401, "unauthorized")].into_iter().collect();
    for wrong in ["", "Bearer", "Basic abc", "Bearer tt_a_b", &format!("Bearer {revoked}"), "é"] {
        let answer = bench.send("GET /t/large", &[("authorization", wrong)], "").await;
        assert_eq!(answer.refused(401, "unauthorized"), bodies[0], "{wrong}");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
    let twice = format!("Bearer {}", bench.key);
    let answer = bench
        .send("GET /t/large", &[("authorization", &twice), ("authorization", &twice)], "")
        .await;
    answer.refused(401, "unauthorized");
}

#[tokio::test]
async fn a_scope_permits_its_routes_and_admin_all() {
    let bench = Bench::new();
    for (scope, allowed) in [
        (Scope::Read, [200, 403, 403]),
        (Scope::Write, [403, 201, 403]),
        (Scope::Ingest, [403, 403, 200]),
        (Scope::Work, [403, 403, 403]),
        (Scope::Admin, [200, 201, 200]),
    ] {
        let authorization = format!("Bearer {}", bench.new_key(&[scope], KeyLimits::default()));
        for (line, status) in
            ["GET /t/large", "POST /t/count", "POST /t/batch"].into_iter().zip(allowed)
        {
            let answer = bench.send(line, &[("authorization", &authorization)], "{}").await;
            assert_eq!(answer.status, status, "{scope:?} {line}");
        }
    }
}

#[tokio::test]
async fn public_routes_and_the_control_socket_need_no_key() {
    let bench = Bench::new();
    assert_eq!(
        send(&bench.server, "GET /t/open", &[], "").await.ok(),
        json!({ "user": "anonymous" })
    );
    let request = http::Request::get("/t/echo/x").body(http_body_util::Full::default()).unwrap();
    let response =
        bench.server.handle::<http_body_util::Full<bytes::Bytes>>(Origin::Control, request).await;
    assert_eq!(super::bench::Answer::of(response).await.ok()["user"], "local");
}

#[tokio::test]
async fn an_internal_error_or_panic_reveals_nothing_and_the_server_continues() {
    let bench = Bench::new();
    for line in ["GET /t/fail", "GET /t/panic", "POST /t/panic"] {
        let answer = bench.send(line, &[], "{}").await;
        answer.refused(500, "internal");
        assert!(!String::from_utf8_lossy(&answer.body).contains("secret"), "{answer:?}");
    }
    bench.get("/t/large").await.ok();
}

#[tokio::test]
async fn a_change_completes_even_if_its_caller_disconnects() {
    let bench = Bench::new();
    assert!(bench.post("/t/count", "{}").now_or_never().is_none(), "the change takes a while");
    let done = async {
        while bench.runs() == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), done).await.unwrap();
}

#[tokio::test]
async fn a_response_that_the_client_has_is_not_sent_again() {
    let bench = Bench::new();
    let answer = bench.get("/t/tagged").await;
    assert_eq!(answer.header("etag"), Some("\"7\""));
    for tags in ["\"7\"", "W/\"7\"", "*"] {
        let answer = bench.send("GET /t/tagged", &[("if-none-match", tags)], "").await;
        assert_eq!((answer.status, answer.body.len()), (304, 0));
        assert_eq!(answer.header("etag"), Some("\"7\""));
    }
    bench.send("PATCH /t/tagged", &[("if-match", "\"7\"")], "{}").await.ok();
    bench
        .send("PATCH /t/tagged", &[("if-match", "\"6\"")], "{}")
        .await
        .refused(412, "precondition_failed");
}

#[tokio::test]
async fn too_many_or_too_large_headers_are_refused() {
    let bench = Bench::with(Settings::changed(|s| {
        s.http.headers = 10;
        s.http.header_bytes = ByteSize::at_least_one(1_000);
    }));
    let many: Vec<(String, String)> = (0..10).map(|i| (format!("x-{i}"), String::new())).collect();
    let many: Vec<_> = many.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    bench.send("GET /t/large", &many, "").await.refused(400, "invalid_parameter");
    let large = "x".repeat(1_000);
    bench.send("GET /t/large", &[("x", &large)], "").await.refused(400, "invalid_parameter");
    bench.get(&format!("/t/large?{large}")).await.refused(400, "invalid_parameter");
}

#[tokio::test]
async fn a_starting_or_draining_server_refuses_with_retry_after() {
    let bench = Bench::new();
    let early = starting(Settings::default(), &bench.clock);
    assert_eq!(send(&early, "GET /healthz", &[], "").await.status, 200);
    for path in ["/readyz", "/t/large", "/metrics"] {
        let answer = send(&early, &format!("GET {path}"), &[], "").await;
        answer.refused(503, "unavailable");
        assert_eq!(answer.header("retry-after"), Some("5"));
    }
    send(&early, "GET /nowhere", &[], "").await.refused(404, "not_found");
    assert_eq!(bench.get("/readyz").await.status, 200);
    bench.server.drain();
    assert_eq!(bench.get("/healthz").await.status, 200);
    for path in ["/readyz", "/t/large"] {
        bench.get(path).await.refused(503, "unavailable");
    }
}
