//! Search in the names of metrics and in tag values, and where the series come from.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use telltale_tests::{Client, Server, covers, same};

use crate::points::{T0, encoded, gauge, point, send};

#[track_caller]
fn names(client: &Client, query: &str) -> (Vec<String>, u64) {
    let response = client.get(&format!("/api/v1/metrics?{query}"));
    let body = response.expect(200);
    let names = body["data"].as_array().into_iter().flatten();
    let names = names.filter_map(|one| one["name"].as_str()).map(str::to_owned).collect();
    (names, body["meta"]["total"].as_u64().unwrap_or_default())
}

#[test]
fn metrics_are_found_by_words_best_matches_first() {
    covers!("GET /api/v1/metrics", Happy);
    let server = Server::start();
    let client = server.client();
    let all = [
        "Disk.Used",
        "cpu",
        "cpu.usage",
        "cpux",
        "host.cpu",
        "host.cpu.usage",
        "mycpu",
        "usage.by/CPU",
        "größe.CPU",
    ];
    let points: Vec<Value> = all.iter().map(|name| gauge(name, T0, 1.0)).collect();
    send(&client, &points);
    let found = |search: &str| names(&client, &format!("search={}&limit=1000", encoded(search))).0;
    assert_eq!(
        found("cpu"),
        [
            "cpu",
            "cpu.usage",
            "cpux",
            "größe.CPU",
            "host.cpu",
            "host.cpu.usage",
            "usage.by/CPU",
            "mycpu"
        ]
    );
    assert_eq!(found("CPU"), found(" cpu "));
    assert_eq!(found("usage cpu"), ["cpu.usage", "host.cpu.usage", "usage.by/CPU"]);
    assert_eq!(found("cpu.usage"), ["cpu.usage", "host.cpu.usage"]);
    assert_eq!(found("DISK"), ["Disk.Used"]);
    assert_eq!(found("GRÖßE"), ["größe.CPU"]);
    assert!(found("nothing of this").is_empty());
    // White space finds everything, in the order of names; the server adds metrics of its own.
    let sent = |names: Vec<String>| {
        names.into_iter().filter(|name| !name.starts_with("telltale.")).collect::<Vec<_>>()
    };
    assert_eq!(sent(found("  ")), sent(names(&client, "limit=1000").0));
    let (page, total) = names(&client, "search=cpu&limit=2&offset=1");
    assert_eq!((page, total), (vec!["cpu.usage".to_owned(), "cpux".to_owned()], 8));
    assert_eq!(names(&client, "search=cpu&prefix=host.&type=gauge").1, 2);
    assert_eq!(names(&client, "search=cpu&type=counter").1, 0);
    assert_eq!(names(&client, "search=cpu&offset=18446744073709551615").0, Vec::<String>::new());
}

#[test]
fn a_search_is_bounded() {
    covers!("GET /api/v1/metrics", Refusal);
    let server = Server::start();
    let client = server.client();
    send(&client, &[gauge("cpu", T0, 1.0)]);
    for (search, is_good) in [
        ("x".repeat(500), true),
        ("ä".repeat(501), false),
        ("x ".repeat(10), true),
        ("x ".repeat(11), false),
    ] {
        for route in
            ["/api/v1/metrics", "/api/v1/metrics/cpu/tags/host/values", "/api/v1/cardinality"]
        {
            let response = client.get(&format!("{route}?search={}", encoded(&search)));
            match is_good {
                true => response.expect_status(200),
                false => response.refused_for(400, "invalid_parameter", "search"),
            }
        }
    }
}

#[test]
fn a_definition_that_is_searched_for_has_its_number_of_series() {
    let server = Server::start();
    let client = server.client();
    let host = |i: i64| point("cpu", "gauge", T0, 1.0, json!({"host": i}));
    send(&client, &[host(1), host(2), host(3), host(1)]);
    let listed = client.get("/api/v1/metrics?search=cpu").data(200);
    assert_eq!(listed[0]["series"], 3, "{listed}");
    // Without a search the response is that of the contract.
    assert!(client.get("/api/v1/metrics?prefix=cpu").data(200)[0].get("series").is_none());
}

/// The tags of the series of two metrics.
fn series() -> Vec<(&'static str, BTreeMap<String, String>)> {
    let mut all = Vec::new();
    for i in 0..60_usize {
        let mut tags = BTreeMap::from([
            ("host".to_owned(), format!("Web-{}", i % 20)),
            ("path".to_owned(), format!("/p/{}", i % 7)),
        ]);
        if i % 3 == 0 {
            tags.insert("region".to_owned(), ["eu", "us", "\u{202e}ap,1%2F"][i / 3 % 3].to_owned());
        }
        let metric = if i % 4 == 0 { "b" } else { "a" };
        if !all.contains(&(metric, tags.clone())) {
            all.push((metric, tags));
        }
    }
    all
}

fn send_series(client: &Client) -> Vec<(&'static str, BTreeMap<String, String>)> {
    let series = series();
    let points: Vec<Value> =
        series.iter().map(|(metric, tags)| point(metric, "gauge", T0, 1.0, json!(tags))).collect();
    send(client, &points);
    series
}

#[test]
fn tag_values_are_narrowed_by_text_and_by_other_tags() {
    covers!("GET /api/v1/metrics/{name}/tags/{key}/values", Happy);
    let server = Server::start();
    let client = server.client();
    let series = send_series(&client);
    let of = |keep: &dyn Fn(&BTreeMap<String, String>) -> bool, key: &str| {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for (_, tags) in series.iter().filter(|(metric, tags)| *metric == "a" && keep(tags)) {
            if let Some(value) = tags.get(key) {
                *counts.entry(value.clone()).or_default() += 1;
            }
        }
        let rows =
            counts.into_iter().map(|(value, series)| json!({"value": value, "series": series}));
        Value::from(rows.collect::<Vec<Value>>())
    };
    let values = |key: &str, query: &str| {
        client.get(&format!("/api/v1/metrics/a/tags/{key}/values?limit=1000{query}")).data(200)
    };
    same(&values("host", ""), &of(&|_| true, "host"));
    let eu = |tags: &BTreeMap<String, String>| tags.get("region").is_some_and(|r| r == "eu");
    same(&values("host", "&tags[region]=eu"), &of(&eu, "host"));
    same(&values("region", "&tags[region]=eu"), &of(&eu, "region"));
    let none = |tags: &BTreeMap<String, String>| !tags.contains_key("region");
    same(&values("path", "&tags[region]="), &of(&none, "path"));
    let both = |tags: &BTreeMap<String, String>| eu(tags) && tags["host"].starts_with("Web-1");
    same(&values("path", "&tags[region]=eu&tags[host]=Web-1*"), &of(&both, "path"));
    let odd = values("region", "&search=AP,1%252f");
    assert_eq!(odd[0]["value"], "\u{202e}ap,1%2F", "{odd}");
    // The best match comes first: `Web-1` before `Web-10`.
    let found = values("host", "&search=web-1");
    assert_eq!(found[0]["value"], "Web-1", "{found}");
    same(&values("absent", "&search=x"), &json!([]));
    let page = client.get("/api/v1/metrics/a/tags/host/values?search=web&limit=2&offset=1");
    assert_eq!(page.expect(200)["meta"], json!({"total": 15, "limit": 2, "offset": 1}));
}

#[test]
fn invalid_filters_of_tag_values_are_refused() {
    covers!("GET /api/v1/metrics/{name}/tags/{key}/values", Refusal);
    let server = Server::start();
    let client = server.client();
    send_series(&client);
    client.get("/api/v1/metrics/none/tags/host/values?search=a").refused(404, "metric_not_found");
    let response = client.get("/api/v1/metrics/a/tags/host/values?tags[region]=!e*");
    response.refused_for(400, "invalid_parameter", "tags[region]");
}

#[test]
fn series_are_counted_by_metric_tag_and_value() {
    covers!("GET /api/v1/cardinality", Happy);
    let server = Server::start();
    let client = server.client();
    let series = send_series(&client);
    let rows = |query: &str| {
        let body = client.get(&format!("/api/v1/cardinality?limit=1000&{query}")).expect(200);
        (body["data"].clone(), body["meta"].clone())
    };
    let count = |metric: &str| series.iter().filter(|(name, _)| *name == metric).count();
    let (by_metric, _) = rows("");
    let is_own = |row: &&Value| row["name"].as_str().is_some_and(|name| name.len() == 1);
    let own: Vec<&Value> = by_metric.as_array().into_iter().flatten().filter(is_own).collect();
    assert_eq!(
        own,
        [
            &json!({"name": "a", "series": count("a"), "metrics": 1}),
            &json!({"name": "b", "series": count("b"), "metrics": 1}),
        ]
    );
    // By tag key and by value, for each metric and for both, compared with a count of the tags.
    for only in [None, Some("a"), Some("b")] {
        let narrowed = only.map(|name| format!("&metric={name}")).unwrap_or_default();
        let among: Vec<&(&str, BTreeMap<String, String>)> =
            series.iter().filter(|(name, _)| only.is_none_or(|only| only == *name)).collect();
        for key in ["host", "path", "region"] {
            let mut values: BTreeMap<&String, (u64, BTreeSet<&str>)> = BTreeMap::new();
            for (metric, tags) in &among {
                if let Some(value) = tags.get(key) {
                    let (series, metrics) = values.entry(value).or_default();
                    *series += 1;
                    metrics.insert(metric);
                }
            }
            let mut expected: Vec<(u64, &String, usize)> =
                values.iter().map(|(value, (n, metrics))| (*n, *value, metrics.len())).collect();
            expected.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
            let total: u64 = expected.iter().map(|(n, ..)| n).sum();
            let expected: Vec<Value> = expected
                .iter()
                .map(|(n, value, metrics)| json!({"name": value, "series": n, "metrics": metrics}))
                .collect();
            let (by_value, meta) = rows(&format!("by=value&key={key}{narrowed}"));
            same(&by_value, &Value::from(expected.clone()));
            let shape =
                json!({"total": expected.len(), "limit": 1000, "offset": 0, "series": total});
            same(&meta, &shape);
            let (by_key, _) = rows(&format!("by=tag&search={key}{narrowed}"));
            let metrics: BTreeSet<&str> =
                values.values().flat_map(|(_, m)| m.iter().copied()).collect();
            let row = json!({
                "name": key, "series": total, "values": values.len(), "metrics": metrics.len()
            });
            let same_key = |one: &&Value| one["name"] == key;
            let found = by_key.as_array().into_iter().flatten().find(same_key).cloned();
            match only {
                // The server writes metrics about itself, which may have a tag of the same name.
                None => assert!(found.is_some_and(|found| found["series"].as_u64() >= Some(total))),
                Some(_) => same(&found.unwrap_or_default(), &row),
            }
        }
    }
    let (with_region, _) = rows("key=region&metric=a");
    let regions =
        series.iter().filter(|(m, tags)| *m == "a" && tags.contains_key("region")).count();
    same(&with_region, &json!([{"name": "a", "series": regions, "values": 3, "metrics": 1}]));
    let (page, meta) = rows("by=value&key=host&search=WEB-1&offset=3");
    assert_eq!(page.as_array().map(Vec::len), Some(8));
    assert_eq!(meta["total"], 11);
    same(&rows("by=value&key=nothing").0, &json!([]));
}

#[test]
fn invalid_questions_about_series_are_refused() {
    covers!("GET /api/v1/cardinality", Refusal);
    let server = Server::start();
    let client = server.client();
    send_series(&client);
    client.get("/api/v1/cardinality?metric=none").refused(404, "metric_not_found");
    for (query, field) in [
        ("by=x", "by"),
        ("by=", "by"),
        ("by=value", "key"),
        ("by=value&key=", "key"),
        ("by=tag&key=host", "key"),
        ("metric=", "metric"),
        ("limit=0", "limit"),
        ("offset=-1", "offset"),
    ] {
        let response = client.get(&format!("/api/v1/cardinality?{query}"));
        response.refused_for(400, "invalid_parameter", field);
    }
}
