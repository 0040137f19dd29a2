//! Dashboard polling: a client that polls a dashboard, and the lists of events, errors, jobs and
//! metrics in turn.

use std::time::Duration;

use serde_json::{Value, json};
use telltale_tests::Client;

use crate::pace::Run;
use crate::sender::Sender;

/// Time between two polls of the dashboard.
const PERIOD: Duration = Duration::from_secs(1);
/// The lists that are polled besides, in turn.
const LISTS: [&str; 5] = [
    "/api/v1/events?limit=50",
    "/api/v1/errors?limit=50",
    "/api/v1/queues",
    "/api/v1/workers",
    "/api/v1/metrics?limit=100",
];

/// Creates the dashboard, and returns its path.
#[track_caller]
pub(crate) fn create(client: &Client) -> String {
    let widget = |kind: &str, query: Value, options: Value| json!({"type": kind, "title": kind, "query": query, "options": options});
    let hour = || json!({"time_range": "1h"});
    let dashboard = json!({"version": 1, "name": "Soak", "widgets": [
        widget("number", json!({"metric": "soak_requests_total", "aggregation": "rate"}), hour()),
        widget("graph", json!({"metric": "soak_requests_total", "interval": "1m"}), hour()),
        widget("graph", json!({"metric": "soak_queue_length", "aggregation": "max", "interval": "1m"}), hour()),
        widget("bar", json!({"metric": "soak_queue_length", "group_by": "tags.pod"}), json!({"limit": 10})),
        widget("table", json!({"metric": "soak.latency_ms", "aggregation": "p95", "group_by": "tags.region"}), json!({})),
        widget("pie", json!({"event": "soak.*", "group_by": "name"}), hour()),
        widget("number", json!({"event": "soak.order", "aggregation": "unique_users"}), hour()),
        widget("heatmap", json!({"event": "soak.order"}), json!({"time_range": "7d"})),
    ]});
    let created = client.post("/api/v1/dashboards/import", &dashboard).data(201);
    format!("/api/v1/dashboards/{}", created["id"].as_str().unwrap_or_default())
}

/// Polls the dashboard until the run is over, and returns the number of polls.
pub(crate) fn poll(run: &Run, client: Client, dashboard: &str) -> usize {
    let mut sender = Sender::new(run, client, "dashboards");
    let mut schedule = run.schedule("dashboards", PERIOD);
    let mut polls = 0;
    while schedule.wait() {
        let shown = sender.send(|client, _| client.get(dashboard)).data(200);
        for widget in shown["widgets"].as_array().into_iter().flatten() {
            // Its value may still be null, but its query must not fail.
            assert!(widget.get("error").is_none(), "{widget}");
        }
        let list = LISTS[polls % LISTS.len()];
        let response = sender.send(|client, _| client.get(list));
        assert_eq!(response.status, 200, "{list}: {}", response.summary());
        polls += 1;
    }
    polls
}
