//! Metrics and events in the console, in a real browser: found, charted, filtered and followed.

use serde_json::{Value, json};
use telltale_tests::{ADMIN_KEY, MINUTE_MS, Setup, console_problems, iso, now_ms};

const SCRIPT: &str = include_str!("console_explore.js");
/// Values that would show if data became markup or was not escaped.
const HOSTS: [&str; 4] = ["web-1", "web-2", "<b>bold</b>", "a,b/%2F*!\\"];
const PRODUCTS: usize = 60;
const USERS: i64 = 12;

/// Returns samples of half an hour.
fn metrics(now: i64) -> Vec<Value> {
    let sample = |name: &str, kind: &str, value: f64, minutes: i64, tags: Value| {
        let timestamp = iso(now - minutes * MINUTE_MS);
        json!({"name": name, "type": kind, "value": value, "timestamp": timestamp, "tags": tags})
    };
    let mut all = Vec::new();
    for minute in 1..=30 {
        for (i, host) in HOSTS.iter().enumerate() {
            let value = 10.0 * i as f64 + minute as f64 / 4.0;
            all.push(sample("cpu.usage", "gauge", value, minute, json!({"host": host})));
        }
        all.push(sample("web.requests", "counter", 6.0, minute, json!({"route": "/"})));
    }
    for i in 0..PRODUCTS {
        let tags = json!({"product": format!("p{i:02}")});
        all.push(sample("shop.views", "gauge", i as f64, 5, tags));
    }
    let long = json!({"long": "x".repeat(200), "rtl": "\u{202e}abc"});
    all.push(sample("huge <i>metric</i>", "gauge", 1e308, 5, long));
    all
}

/// Returns events of users, of which each step is taken by fewer.
fn events(now: i64) -> Vec<Value> {
    let mut all = Vec::new();
    for user in 0..USERS {
        let steps = ["cart.viewed", "order.placed", "order.paid"];
        let taken = if user % 3 == 0 { 3 } else { 1 + usize::from(user % 2 == 0) };
        for (i, name) in steps.iter().take(taken).enumerate() {
            let timestamp = iso(now - 20 * MINUTE_MS + (user * 10 + i as i64) * 1_000);
            all.push(json!({
                "name": name, "timestamp": timestamp, "user_id": format!("u-{user}"), "value": user * 10,
                "tags": {"region": if user % 2 == 0 { "eu" } else { "us" }}, "properties": {"cart": {"items": user}},
            }));
        }
    }
    all.push(json!({
        "name": "<script>alert(1)</script>", "timestamp": iso(now - 10 * MINUTE_MS), "user_id": "<b>user</b>", "value": 1e308,
        "tags": {"<i>k</i>": "a,b/%2F"}, "properties": {"html": "<img src=x onerror=alert(1)>", "none": null, "id": 9_007_199_254_740_993_i64},
    }));
    all
}

#[test]
fn metrics_and_events_are_explored_in_the_console() {
    let server = Setup::new().set("console.sign_ins_per_minute", "100").start();
    let client = server.client();
    let now = now_ms();
    client.post("/api/v1/metrics/batch", &json!({"metrics": metrics(now)})).expect(200);
    client.post("/api/v1/events/batch", &json!({"events": events(now)})).expect(200);
    let base = format!("http://{}", server.address());
    assert_eq!(console_problems(SCRIPT, [&*base, ADMIN_KEY]), json!([]));
}
