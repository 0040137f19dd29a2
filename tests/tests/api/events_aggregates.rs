//! Aggregates of events: `GET /api/v1/events/count` and `GET /api/v1/events/stats`.

use serde_json::{Value, json};
use telltale_tests::{
    Client, DAY_MS, HOUR_MS, MINUTE_MS, Server, Setup, covers, iso, now_ms, same,
};

use crate::events::{event, send, yesterday};

/// Writes orders of two days: three of `eu`, one of `us`, one without a region; and a visit.
fn story() -> (Server, Client) {
    let server = Server::start();
    let client = server.client();
    let t0 = yesterday();
    let order = |ms: i64, user: &str, value: f64, tags: Value| {
        let properties = json!({"cart": {"total": value * 2.0, "note": "none"}, "odd.key": 1});
        event(
            "order.paid",
            t0 + ms,
            json!({"user_id": user, "value": value, "tags": tags, "properties": properties}),
        )
    };
    send(
        &client,
        &[
            order(0, "ann", 1.0, json!({"region": "eu"})),
            order(1_000, "ann", 2.0, json!({"region": "eu"})),
            order(HOUR_MS, "bob", 4.0, json!({"region": "us"})),
            order(2 * HOUR_MS + 5 * MINUTE_MS, "bob", 8.0, json!({"region": "eu"})),
            order(-HOUR_MS, "cem", 16.0, json!({})),
            event("visit", t0 + 2 * HOUR_MS, json!({})),
        ],
    );
    (server, client)
}

/// The first of the two days.
fn day() -> String {
    let date = iso(yesterday()).split('T').next().unwrap_or_default().to_owned();
    format!("from={date}&to={date}")
}

fn point(ms: i64, count: u64) -> Value {
    json!({"timestamp": iso(yesterday() + ms), "count": count})
}

#[track_caller]
fn count(client: &Client, query: &str) -> Value {
    client.get(&format!("/api/v1/events/count?{query}")).data(200)
}

#[track_caller]
fn stats(client: &Client, query: &str) -> Value {
    client.get(&format!("/api/v1/events/stats?{query}")).data(200)
}

#[test]
fn counts_include_a_series() {
    covers!("GET /api/v1/events/count", Happy);
    let (_server, client) = story();
    let day = day();
    let hours = json!([point(0, 2), point(HOUR_MS, 1), point(2 * HOUR_MS, 2)]);
    let minutes = json!([
        point(0, 2),
        point(HOUR_MS, 1),
        point(2 * HOUR_MS, 1),
        point(2 * HOUR_MS + 5 * MINUTE_MS, 1)
    ]);
    for (query, expected) in [
        (format!("{day}&interval=1h"), json!({"total": 5, "series": hours})),
        (format!("{day}&interval=1d"), json!({"total": 5, "series": [point(0, 5)]})),
        (format!("{day}&interval=5m"), json!({"total": 5, "series": minutes})),
        (day.clone(), json!({"total": 5, "series": minutes})),
        (format!("{day}&interval=1d&name=order.*"), json!({"total": 4, "series": [point(0, 4)]})),
        (
            format!("{day}&interval=1d&tags[region]=eu"),
            json!({"total": 3, "series": [point(0, 3)]}),
        ),
        (format!("{day}&interval=1d&user_id=bob"), json!({"total": 2, "series": [point(0, 2)]})),
        (format!("{day}&name=none"), json!({"total": 0, "series": []})),
    ] {
        same(&count(&client, &query), &expected);
    }
}

#[test]
fn distinct_values_are_returned_with_counts() {
    let (_server, client) = story();
    let day = day();
    let of = |ms: i64, events: u64, strings: u64| json!({"timestamp": iso(yesterday() + ms), "count": events, "distinct": strings});
    let users = [of(0, 2, 1), of(HOUR_MS, 1, 1), of(2 * HOUR_MS, 2, 1)];
    same(
        &count(&client, &format!("{day}&interval=1h&distinct=user_id")),
        &json!({"total": 5, "distinct": 2, "series": users}),
    );
    same(
        &count(&client, &format!("{day}&interval=1d&distinct=tags.region&name=order.*")),
        &json!({"total": 4, "distinct": 2, "series": [of(0, 4, 2)]}),
    );
    same(
        &count(&client, &format!("{day}&distinct=user_id&group_by=tags.region")),
        &json!({
            "total": 5,
            "distinct": 2,
            "groups": {"": 1, "eu": 3, "us": 1},
            "distinct_groups": {"": 0, "eu": 2, "us": 1}
        }),
    );
    same(
        &count(&client, &format!("{day}&interval=1d&distinct=name&group_by=tags.region")),
        &json!({
            "total": 5,
            "distinct": 2,
            "groups": {"": 1, "eu": 3, "us": 1},
            "distinct_groups": {"": 1, "eu": 1, "us": 1},
            "series": {"": [of(0, 1, 1)], "eu": [of(0, 3, 1)], "us": [of(0, 1, 1)]}
        }),
    );
    same(
        &count(&client, &format!("{day}&interval=1d&distinct=tags.none")),
        &json!({"total": 5, "distinct": 0, "series": [of(0, 5, 0)]}),
    );
}

#[test]
fn counts_are_grouped_by_several_keys() {
    let (_server, client) = story();
    let day = day();
    let groups = json!({",": 1, "eu,ann": 2, "eu,bob": 1, "us,bob": 1});
    // First in memory, then in blocks.
    for _ in 0..2 {
        for (by, groups) in [
            ("tags.region,user_id", &groups),
            ("tags.region,+user_id", &groups),
            ("user_id,name", &json!({",visit": 1, "ann,order.paid": 2, "bob,order.paid": 2})),
            (
                "name,user_id,tags.region,tags.none",
                &json!({
                    "order.paid,ann,eu,": 2, "order.paid,bob,eu,": 1, "order.paid,bob,us,": 1, "visit,,,": 1,
                }),
            ),
        ] {
            let data = count(&client, &format!("{day}&group_by={by}"));
            same(&data, &json!({"total": 5, "groups": groups}));
        }
        let narrow = format!("{day}&group_by=tags.region,name&user_id=bob&distinct=user_id");
        let groups = json!({"eu,order.paid": 1, "us,order.paid": 1});
        same(
            &count(&client, &narrow),
            &json!({"total": 2, "distinct": 1, "groups": groups, "distinct_groups": groups}),
        );
        let with_series =
            count(&client, &format!("{day}&group_by=tags.region,user_id&interval=1d"));
        same(&with_series["series"]["eu,ann"], &json!([point(0, 2)]));
        client.post("/api/v1/admin/seal", &json!({})).data(200);
    }
    let odd = json!({"user_id": "a,b", "tags": {"k": "c\\d"}});
    send(&client, &[event("odd", yesterday(), odd)]);
    let data = count(&client, &format!("{day}&name=odd&group_by=user_id,tags.k"));
    same(&data["groups"], &json!({"a\\,b,c\\\\d": 1}));
    for wrong in
        ["tags.a,", ",tags.a", "tags.a,tags.a", "name,value", "tags.a,tags.b,tags.c,tags.d,tags.e"]
    {
        client.get(&format!("/api/v1/events/count?group_by={wrong}")).refused_for(
            400,
            "invalid_parameter",
            "group_by",
        );
    }
}

#[test]
fn counts_are_grouped() {
    let (_server, client) = story();
    let day = day();
    for (by, groups) in [
        ("tags.region", json!({"": 1, "eu": 3, "us": 1})),
        ("tags.none", json!({"": 5})),
        ("user_id", json!({"": 1, "ann": 2, "bob": 2})),
        ("name", json!({"order.paid": 4, "visit": 1})),
    ] {
        let response = count(&client, &format!("{day}&group_by={by}"));
        same(&response, &json!({"total": 5, "groups": groups}));
    }
    let response =
        count(&client, &format!("{day}&group_by=tags.region&interval=1h&name=order.paid"));
    same(
        &response,
        &json!({
            "total": 4,
            "groups": {"eu": 3, "us": 1},
            "series": {"eu": [point(0, 2), point(2 * HOUR_MS, 1)], "us": [point(HOUR_MS, 1)]}
        }),
    );
    let none = count(&client, &format!("{day}&group_by=name&interval=1h&name=none"));
    same(&none, &json!({"total": 0, "groups": {}, "series": {}}));
}

#[test]
fn statistics_are_of_the_value_by_default() {
    covers!("GET /api/v1/events/stats", Happy);
    let (_server, client) = story();
    let day = day();
    let values = json!({"count": 4, "sum": 15, "avg": 3.75, "min": 1, "max": 8, "p50": 2, "p95": 8, "p99": 8});
    same(&stats(&client, &day), &values);
    same(&stats(&client, &format!("{day}&field=value")), &values);
    let totals = json!({"count": 4, "sum": 30, "avg": 7.5, "min": 2, "max": 16, "p50": 4, "p95": 16, "p99": 16});
    same(&stats(&client, &format!("{day}&field=cart.total")), &totals);
    same(&stats(&client, &format!("{day}&field=properties.cart.total")), &totals);
    let of_eu = stats(&client, &format!("{day}&name=order.paid&tags[region]=eu"));
    assert_eq!((&of_eu["count"], &of_eu["sum"]), (&json!(3), &json!(11)));
    let none = json!({
        "count": 0, "sum": null, "avg": null, "min": null, "max": null, "p50": null, "p95": null, "p99": null
    });
    for nothing in [
        "name=none",
        "name=visit",
        "field=cart",
        "field=cart.note",
        "field=cart.total.x",
        "field=odd.key",
    ] {
        same(&stats(&client, &format!("{day}&{nothing}")), &none);
    }
}

#[test]
fn percentiles_of_many_values_are_nearest_rank() {
    let server = Server::start();
    let client = server.client();
    let t0 = yesterday();
    let events: Vec<Value> = (0..1_000_i64)
        .map(|i| event("e", t0 + i, json!({"value": (i * 7_919 % 1_000 + 1) as f64 / 4.0})))
        .collect();
    send(&client, &events);
    let expected = json!({
        "count": 1_000, "sum": 125_125, "avg": 125.125, "min": 0.25, "max": 250, "p50": 125, "p95": 237.5, "p99": 247.5
    });
    same(&stats(&client, &day()), &expected);
}

#[test]
fn the_default_range_is_the_last_day() {
    let server = Server::start();
    let client = server.client();
    let now = now_ms();
    send(
        &client,
        &[
            event("e", now - DAY_MS - MINUTE_MS, json!({"value": 1})),
            event("e", now - DAY_MS + HOUR_MS, json!({"value": 2})),
            event("e", now - 1, json!({"value": 4})),
            event("e", now + HOUR_MS, json!({"value": 8})),
        ],
    );
    for (query, number, sum) in [
        (String::new(), 2, 6),
        (format!("to={}", iso(now - HOUR_MS)), 2, 3),
        (format!("from={}", iso(now - 2 * DAY_MS)), 3, 7),
        (format!("from={}&to={}", iso(now - 2 * DAY_MS), iso(now + DAY_MS)), 4, 15),
    ] {
        assert_eq!(count(&client, &query)["total"], number, "{query}");
        same(&stats(&client, &query)["sum"], &json!(sum));
    }
}

#[test]
fn the_default_interval_depends_on_the_range() {
    let server = Server::start();
    let client = server.client();
    let t0 = yesterday();
    send(&client, &[event("e", t0 + 3 * HOUR_MS + 7 * MINUTE_MS, json!({}))]);
    for (days, start) in [
        (1, 3 * HOUR_MS + 7 * MINUTE_MS),
        (5, 3 * HOUR_MS + 5 * MINUTE_MS),
        (30, 3 * HOUR_MS),
        (100, 0),
    ] {
        let (from, to) = (iso(t0 + DAY_MS - days * DAY_MS), iso(t0 + DAY_MS));
        let response = count(&client, &format!("from={from}&to={to}"));
        same(&response, &json!({"total": 1, "series": [point(start, 1)]}));
    }
}

#[test]
fn an_invalid_count_is_refused() {
    covers!("GET /api/v1/events/count", Refusal);
    let server = Server::start();
    let client = server.client();
    for (query, status, code, field) in [
        ("interval=2w", 422, "invalid_interval", "interval"),
        ("interval=", 422, "invalid_interval", "interval"),
        ("from=soon", 422, "invalid_timestamp", "from"),
        ("to=soon", 422, "invalid_timestamp", "to"),
        ("from=2026-01-02&to=2026-01-01", 422, "invalid_range", "from"),
        ("from=2025-01-01&to=2026-01-01&interval=1m", 422, "invalid_range", "from"),
        ("group_by=region", 400, "invalid_parameter", "group_by"),
        ("group_by=tags.", 400, "invalid_parameter", "group_by"),
        ("group_by=", 400, "invalid_parameter", "group_by"),
        ("distinct=region", 400, "invalid_parameter", "distinct"),
        ("name=", 400, "invalid_parameter", "name"),
        ("name=a&name=b", 400, "invalid_parameter", "name"),
        ("tags[k]=!a*", 400, "invalid_parameter", "tags[k]"),
    ] {
        let response = client.get(&format!("/api/v1/events/count?{query}"));
        response.refused_for(status, code, field);
    }
}

#[test]
fn the_number_of_groups_is_limited() {
    let server = Setup::new().set("events.query_groups", "2").start();
    let client = server.client();
    let of = |user: u32| event("e", yesterday(), json!({ "user_id": user, "tags": {"k": "v"} }));
    send(&client, &[of(1), of(2), of(3)]);
    let path = format!("/api/v1/events/count?{}&group_by=", day());
    client.get(&format!("{path}user_id")).refused(422, "invalid_range");
    client.get(&format!("{path}tags.k")).data(200);
}

#[test]
fn invalid_statistics_are_refused() {
    covers!("GET /api/v1/events/stats", Refusal);
    let server = Server::start();
    let client = server.client();
    for (query, status, code, field) in [
        ("field=", 400, "invalid_parameter", "field"),
        ("field=a..b", 400, "invalid_parameter", "field"),
        ("field=properties.", 400, "invalid_parameter", "field"),
        ("field=a&field=b", 400, "invalid_parameter", "field"),
        ("from=soon", 422, "invalid_timestamp", "from"),
        ("from=2026-01-02&to=2026-01-01", 422, "invalid_range", "from"),
        ("user_id=", 400, "invalid_parameter", "user_id"),
    ] {
        let response = client.get(&format!("/api/v1/events/stats?{query}"));
        response.refused_for(status, code, field);
    }
}
