//! A real Prometheus delivers its alerts, and the real `amtool` lists them.

use serde_json::{Value, json};
use telltale_tests::{Prometheus, Server, amtool, eventually};

use crate::keys::text;

/// A rule that fires for one instance if this is below 7.
fn rules(threshold: u32) -> String {
    format!(
        "groups:\n\
         - name: test\n  \
           interval: 250ms\n  \
           rules:\n  \
           - alert: InstanceDown\n    \
             expr: label_replace(vector(7), 'instance', 'web-1', '', '') > {threshold}\n    \
             labels: {{severity: page, team: shop}}\n    \
             annotations: {{summary: '{{{{ $labels.instance }}}} is down ({{{{ $value }}}})'}}\n"
    )
}

fn alerts(server: &Server, query: &str) -> Vec<Value> {
    let listed = server.client().get(&format!("/api/v1/alerts?{query}")).expect(200);
    listed["data"].as_array().cloned().unwrap_or_default()
}

#[test]
fn alerts_of_a_real_prometheus_fire_and_amtool_lists_them() {
    let server = Server::start();
    let client = server.client();
    let query = json!({"alert": "Instance*", "tags": {"severity": "page"}});
    let rule = json!({"name": "Instances", "query": query, "severity": "critical"});
    let rule = client.post("/api/v1/alert_rules", &rule).data(201);
    let prometheus = Prometheus::alerting(&rules(6), server.address());
    let alert = eventually("the alert", || {
        let rule = format!("status=firing&rule_id={}", text(&rule["id"]));
        alerts(&server, &rule).first().cloned()
    });
    assert_eq!(alert["summary"], "web-1 is down (7)", "{alert}");
    let labels = json!({"alertname": "InstanceDown", "instance": "web-1", "severity": "page", "team": "shop"});
    assert_eq!(alert["labels"], labels);

    let address = server.address();
    let listed = amtool(address, &["alert", "query", "-o", "json", "instance=web-1"]);
    let listed: Value = serde_json::from_str(&listed).unwrap_or_default();
    assert_eq!(listed[0]["labels"], labels, "{listed}");
    let none = amtool(address, &["alert", "query", "-o", "json", "instance=web-2"]);
    assert_eq!(serde_json::from_str::<Value>(&none).unwrap_or_default(), json!([]));
    assert!(amtool(address, &["config", "show"]).contains("alert_rules"));
    amtool(address, &["alert", "add", "Manual", "severity=page"]);
    let listed = amtool(address, &["alert", "query", "-o", "simple"]);
    assert!(listed.contains("Manual") && listed.contains("InstanceDown"), "{listed}");

    // Prometheus says when it ends.
    prometheus.replace_rules(&rules(8));
    eventually("the end of the alert", || {
        let path = format!("/api/v1/alerts/{}", text(&alert["id"]));
        (client.get(&path).data(200)["status"] == "resolved").then_some(())
    });
}
