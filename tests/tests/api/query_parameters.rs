//! Query parameters that metrics, events and dashboards share: times and tag conditions.

use serde_json::{Value, json};
use telltale_tests::{Client, DAY_MS, HOUR_MS, Server, iso, now_ms};

use crate::dashboards::{add, make};
use crate::events::{event, list, names, send as send_events, yesterday};
use crate::points::{T0, encoded, point, send};

/// Returns the sum of the values of an ungrouped response.
#[track_caller]
fn sum(client: &Client, metric: &str, query: &str) -> f64 {
    let path = format!("/api/v1/metrics/{metric}/query?aggregation=sum&interval=1d&{query}");
    let data = client.get(&path).data(200);
    let series = data["series"].as_array().cloned().unwrap_or_default();
    series.iter().filter_map(|point| point["value"].as_f64()).sum()
}

fn hits(ms: i64, value: f64, tags: Value) -> Value {
    point("hits", "counter", ms, value, tags)
}

#[test]
fn all_forms_of_a_time_are_equivalent() {
    let server = Server::start();
    let client = server.client();
    let none = || json!({});
    send(
        &client,
        &[
            hits(T0 - 1, 1.0, none()),
            hits(T0, 10.0, none()),
            hits(T0 + DAY_MS - 1, 100.0, none()),
            hits(T0 + DAY_MS, 1_000.0, none()),
        ],
    );
    let (from_s, to_s) = (T0 / 1_000, (T0 + DAY_MS) / 1_000);
    for range in [
        "from=2024-03-05&to=2024-03-05".to_owned(),
        "from=2024-03-05&to=2024-03-06T00:00Z".to_owned(),
        format!("from={}&to={}", iso(T0), iso(T0 + DAY_MS)),
        format!("from={from_s}&to={to_s}"),
        format!("from={T0}&to={}", T0 + DAY_MS),
        format!("from={from_s}&to=2024-03-05"),
    ] {
        assert_eq!(sum(&client, "hits", &range), 110.0, "{range}");
        let dashboard = make(&client, "d");
        let widget = json!({"type": "number", "title": "hits", "query": {"metric": "hits"}});
        let id = add(&client, &dashboard, &widget)["id"].clone();
        let id = id.as_str().unwrap_or_default();
        let shown = client.get(&format!("{dashboard}/widgets/{id}/data?{range}")).data(200);
        assert_eq!(shown["value"].as_f64(), Some(110.0), "{range}: {shown}");
    }
}

#[test]
fn times_before_now_have_units() {
    let server = Server::start();
    let client = server.client();
    let now = now_ms();
    let age = |ms: i64, value: f64| hits(now - ms, value, json!({}));
    // Half an hour on either side of each bound, so that the duration of the test does not matter.
    send(
        &client,
        &[
            age(HOUR_MS / 2, 1.0),
            age(3 * HOUR_MS / 2, 10.0),
            age(DAY_MS + HOUR_MS / 2, 100.0),
            age(7 * DAY_MS + HOUR_MS / 2, 1_000.0),
        ],
    );
    for (range, expected) in [
        ("from=now-3600s", 1.0),
        ("from=now-60m", 1.0),
        ("from=now-1h&to=now", 1.0),
        ("from=now-2h", 11.0),
        ("from=now-2h&to=now-1h", 10.0),
        ("from=now-1d", 11.0),
        ("from=now-1w", 111.0),
        ("from=now-8d", 1_111.0),
    ] {
        assert_eq!(sum(&client, "hits", range), expected, "{range}");
    }
    let early = event("early", now - 3 * HOUR_MS / 2, json!({}));
    send_events(&client, &[early, event("late", now - HOUR_MS / 2, json!({}))]);
    assert_eq!(names(&list(&client, "from=now-1h")), ["late"]);
    assert_eq!(names(&list(&client, "from=now-2h&to=now-1h")), ["early"]);
    assert_eq!(names(&list(&client, "from=now-2h&to=now")), ["late", "early"]);
}

#[test]
fn a_missing_tag_can_be_filtered() {
    let server = Server::start();
    let client = server.client();
    send(
        &client,
        &[
            hits(T0, 1.0, json!({"host": "a"})),
            hits(T0, 10.0, json!({"host": "b"})),
            hits(T0, 100.0, json!({})),
            hits(T0, 1_000.0, json!({"host": ""})),
        ],
    );
    let day = "from=2024-03-05&to=2024-03-05";
    for (condition, expected) in [
        ("tags[host]=", 1_100.0),
        ("tags[host]=a,", 1_101.0),
        ("tags[host]=!", 11.0),
        ("tags[host]=!a", 1_110.0),
        ("tags[host]=!,a", 10.0),
        ("tags[host]=a", 1.0),
        ("tags[zone]=", 1_111.0),
        ("tags[zone]=!", 0.0),
    ] {
        assert_eq!(sum(&client, "hits", &format!("{day}&{condition}")), expected, "{condition}");
    }
    // It equals the group without a label.
    let path = format!("/api/v1/metrics/hits/query?{day}&interval=1d&group_by=tags.host");
    let groups = client.get(&path).data(200)["groups"].clone();
    assert_eq!(groups[""][0]["value"].as_f64(), Some(1_100.0), "{groups}");

    let tagged = |name: &str, tags: Value| event(name, yesterday(), json!({ "tags": tags }));
    send_events(
        &client,
        &[
            tagged("with", json!({"host": "a"})),
            tagged("without", json!({})),
            tagged("empty", json!({"host": ""})),
        ],
    );
    let found = |query: &str| {
        let mut found = names(&list(&client, query));
        found.sort();
        found
    };
    assert_eq!(found("tags[host]="), ["empty", "without"]);
    assert_eq!(found("tags[host]=!"), ["with"]);
    assert_eq!(found("tags[host]=a,"), ["empty", "with", "without"]);
    assert_eq!(found("tags[host]=!a"), ["empty", "without"]);
    // The same in blocks.
    client.post("/api/v1/admin/seal", &json!({})).data(200);
    assert_eq!(found("tags[host]="), ["empty", "without"]);
    assert_eq!(found("tags[host]=!"), ["with"]);
    assert_eq!(sum(&client, "hits", &format!("{day}&tags[host]=")), 1_100.0);
}

#[test]
fn special_characters_of_conditions_can_be_escaped() {
    let server = Server::start();
    let client = server.client();
    let values = ["a,b", "!a", "a*", r"a\b", "a", "b", "ab"];
    let points: Vec<Value> = values
        .iter()
        .enumerate()
        .map(|(i, value)| hits(T0, 10_f64.powi(i as i32), json!({ "k": value })))
        .collect();
    send(&client, &points);
    let of = |wanted: &[&str]| -> f64 {
        let at = |value: &&str| values.iter().position(|known| known == value).unwrap_or(99);
        wanted.iter().map(|value| 10_f64.powi(at(value) as i32)).sum()
    };
    for (condition, wanted) in [
        (r"a\,b", &["a,b"][..]),
        (r"a\,b,a", &["a,b", "a"]),
        (r"\!a", &["!a"]),
        (r"!\!a", &["a,b", "a*", r"a\b", "a", "b", "ab"]),
        (r"a\*", &["a*"]),
        (r"a\**", &["a*"]),
        (r"a*", &["a,b", "a*", r"a\b", "a", "ab"]),
        (r"a\*,b", &["a*", "b"]),
        (r"a\\b", &[r"a\b"]),
        (r"a\b", &[r"a\b"]),
        ("a,b", &["a", "b"]),
    ] {
        let query = format!("from=2024-03-05&to=2024-03-05&tags[k]={}", encoded(condition));
        assert_eq!(sum(&client, "hits", &query), of(wanted), "{condition}");
    }
    let path = "/api/v1/metrics/hits/query?tags[k]=a*,b";
    client.get(path).refused_for(400, "invalid_parameter", "tags[k]");
}
