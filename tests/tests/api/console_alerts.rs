//! Alerts and on-call schedules in the console, in a real browser.

use serde_json::{Value, json};
use telltale_tests::{
    ADMIN_KEY, Client, MINUTE_MS, Setup, console_problems, eventually, iso, now_ms,
};

use crate::alerting_alerts::receiver;

const SCRIPT: &str = include_str!("console_alerts.js");
/// Values that would show if data became markup.
const HOSTS: [&str; 3] = ["web-1", "web-2", "<i>web</i>"];

/// Returns high values of each host in the last ten minutes.
fn samples(now: i64) -> Vec<Value> {
    let sample = |host: &str, minute: i64| {
        let timestamp = iso(now - minute * MINUTE_MS);
        json!({"name": "cpu", "type": "gauge", "value": 95, "tags": {"host": host}, "timestamp": timestamp})
    };
    HOSTS.iter().flat_map(|host| (0..10).map(move |minute| sample(host, minute))).collect()
}

/// Makes a rule that fires for each host, and a schedule.
fn make(client: &Client) {
    let samples = json!({"metrics": samples(now_ms())});
    client.post("/api/v1/metrics/batch", &samples).expect(200);
    let rule = json!({
        "name": "CPU high", "query": {"metric": "cpu", "aggregation": "max"}, "group_by": "tags.host",
        "condition": {"op": "gt", "threshold": 90}, "window": "1h", "severity": "critical",
    });
    client.post("/api/v1/alert_rules", &rule).expect(201);
    let schedule = json!({
        "name": "Platform <b>team</b>", "schedule_type": "custom", "timezone": "Europe/Berlin",
        "members": ["ann@example.com", "bob@example.com"], "rotation_type": "daily",
        "rotation_start": iso(now_ms() - 60 * 24 * 60 * MINUTE_MS),
    });
    client.post("/api/v1/on_call_schedules", &schedule).expect(201);
}

#[test]
fn alerts_and_schedules_are_used_in_the_console() {
    let server = Setup::new()
        .set("console.sign_ins_per_minute", "100")
        .set("outbound.allow", "[\"127.0.0.1/32\"]")
        .set("alerting.evaluation_interval", "\"200ms\"")
        .start();
    let client = server.client();
    make(&client);
    eventually("an alert for each host", || {
        let firing = client.get("/api/v1/alerts?status=firing").expect(200);
        (firing["meta"]["total"] == HOSTS.len()).then_some(())
    });
    let (_receiver, url) = receiver();
    let url = format!("{url}/webhook");
    let base = format!("http://{}", server.address());
    assert_eq!(console_problems(SCRIPT, [&*base, ADMIN_KEY, &*url]), json!([]));
}
