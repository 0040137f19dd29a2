//! Names, tags and paths that are unusual but valid, and invalid paths.

use serde_json::{Value, json};
use telltale_tests::{Client, Server};

use crate::points::{T0, definitions, encoded, point, query_metric, send};

/// Strings that break programs which insert them into something unescaped.
const UGLY: [&str; 22] = [
    "a/b",
    "a%2Fb",
    "/",
    "//",
    "..",
    ".",
    "../../etc/passwd",
    "a b",
    " a ",
    "\"quoted\"",
    "'; DROP TABLE metrics; --",
    "<script>alert(1)</script>",
    "back\\slash",
    "query?x=1&y=2#z",
    "{}",
    "{name}",
    "tags.host",
    "a,b",
    "\u{202e}right to left",
    "שלום",
    "e\u{301}\u{200b}\u{feff}",
    "🦀\u{10ffff}",
];

#[track_caller]
fn stored(client: &Client, name: &str, key: &str, value: &str) {
    let tags: Value = [(key.to_owned(), Value::from(value))].into_iter().collect();
    send(client, &[point(name, "gauge", T0, 1.5, tags)]);
    let data = client.get(&format!("/api/v1/metrics/{}", encoded(name))).data(200);
    assert_eq!((&data["name"], &data["tags"]), (&json!(name), &json!([key])), "{name:?}");

    let rest = format!("&interval=1m&group_by={}", encoded(&format!("tags.{key}")));
    let data = query_metric(client, name, T0, T0 + 1, &rest).data(200);
    assert_eq!(data["groups"][value][0]["value"], 1.5, "{name:?} {key:?} {value:?}: {data}");

    let path = format!("/api/v1/metrics/{}/tags/{}/values", encoded(name), encoded(key));
    assert_eq!(client.get(&path).data(200)[0]["value"], value, "{path}");
}

#[test]
fn unusual_names_and_tags_are_stored_and_found() {
    let mut server = Server::start();
    for text in UGLY {
        // A comma would be parsed as the end of a group key.
        let key = text.replace(',', ";");
        stored(&server.client(), text, &key, text);
    }
    let before = definitions(&server.client());
    assert_eq!(before.len(), UGLY.len());
    server.restart();
    assert_eq!(definitions(&server.client()), before);
}

#[test]
fn a_slash_within_a_name_is_percent_encoded() {
    let server = Server::start();
    let client = server.client();
    send(&client, &[point("a/b", "gauge", T0, 1.0, json!({}))]);
    send(&client, &[point("a%2Fb", "gauge", T0, 2.0, json!({}))]);
    assert_eq!(client.get("/api/v1/metrics/a%2Fb").data(200)["name"], "a/b");
    assert_eq!(client.get("/api/v1/metrics/a%2fb").data(200)["name"], "a/b");
    assert_eq!(client.get("/api/v1/metrics/a%252Fb").data(200)["name"], "a%2Fb");
    client.get("/api/v1/metrics/a/b").refused(404, "not_found");
}

#[test]
fn filters_match_unusual_values() {
    let server = Server::start();
    let client = server.client();
    for text in UGLY {
        send(&client, &[point("m", "counter", T0, 1.0, json!({ "k": text }))]);
    }
    for text in UGLY.iter().filter(|text| !text.contains(',')) {
        let rest = format!("&interval=1m&tags[k]={}", encoded(text));
        let data = query_metric(&client, "m", T0, T0 + 1, &rest).data(200);
        assert_eq!(data["series"][0]["value"], 1.0, "{text:?}: {data}");
    }
}

#[test]
fn malformed_paths_are_not_found() {
    let server = Server::start();
    let client = server.client();
    for path in [
        "/api",
        "/api/",
        "/api/v1",
        "/api/v1/",
        "/api/v2/metrics",
        "/api/v1/metrics/",
        "/api/v1/metrics//query",
        "/api/v1//metrics",
        "//api/v1/metrics",
        "/api/v1/metrics/a/b/c",
        "/API/V1/METRICS",
        "/api/v1/Metrics",
        "/.env",
        "/..%2f..%2fetc/passwd",
        "/%",
        "/%zz",
        "/api/v1/metrics/a/query/",
        "/api/v1/metrics/batch/",
        "/api/v1/keys/",
        "/healthz/",
        "/metrics/",
        "/%00",
        "/favicon.icox",
    ] {
        client.get(path).refused(404, "not_found");
    }
    let long = format!("/{}", "x".repeat(20_000));
    let response = client.get(&long);
    assert!(matches!(response.status, 404 | 414), "{}", response.summary());
}

#[test]
fn malformed_query_strings_are_handled() {
    let server = Server::start();
    let client = server.client();
    send(&client, &[point("m", "gauge", T0, 1.0, json!({}))]);
    let many = "&a=b".repeat(5_000);
    for query in [
        "&&&",
        "=",
        "=&=",
        "%",
        "%zz=%zz",
        "%FF=%FE",
        "tags",
        "tags[]",
        "tags[]=x",
        "tags[k",
        "tags[k]]=x",
        "tags[k][l]=x",
        "tags[k]=",
        "tags[k]=!",
        "tags[k]=*",
        "tags[k]=a,",
        "interval=1m&interval=5m",
        "a[b]=c&x=%00",
        &many,
    ] {
        let response = client.get(&format!("/api/v1/metrics/m/query?{query}"));
        assert!(matches!(response.status, 200 | 400 | 422), "{query}: {}", response.summary());
        if response.status != 200 {
            let code = response.json()["error"]["code"].clone();
            response.refused(response.status, code.as_str().unwrap_or_default());
        }
    }
}
