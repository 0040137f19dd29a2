//! Lists of events: `GET /api/v1/events`.

use serde_json::{Value, json};
use telltale_tests::{Client, HOUR_MS, MINUTE_MS, Server, covers, iso, now_ms};

use crate::events::{event, list, names, send, yesterday};

/// Six events within three hours, distinguished by the last letter of their names.
fn story() -> (Server, Client) {
    let server = Server::start();
    let client = server.client();
    let t0 = yesterday();
    let tagged = |user: &str, region: &str| json!({"user_id": user, "tags": {"region": region}});
    send(
        &client,
        &[
            event("order.b", t0 + HOUR_MS, tagged("ann", "eu-west")),
            event("order.a", t0, tagged("bob", "us")),
            event("order.d", t0 + 3 * HOUR_MS, tagged("ann", "us")),
            event("orders.e", t0 + 3 * HOUR_MS, tagged("cem", "eu-east")),
            event("visit.c", t0 + 2 * HOUR_MS, json!({"user_id": "ann"})),
            event("visit.f", t0 + 3 * HOUR_MS, json!({})),
        ],
    );
    (server, client)
}

/// Returns the last letters of the names that a query returns.
#[track_caller]
fn found(client: &Client, query: &str) -> String {
    names(&list(client, query)).iter().filter_map(|name| name.chars().last()).collect()
}

#[test]
fn events_are_listed_newest_first_and_ties_by_id() {
    covers!("GET /api/v1/events", Happy);
    let (_server, client) = story();
    assert_eq!(found(&client, ""), "fedcba");
    let response = list(&client, "").expect(200);
    assert_eq!(response["meta"], json!({"total": 6, "limit": 100, "offset": 0}));
    let ids: Vec<&str> = response["data"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|e| e["id"].as_str())
        .collect();
    assert!(ids[0] > ids[1] && ids[1] > ids[2], "{ids:?}");
}

#[test]
fn names_match_exactly_or_by_prefix() {
    let (_server, client) = story();
    for (query, expected) in [
        ("name=order.a", "a"),
        ("name=order", ""),
        ("name=order.*", "dba"),
        ("name=order*", "edba"),
        ("name=*", "fedcba"),
        ("name=none.*", ""),
        ("name=Order.a", ""),
    ] {
        assert_eq!(found(&client, query), expected, "{query}");
    }
}

#[test]
fn a_star_within_a_name_is_literal() {
    let server = Server::start();
    let client = server.client();
    send(&client, &[event("a*b", yesterday(), json!({})), event("axb", yesterday(), json!({}))]);
    assert_eq!(names(&list(&client, "name=a*b")), ["a*b"]);
    assert_eq!(names(&list(&client, "name=a**")), ["a*b"]);
}

#[test]
fn ranges_are_half_open_and_a_last_day_is_complete() {
    let (_server, client) = story();
    let t0 = yesterday();
    let date = iso(t0).split('T').next().unwrap_or_default().to_owned();
    let before = iso(t0 - 1).split('T').next().unwrap_or_default().to_owned();
    for (query, expected) in [
        (format!("from={}", iso(t0 + HOUR_MS)), "fedcb"),
        (format!("to={}", iso(t0 + HOUR_MS)), "a"),
        (format!("from={}&to={}", iso(t0 + HOUR_MS), iso(t0 + 2 * HOUR_MS + 1)), "cb"),
        (format!("from={date}"), "fedcba"),
        (format!("to={date}"), "fedcba"),
        (format!("from={date}&to={date}"), "fedcba"),
        (format!("to={before}"), ""),
    ] {
        assert_eq!(found(&client, &query), expected, "{query}");
    }
}

#[test]
fn future_events_are_listed_too() {
    let server = Server::start();
    let client = server.client();
    send(&client, &[event("ahead", now_ms() + HOUR_MS, json!({}))]);
    assert_eq!(names(&list(&client, "")), ["ahead"]);
    assert_eq!(names(&list(&client, &format!("to={}", iso(now_ms())))), Vec::<String>::new());
}

#[test]
fn users_and_tags_are_filters() {
    let (_server, client) = story();
    for (query, expected) in [
        ("user_id=ann", "dcb"),
        ("user_id=nobody", ""),
        ("tags[region]=us", "da"),
        ("tags[region]=us,eu-east", "eda"),
        ("tags[region]=!us", "fecb"),
        ("tags[region]=!us,eu-east", "fcb"),
        ("tags[region]=eu*", "eb"),
        ("tags%5Bregion%5D=eu*&user_id=ann", "b"),
        ("tags[region]=us&tags[region]=!us", ""),
        ("tags[none]=x", ""),
        ("tags[none]=!x", "fedcba"),
        ("tags[region]=us&name=order.*&user_id=ann", "d"),
    ] {
        assert_eq!(found(&client, query), expected, "{query}");
    }
}

#[test]
fn pages_are_bounded_and_the_total_is_exact() {
    let server = Server::start();
    let client = server.client();
    let t0 = yesterday();
    let events: Vec<Value> = (0..1_200).map(|i| event("e", t0 + i, json!({"value": i}))).collect();
    send(&client, &events);
    for (query, length, limit, offset) in [
        ("", 100, 100, 0),
        ("limit=7&offset=3", 7, 7, 3),
        ("limit=1000", 1_000, 1_000, 0),
        ("limit=5000", 1_000, 1_000, 0),
        ("limit=99999999999999999999&offset=1150", 50, 1_000, 1_150),
        ("offset=1200", 0, 100, 1_200),
        ("offset=5000000", 0, 100, 5_000_000),
    ] {
        let response = list(&client, query).expect(200);
        let meta = &response["meta"];
        assert_eq!(response["data"].as_array().map(Vec::len), Some(length), "{query}");
        assert_eq!(
            (&meta["total"], &meta["limit"], &meta["offset"]),
            (&json!(1_200), &json!(limit), &json!(offset)),
            "{query}"
        );
        assert_eq!(meta.get("next_cursor").is_some(), offset + length < 1_200, "{query}");
    }
    let value = |query: &str| list(&client, query).data(200)[0]["value"].clone();
    assert_eq!((value("offset=0"), value("offset=1199")), (json!(1_199), json!(0)));
}

#[test]
fn cursors_return_every_event_despite_concurrent_ingest() {
    let server = Server::start();
    let client = server.client();
    let t0 = yesterday();
    // Many events with equal timestamps: the id determines where a page ends.
    let events: Vec<Value> =
        (0..50).map(|i| event("e", t0 + i / 10, json!({"value": i}))).collect();
    send(&client, &events);
    let whole = list(&client, "name=e").data(200);
    let (mut walked, mut query) = (Vec::new(), "name=e&limit=7".to_owned());
    loop {
        let page = list(&client, &query).expect(200);
        assert!(page["meta"]["total"].as_u64() >= Some(50), "{page}");
        walked.extend(page["data"].as_array().into_iter().flatten().cloned());
        let Some(cursor) = page["meta"]["next_cursor"].as_str() else { break };
        query = format!("name=e&limit=7&cursor={cursor}");
        send(&client, &[event("e", t0 + MINUTE_MS, json!({}))]);
    }
    assert_eq!(Value::from(walked), whole);
}

#[test]
fn a_list_with_invalid_parameters_is_refused() {
    covers!("GET /api/v1/events", Refusal);
    let server = Server::start();
    let client = server.client();
    for (query, status, code, field) in [
        ("limit=0", 400, "invalid_parameter", "limit"),
        ("limit=-1", 400, "invalid_parameter", "limit"),
        ("limit=ten", 400, "invalid_parameter", "limit"),
        ("limit=1&limit=1", 400, "invalid_parameter", "limit"),
        ("offset=-1", 400, "invalid_parameter", "offset"),
        ("offset=1.5", 400, "invalid_parameter", "offset"),
        ("cursor=", 400, "invalid_parameter", "cursor"),
        ("cursor=evt_01", 400, "invalid_parameter", "cursor"),
        ("name=", 400, "invalid_parameter", "name"),
        ("user_id=", 400, "invalid_parameter", "user_id"),
        ("tags[]=a", 400, "invalid_parameter", "tags[]"),
        ("tags[k]=a*,b", 400, "invalid_parameter", "tags[k]"),
        ("from=yesterday", 422, "invalid_timestamp", "from"),
        ("to=2026-02-30", 422, "invalid_timestamp", "to"),
        ("from=2026-01-02&to=2026-01-01", 422, "invalid_range", "from"),
        ("from=2026-01-02T01:00Z&to=2026-01-02T01:00Z", 422, "invalid_range", "from"),
    ] {
        list(&client, query).refused_for(status, code, field);
    }
}

#[test]
fn results_do_not_change_when_events_age() {
    let mut server = Server::start();
    let client = server.client();
    let t0 = yesterday();
    let events: Vec<Value> = (0..700_i64)
        .map(|i| {
            let rest = json!({
                "user_id": format!("u{}", i % 50), "value": i % 91, "tags": {"k": format!("v{}", i % 7)},
                "properties": {"n": i, "s": format!("é{}", i % 3), "deep": {"list": [i, null]}}
            });
            event(&format!("n.{}", i % 5), t0 + i * 61_111 % 80_000_000, rest)
        })
        .collect();
    send(&client, &events);
    let date = iso(t0).split('T').next().unwrap_or_default().to_owned();
    let responses = |client: &Client| -> Vec<Value> {
        [
            "?limit=1000".to_owned(),
            "?name=n.1&tags[k]=v1,v2&limit=50&offset=3".to_owned(),
            format!("/count?from={date}&to={date}&group_by=tags.k&interval=1h"),
            format!("/count?from={date}&to={date}&group_by=user_id"),
            format!("/stats?from={date}&to={date}&name=n.*&field=n"),
            format!("/stats?from={date}&to={date}&user_id=u3"),
        ]
        .iter()
        .map(|rest| client.get(&format!("/api/v1/events{rest}")).expect(200))
        .collect()
    };
    let fresh = responses(&client);
    for path in ["/api/v1/admin/seal", "/api/v1/admin/merge", "/api/v1/admin/merge"] {
        assert_eq!(client.post(path, &json!({})).status, 200);
        assert_eq!(responses(&client), fresh, "after {path}");
    }
    server.kill9();
    server.restart();
    assert_eq!(responses(&server.client()), fresh, "after a kill");
}
