//! The InfluxDB clients of both versions, as their users run them, with only the URL changed.

use serde_json::{Value, json};
use telltale_tests::{ADMIN_KEY, Client, HOUR_MS, Server, python, same};

use crate::points::{T0, encoded, pairs, query_metric};

const SCRIPT: &str = include_str!("influx_clients.py");
const PACKAGES: [&str; 2] = ["influxdb==5.3.2", "influxdb-client==1.50.0"];

/// Returns the number of samples of a metric, and the values of its tag `key`.
#[track_caller]
fn stored(client: &Client, metric: &str, key: &str) -> (Value, Vec<Value>) {
    let path = format!("/api/v1/metrics/{}", encoded(metric));
    let values = client.get(&format!("{path}/tags/{key}/values")).data(200);
    let values = values.as_array().into_iter().flatten().map(|v| v["value"].clone()).collect();
    (client.get(&path).data(200)["data_points"].clone(), values)
}

#[test]
fn the_clients_of_influxdb_write_to_us() {
    let server = Server::start();
    let (host, port) = (server.address().ip().to_string(), server.address().port().to_string());
    let output = python(&PACKAGES, SCRIPT, [&*host, &port, ADMIN_KEY, &T0.to_string()]);
    assert_eq!(output, "");
    let client = server.client();
    for (metric, key, points, values) in [
        ("v1 points.f", "host", 1_000, json!(["a b"])),
        ("v1 points.n", "path", 1_000, json!(["x=y,z"])),
        ("v1 points.ok", "host", 1_000, json!(["a b"])),
        ("v1.lines", "host", 10, json!(["a"])),
        ("v1.good", "host", 2, json!([])),
        ("v1.gzip", "host", 100, json!([])),
        ("v2 point.f", "host", 1, json!(["a=b, c"])),
        ("v2 point.ok", "host", 1, json!(["a=b, c"])),
        ("v2.units", "unit", 4, json!(["ms", "ns", "s", "us"])),
        // Two lines of one body without timestamps: the second replaces the first.
        ("v2.good", "host", 1, json!([])),
        ("v2.batched", "n", 2_000, json!(["0", "1", "2", "3", "4", "5", "6"])),
    ] {
        let (stored_points, stored_values) = stored(&client, metric, key);
        assert_eq!((stored_points, json!(stored_values)), (json!(points), values), "{metric}");
    }
    for absent in ["v1.bad", "v1.stranger", "v2.bad", "v1 points.text", "v2 point.text"] {
        let path = format!("/api/v1/metrics/{}", encoded(absent));
        client.get(&path).refused(404, "metric_not_found");
    }
    let each =
        query_metric(&client, "v1 points.f", T0, T0 + HOUR_MS, "&interval=1d&aggregation=min,max");
    same(&each.data(200)["series"][0]["max"], &json!(499.5));
    let units = query_metric(&client, "v2.units", T0, T0 + HOUR_MS, "&interval=1m").data(200);
    assert_eq!(pairs(&units["series"]), [(0, 1.0)], "every unit is the same minute");
}
