//! Queries of gauges and counters: `GET /api/v1/metrics/{name}/query`, and of several metrics: `GET
//! /api/v1/query`.

use serde_json::{Value, json};
use telltale_tests::{
    Client, DAY_MS, HOUR_MS, MINUTE_MS, Server, covers, iso, now_ms, parse_iso, same,
};

use crate::points::{T0, encoded, gauge, pairs, point, query_metric, send};

const FIVE_MINUTES_MS: i64 = 5 * MINUTE_MS;

/// Writes three hosts within two hours: `a` and `b` in the first minutes, `c`, which has no region,
/// an hour later.
fn story() -> (Server, Client) {
    let server = Server::start();
    let client = server.client();
    let cpu = |ms, value, tags| point("cpu", "gauge", T0 + ms, value, tags);
    let (a, b) = (json!({"host": "a", "region": "eu"}), json!({"host": "b", "region": "us"}));
    send(
        &client,
        &[
            cpu(0, 1.0, a.clone()),
            cpu(30_000, 3.0, a.clone()),
            cpu(10_000, 10.0, b.clone()),
            cpu(60_000, 5.0, a),
            cpu(FIVE_MINUTES_MS, 20.0, b),
            cpu(HOUR_MS, 7.0, json!({"host": "c"})),
        ],
    );
    (server, client)
}

#[track_caller]
fn responses(client: &Client, rest: &str, expected: &[(i64, f64)]) {
    let data = query_metric(client, "cpu", T0, T0 + 2 * HOUR_MS, rest).data(200);
    assert_eq!(pairs(&data["series"]), expected, "{rest}: {data}");
}

#[test]
fn each_aggregation_of_a_gauge() {
    covers!("GET /api/v1/metrics/{name}/query", Happy);
    let (_server, client) = story();
    let at = |avg, b, c| [(0, avg), (FIVE_MINUTES_MS, b), (HOUR_MS, c)];
    responses(&client, "&interval=5m", &at(4.75, 20.0, 7.0));
    responses(&client, "&interval=5m&aggregation=avg", &at(4.75, 20.0, 7.0));
    responses(&client, "&interval=5m&aggregation=last", &at(5.0, 20.0, 7.0));
    responses(&client, "&interval=5m&aggregation=min", &at(1.0, 20.0, 7.0));
    responses(&client, "&interval=5m&aggregation=max", &at(10.0, 20.0, 7.0));
    responses(&client, "&interval=1h&aggregation=max", &[(0, 20.0), (HOUR_MS, 7.0)]);
    responses(&client, "&interval=1d&aggregation=last", &[(0, 7.0)]);
    responses(
        &client,
        "&interval=1m&aggregation=last",
        &[(0, 3.0), (MINUTE_MS, 5.0), (FIVE_MINUTES_MS, 20.0), (HOUR_MS, 7.0)],
    );
}

#[test]
fn a_response_describes_its_query() {
    let (_server, client) = story();
    let data = query_metric(&client, "cpu", T0, T0 + FIVE_MINUTES_MS, "&interval=5m").data(200);
    let series = json!([{"timestamp": iso(T0), "value": 4.75}]);
    same(&data, &json!({"name": "cpu", "aggregation": "avg", "interval": "5m", "series": series}));

    let rest = "&interval=5m&aggregation=min,max,last";
    let data = query_metric(&client, "cpu", T0, T0 + FIVE_MINUTES_MS, rest).data(200);
    let series = json!([{"timestamp": iso(T0), "min": 1, "max": 10, "last": 5}]);
    same(&data, &json!({"name": "cpu", "interval": "5m", "series": series}));
}

#[test]
fn groups_are_the_values_of_tags() {
    let (_server, client) = story();
    let groups = |rest: &str| {
        let rest = format!("&interval=1h{rest}");
        query_metric(&client, "cpu", T0, T0 + 2 * HOUR_MS, &rest).data(200)["groups"].clone()
    };
    let (first, second) = (iso(T0), iso(T0 + HOUR_MS));
    same(
        &groups("&group_by=tags.host&aggregation=max"),
        &json!({
            "a": [{"timestamp": first, "value": 5}],
            "b": [{"timestamp": first, "value": 20}],
            "c": [{"timestamp": second, "value": 7}],
        }),
    );
    let by_region = groups("&group_by=tags.region&aggregation=min");
    same(&by_region[""], &json!([{"timestamp": second, "value": 7}]));
    same(&by_region["us"], &json!([{"timestamp": first, "value": 10}]));
    let by_both = groups("&group_by=tags.region,tags.host&aggregation=min,max");
    same(&by_both["eu,a"], &json!([{"timestamp": first, "min": 1, "max": 5}]));
    same(&by_both[",c"], &json!([{"timestamp": second, "min": 7, "max": 7}]));
    // A tag that no series has makes one group of all.
    let by_none = groups("&group_by=tags.absent&aggregation=max");
    assert_eq!(by_none.as_object().map(|o| o.len()), Some(1), "{by_none}");
}

#[test]
fn filters_select_series() {
    let (_server, client) = story();
    let day = |filter: &str| format!("&interval=1d&aggregation=max{filter}");
    for (filter, expected) in [
        ("&tags[host]=a", Some(5.0)),
        ("&tags%5Bhost%5D=a", Some(5.0)),
        ("&tags[host]=a,b", Some(20.0)),
        ("&tags[host]=!b", Some(7.0)),
        ("&tags[region]=e*", Some(5.0)),
        ("&tags[region]=!us", Some(7.0)),
        ("&tags[host]=b&tags[region]=us", Some(20.0)),
        ("&tags[host]=b&tags[region]=eu", None),
        ("&tags[host]=nobody", None),
        ("&tags[absent]=x", None),
        ("&tags[absent]=!x", Some(20.0)),
    ] {
        let expected: Vec<(i64, f64)> = expected.map(|value| (0, value)).into_iter().collect();
        responses(&client, &day(filter), &expected);
    }
}

#[test]
fn a_range_is_half_open_and_limits_its_first_and_last_bucket() {
    let (_server, client) = story();
    let max = |from: i64, to: i64| {
        let rest = "&interval=5m&aggregation=max";
        pairs(&query_metric(&client, "cpu", T0 + from, T0 + to, rest).data(200)["series"])
    };
    assert_eq!(max(0, 1), [(0, 1.0)]);
    assert_eq!(max(1, 10_000), []);
    assert_eq!(max(1, 10_001), [(0, 10.0)]);
    assert_eq!(max(10_001, 60_000), [(0, 3.0)]);
    assert_eq!(max(60_000, FIVE_MINUTES_MS), [(0, 5.0)]);
    assert_eq!(max(60_000, FIVE_MINUTES_MS + 1), [(0, 5.0), (FIVE_MINUTES_MS, 20.0)]);
    assert_eq!(max(60_001, FIVE_MINUTES_MS), []);
}

#[test]
fn empty_buckets_are_filled_as_requested() {
    let (_server, client) = story();
    let filled = |how: &str| {
        let rest = format!("&interval=5m&aggregation=max&fill={how}");
        let to = T0 + 2 * FIVE_MINUTES_MS + 1;
        query_metric(&client, "cpu", T0 - FIVE_MINUTES_MS, to, &rest).data(200)["series"].clone()
    };
    let values = |how: &str| -> Vec<Value> {
        let series = filled(how);
        series.as_array().into_iter().flatten().map(|point| point["value"].clone()).collect()
    };
    same(&values("none").into(), &json!([10, 20]));
    same(&values("null").into(), &json!([null, 10, 20, null]));
    same(&values("zero").into(), &json!([0, 10, 20, 0]));
    same(&values("previous").into(), &json!([null, 10, 20, 20]));
    assert_eq!(filled("zero")[0]["timestamp"], iso(T0 - FIVE_MINUTES_MS));
}

#[test]
fn counters_have_sums_and_rates() {
    let server = Server::start();
    let client = server.client();
    let count = |ms: i64, value: f64, host: &str| {
        point("hits", "counter", T0 + ms, value, json!({"host": host}))
    };
    // Samples of a counter never replace each other, even if they are equal.
    send(&client, &[count(0, 1.0, "a"), count(0, 1.0, "a"), count(0, 2.5, "b")]);
    send(&client, &[count(90_000, -0.5, "a"), count(HOUR_MS, 60.0, "b")]);
    let hits = |from: i64, to: i64, rest: &str| {
        pairs(&query_metric(&client, "hits", T0 + from, T0 + to, rest).data(200)["series"])
    };
    assert_eq!(hits(0, HOUR_MS, "&interval=1m"), [(0, 4.5), (MINUTE_MS, -0.5)]);
    assert_eq!(hits(0, HOUR_MS, "&interval=5m&aggregation=sum"), [(0, 4.0)]);
    assert_eq!(hits(0, HOUR_MS, "&interval=5m&aggregation=rate"), [(0, 4.0 / 300.0)]);
    // The rate of a partial bucket is per second of the range in it.
    assert_eq!(hits(0, 100_000, "&interval=5m&aggregation=rate"), [(0, 4.0 / 100.0)]);
    assert_eq!(
        hits(60_000, 2 * HOUR_MS, "&interval=1h&aggregation=rate"),
        [(0, -0.5 / 3_540.0), (HOUR_MS, 60.0 / 3_600.0)]
    );
    let both =
        query_metric(&client, "hits", T0, T0 + MINUTE_MS, "&interval=1m&aggregation=sum,rate");
    same(
        &both.data(200)["series"],
        &json!([{"timestamp": iso(T0), "sum": 4.5, "rate": 4.5 / 60.0}]),
    );
}

#[test]
fn the_default_interval_is_the_finest_that_a_screen_can_show() {
    let server = Server::start();
    let client = server.client();
    send(&client, &[gauge("a", T0, 1.0)]);
    for (length, expected) in [
        (1, "1m"),
        (DAY_MS, "1m"),
        (25 * HOUR_MS, "1m"),
        (25 * HOUR_MS + MINUTE_MS, "5m"),
        (5 * DAY_MS, "5m"),
        (6 * DAY_MS, "1h"),
        (62 * DAY_MS, "1h"),
        (63 * DAY_MS, "1d"),
        (1_400 * DAY_MS, "1d"),
    ] {
        let data = query_metric(&client, "a", T0 - length + 1, T0 + 1, "").data(200);
        // A range that begins within a bucket overlaps one bucket more than its length.
        let aligned = query_metric(&client, "a", T0, T0 + length, "").data(200);
        assert_eq!(aligned["interval"], expected, "{length} ms");
        assert_eq!(pairs(&data["series"]).len(), 1, "{length} ms");
    }
}

#[test]
fn the_default_range_is_the_last_hour() {
    let server = Server::start();
    let client = server.client();
    let now = now_ms();
    send(
        &client,
        &[
            gauge("a", now - HOUR_MS - MINUTE_MS, 1.0),
            gauge("a", now - HOUR_MS + MINUTE_MS, 2.0),
            gauge("a", now - MINUTE_MS, 4.0),
            gauge("a", now + 10 * MINUTE_MS, 8.0),
        ],
    );
    let values = |query: &str| -> Vec<f64> {
        let data = client.get(&format!("/api/v1/metrics/a/query?interval=1m{query}")).data(200);
        pairs(&data["series"]).into_iter().map(|(_, value)| value).collect()
    };
    assert_eq!(values(""), [2.0, 4.0]);
    assert_eq!(values(&format!("&to={}", iso(now))), [2.0, 4.0]);
    assert_eq!(values(&format!("&from={}", iso(now - 2 * HOUR_MS))), [1.0, 2.0, 4.0]);
}

#[test]
fn from_and_to_may_be_dates_and_have_offsets() {
    let server = Server::start();
    let client = server.client();
    send(&client, &[gauge("a", T0 - 1, 1.0), gauge("a", T0, 2.0), gauge("a", T0 + HOUR_MS, 4.0)]);
    let sum = |query: &str| {
        let path = format!("/api/v1/metrics/a/query?interval=1d&aggregation=max&{query}");
        pairs(&client.get(&path).data(200)["series"])
    };
    assert_eq!(sum("from=2024-03-05&to=2024-03-06T00:00Z"), [(0, 4.0)]);
    assert_eq!(sum("from=2024-03-04&to=2024-03-05T00:00:00.000Z"), [(-DAY_MS, 1.0)]);
    assert_eq!(sum("from=2024-03-05T01:00%2B01:00&to=2024-03-05T00:00:01"), [(0, 2.0)]);
    assert_eq!(sum("from=2024-03-05T01:00+01:00&to=2024-03-05T00:00:01"), [(0, 2.0)]);
}

#[test]
fn the_last_written_gauge_point_of_an_instant_counts() {
    let server = Server::start();
    let client = server.client();
    for value in [3.0, 9.0, 1.0] {
        send(&client, &[gauge("a", T0, value)]);
    }
    send(&client, &[gauge("a", T0 + 1, 4.0), gauge("a", T0 + 1, 5.0)]);
    let rest = "&interval=1m&aggregation=min,max,avg,last";
    let series = query_metric(&client, "a", T0, T0 + 2, rest).data(200)["series"].clone();
    same(&series, &json!([{"timestamp": iso(T0), "min": 1, "max": 5, "avg": 3, "last": 5}]));
}

#[test]
fn the_latest_point_over_all_series_is_the_last() {
    let server = Server::start();
    let client = server.client();
    let at = |ms: i64, value: f64, host: &str| {
        point("a", "gauge", T0 + ms, value, json!({"host": host}))
    };
    // Of two series with samples at the same time, the more recently created one counts.
    send(&client, &[at(5, 1.0, "first")]);
    send(&client, &[at(5, 2.0, "second")]);
    send(&client, &[at(5, 3.0, "first"), at(4, 9.0, "second")]);
    let rest = "&interval=1m&aggregation=last";
    assert_eq!(
        pairs(&query_metric(&client, "a", T0, T0 + 60_000, rest).data(200)["series"]),
        [(0, 2.0)]
    );
}

#[test]
fn late_points_count_in_the_bucket_of_their_timestamp() {
    let server = Server::start();
    let client = server.client();
    for days in [0, -400, -1, -30, -10_000] {
        send(&client, &[gauge("a", T0 + days * DAY_MS, days as f64)]);
    }
    for days in [0, -1, -30, -400, -10_000] {
        let at = T0 + days * DAY_MS;
        let data = query_metric(&client, "a", at, at + DAY_MS, "&interval=1d").data(200);
        assert_eq!(pairs(&data["series"]), [(days * DAY_MS, days as f64)]);
    }
}

#[test]
fn an_invalid_query_is_refused() {
    covers!("GET /api/v1/metrics/{name}/query", Refusal);
    let (_server, client) = story();
    let refused = |query: &str, status: u16, code: &str| {
        let response = client.get(&format!("/api/v1/metrics/cpu/query?{query}"));
        response.refused(status, code)
    };
    client.get("/api/v1/metrics/nothing/query").refused(404, "metric_not_found");
    for aggregation in ["sum", "p95", "count", "rate", "AVG", "", "avg,", "avg,sum", "median"] {
        refused(&format!("aggregation={aggregation}"), 422, "invalid_aggregation");
    }
    for interval in
        ["0m", "01m", "0", "1w", "1M", "", "60", "-1m", "1.5m", "4000d", "99999999999999999999d"]
    {
        refused(&format!("interval={interval}"), 422, "invalid_interval");
    }
    for time in ["yesterday", "", "2024-02-30", "2024-03-05T25:00", "170959680", "now-1y"] {
        refused(&format!("from={time}"), 422, "invalid_timestamp");
        refused(&format!("to={time}"), 422, "invalid_timestamp");
    }
    for range in
        ["from=2024-03-05&to=2024-03-04T00:00Z", "from=2024-03-05T01:00&to=2024-03-05T01:00"]
    {
        refused(range, 422, "invalid_range");
    }
    refused("from=2024-01-01&to=2024-02-10T00:00Z&interval=1m", 422, "invalid_range");
    refused("from=1970-01-01&to=2024-02-10T00:00Z&interval=1h", 422, "invalid_range");
    let keys = "tags.a,tags.b,tags.c,tags.d,tags.e";
    for group_by in ["host", "tags.", "tags", "", keys, "tags.host,tags.host"] {
        let response = client.get(&format!("/api/v1/metrics/cpu/query?group_by={group_by}"));
        response.refused_for(400, "invalid_parameter", "group_by");
    }
    for fill in ["linear", "", "NULL"] {
        let response = client.get(&format!("/api/v1/metrics/cpu/query?fill={fill}"));
        response.refused_for(400, "invalid_parameter", "fill");
    }
}

#[test]
fn a_query_of_several_metrics_equals_single_queries() {
    covers!("GET /api/v1/query", Happy);
    let (_server, client) = story();
    send(&client, &[gauge("disk/used", T0, 1.5), gauge("disk/used", T0 + HOUR_MS, 2.5)]);
    let (from, to) = (iso(T0), iso(T0 + 2 * HOUR_MS));
    for rest in ["", "&interval=5m&aggregation=min,max", "&group_by=tags.host&tags[host]=!b"] {
        let span = format!("from={from}&to={to}{rest}");
        let names = ["cpu", "disk/used", "cpu"];
        let each: Vec<Value> = names
            .iter()
            .map(|name| query_metric(&client, name, T0, T0 + 2 * HOUR_MS, rest).data(200))
            .collect();
        let asked = names.map(|name| format!("metric={}&", encoded(name))).concat();
        let all = client.get(&format!("/api/v1/query?{asked}{span}")).data(200);
        assert_eq!(all, Value::from(each), "{rest}");
    }
}

#[test]
fn a_query_of_several_metrics_is_refused_when_one_is_invalid() {
    covers!("GET /api/v1/query", Refusal);
    let (_server, client) = story();
    let none = client.get("/api/v1/query?interval=1m");
    none.refused_for(400, "invalid_parameter", "metric");
    let many = "metric=cpu&".repeat(51);
    client.get(&format!("/api/v1/query?{many}")).refused_for(400, "invalid_parameter", "metric");
    client.get(&format!("/api/v1/query?{}", "metric=cpu&".repeat(50))).data(200);
    client.get("/api/v1/query?metric=cpu&metric=nothing").refused(404, "metric_not_found");
    client.get("/api/v1/query?metric=").refused(404, "metric_not_found");
    let sum = client.get("/api/v1/query?metric=cpu&aggregation=sum");
    sum.refused(422, "invalid_aggregation");
}

#[test]
fn timestamps_of_results_are_bucket_starts() {
    let server = Server::start();
    let client = server.client();
    let odd = T0 + 7 * DAY_MS + 13 * HOUR_MS + 37 * MINUTE_MS + 11_111;
    send(&client, &[gauge("a", odd, 1.0)]);
    for (interval, width) in
        [("1m", MINUTE_MS), ("5m", FIVE_MINUTES_MS), ("1h", HOUR_MS), ("1d", DAY_MS)]
    {
        let data =
            query_metric(&client, "a", odd, odd + 1, &format!("&interval={interval}")).data(200);
        let start = parse_iso(data["series"][0]["timestamp"].as_str().unwrap_or_default());
        assert_eq!(start, odd - odd.rem_euclid(width), "{interval}");
    }
}

#[test]
fn a_misspelled_parameter_is_refused_with_a_suggestion() {
    let server = Server::start();
    let client = server.client();
    send(&client, &[gauge("cpu", T0, 1.0)]);
    for (path, field, meant) in [
        ("metrics/cpu/query?tag[host]=a", "tag[host]", "did you mean tags[host]?"),
        ("metrics/cpu/query?Interval=1m", "Interval", "did you mean interval?"),
        ("metrics/cpu/query?form=2026-01-01", "form", "did you mean from?"),
        ("query?metric=cpu&aggregations=avg", "aggregations", "did you mean aggregation?"),
        ("events?user=ann", "user", "did you mean user_id?"),
    ] {
        let response = client.get(&format!("/api/v1/{path}"));
        response.refused_for(400, "invalid_parameter", field);
        assert!(response.text().contains(meant), "{path}: {}", response.summary());
    }
}
