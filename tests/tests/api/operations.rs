//! Routes for operators: health, readiness, Prometheus exposition format, the OpenAPI document and
//! its page, the log.

use serde_json::Value;
use telltale_tests::{HOUR_MS, Server, Setup, covers, eventually, iso, now_ms};

use crate::points::{T0, gauge, pairs, send};

#[test]
fn health_and_readiness_need_no_key() {
    covers!("GET /healthz", Happy);
    covers!("GET /readyz", Happy);
    let server = Server::start();
    let client = server.client().without_key();
    for path in ["/healthz", "/readyz"] {
        let response = client.get(path);
        assert_eq!(response.status, 200, "{}", response.summary());
        assert!(response.header("x-request-id").is_some());
        assert_eq!(response.header("ratelimit-limit"), None);
    }
}

#[test]
fn the_root_describes_the_service() {
    covers!("GET /", Happy);
    let server = Server::start();
    let client = server.client();
    let index = client.without_key().get("/").expect(200);
    assert_eq!(index["name"], "telltale");
    let document = client.get("/api/v1/openapi.json").json();
    assert_eq!(index["version"], document["info"]["version"]);
    for path in ["docs", "openapi", "health", "readiness", "metrics"] {
        let response = client.get(index[path].as_str().unwrap_or_default());
        assert_eq!(response.status, 200, "{path}: {}", response.summary());
    }
}

#[test]
fn prometheus_can_parse_the_metrics() {
    covers!("GET /metrics", Happy);
    let server = Server::start();
    let client = server.client();
    send(&client, &[gauge("a", T0, 1.0), gauge("b", T0, 1.0)]);
    let response = client.get("/metrics");
    assert_eq!(response.status, 200);
    let kind = response.must_header("content-type");
    assert!(
        kind.starts_with("application/openmetrics-text") || kind.starts_with("text/plain"),
        "{kind}"
    );
    let text = response.text();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let value = line.rsplit(' ').next().and_then(|value| value.parse::<f64>().ok());
        assert!(value.is_some(), "{line:?} is no sample");
    }
    let samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    for wanted in ["requests", "series", "points", "bytes"] {
        let named =
            samples.iter().any(|line| line.starts_with("telltale_") && line.contains(wanted));
        assert!(named, "nothing about {wanted} in\n{text}");
    }
}

#[test]
fn the_metrics_route_needs_a_key() {
    covers!("GET /metrics", Refusal);
    let server = Server::start();
    server.client().without_key().get("/metrics").refused(401, "unauthorized");
}

#[test]
fn the_server_writes_metrics_about_itself() {
    let server = Server::start();
    let client = server.client();
    send(&client, &[gauge("a", T0, 1.0)]);
    // Metrics of jobs, which other background work writes, may be there first.
    eventually("the server to write about itself", || {
        let listed = client.get("/api/v1/metrics?prefix=telltale.").data(200);
        let names: Vec<&str> =
            listed.as_array().into_iter().flatten().filter_map(|d| d["name"].as_str()).collect();
        let is_written = |wanted: &str| names.iter().any(|name| name.contains(wanted));
        ["request", "memory", "storage"].into_iter().all(is_written).then_some(())
    });
    let name = "telltale.memory.bytes";
    let now = now_ms();
    let (from, to) = (iso(now - HOUR_MS), iso(now + HOUR_MS));
    let path =
        format!("/api/v1/metrics/{name}/query?from={from}&to={to}&interval=1h&aggregation=max");
    let values = pairs(&client.get(&path).data(200)["series"]);
    assert!(values.iter().any(|(_, bytes)| *bytes > 1e6), "{values:?}");
}

#[test]
fn the_openapi_document_describes_every_response_in_one_file() {
    covers!("GET /api/v1/openapi.json", Happy);
    let server = Server::start();
    let document = server.client().get("/api/v1/openapi.json").json();
    assert!(document["openapi"].as_str().is_some_and(|v| v.starts_with("3.1")), "{document}");
    assert!(document["info"]["title"].is_string() && document["info"]["version"].is_string());
    let mut references = Vec::new();
    collect_references(&document, &mut references);
    for reference in references {
        let target = reference.strip_prefix('#').and_then(|pointer| document.pointer(pointer));
        assert!(target.is_some(), "{reference} points nowhere");
    }
    for (name, schema) in document["components"]["schemas"].as_object().into_iter().flatten() {
        // In responses a field may be there and null; what a request may leave out is optional.
        let is_input = name.ends_with("Input");
        for field in schema["required"].as_array().into_iter().flatten().filter(|_| is_input) {
            let allowed = field.as_str().map(|field| &schema["properties"][field]["anyOf"]);
            let is_nullable = allowed
                .and_then(Value::as_array)
                .is_some_and(|any| any.iter().any(|one| one["type"] == "null"));
            assert!(!is_nullable, "{name} requires {field}, which may be null");
        }
    }
    for (path, methods) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            let reported = format!("{method} {path}");
            assert!(
                operation["summary"].as_str().is_some_and(|s| s.len() > 5),
                "{reported} has no summary"
            );
            let responses = operation["responses"].as_object();
            let good = responses.is_some_and(|r| r.keys().any(|status| status.starts_with('2')));
            assert!(good, "{reported} has no success response");
            for parameter in path.split('/').filter_map(|part| part.strip_prefix('{')) {
                let name = parameter.trim_end_matches('}');
                let parameters = operation["parameters"].as_array();
                let named = parameters.is_some_and(|all| {
                    all.iter()
                        .any(|p| p["name"] == name && p["in"] == "path" && p["required"] == true)
                });
                assert!(named, "{reported} does not describe {name}");
            }
        }
    }
}

fn collect_references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("$ref").and_then(Value::as_str));
            fields.values().for_each(|field| collect_references(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, found)),
        _ => {}
    }
}

#[test]
fn the_documentation_page_needs_no_network() {
    covers!("GET /docs", Happy);
    covers!("GET /docs/page.css", Happy);
    covers!("GET /docs/page.js", Happy);
    let server = Server::start();
    let client = server.client();
    let response = client.get("/docs");
    assert_eq!(response.status, 200, "{}", response.summary());
    assert!(response.must_header("content-type").starts_with("text/html"));
    for path in ["/docs/page.css", "/docs/page.js"] {
        assert!(response.text().contains(path), "the page does not use {path}");
    }
    for page in ["/docs", "/docs/page.css", "/docs/page.js"] {
        let asset = client.get(page);
        assert_eq!(asset.status, 200, "{}", asset.summary());
        for outside in ["src=\"http", "src='http", "href=\"http", "@import", "//cdn", "url(http"] {
            assert!(!asset.text().contains(outside), "{page} fetches {outside}");
        }
        assert!(asset.must_header("content-security-policy").contains("default-src 'none'"));
    }
}

#[test]
fn the_log_is_one_json_object_per_line_without_secrets() {
    let server = Setup::new().set("log.level", "\"debug\"").start();
    let client = server.client();
    send(&client, &[gauge("a", T0, 1.0)]);
    client.get("/nowhere");
    let log = eventually("the requests in the log", || {
        let log = server.log();
        log.iter().any(|line| line.contains("/nowhere")).then_some(log)
    });
    for line in &log {
        let parsed: Result<Value, _> = serde_json::from_str(line);
        assert!(parsed.is_ok_and(|line| line.is_object()), "{line:?} is not JSON");
        let secret = telltale_tests::ADMIN_KEY.rsplit('_').next().unwrap_or_default();
        assert!(!line.contains(secret), "the log tells a secret: {line}");
    }
}

#[test]
fn a_second_server_on_the_same_data_is_refused() {
    let server = Server::start();
    let output = server.cli(["serve", "--listen", "127.0.0.1:0"]);
    assert!(!output.status.success());
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("data"), "{message}");
    assert_eq!(server.client().get("/readyz").status, 200);
}
