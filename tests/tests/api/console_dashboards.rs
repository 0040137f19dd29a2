//! Dashboards in the console, in a real browser: read, made, edited and restored.

use serde_json::{Value, json};
use telltale_tests::{ADMIN_KEY, Setup, console_problems};

use crate::keys::text;

const SCRIPT: &str = include_str!("console_dashboards.js");
/// A title that would show if data became markup.
const MARKUP: &str = "<img src=x onerror=alert(1)> a/b %2F, \u{202e}gnol\u{202c}";

fn widget(kind: &str, title: &str, at: [u32; 4], query: &Value, options: &Value) -> Value {
    let [x, y, width, height] = at;
    let position = json!({"x": x, "y": y, "width": width, "height": height});
    json!({"type": kind, "title": title, "position": position, "query": query, "options": options})
}

fn widgets() -> Vec<Value> {
    let cpu = json!({"metric": "cpu.usage", "group_by": "tags.host"});
    let levels = json!([{"value": 10, "level": "warning"}, {"value": 1000, "level": "critical", "label": "too much"}]);
    let range = json!({"time_range": "1h"});
    vec![
        widget(
            "number",
            MARKUP,
            [0, 0, 3, 2],
            &json!({"metric": "cpu.usage", "aggregation": "max", "tags": {"host": "$host"}}),
            &json!({"thresholds": levels, "comparison": {"type": "previous_period"}}),
        ),
        widget("number", "Deployments", [3, 0, 3, 2], &json!({"event": "deploy.done"}), &json!({})),
        widget("number", "Huge", [6, 0, 3, 2], &json!({"metric": "huge"}), &json!({})),
        widget("number", "Nothing", [9, 0, 3, 2], &json!({"metric": "does.not.exist"}), &json!({})),
        widget(
            "graph",
            "CPU by host",
            [0, 2, 8, 4],
            &cpu,
            &json!({"thresholds": levels, "time_range": "1h"}),
        ),
        widget("pie", "Parts", [8, 2, 4, 4], &cpu, &range),
        widget("bar", "Bars", [0, 6, 4, 4], &cpu, &range),
        widget("bar", "Upright bars", [4, 6, 4, 4], &cpu, &json!({"orientation": "vertical"})),
        widget("table", "Table", [8, 6, 4, 4], &cpu, &json!({"columns": ["host", "avg", "max"]})),
        widget(
            "graph",
            "Stack",
            [0, 10, 6, 4],
            &cpu,
            &json!({"style": "area", "show_legend": true}),
        ),
        widget(
            "graph",
            "Events over time",
            [6, 10, 6, 4],
            &json!({"event": "deploy.done", "interval": "5m"}),
            &json!({"style": "bar", "time_range": "1h"}),
        ),
        widget(
            "heatmap",
            "Hours",
            [0, 14, 12, 4],
            &json!({"metric": "cpu.usage"}),
            &json!({"time_range": "7d"}),
        ),
    ]
}

#[test]
fn dashboards_are_read_made_and_edited_in_the_console() {
    let server = Setup::new().set("console.sign_ins_per_minute", "100").start();
    let client = server.client();
    for (host, value) in [("web-1", 12.5), ("web-2", 40.25), (MARKUP, 7.0)] {
        let sample =
            json!({"name": "cpu.usage", "type": "gauge", "value": value, "tags": {"host": host}});
        client.post("/api/v1/metrics", &sample).expect(201);
    }
    let huge = json!({"name": "huge", "type": "gauge", "value": 1e308});
    client.post("/api/v1/metrics", &huge).expect(201);
    let event = json!({"name": "deploy.done", "tags": {"service": "<b>web</b>"}});
    client.post("/api/v1/events", &event).expect(201);
    let dashboard = json!({
        "name": "Shop <b>floor</b>", "description": "What is on sale.", "widgets": widgets(),
        "variables": [{"name": "host", "label": "Host", "source": {"metric": "cpu.usage", "tag": "host"}}],
        "overlays": [{"event": "deploy.*", "title": "Deployment"}],
    });
    let made = client.post("/api/v1/dashboards/import", &dashboard).data(201);
    let base = format!("http://{}", server.address());
    assert_eq!(console_problems(SCRIPT, [&*base, text(&made["id"]), ADMIN_KEY]), json!([]));
}
