//! Distributions and sets: percentiles and distinct counts, exact for few values and approximate
//! for many.

use serde_json::{Value, json};
use telltale_tests::{Client, HOUR_MS, MINUTE_MS, Server, iso, same};

use crate::points::{T0, pairs, point, query_metric, send};

fn distribution(name: &str, ms: i64, value: f64) -> Value {
    point(name, "distribution", T0 + ms, value, json!({}))
}

fn member(name: &str, ms: i64, member: &str, host: &str) -> Value {
    point(name, "set", T0 + ms, member, json!({"host": host}))
}

#[track_caller]
fn one(client: &Client, name: &str, aggregation: &str) -> f64 {
    let rest = format!("&interval=1h&aggregation={aggregation}");
    let data = query_metric(client, name, T0, T0 + HOUR_MS, &rest).data(200);
    match pairs(&data["series"])[..] {
        [(0, value)] => value,
        _ => panic!("one bucket was expected: {data}"),
    }
}

#[test]
fn few_values_are_exact() {
    let server = Server::start();
    let client = server.client();
    // Nearest rank: the ⌈q·n⌉-th smallest.
    let values: Vec<f64> = (1..=10).map(f64::from).collect();
    let points: Vec<Value> =
        values.iter().enumerate().map(|(i, v)| distribution("d", i as i64 * 200_000, *v)).collect();
    send(&client, &points);
    let all = "avg,sum,min,max,p50,p90,p95,p99,count";
    let rest = format!("&interval=1h&aggregation={all}");
    let series = query_metric(&client, "d", T0, T0 + HOUR_MS, &rest).data(200)["series"].clone();
    same(
        &series,
        &json!([{"timestamp": iso(T0), "avg": 5.5, "sum": 55, "min": 1, "max": 10,
                 "p50": 5, "p90": 9, "p95": 10, "p99": 10, "count": 10}]),
    );
    assert_eq!(one(&client, "d", "avg"), 5.5);
}

#[test]
fn equal_values_all_count() {
    let server = Server::start();
    let client = server.client();
    send(
        &client,
        &[distribution("d", 0, 2.0), distribution("d", 0, 2.0), distribution("d", 0, 8.0)],
    );
    assert_eq!(one(&client, "d", "count"), 3.0);
    assert_eq!(one(&client, "d", "avg"), 4.0);
    assert_eq!(one(&client, "d", "p50"), 2.0);
}

/// Sends `values` over an hour, and checks that the percentiles are within one percent of the exact
/// ones.
#[track_caller]
fn percentiles_are_close(client: &Client, name: &str, mut values: Vec<f64>) {
    let step = HOUR_MS / i64::try_from(values.len()).unwrap_or(1);
    let points: Vec<Value> =
        values.iter().enumerate().map(|(i, v)| distribution(name, i as i64 * step, *v)).collect();
    send(client, &points);
    values.sort_by(f64::total_cmp);
    for (aggregation, quantile) in [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)] {
        let rank = (quantile * values.len() as f64).ceil() as usize;
        let exact = values[rank - 1];
        let reported = one(client, name, aggregation);
        let error = (reported - exact).abs();
        assert!(error <= exact.abs() * 0.01, "{name} {aggregation}: {reported} instead of {exact}");
    }
    assert_eq!(one(client, name, "count"), values.len() as f64);
    assert_eq!(one(client, name, "min"), values[0]);
    assert_eq!(one(client, name, "max"), values[values.len() - 1]);
}

#[test]
fn percentiles_of_many_values_are_within_one_percent() {
    let server = Server::start();
    let client = server.client();
    // Deterministic values over all magnitudes, so that a failure is reproducible.
    let scatter = |i: u32| f64::from(i.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24);
    let n = 3_000;
    percentiles_are_close(&client, "even", (0..n).map(|i| 1.0 + scatter(i)).collect());
    percentiles_are_close(
        &client,
        "magnitudes",
        (0..n).map(|i| 10_f64.powf(scatter(i) * 17.0 - 5.0)).collect(),
    );
    percentiles_are_close(&client, "signed", (0..n).map(|i| (scatter(i) - 0.7) * 1e3).collect());
}

#[test]
fn percentiles_over_several_series_and_buckets_cover_all_values() {
    let server = Server::start();
    let client = server.client();
    let points: Vec<Value> = (1..=60)
        .map(|i| {
            let tags = json!({"host": format!("h{}", i % 7)});
            point("d", "distribution", T0 + i * 59_000, i as f64, tags)
        })
        .collect();
    send(&client, &points);
    assert_eq!(one(&client, "d", "p50"), 30.0);
    assert_eq!(one(&client, "d", "p99"), 60.0);
}

#[test]
fn results_cover_whole_minutes_for_any_range() {
    let server = Server::start();
    let client = server.client();
    send(&client, &[distribution("d", 5_000, 1.0), distribution("d", 55_000, 2.0)]);
    send(&client, &[member("s", 5_000, "x", "a"), member("s", 55_000, "y", "a")]);
    send(&client, &[distribution("d", MINUTE_MS + 1, 4.0)]);
    let at = |name, from: i64, to: i64| {
        let rest = "&interval=1h&aggregation=count";
        pairs(&query_metric(&client, name, T0 + from, T0 + to, rest).data(200)["series"])
    };
    assert_eq!(at("d", 30_000, 30_001), [(0, 2.0)]);
    assert_eq!(at("d", 0, MINUTE_MS), [(0, 2.0)]);
    assert_eq!(at("d", 59_999, MINUTE_MS + 1), [(0, 3.0)]);
    assert_eq!(at("s", 59_000, 59_001), [(0, 2.0)]);
}

#[test]
fn a_set_counts_each_member_once() {
    let server = Server::start();
    let client = server.client();
    send(
        &client,
        &[
            member("s", 0, "x", "a"),
            member("s", 1, "x", "b"),
            member("s", 200_000, "x", "a"),
            member("s", 400_000, "y", "a"),
            member("s", 400_000, "é\u{0}\"", "b"),
            member("s", 400_001, "Y", "b"),
        ],
    );
    assert_eq!(one(&client, "s", "count"), 4.0);
    let rest = "&interval=5m";
    let data = query_metric(&client, "s", T0, T0 + HOUR_MS, rest).data(200);
    assert_eq!(data["aggregation"], "count");
    assert_eq!(pairs(&data["series"]), [(0, 1.0), (300_000, 3.0)]);
    let rest = "&interval=1h&group_by=tags.host";
    let data = query_metric(&client, "s", T0, T0 + HOUR_MS, rest).data(200);
    same(&data["groups"]["a"], &json!([{"timestamp": iso(T0), "value": 2}]));
    same(&data["groups"]["b"], &json!([{"timestamp": iso(T0), "value": 3}]));
}

#[test]
fn a_thousand_members_are_exact_and_more_are_approximate() {
    let server = Server::start();
    let client = server.client();
    let members = |name: &str, n: i64| -> Vec<Value> {
        (0..n).map(|i| member(name, i * HOUR_MS / n, &format!("user-{i}"), "a")).collect()
    };
    send(&client, &members("exact", 1_000));
    assert_eq!(one(&client, "exact", "count"), 1_000.0);
    send(&client, &members("large", 20_000));
    let reported = one(&client, "large", "count");
    // Four standard errors of 0.82 %.
    assert!((reported - 20_000.0).abs() <= 20_000.0 * 4.0 * 0.0082, "{reported}");
}

#[test]
fn other_types_have_other_aggregations() {
    let server = Server::start();
    let client = server.client();
    send(&client, &[distribution("d", 0, 1.0), member("s", 0, "x", "a")]);
    for (name, aggregations) in
        [("d", ["last", "rate", "p75", "stddev"]), ("s", ["sum", "avg", "p50", "last"])]
    {
        for aggregation in aggregations {
            let response =
                query_metric(&client, name, T0, T0 + 1, &format!("&aggregation={aggregation}"));
            response.refused(422, "invalid_aggregation");
        }
    }
}
