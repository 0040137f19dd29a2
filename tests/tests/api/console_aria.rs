//! What assistive technology finds on the main pages of the console, as committed files in
//! `console_aria`. After a change that is meant, they are written anew and read in the diff:
//!
//! `CONSOLE_ARIA=update cargo test -p telltale-tests --test api -- console_aria`

use serde_json::{Value, json};
use telltale_tests::{ADMIN_KEY, Client, HOUR_MS, Setup, iso, parse_iso, playwright_problems};

use crate::keys::text;

const SCRIPT: &str = include_str!("console_aria.js");
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/api/console_aria");
/// When the data of the charts begins.
const BEGIN: &str = "2026-03-02T00:00:00.000Z";

/// Sends the values of two hosts in twelve hours, and events.
fn telemetry(client: &Client) {
    let begin = parse_iso(BEGIN);
    let samples: Vec<Value> = (0..24)
        .map(|i| {
            let host = if i % 2 == 0 { "web-1" } else { "web-2" };
            let timestamp = iso(begin + i / 2 * HOUR_MS);
            json!({"name": "cpu.usage", "type": "gauge", "value": 10 + i, "timestamp": timestamp, "tags": {"host": host}})
        })
        .collect();
    client.post("/api/v1/metrics/batch", &json!({"metrics": samples})).expect(200);
    let events = [("order.placed", "u-1"), ("order.paid", "u-1"), ("order.placed", "u-2")];
    for (i, (name, user)) in (1..).zip(events) {
        let timestamp = iso(begin + i * HOUR_MS);
        let event = json!({"name": name, "user_id": user, "value": i, "timestamp": timestamp});
        client.post("/api/v1/events", &event).expect(201);
    }
}

/// Makes an error, jobs, and what watches; returns ids by kind.
fn operations(client: &Client) -> Value {
    let error = json!({"type": "CardDeclined", "message": "the card was declined", "level": "error", "environment": "production"});
    client.post("/api/v1/errors", &error).expect(201);
    let errors = client.get("/api/v1/errors").expect(200);
    let error = text(&errors["data"][0]["id"]).to_owned();
    for class in ["Welcome", "Receipt"] {
        let job = json!({"queue": "mails", "class_name": class, "arguments": {}});
        client.post("/api/v1/jobs", &job).expect(201);
    }
    let rule = json!({
        "name": "CPU high", "query": {"metric": "cpu.usage", "aggregation": "max"}, "condition": {"op": "gt", "threshold": 90},
        "window": "5m", "severity": "critical",
    });
    let rule = client.post("/api/v1/alert_rules", &rule).data(201);
    // Of two members, another one would be on call every day.
    let schedule = json!({
        "name": "Platform", "schedule_type": "custom", "timezone": "UTC", "members": ["ann@example.com"],
        "rotation_type": "daily", "rotation_start": BEGIN,
    });
    let schedule = client.post("/api/v1/on_call_schedules", &schedule).data(201);
    let monitor = json!({"name": "Backups", "type": "heartbeat", "interval_seconds": 86_400});
    let monitor = client.post("/api/v1/monitors", &monitor).expect(201);
    let page = json!({"name": "Shop", "subdomain": "shop", "monitors": [monitor["id"]]});
    let page = client.post("/api/v1/status-pages", &page).expect(201);
    json!({"error": error, "rule": rule["id"], "schedule": schedule["id"], "monitor": monitor["id"], "statusPage": page["id"]})
}

fn dashboard(client: &Client) -> Value {
    let place = |x: u32| json!({"x": x, "y": 0, "width": 6, "height": 4});
    let query = json!({"metric": "cpu.usage", "group_by": "tags.host"});
    let widgets = [
        json!({"type": "graph", "title": "CPU by host", "position": place(0), "query": query}),
        json!({"type": "number", "title": "Highest", "position": place(6), "query": {"metric": "cpu.usage", "aggregation": "max"}}),
    ];
    let body = json!({"name": "Machines", "description": "All hosts.", "widgets": widgets});
    client.post("/api/v1/dashboards/import", &body).data(201)["id"].clone()
}

#[test]
fn assistive_technology_finds_on_each_page_what_the_committed_files_say() {
    let server = Setup::new().set("console.sign_ins_per_minute", "100").start();
    let client = server.client();
    telemetry(&client);
    let mut ids = operations(&client);
    ids["dashboard"] = dashboard(&client);
    let base = format!("http://{}", server.address());
    let ids = ids.to_string();
    assert_eq!(playwright_problems(SCRIPT, [&*base, &*ids, FOLDER, ADMIN_KEY]), json!([]));
}
