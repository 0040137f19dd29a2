//! What events contain: fields, frequent values, funnels.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use telltale_tests::{Client, HOUR_MS, MINUTE_MS, Server, covers, iso, same};

use crate::events::{event, send, yesterday};
use crate::points::encoded;

fn range() -> String {
    format!("from={}&to={}", iso(yesterday()), iso(yesterday() + 24 * HOUR_MS))
}

/// Twelve orders with different properties, and one visit.
fn story() -> (Server, Client) {
    let server = Server::start();
    let client = server.client();
    let mut events: Vec<Value> = (0..12_i64)
        .map(|i| {
            let total = if i % 4 == 3 { json!("free") } else { json!(i) };
            let region = ["eu", "us", "\u{202e}x,1/%2F"][(i % 3) as usize];
            let rest = json!({
                "user_id": format!("u{}", i % 3),
                "tags": {"region": region},
                "properties": {"cart": {"total": total, "items": [i]}, "vip": i % 2 == 0, "a.b": 1, "none": null},
            });
            event("order.paid", yesterday() + i * MINUTE_MS, rest)
        })
        .collect();
    events.push(event("visit", yesterday() + HOUR_MS, json!({"value": 1e308})));
    send(&client, &events);
    (server, client)
}

#[test]
fn fields_are_listed_with_types_and_an_example() {
    covers!("GET /api/v1/events/fields", Happy);
    let (_server, client) = story();
    let body = client.get(&format!("/api/v1/events/fields?{}&name=order.*", range())).expect(200);
    same(
        &body,
        &json!({
            "data": [
                {"field": "properties.cart.items", "type": "array", "types": {"array": 12}, "count": 12, "example": "[11]"},
                {"field": "properties.cart.total", "type": "number", "types": {"number": 9, "string": 3}, "count": 12, "example": "free"},
                {"field": "properties.none", "type": "null", "types": {"null": 12}, "count": 12, "example": "null"},
                {"field": "properties.vip", "type": "boolean", "types": {"boolean": 12}, "count": 12, "example": "false"},
                {"field": "tags.region", "type": "string", "types": {"string": 12}, "count": 12, "example": "\u{202e}x,1/%2F"},
                {"field": "user_id", "type": "string", "types": {"string": 12}, "count": 12, "example": "u2"},
            ],
            "meta": {"events_read": 12, "events_matched": 12, "left_out": 12},
        }),
    );
    let visit = client.get(&format!("/api/v1/events/fields?{}&name=visit", range())).data(200);
    assert_eq!(visit[0]["field"], "value", "{visit}");
    let none = client.get(&format!("/api/v1/events/fields?{}&name=nothing", range())).expect(200);
    same(&none["meta"], &json!({"events_read": 0, "events_matched": 0, "left_out": 0}));
}

#[test]
fn fields_of_many_events_are_those_of_the_newest() {
    let server = Server::start();
    let client = server.client();
    let wide = |i: i64| {
        let properties: serde_json::Map<String, Value> =
            (0..6).map(|k| (format!("p{}_{k}", i), json!("x".repeat(300)))).collect();
        event("wide", yesterday() + i, json!({"properties": properties}))
    };
    send(&client, &(0..1_200).map(wide).collect::<Vec<Value>>());
    let body = client.get(&format!("/api/v1/events/fields?{}", range())).expect(200);
    assert_eq!(body["meta"]["events_read"], 1_000);
    assert_eq!(body["meta"]["events_matched"], 1_200);
    assert_eq!(body["data"].as_array().map(Vec::len), Some(500));
    assert_eq!(body["meta"]["left_out"], 6 * 1_000 - 500);
    assert_eq!(body["data"][0]["example"].as_str().map(str::len), Some(200));
}

#[test]
fn invalid_questions_about_fields_are_refused() {
    covers!("GET /api/v1/events/fields", Refusal);
    let (_server, client) = story();
    let refused = |query: &str, status, code: &str, field: &str| {
        let response = client.get(&format!("/api/v1/events/fields?{query}"));
        response.refused_for(status, code, field);
    };
    refused("name=", 400, "invalid_parameter", "name");
    refused("from=soon", 422, "invalid_timestamp", "from");
    refused("from=2024-01-02&to=2024-01-01", 422, "invalid_range", "from");
    refused("tags[a]=b*,c", 400, "invalid_parameter", "tags[a]");
}

#[test]
fn the_most_frequent_values_of_each_kind_of_field() {
    covers!("GET /api/v1/events/values", Happy);
    let (_server, client) = story();
    let values =
        |query: &str| client.get(&format!("/api/v1/events/values?{}&{query}", range())).expect(200);
    let pairs = |body: &Value| -> Vec<(String, u64)> {
        let rows = body["data"].as_array().into_iter().flatten();
        rows.map(|row| {
            (
                row["value"].as_str().unwrap_or_default().to_owned(),
                row["count"].as_u64().unwrap_or(0),
            )
        })
        .collect()
    };
    let of = |query: &str| pairs(&values(query));
    let owned = |rows: &[(&str, u64)]| -> Vec<(String, u64)> {
        rows.iter().map(|(value, count)| ((*value).to_owned(), *count)).collect()
    };
    assert_eq!(of("field=name"), owned(&[("order.paid", 12), ("visit", 1)]));
    assert_eq!(of("field=user_id"), owned(&[("u0", 4), ("u1", 4), ("u2", 4)]));
    assert_eq!(of("field=tags.region"), owned(&[("eu", 4), ("us", 4), ("\u{202e}x,1/%2F", 4)]));
    assert_eq!(of("field=vip"), owned(&[("false", 6), ("true", 6)]));
    assert_eq!(of("field=properties.cart.total&limit=2"), owned(&[("free", 3), ("0", 1)]));
    assert_eq!(of("field=cart.total&search=FRE"), owned(&[("free", 3)]));
    assert_eq!(of("field=cart.items"), []);
    assert_eq!(of("field=cart"), []);
    assert_eq!(of("field=none.such"), []);
    assert_eq!(of("field=value").len(), 1);
    assert_eq!(of("field=user_id&tags[region]=eu"), owned(&[("u0", 4)]));
    let search = encoded("1/%2f");
    assert_eq!(of(&format!("field=tags.region&search={search}")), owned(&[("\u{202e}x,1/%2F", 4)]));
    same(
        &values("field=cart.total&limit=2")["meta"],
        &json!({"total": 10, "limit": 2, "events_read": 13, "events_matched": 13}),
    );
}

#[test]
fn invalid_questions_about_values_are_refused() {
    covers!("GET /api/v1/events/values", Refusal);
    let (_server, client) = story();
    for (query, field) in [
        ("", "field"),
        ("field=", "field"),
        ("field=tags.", "field"),
        ("field=a..b", "field"),
        ("field=name&limit=0", "limit"),
        ("field=name&search=a+b+c+d+e+f+g+h+i+j+k", "search"),
        ("field=name&name=", "name"),
    ] {
        let response = client.get(&format!("/api/v1/events/values?{query}"));
        response.refused_for(400, "invalid_parameter", field);
    }
}

/// An event of a funnel: user, milliseconds, name, plan.
type Step = (usize, i64, &'static str, &'static str);

/// Random events of some users, the same at each run, with many equal times.
fn walks(seed: u64) -> Vec<Step> {
    let mut state = seed;
    let mut next = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    (0..400)
        .map(|_| {
            let user = next(25) as usize;
            let ms = next(40) as i64 * 30_000;
            let name = ["view", "cart", "pay", "view.again"][next(4) as usize];
            (user, ms, name, ["free", "pro"][next(2) as usize])
        })
        .collect()
}

/// Whether an event belongs to a step `(name, plan)`; a name may end with `*`.
fn belongs(event: &Step, (name, plan): (&str, Option<&str>)) -> bool {
    let is_named = match name.strip_suffix('*') {
        Some(prefix) => event.2.starts_with(prefix),
        None => event.2 == name,
    };
    is_named && plan.is_none_or(|plan| plan == event.3)
}

fn median(mut times: Vec<i64>) -> Option<i64> {
    times.sort_unstable();
    times.get(times.len().div_ceil(2).checked_sub(1)?).copied()
}

/// Evaluates a funnel as its description says. `events` are in the order of time and id.
fn naive(events: &[Step], steps: &[(&str, Option<&str>)], window: i64) -> Value {
    let mut users = vec![0_u64; steps.len()];
    let mut between: Vec<Vec<i64>> = vec![Vec::new(); steps.len()];
    let mut whole = Vec::new();
    let everyone: BTreeSet<usize> = events.iter().map(|event| event.0).collect();
    for user in everyone {
        let own: Vec<&Step> = events.iter().filter(|event| event.0 == user).collect();
        let mut best: Vec<i64> = Vec::new();
        for (at, start) in own.iter().enumerate().filter(|(_, event)| belongs(event, steps[0])) {
            let (mut times, mut from) = (vec![start.1], at + 1);
            for step in &steps[1..] {
                let found =
                    own.iter().enumerate().skip(from).find(|(_, event)| belongs(event, *step));
                let Some((found, event)) = found.filter(|(_, e)| e.1 - start.1 <= window) else {
                    break;
                };
                times.push(event.1);
                from = found + 1;
            }
            if times.len() > best.len() {
                best = times;
            }
        }
        for (step, time) in best.iter().enumerate() {
            users[step] += 1;
            if step > 0 {
                between[step].push(time - best[step - 1]);
            }
        }
        if best.len() == steps.len() {
            whole.push(best[best.len() - 1] - best[0]);
        }
    }
    let medians: Vec<Option<i64>> = between.into_iter().map(median).collect();
    json!({"users": users, "medians": medians, "median": median(whole)})
}

#[test]
fn a_funnel_equals_a_naive_evaluation() {
    covers!("POST /api/v1/events/funnel", Happy);
    let server = Server::start();
    let client = server.client();
    // Each seed has names of its own, so that one server serves all of them.
    for seed in 1..6_u64 {
        let mut walks = walks(seed);
        let inputs: Vec<Value> = walks
            .iter()
            .map(|(user, ms, name, plan)| {
                let rest = json!({"user_id": format!("u{user}"), "tags": {"plan": plan}});
                event(&format!("s{seed}.{name}"), yesterday() + ms, rest)
            })
            .collect();
        send(&client, &inputs);
        send(&client, &[event(&format!("s{seed}.view"), yesterday(), json!({}))]);
        if seed % 2 == 0 {
            // From now on the events are in blocks, not in memory.
            client.post("/api/v1/admin/seal", &json!({})).expect(200);
        }
        // Ids rise in the order sent, and break ties of time.
        walks.sort_by_key(|event| event.1);
        let funnels: &[&[(&str, Option<&str>)]] = &[
            &[("view", None)],
            &[("view", None), ("cart", None), ("pay", None)],
            &[("view*", None), ("view*", None), ("cart", Some("pro")), ("pay", None)],
            &[("pay", Some("free")), ("nothing", None)],
            &[("cart", None), ("cart", None), ("cart", None), ("cart", None), ("cart", None)],
        ];
        for steps in funnels {
            for (window, window_ms) in [("1m", 60_000), ("5m", 300_000), ("1h", HOUR_MS)] {
                let step = |(name, plan): &(&str, Option<&str>)| match plan {
                    Some(plan) => {
                        json!({"name": format!("s{seed}.{name}"), "tags": {"plan": plan}})
                    }
                    None => json!({"name": format!("s{seed}.{name}")}),
                };
                let steps_input: Vec<Value> = steps.iter().map(step).collect();
                let body = json!({
                    "steps": steps_input, "window": window,
                    "from": iso(yesterday()), "to": iso(yesterday() + HOUR_MS),
                });
                let data = client.post("/api/v1/events/funnel", &body).data(200);
                let column = |name: &str| -> Vec<Value> {
                    data["steps"]
                        .as_array()
                        .into_iter()
                        .flatten()
                        .map(|s| s[name].clone())
                        .collect()
                };
                let actual = json!({
                    "users": column("users"), "medians": column("median_ms"), "median": data["median_ms"]
                });
                same(&actual, &naive(&walks, steps, window_ms));
            }
        }
    }
}

#[test]
fn a_funnel_has_rates() {
    let server = Server::start();
    let client = server.client();
    let t0 = yesterday();
    let at = |name: &str, user: &str, ms: i64| event(name, t0 + ms, json!({"user_id": user}));
    send(
        &client,
        &[
            at("view", "a", 0),
            at("cart", "a", 1_000),
            at("view", "b", 0),
            at("view", "c", 0),
            at("cart", "c", 3_000),
            at("pay", "c", 10_000),
            at("view", "d", 0),
            at("pay", "d", 1),
        ],
    );
    let steps = json!([{"name": "view"}, {"name": "cart"}, {"name": "pay"}]);
    let body = json!({"steps": steps, "from": iso(t0), "to": iso(t0 + HOUR_MS)});
    same(
        &client.post("/api/v1/events/funnel", &body).data(200),
        &json!({
            "from": iso(t0), "to": iso(t0 + HOUR_MS),
            "steps": [
                {"name": "view", "users": 4, "from_first": 1, "from_previous": null, "median_ms": null},
                {"name": "cart", "users": 2, "from_first": 0.5, "from_previous": 0.5, "median_ms": 1000},
                {"name": "pay", "users": 1, "from_first": 0.25, "from_previous": 0.5, "median_ms": 7000},
            ],
            "conversion": 0.25, "median_ms": 10000, "events": 8,
        }),
    );
    let empty = json!({"steps": [{"name": "none"}], "from": iso(t0), "to": iso(t0 + HOUR_MS)});
    let data = client.post("/api/v1/events/funnel", &empty).data(200);
    same(&data["conversion"], &Value::Null);
    let counts: BTreeMap<&str, &Value> = BTreeMap::from([("users", &data["steps"][0]["users"])]);
    assert_eq!(counts["users"], &json!(0));
}

#[test]
fn an_invalid_funnel_is_refused() {
    covers!("POST /api/v1/events/funnel", Refusal);
    let server = Server::start();
    let client = server.client();
    let eleven: Vec<Value> = (0..11).map(|_| json!({"name": "a"})).collect();
    for (body, status, code, field) in [
        (json!({}), 422, "missing_field", "steps"),
        (json!({"steps": []}), 400, "invalid_parameter", "steps"),
        (json!({"steps": eleven}), 400, "invalid_parameter", "steps"),
        (json!({"steps": [{}]}), 422, "missing_field", "steps[0].name"),
        (json!({"steps": [{"name": ""}]}), 400, "invalid_parameter", "steps[0].name"),
        (
            json!({"steps": [{"name": "a"}, {"name": "b", "user_id": ""}]}),
            400,
            "invalid_parameter",
            "steps[1].user_id",
        ),
        (
            json!({"steps": [{"name": "a", "tags": {"k": "!a*"}}]}),
            400,
            "invalid_parameter",
            "steps[0].tags",
        ),
        (json!({"steps": [{"name": "a"}], "window": "0m"}), 400, "invalid_parameter", "window"),
        (json!({"steps": [{"name": "a"}], "window": "91d"}), 400, "invalid_parameter", "window"),
        (json!({"steps": [{"name": "a"}], "from": "soon"}), 422, "invalid_timestamp", "from"),
        (
            json!({"steps": [{"name": "a"}], "from": "2024-01-02", "to": "2024-01-01"}),
            422,
            "invalid_range",
            "from",
        ),
    ] {
        client.post("/api/v1/events/funnel", &body).refused_for(status, code, field);
    }
    client.post_text("/api/v1/events/funnel", "[]").refused(400, "invalid_json");
}
