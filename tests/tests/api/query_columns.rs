//! Queries for charts: buckets of any width, the largest groups only, and the form as columns.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use telltale_tests::{Client, HOUR_MS, MINUTE_MS, Server, covers, same};

use crate::points::{T0, encoded, gauge, pairs, point, query_metric, send};

/// Writes seven hosts, every 5 s to 65 s, whose values differ in all measures. Returns the samples
/// as (host, ms, value).
fn fleet(client: &Client) -> Vec<(String, i64, f64)> {
    let mut samples = Vec::new();
    for host in 0..7_i64 {
        let every = 5_000 + 10_000 * host;
        for (i, ms) in (0..20 * MINUTE_MS).step_by(every as usize).enumerate() {
            let value = ((i as i64 * 37 + host * 91) % 101 - 50) as f64 / 4.0;
            samples.push((format!("h{host}"), ms, value));
        }
    }
    let points: Vec<Value> = samples
        .iter()
        .map(|(host, ms, value)| point("cpu", "gauge", T0 + ms, *value, json!({"host": host})))
        .collect();
    send(client, &points);
    samples
}

/// The values of each bucket of a host, computed from the samples.
fn buckets(samples: &[(String, i64, f64)], host: &str, width: i64) -> BTreeMap<i64, Vec<f64>> {
    let mut buckets: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    for (_, ms, value) in samples.iter().filter(|(name, ..)| name == host) {
        buckets.entry(ms / width * width).or_default().push(*value);
    }
    buckets
}

fn max(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn min(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

#[test]
fn buckets_have_any_width_in_seconds() {
    covers!("GET /api/v1/metrics/{name}/query", Happy);
    let server = Server::start();
    let client = server.client();
    let samples = fleet(&client);
    for (interval, ms) in
        [("1s", 1_000), ("7s", 7_000), ("15s", 15_000), ("90s", 90_000), ("7m", 7 * MINUTE_MS)]
    {
        let rest = format!("&interval={interval}&aggregation=max&tags[host]=h3");
        // The buckets are aligned to the epoch, not to the range.
        let from = T0 / ms * ms;
        let data = query_metric(&client, "cpu", from, T0 + HOUR_MS, &rest).data(200);
        let shift = T0 - from;
        let moved: Vec<(String, i64, f64)> =
            samples.iter().map(|(host, at, value)| (host.clone(), at + shift, *value)).collect();
        let expected: Vec<(i64, f64)> = buckets(&moved, "h3", ms)
            .iter()
            .map(|(start, values)| (start - shift, max(values)))
            .collect();
        assert_eq!(pairs(&data["series"]), expected, "{interval}");
        assert_eq!(data["interval"], interval);
    }
    let data = query_metric(&client, "cpu", T0, T0 + HOUR_MS, "&interval=120s").data(200);
    assert_eq!(data["interval"], "2m", "the longest unit names a width");
    let counted = client.get("/api/v1/events/count?interval=10s").data(200);
    assert_eq!(counted["series"], json!([]));
}

#[test]
fn an_interval_is_bounded_and_fits_the_type() {
    covers!("GET /api/v1/metrics/{name}/query", Refusal);
    let server = Server::start();
    let client = server.client();
    send(&client, &[gauge("cpu", T0, 1.0)]);
    send(&client, &[point("took", "distribution", T0, 1.0, json!({}))]);
    let response = query_metric(&client, "cpu", T0, T0 + 50_001_000, "&interval=1s");
    let error = response.refused(422, "invalid_range");
    assert_eq!(
        error["message"],
        "the range has 50001 buckets of this interval; the limit is 50000"
    );
    query_metric(&client, "cpu", T0, T0 + 50_000_000, "&interval=1s").data(200);
    let response = query_metric(&client, "took", T0, T0 + HOUR_MS, "&interval=90s");
    response.refused_for(422, "invalid_interval", "interval");
    query_metric(&client, "took", T0, T0 + HOUR_MS, "&interval=120s").data(200);
    for rest in ["top=0", "top=-1", "top=x", "top="] {
        let response = client.get(&format!("/api/v1/metrics/cpu/query?{rest}"));
        response.refused_for(400, "invalid_parameter", "top");
    }
    for rest in ["top_by=max", "top=1&top_by=p99", "top=1&top_by="] {
        let response = client.get(&format!("/api/v1/metrics/cpu/query?{rest}"));
        response.refused_for(400, "invalid_parameter", "top_by");
    }
    let response = client.get("/api/v1/query?metric=cpu&format=csv");
    response.refused_for(400, "invalid_parameter", "format");
}

#[test]
fn the_largest_groups_are_chosen_by_each_measure() {
    let server = Server::start();
    let client = server.client();
    let samples = fleet(&client);
    for measure in ["max", "min", "avg", "sum", "last"] {
        let mut expected: Vec<(f64, String)> = (0..7)
            .map(|host| {
                let host = format!("h{host}");
                let of_buckets: Vec<f64> = buckets(&samples, &host, MINUTE_MS)
                    .values()
                    .map(|values| max(values))
                    .collect();
                let sum: f64 = of_buckets.iter().sum();
                let value = match measure {
                    "max" => max(&of_buckets),
                    "min" => min(&of_buckets),
                    "avg" => sum / of_buckets.len() as f64,
                    "sum" => sum,
                    _ => of_buckets.last().copied().unwrap_or_default(),
                };
                (value, host)
            })
            .collect();
        expected.sort_by(|(a, host_a), (b, host_b)| b.total_cmp(a).then(host_a.cmp(host_b)));
        let expected: Vec<&str> = expected.iter().take(3).map(|(_, host)| host.as_str()).collect();
        let rest =
            format!("&interval=1m&aggregation=max,avg&group_by=tags.host&top=3&top_by={measure}");
        let columns =
            query_metric(&client, "cpu", T0, T0 + HOUR_MS, &(rest.clone() + "&format=columns"));
        let columns = columns.data(200);
        let shown: Vec<&str> = columns["groups"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|group| group["tags"]["host"].as_str())
            .collect();
        assert_eq!(shown, expected, "{measure}");
        same(&columns["meta"], &json!({"groups": 7, "shown": 3}));
        let points = query_metric(&client, "cpu", T0, T0 + HOUR_MS, &rest).data(200);
        let mut sorted = expected.clone();
        sorted.sort_unstable();
        let keys: Vec<&String> =
            points["groups"].as_object().into_iter().flat_map(|groups| groups.keys()).collect();
        assert_eq!(keys.len(), 3);
        assert!(
            sorted.iter().all(|host| keys.iter().any(|key| key == host)),
            "{measure}: {keys:?}"
        );
        same(&points["meta"], &json!({"groups": 7, "shown": 3}));
    }
}

#[test]
fn equal_groups_are_in_the_order_of_their_tags() {
    let server = Server::start();
    let client = server.client();
    let hosts = ["b", "d,\\", "a", "", "\u{202e}c", "%2F/"];
    let points: Vec<Value> =
        hosts.iter().map(|host| point("m", "counter", T0, 1.0, json!({"host": host}))).collect();
    send(&client, &points);
    for top in 1..=hosts.len() + 1 {
        let rest = format!("&interval=1m&group_by=tags.host&format=columns&top={top}");
        let data = query_metric(&client, "m", T0, T0 + MINUTE_MS, &rest).data(200);
        let mut expected = hosts;
        expected.sort_unstable();
        let expected: Vec<Value> = expected
            .iter()
            .take(top)
            .map(|host| json!({"tags": {"host": host}, "values": {"sum": [1]}}))
            .collect();
        same(&data["groups"], &Value::from(expected));
    }
}

#[test]
fn columns_contain_the_same_numbers_as_points() {
    let server = Server::start();
    let client = server.client();
    fleet(&client);
    for fill in ["none", "null", "zero", "previous"] {
        for grouped in ["", "&group_by=tags.host", "&group_by=tags.host,tags.absent"] {
            let rest = format!("&interval=30s&aggregation=min,max,last&fill={fill}{grouped}");
            let (from, to) = (T0 - MINUTE_MS, T0 + 21 * MINUTE_MS);
            let columns =
                query_metric(&client, "cpu", from, to, &(rest.clone() + "&format=columns"));
            let columns = columns.data(200);
            let fill_of_points = if fill == "none" { "null" } else { fill };
            let rest = rest.replace(&format!("fill={fill}"), &format!("fill={fill_of_points}"));
            let points = query_metric(&client, "cpu", from, to, &rest).data(200);
            assert_eq!(columns["aggregations"], json!(["min", "max", "last"]));
            assert_eq!(columns["type"], "gauge");
            let groups = columns["groups"].as_array().cloned().unwrap_or_default();
            assert_eq!(groups.len(), if grouped.is_empty() { 1 } else { 7 });
            for group in &groups {
                let host = group["tags"]["host"].as_str().unwrap_or_default();
                let series = match grouped.matches("tags.").count() {
                    0 => &points["series"],
                    1 => &points["groups"][host],
                    _ => &points["groups"][format!("{host},")],
                };
                let series = series.as_array().cloned().unwrap_or_default();
                let times: Vec<Value> = series
                    .iter()
                    .map(|p| telltale_tests::parse_iso(p["timestamp"].as_str().unwrap_or_default()))
                    .map(Value::from)
                    .collect();
                assert_eq!(columns["times"], Value::from(times), "{fill}{grouped}");
                for name in ["min", "max", "last"] {
                    let values: Vec<Value> = series.iter().map(|p| p[name].clone()).collect();
                    assert_eq!(group["values"][name], Value::from(values), "{fill}{grouped}");
                }
            }
        }
    }
}

#[test]
fn columns_without_data_have_times_and_gaps() {
    let server = Server::start();
    let client = server.client();
    send(&client, &[gauge("cpu", T0, 1.0)]);
    let at = |rest: &str| {
        let rest = format!("&interval=1m&format=columns{rest}");
        query_metric(&client, "cpu", T0 + HOUR_MS, T0 + HOUR_MS + 2 * MINUTE_MS, &rest).data(200)
    };
    let times = json!([T0 + HOUR_MS, T0 + HOUR_MS + MINUTE_MS]);
    same(
        &at(""),
        &json!({
            "name": "cpu", "type": "gauge", "interval": "1m", "aggregations": ["avg"],
            "meta": {"groups": 1, "shown": 1},
            "times": times,
            "groups": [{"tags": {}, "values": {"avg": [null, null]}}],
        }),
    );
    same(&at("&fill=zero")["groups"], &json!([{"tags": {}, "values": {"avg": [0, 0]}}]));
    same(&at("&group_by=tags.host&top=5")["groups"], &json!([]));
    same(&at("&group_by=tags.host&top=5")["meta"], &json!({"groups": 0, "shown": 0}));
}

#[test]
fn several_metrics_are_each_limited_to_their_largest_groups() {
    covers!("GET /api/v1/query", Happy);
    let server = Server::start();
    let client = server.client();
    fleet(&client);
    send(&client, &[point("disk/used", "gauge", T0, 2.0, json!({"host": "x"}))]);
    let rest = "&interval=1m&group_by=tags.host&top=2&format=columns";
    let each: Vec<Value> = ["cpu", "disk/used"]
        .iter()
        .map(|name| query_metric(&client, name, T0, T0 + HOUR_MS, rest).data(200))
        .collect();
    let (from, to) = (telltale_tests::iso(T0), telltale_tests::iso(T0 + HOUR_MS));
    let names = format!("metric=cpu&metric={}", encoded("disk/used"));
    let all = client.get(&format!("/api/v1/query?{names}&from={from}&to={to}{rest}")).data(200);
    assert_eq!(all, Value::from(each));
    same(&all[0]["meta"], &json!({"groups": 7, "shown": 2}));
    same(&all[1]["meta"], &json!({"groups": 1, "shown": 1}));
}

#[test]
fn columns_are_a_fraction_of_the_size_of_points() {
    let server = Server::start();
    let client = server.client();
    fleet(&client);
    let rest = "&interval=10s&group_by=tags.host&fill=null&aggregation=max";
    let points = query_metric(&client, "cpu", T0, T0 + HOUR_MS, rest).text().len();
    let rest = format!("{rest}&format=columns");
    let columns = query_metric(&client, "cpu", T0, T0 + HOUR_MS, &rest).text().len();
    assert!(columns * 5 < points, "{columns} bytes instead of {points}");
}
