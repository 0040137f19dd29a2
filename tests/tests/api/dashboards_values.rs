//! Widget data: every type with its options, with the same numbers as direct queries of the same
//! range.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use telltale_tests::{Client, DAY_MS, HOUR_MS, MINUTE_MS, Server, Setup, covers, iso, same};

use crate::dashboards::{add, make, patch, widget};
use crate::keys::text;
use crate::points::{T0, pairs, point, query_metric, send};

/// Returns two days of a gauge, a counter, a distribution and a set on three hosts, at intervals of
/// a quarter of an hour.
#[track_caller]
fn story(client: &Client) {
    let mut points = Vec::new();
    for quarter in 0..192_i64 {
        let ms = T0 + quarter * 15 * MINUTE_MS + 1_234;
        for (n, host) in ["a", "b", "c"].into_iter().enumerate() {
            let n = n as i64 + 1;
            let tags = json!({"host": host, "zone": if n == 1 { "x" } else { "y" }});
            let wave = (quarter * 7 * n) % 23;
            points.push(point("cpu", "gauge", ms, wave as f64 / 10.0, tags.clone()));
            points.push(point("hits", "counter", ms, wave + n, tags.clone()));
            points.push(point("took", "distribution", ms, (wave * wave + n) as f64, tags.clone()));
            points.push(point("users", "set", ms, format!("u{}", wave * n), tags));
        }
    }
    send(client, &points);
}

/// Creates a dashboard with one widget, and returns the data of the widget between two times.
#[track_caller]
fn shown(client: &Client, kind: &str, query: Value, options: Value, from: i64, to: i64) -> Value {
    let path = make(client, "d");
    let made = add(client, &path, &widget(kind, query, options));
    let span = format!("from={}&to={}", iso(from), iso(to));
    let whole = client.get(&format!("{path}?{span}")).data(200)["widgets"][0].clone();
    let data = client.get(&format!("{path}/widgets/{}/data?{span}", text(&made["id"])));
    let data = data.data(200);
    for (name, value) in data.as_object().into_iter().flatten() {
        if !["from", "to"].contains(&name.as_str()) {
            assert_eq!(*value, whole[name], "the dashboard and its widget say the same");
        }
    }
    assert_eq!((&data["from"], &data["to"]), (&json!(iso(from)), &json!(iso(to))));
    if kind == "graph" {
        let of_widget = format!("{path}/widgets/{}/data?{span}&format=columns", text(&made["id"]));
        let of_widget = client.get(&of_widget).data(200);
        let all = client.get(&format!("{path}?{span}&format=columns")).data(200);
        assert_eq!(of_widget["columns"], all["widgets"][0]["columns"]);
        assert_eq!(lines(&of_widget), lines(&whole), "columns have the same values");
    }
    whole
}

/// Returns the points of each line of a graph, by label, whichever form it has.
fn lines(graph: &Value) -> BTreeMap<Option<String>, Vec<(i64, f64)>> {
    if let Some(groups) = graph["groups"].as_object() {
        return groups.iter().map(|(label, list)| (Some(label.clone()), pairs(list))).collect();
    }
    let columns = &graph["columns"];
    if columns.is_null() {
        return BTreeMap::from([(None, pairs(&graph["series"]))]);
    }
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let times: Vec<i64> = list(&columns["times"]).iter().filter_map(Value::as_i64).collect();
    let line = |line: &Value| {
        let values = list(&line["values"]);
        assert_eq!(values.len(), times.len());
        let rows = times.iter().zip(values);
        let rows = rows.filter_map(|(t, value)| Some((*t - T0, value.as_f64()?)));
        (line["label"].as_str().map(str::to_owned), rows.collect())
    };
    list(&columns["lines"]).iter().map(line).collect()
}

/// Returns the single number of a metric between two times on the same day.
#[track_caller]
fn direct(client: &Client, metric: &str, aggregation: &str, from: i64, to: i64) -> f64 {
    let rest = format!("&aggregation={aggregation}&interval=1d");
    let series = query_metric(client, metric, from, to, &rest).data(200)["series"].clone();
    let pairs = pairs(&series);
    assert_eq!(pairs.len(), 1, "{series}");
    pairs[0].1
}

/// Returns these numbers by the values of a tag.
#[track_caller]
fn direct_groups(
    client: &Client,
    metric: &str,
    aggregation: &str,
    keys: &str,
    (from, to): (i64, i64),
) -> BTreeMap<String, f64> {
    let rest = format!("&aggregation={aggregation}&interval=1d&group_by={keys}");
    let groups = query_metric(client, metric, from, to, &rest).data(200)["groups"].clone();
    let number = |(label, series): (&String, &Value)| (label.clone(), pairs(series)[0].1);
    groups.as_object().into_iter().flatten().map(number).collect()
}

/// A day whose bounds are not bucket bounds.
const FROM: i64 = T0 + 2 * HOUR_MS + 17 * MINUTE_MS + 5;
const TO: i64 = T0 + 19 * HOUR_MS + 3 * MINUTE_MS + 59;

#[test]
fn a_number_is_one_aggregate_over_the_range() {
    covers!("GET /api/v1/dashboards/{id}/widgets/{widget_id}/data", Happy);
    let server = Server::start();
    let client = server.client();
    story(&client);
    for (metric, all) in [
        ("cpu", &["avg", "last", "min", "max"][..]),
        ("hits", &["sum", "rate"]),
        ("took", &["avg", "sum", "min", "max", "p50", "p90", "p95", "p99", "count"]),
        ("users", &["count"]),
    ] {
        for aggregation in all {
            let query = json!({"metric": metric, "aggregation": aggregation});
            let widget = shown(&client, "number", query, json!({}), FROM, TO);
            let expected = direct(&client, metric, aggregation, FROM, TO);
            same(&widget["value"], &json!(expected));
        }
    }
    let query = json!({"metric": "hits", "tags": {"host": "a,b", "zone": "!y"}});
    let filtered = shown(&client, "number", query, json!({}), FROM, TO);
    let by_host = direct_groups(&client, "hits", "sum", "tags.host", (FROM, TO));
    same(&filtered["value"], &json!(by_host["a"]));
}

#[test]
fn a_number_does_not_depend_on_day_bounds_or_age() {
    let server = Server::start();
    let client = server.client();
    story(&client);
    let (from, to) = (T0 + HOUR_MS, T0 + DAY_MS + 7 * HOUR_MS + 1);
    let number = |aggregation: &str, metric: &str| {
        let query = json!({"metric": metric, "aggregation": aggregation});
        shown(&client, "number", query, json!({}), from, to)["value"].clone()
    };
    let asked =
        [("sum", "hits"), ("avg", "cpu"), ("p95", "took"), ("count", "users"), ("last", "cpu")];
    let before: Vec<Value> = asked.iter().map(|(a, m)| number(a, m)).collect();
    let sum: f64 =
        pairs(&query_metric(&client, "hits", from, to, "&interval=1h").data(200)["series"])
            .iter()
            .map(|(_, value)| value)
            .sum();
    same(&before[0], &json!(sum));
    client.post("/api/v1/admin/seal", &json!({})).data(200);
    client.post("/api/v1/admin/merge", &json!({})).data(200);
    let after: Vec<Value> = asked.iter().map(|(a, m)| number(a, m)).collect();
    assert_eq!(before, after);
}

#[test]
fn a_number_is_compared_with_the_previous_period() {
    let server = Server::start();
    let client = server.client();
    story(&client);
    let (from, to) = (T0 + 12 * HOUR_MS, T0 + 20 * HOUR_MS);
    let comparison = json!({"comparison": {"type": "previous_period"}, "format": {"suffix": "/d"}});
    let query = json!({"metric": "hits"});
    let widget = shown(&client, "number", query.clone(), comparison.clone(), from, to);
    let value = direct(&client, "hits", "sum", from, to);
    let previous = direct(&client, "hits", "sum", T0 + 4 * HOUR_MS, from);
    same(&widget["value"], &json!(value));
    same(&widget["previous_value"], &json!(previous));
    same(&widget["change_percent"], &json!((value - previous) / previous * 100.0));

    let first = shown(&client, "number", query, comparison, T0, to);
    assert_eq!((&first["previous_value"], &first["change_percent"]), (&Value::Null, &Value::Null));
    let plain = shown(&client, "number", json!({"metric": "hits"}), json!({}), T0, to);
    assert!(plain.get("previous_value").is_none(), "{plain}");
}

#[test]
fn a_graph_is_one_series_or_one_per_group() {
    let server = Server::start();
    let client = server.client();
    story(&client);
    for rest in ["", "&interval=5m", "&interval=1h", "&aggregation=max"] {
        let mut query = json!({"metric": "cpu"});
        if let Some((name, value)) = rest.trim_start_matches('&').split_once('=') {
            query[name] = json!(value);
        }
        let widget = shown(&client, "graph", query, json!({"style": "line"}), FROM, TO);
        let expected = query_metric(&client, "cpu", FROM, TO, rest).data(200);
        assert_eq!(widget["series"], expected["series"], "{rest}");
    }
    for keys in ["tags.host", "tags.zone,tags.host", "tags.none"] {
        let query = json!({"metric": "hits", "group_by": keys, "interval": "1h"});
        let widget = shown(&client, "graph", query, json!({}), FROM, TO);
        let rest = format!("&interval=1h&group_by={keys}");
        let expected = query_metric(&client, "hits", FROM, TO, &rest).data(200);
        assert_eq!(widget["groups"], expected["groups"], "{keys}");
        assert!(widget.get("series").is_none());
    }
}

#[test]
fn bars_and_pies_are_groups_in_descending_order() {
    let server = Server::start();
    let client = server.client();
    story(&client);
    let groups = direct_groups(&client, "hits", "sum", "tags.host", (FROM, TO));
    let mut expected: Vec<(&String, &f64)> = groups.iter().collect();
    expected.sort_by(|a, b| b.1.total_cmp(a.1));
    let items: Vec<Value> =
        expected.iter().map(|(label, value)| json!({"label": label, "value": value})).collect();
    let query = json!({"metric": "hits", "group_by": "tags.host"});
    let bar = shown(&client, "bar", query.clone(), json!({"orientation": "horizontal"}), FROM, TO);
    same(&bar["items"], &json!(items));
    let pie = json!({"limit": 2, "show_legend": true});
    let pie = shown(&client, "pie", query, pie, FROM, TO);
    same(&pie["items"], &json!(items[..2]));
    let one = shown(&client, "bar", json!({"metric": "hits"}), json!({}), FROM, TO);
    let sum: f64 = groups.values().sum();
    same(&one["items"], &json!([{"label": "hits", "value": sum}]));

    let points: Vec<Value> = (0..30)
        .map(|i| point("many", "counter", FROM, i, json!({"k": format!("k{i:02}")})))
        .collect();
    send(&client, &points);
    let query = json!({"metric": "many", "group_by": "tags.k"});
    let ten = shown(&client, "bar", query, json!({}), FROM, TO)["items"].clone();
    assert_eq!(ten.as_array().map(Vec::len), Some(10), "ten by default");
    assert_eq!(ten[0], json!({"label": "k29", "value": 29}));
}

#[test]
fn a_table_has_sorted_rows_with_columns() {
    let server = Server::start();
    let client = server.client();
    story(&client);
    let range = (FROM, TO);
    let query = json!({"metric": "took", "aggregation": "p95", "group_by": "tags.host"});
    let [p95, count, max] =
        ["p95", "count", "max"].map(|a| direct_groups(&client, "took", a, "tags.host", range));
    let options = json!({
        "columns": ["host", "count", "p95", "value", "max"], "sort": {"field": "max", "order": "asc"}, "limit": 2
    });
    let table = shown(&client, "table", query.clone(), options, FROM, TO);
    let mut hosts: Vec<&String> = max.keys().collect();
    hosts.sort_by(|a, b| max[*a].total_cmp(&max[*b]));
    let row = |host: &&String| {
        json!({
            "host": host, "count": count[*host], "p95": p95[*host], "value": p95[*host], "max": max[*host]
        })
    };
    let expected: Vec<Value> = hosts.iter().take(2).map(row).collect();
    same(&table["rows"], &json!(expected));

    let plain = shown(&client, "table", query.clone(), json!({}), FROM, TO);
    let mut hosts: Vec<&String> = p95.keys().collect();
    hosts.sort_by(|a, b| p95[*b].total_cmp(&p95[*a]));
    let expected: Vec<Value> =
        hosts.iter().map(|host| json!({"host": host, "value": p95[*host]})).collect();
    same(&plain["rows"], &json!(expected));
    let by_name = json!({"columns": ["tags.host"], "sort": {"field": "label"}});
    let by_name = shown(&client, "table", query, by_name, FROM, TO);
    assert_eq!(
        by_name["rows"],
        json!([{"tags.host": "c"}, {"tags.host": "b"}, {"tags.host": "a"}])
    );
    let one = shown(&client, "table", json!({"metric": "hits"}), json!({}), FROM, TO);
    assert_eq!(one["rows"][0]["label"], "hits");
}

#[test]
fn a_heatmap_is_by_hour_and_weekday() {
    let server = Server::start();
    let client = server.client();
    story(&client);
    // The same hours of the following week.
    let later: Vec<Value> = (0..5)
        .map(|hour| point("hits", "counter", T0 + 7 * DAY_MS + hour * HOUR_MS, 1_000, json!({})))
        .collect();
    send(&client, &later);
    let (from, to) = (T0, T0 + 14 * DAY_MS);
    let query = json!({"metric": "hits"});
    let map = shown(&client, "heatmap", query.clone(), json!({}), from, to)["cells"].clone();
    let hours = pairs(&query_metric(&client, "hits", from, to, "&interval=1h").data(200)["series"]);
    let mut expected: BTreeMap<(i64, i64), f64> = BTreeMap::new();
    for (ms, value) in hours {
        // The first day is a Tuesday.
        let (day, hour) = ((ms / DAY_MS + 1) % 7 + 1, ms % DAY_MS / HOUR_MS);
        *expected.entry((day, hour)).or_default() += value;
    }
    let cells: Vec<Value> =
        expected.iter().map(|((y, x), value)| json!({"x": x, "y": y, "value": value})).collect();
    assert_eq!(cells.len(), 48);
    same(&map, &json!(cells));
    let turned = json!({"x_axis": "day_of_week", "y_axis": "hour_of_day"});
    let turned = shown(&client, "heatmap", query, turned, from, to)["cells"].clone();
    same(&turned[0], &json!({"x": 2, "y": 0, "value": cells[0]["value"]}));
    // The mean of a cell is the mean of its values, not of its hours.
    let query = json!({"metric": "took", "aggregation": "avg"});
    let mean = shown(&client, "heatmap", query, json!({}), T0, T0 + HOUR_MS)["cells"].clone();
    same(&mean[0]["value"], &json!(direct(&client, "took", "avg", T0, T0 + HOUR_MS)));
}

#[test]
fn a_widget_of_a_missing_metric_is_empty_until_the_metric_exists() {
    let server = Server::start();
    let client = server.client();
    let path = make(&client, "d");
    for (kind, empty) in [
        ("number", "value"),
        ("graph", "series"),
        ("bar", "items"),
        ("pie", "items"),
        ("table", "rows"),
        ("heatmap", "cells"),
    ] {
        let query = json!({"metric": "soon", "aggregation": "max"});
        let widget = shown(&client, kind, query.clone(), json!({}), FROM, TO);
        let nothing = if kind == "number" { Value::Null } else { json!([]) };
        assert_eq!(widget[empty], nothing, "{widget}");
        assert!(widget.get(empty).is_some() && widget.get("error").is_none(), "{widget}");
    }
    add(
        &client,
        &path,
        &widget("number", json!({"metric": "soon", "aggregation": "max"}), json!({})),
    );
    add(
        &client,
        &path,
        &widget("graph", json!({"metric": "soon", "group_by": "tags.a"}), json!({})),
    );
    let empty = client.get(&path).data(200);
    assert_eq!(empty["widgets"][1]["groups"], json!({}));
    client.post("/api/v1/metrics", &json!({"name": "soon", "type": "gauge", "value": 4})).data(201);
    let shown = client.get(&path).data(200);
    assert_eq!(shown["widgets"][0]["value"], 4);
    assert!(shown["widgets"][1]["groups"][""][0]["value"] == 4, "{shown}");
}

#[test]
fn a_failed_widget_has_its_error_and_the_others_their_data() {
    let server = Server::start();
    let client = server.client();
    let path = make(&client, "d");
    // Accepted while the metric has no type; later it has one without this aggregation.
    let failing = json!({"metric": "late", "aggregation": "p99"});
    add(&client, &path, &widget("number", failing, json!({})));
    add(&client, &path, &widget("number", json!({"metric": "late"}), json!({})));
    let finest = json!({"metric": "late", "interval": "1m"});
    let finest = add(&client, &path, &widget("graph", finest, json!({})));
    client.post("/api/v1/metrics", &json!({"name": "late", "type": "gauge", "value": 3})).data(201);
    let shown = client.get(&format!("{path}?from=2020-01-01")).data(200)["widgets"].clone();
    assert_eq!(shown[0]["error"]["code"], "invalid_query", "{shown}");
    assert!(shown[0]["error"]["message"].is_string() && shown[0].get("value").is_none());
    assert_eq!(shown[1]["value"], 3);
    assert_eq!(shown[2]["error"]["code"], "invalid_query", "too many buckets: {shown}");
    let data = format!("{path}/widgets/{}/data?from=2020-01-01", text(&finest["id"]));
    assert_eq!(client.get(&data).data(200)["error"]["code"], "invalid_query");
}

#[test]
fn a_widget_that_times_out_does_not_affect_others() {
    // Twenty widgets, each with percentiles of 20 000 samples in 200 groups: no machine computes
    // all of them in a millisecond.
    let server = Setup::new().set("dashboards.widget_timeout_ms", "1").start();
    let client = server.client();
    let points: Vec<Value> = (0..20_000)
        .map(|i| point("heavy", "distribution", T0 + i * 4_000, i, json!({"k": i % 200})))
        .collect();
    send(&client, &points);
    let path = make(&client, "d");
    let query =
        json!({"metric": "heavy", "aggregation": "p99", "group_by": "tags.k", "interval": "1h"});
    for _ in 0..20 {
        add(&client, &path, &widget("graph", query.clone(), json!({})));
    }
    let span = format!("{path}?from={}&to={}", iso(T0), iso(T0 + DAY_MS));
    let shown = client.get(&span).data(200)["widgets"].clone();
    let codes: Vec<&str> =
        shown.as_array().into_iter().flatten().map(|w| text(&w["error"]["code"])).collect();
    assert!(codes.contains(&"unavailable"), "{codes:?}");
    client.get(crate::dashboards::PATH).expect(200);
}

#[test]
fn a_widget_has_a_time_range_of_its_own() {
    let server = Server::start();
    let client = server.client();
    let now = telltale_tests::now_ms();
    let points =
        [1, 30, 200].map(|hours| point("seen", "counter", now - hours * HOUR_MS, 1, json!({})));
    send(&client, &points);
    let path = make(&client, "d");
    let ranges = ["90m", "24h", "2d", "2w"];
    for range in ranges {
        add(
            &client,
            &path,
            &widget("number", json!({"metric": "seen"}), json!({"time_range": range})),
        );
    }
    add(&client, &path, &widget("number", json!({"metric": "seen"}), json!({})));
    let shown = client.get(&path).data(200)["widgets"].clone();
    let values: Vec<&Value> = (0..5).map(|i| &shown[i]["value"]).collect();
    assert_eq!(values, [&json!(1), &json!(1), &json!(2), &json!(3), &json!(1)]);
    let one = format!("{path}/widgets/{}", text(&shown[0]["id"]));
    patch(&client, &one, &json!({"options": {"time_range": "60h"}})).data(200);
    assert_eq!(client.get(&path).data(200)["widgets"][0]["value"], 2);
    let span = format!("{path}?from={}", iso(now - 300 * HOUR_MS));
    let all = client.get(&span).data(200)["widgets"].clone();
    assert!((0..5).all(|i| all[i]["value"] == 3), "from and to go before: {all}");
}

#[test]
fn the_data_of_a_widget_is_refused_like_its_dashboard() {
    covers!("GET /api/v1/dashboards/{id}/widgets/{widget_id}/data", Refusal);
    let server = Server::start();
    let client = server.client();
    let path = make(&client, "d");
    let made = add(&client, &path, &widget("number", json!({"metric": "m"}), json!({})));
    let one = format!("{path}/widgets/{}/data", text(&made["id"]));
    client.get(&format!("{path}/widgets/none/data")).refused(404, "widget_not_found");
    client.get("/api/v1/dashboards/none/widgets/none/data").refused(404, "dashboard_not_found");
    client.get(&format!("{one}?from=x")).refused_for(422, "invalid_timestamp", "from");
    client.get(&format!("{one}?from=2999-01-01")).refused_for(422, "invalid_range", "from");
    client.get(&format!("{one}?format=rows")).refused_for(400, "invalid_parameter", "format");
    client.get(&format!("{path}?format=rows")).refused_for(400, "invalid_parameter", "format");
}
