//! The routes of the process itself: metrics, the OpenAPI document, the documentation page.

use serde_json::Value;

use super::bench::{Bench, send};

#[tokio::test]
async fn requests_are_counted_by_route_method_and_status() {
    let bench = Bench::new();
    for path in ["/t/echo/a", "/t/echo/b", "/t/fail", "/nowhere"] {
        bench.get(path).await;
    }
    let answer = bench.get("/metrics").await;
    let text = String::from_utf8(answer.body.to_vec()).unwrap();
    for line in [
        "telltale_http_requests_total{method=\"GET\",route=\"/t/echo/{name}\",status=\"200\"} 2",
        "telltale_http_requests_total{method=\"GET\",route=\"/t/fail\",status=\"500\"} 1",
        "telltale_http_requests_total{method=\"-\",route=\"-\",status=\"404\"} 1",
        "telltale_http_request_duration_seconds_count{method=\"GET\",route=\"/t/echo/{name}\"} 2",
        "telltale_http_request_duration_seconds_bucket{le=\"+Inf\",method=\"GET\",route=\"/t/echo/{name}\"} 2",
        "telltale_http_requests_in_flight 0",
        "telltale_storage_read_only 0",
        "# EOF",
    ] {
        assert!(text.lines().any(|have| have == line), "{line}\nis not in\n{text}");
    }
    send(&bench.server, "GET /metrics", &[], "").await.refused(401, "unauthorized");
}

#[tokio::test]
async fn the_document_describes_every_route() {
    let bench = Bench::new();
    let document = send(&bench.server, "GET /api/v1/openapi.json", &[], "").await.ok();
    assert_eq!(document["openapi"], "3.1.0");
    for route in bench.server.router.routes() {
        let operation = &document["paths"][route.path][route.method.as_str().to_ascii_lowercase()];
        assert!(operation["responses"].is_object(), "{} {}", route.method.as_str(), route.path);
    }
    let batch = &document["paths"]["/t/batch"]["post"];
    assert_eq!(batch["x-scope"], "ingest");
    assert_eq!(batch["x-limit"]["per_minute"], 10);
    assert_eq!(batch["responses"]["429"]["x-codes"][0], "rate_limited");
    let echo = &document["paths"]["/t/echo/{name}"]["get"];
    assert_eq!(
        (&echo["parameters"][0]["name"], &echo["parameters"][0]["in"]),
        (&"name".into(), &"path".into())
    );
    let mut ids = operation_ids(&document);
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "operation ids are unique");
}

fn operation_ids(document: &Value) -> Vec<String> {
    let paths = document["paths"].as_object().unwrap();
    let operations =
        paths.values().filter_map(Value::as_object).flat_map(|methods| methods.values());
    operations.map(|operation| operation["operationId"].to_string()).collect()
}

#[tokio::test]
async fn references_in_the_document_resolve() {
    let bench = Bench::new();
    let document = bench.get("/api/v1/openapi.json").await.ok();
    let text = document.to_string();
    let references: Vec<&str> =
        text.split("\"$ref\":\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(!references.is_empty());
    for reference in references {
        assert!(document.pointer(reference).is_some(), "{reference}");
    }
}

#[tokio::test]
async fn the_page_loads_nothing_from_elsewhere() {
    let bench = Bench::new();
    for (path, media) in [
        ("/docs", "text/html"),
        ("/docs/page.css", "text/css"),
        ("/docs/page.js", "text/javascript"),
    ] {
        let answer = send(&bench.server, &format!("GET {path}"), &[], "").await;
        assert_eq!(answer.status, 200);
        assert!(answer.header("content-type").is_some_and(|value| value.starts_with(media)));
        assert!(
            answer
                .header("content-security-policy")
                .is_some_and(|value| value.contains("default-src 'none'"))
        );
        let text = String::from_utf8(answer.body.to_vec()).unwrap();
        for outside in ["http://", "https://", "@import", "<script>", " style=", " onclick="] {
            assert!(!text.contains(outside), "{path} contains {outside}");
        }
    }
}
