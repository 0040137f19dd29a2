//! The occurrences of errors: one after the other, by tag, and over time in lists.

use serde_json::{Value, json};
use telltale_tests::{Client, Server, covers, iso, now_ms};

use crate::keys::text;

const UNKNOWN: &str = "/api/v1/errors/err_00000000000000000000000000";

/// Reports an occurrence so many minutes ago and returns the path of its error and its id.
#[track_caller]
fn report(client: &Client, kind: &str, minutes: i64, more: Value) -> (String, String) {
    let mut body = json!({
        "exception": {"type": kind},
        "timestamp": iso(now_ms() - minutes * 60_000),
    });
    if let (Value::Object(body), Value::Object(more)) = (&mut body, more) {
        body.extend(more);
    }
    let reported = client.post("/api/v1/errors", &body).data(201);
    let path = format!("/api/v1/errors/{}", text(&reported["id"]));
    (path, text(&reported["event_id"]).to_owned())
}

#[test]
fn occurrences_are_read_one_after_the_other() {
    covers!("GET /api/v1/errors/{id}/events/{event_id}", Happy);
    covers!("GET /api/v1/errors/{id}/events/{event_id}", Refusal);
    let server = Server::start();
    let client = server.client();
    // The times differ from the order of receipt; three have the same.
    let same = iso(now_ms() - 7_000);
    let mut ids = Vec::new();
    let (path, newest) = report(&client, "A", 0, json!({}));
    for _ in 0..3 {
        ids.push(report(&client, "A", 0, json!({"timestamp": same})).1);
    }
    let (_, older) = report(&client, "A", 60 * 24 * 20, json!({"environment": "prod"}));
    let (other, stranger) = report(&client, "B", 0, json!({}));
    ids.insert(0, older.clone());
    ids.push(newest);
    for is_sealed in [false, true] {
        if is_sealed {
            client.post("/api/v1/admin/seal", &json!({})).expect(200);
        }
        for (at, id) in ids.iter().enumerate() {
            let found = client.get(&format!("{path}/events/{id}")).data(200);
            let neighbour = |at: Option<usize>| json!(at.and_then(|at| ids.get(at)));
            assert_eq!(
                (&found["id"], &found["previous_id"], &found["next_id"]),
                (&json!(id), &neighbour(at.checked_sub(1)), &neighbour(at.checked_add(1))),
            );
        }
    }
    let found = client.get(&format!("{path}/events/{older}")).data(200);
    assert_eq!((&found["environment"], &found["exception"]["type"]), (&json!("prod"), &json!("A")));
    assert!(found["details"].is_object(), "{found}");
    for (path, id, code) in [
        (path.as_str(), stranger.as_str(), "occurrence_not_found"),
        (&path, "evt_00000000000000000000000000", "occurrence_not_found"),
        (&path, "nobody", "occurrence_not_found"),
        (UNKNOWN, &older, "error_not_found"),
    ] {
        client.get(&format!("{path}/events/{id}")).refused(404, code);
    }
    // Occurrences of a merged error are among those of the other one.
    let merged = json!({"ids": [other.rsplit('/').next()]});
    client.post(&format!("{path}/merge"), &merged).data(200);
    for path in [&path, &other] {
        let found = client.get(&format!("{path}/events/{stranger}")).data(200);
        assert_eq!(found["previous_id"], json!(ids.last()));
    }
}

#[test]
fn the_values_of_tags_are_counted() {
    covers!("GET /api/v1/errors/{id}/tags", Happy);
    covers!("GET /api/v1/errors/{id}/tags", Refusal);
    let server = Server::start();
    let client = server.client();
    let hostile = "a,b/%2F\u{202e}";
    let send = |minutes: i64, environment: &str, browser: &str| {
        let tags = json!({"browser": browser, "environment": "tag"});
        report(&client, "A", minutes, json!({"environment": environment, "tags": tags})).0
    };
    send(0, "prod", hostile);
    send(0, "prod", "x");
    send(0, "staging", "x");
    let path = send(120, "prod", "x");
    report(&client, "A", 0, json!({}));
    let tags = |query: &str| client.get(&format!("{path}/tags?{query}")).data(200);
    let all = tags("");
    assert_eq!((&all["occurrences"], &all["sampled"]), (&json!(5), &json!(5)));
    let found: Vec<&Value> = all["tags"].as_array().into_iter().flatten().collect();
    let parameters: Vec<&str> = found.iter().map(|tag| text(&tag["parameter"])).collect();
    assert_eq!(parameters, ["environment", "tags[browser]", "tags[environment]"]);
    assert_eq!(
        found[1],
        &json!({
            "key": "browser", "parameter": "tags[browser]", "occurrences": 4, "distinct": 2,
            "values": [{"value": "x", "count": 3, "share": 0.75}, {"value": hostile, "count": 1, "share": 0.25}],
        })
    );
    let one = tags("key=browser&limit=1");
    assert_eq!(one["tags"][0]["values"], json!([{"value": "x", "count": 3, "share": 0.75}]));
    assert_eq!(one["tags"][0]["distinct"], 2);
    assert_eq!(one["tags"].as_array().map(Vec::len), Some(1));
    let own = tags("key=tags[environment]");
    assert_eq!(own["tags"][0]["values"][0]["value"], "tag");
    assert_eq!(tags("key=nobody")["tags"], json!([]));
    // A tag that only older occurrences have is counted if the request names it.
    let (rare, _) = report(&client, "Rare", 60, json!({"tags": {"rare": "yes"}}));
    for _ in 0..100 {
        report(&client, "Rare", 0, json!({}));
    }
    let of_rare = |query: &str| client.get(&format!("{rare}/tags?{query}")).data(200);
    assert_eq!(of_rare("")["tags"], json!([]));
    assert_eq!(
        of_rare("key=rare")["tags"][0]["values"],
        json!([{"value": "yes", "count": 1, "share": 1.0}])
    );
    let recent = tags("from=now-1h&key=environment");
    assert_eq!((&recent["occurrences"], &recent["tags"][0]["occurrences"]), (&json!(4), &json!(3)));
    assert_eq!(tags("from=2020-01-01&to=2020-01-02")["tags"], json!([]));
    client.get(&format!("{path}/tags?from=2020-01-02&to=2020-01-01")).refused(422, "invalid_range");
    client.get(&format!("{path}/tags?from=soon")).refused(422, "invalid_timestamp");
    client.get(&format!("{path}/tags?limit=0")).refused(400, "invalid_parameter");
    client.get(&format!("{UNKNOWN}/tags")).refused(404, "error_not_found");
}

#[test]
fn a_list_has_the_occurrences_of_each_error_over_time() {
    let server = Server::start();
    let client = server.client();
    for minutes in [0, 0, 3 * 60, 30 * 60] {
        report(&client, "A", minutes, json!({}));
    }
    let (_, _) = report(&client, "B", 0, json!({}));
    let list = |query: &str| client.get(&format!("/api/v1/errors?{query}")).expect(200);
    for (range, buckets, seconds, counted) in [
        ("1h", 12, 300, 2),
        ("24h", 24, 3_600, 3),
        ("7d", 28, 21_600, 4),
        ("14d", 28, 43_200, 4),
        ("30d", 30, 86_400, 4),
    ] {
        let listed = list(&format!("search=A&series={range}"));
        let series = &listed["data"][0]["series"];
        let counts: Vec<u64> =
            series["counts"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
        assert_eq!((counts.len(), &series["interval_seconds"]), (buckets, &json!(seconds)));
        assert_eq!(counts.iter().sum::<u64>(), counted, "{range}: {series}");
    }
    let two = list("series=24h&sort=occurrences&limit=500");
    assert_eq!(two["meta"], json!({"total": 2, "limit": 100, "offset": 0}));
    assert_eq!(two["data"][1]["series"]["counts"].as_array().map(Vec::len), Some(24));
    assert!(list("")["data"][0].get("series").is_none());
    assert_eq!(list("series=24h&search=nothing")["data"], json!([]));
    client.get("/api/v1/errors?series=1w").refused_for(400, "invalid_parameter", "series");
}
