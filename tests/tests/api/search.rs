//! The search by name over all areas.

use serde_json::{Value, json};
use telltale_tests::{Client, Server, covers, eventually};

use crate::jobs::enqueue;
use crate::keys::{client_with, text};

fn search(client: &Client, query: &str) -> Value {
    client.get(&format!("/api/v1/search?{query}")).data(200)
}

/// Returns the names that were found, by kind.
fn found(result: &Value) -> Vec<(String, Vec<String>)> {
    let kinds = result["results"].as_array().into_iter().flatten();
    kinds
        .map(|kind| {
            let items = kind["items"].as_array().into_iter().flatten();
            let names = items.map(|item| text(&item["name"]).to_owned()).collect();
            (text(&kind["kind"]).to_owned(), names)
        })
        .collect()
}

fn expected(kinds: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
    let owned = |names: &&[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    kinds.iter().map(|(kind, names)| ((*kind).to_owned(), owned(names))).collect()
}

#[test]
fn things_of_all_areas_are_found_by_name() {
    covers!("GET /api/v1/search", Happy);
    let server = Server::start();
    let client = server.client();
    let made = client
        .post("/api/v1/dashboards", &json!({"name": "Zebra shop", "description": "d"}))
        .data(201);
    for name in ["zebra.load", "load.zebra", "xzebra"] {
        client
            .post("/api/v1/metrics", &json!({"name": name, "type": "gauge", "value": 1}))
            .data(201);
    }
    client
        .post("/api/v1/errors", &json!({"exception": {"type": "Zebra", "message": "gone"}}))
        .data(201);
    enqueue(&client, &json!({"class_name": "Mail", "queue": "zebra"}));
    let rule = json!({
        "name": "Zebra load", "query": {"metric": "zebra.load"}, "condition": {"op": "gt", "threshold": 1},
    });
    client.post("/api/v1/alert_rules", &rule).expect(201);
    let channel = json!({"name": "Zebra hook", "channel_type": "webhook", "config": {"webhook_url": "https://example.com/x"}});
    client.post("/api/v1/channels", &channel).expect(201);
    let monitor = json!({"name": "zebra home", "type": "heartbeat", "interval_seconds": 60});
    client.post("/api/v1/monitors", &monitor).expect(201);
    let page = json!({"name": "Zebra status", "subdomain": "zebra"});
    client.post("/api/v1/status-pages", &page).expect(201);

    let all = search(&client, "q=ZEBRA");
    assert_eq!(all["failed"], json!([]));
    assert_eq!(
        found(&all),
        expected(&[
            ("dashboard", &["Zebra shop"]),
            ("metric", &["zebra.load", "load.zebra", "xzebra"]),
            ("error", &["Zebra: gone"]),
            ("alert_rule", &["Zebra load"]),
            ("monitor", &["zebra home"]),
            ("status_page", &["Zebra status"]),
            ("queue", &["zebra"]),
            ("channel", &["Zebra hook"]),
        ])
    );
    let dashboard = &all["results"][0]["items"][0];
    assert_eq!((&dashboard["id"], &dashboard["detail"]), (&made["id"], &json!("d")));
    let few = search(&client, "q=zebra&kinds=metric,queue&limit=1");
    assert_eq!(found(&few), expected(&[("metric", &["zebra.load"]), ("queue", &["zebra"])]));
    assert_eq!(few["results"][0]["total"], 3);
    assert_eq!(
        found(&search(&client, "q=shop+zebra")),
        expected(&[("dashboard", &["Zebra shop"])])
    );
    assert_eq!(search(&client, "q=%2F%25,%E2%80%AE")["results"], json!([]));
}

#[test]
fn classes_of_jobs_that_ended_are_found() {
    let server = Server::start();
    let client = server.client();
    let worker = crate::jobs::register(&client, &["q"]);
    enqueue(&client, &json!({"class_name": "Okapi::Mail", "queue": "q"}));
    let job = crate::jobs::fetch_one(&client, &worker);
    crate::jobs::about(&client, &job, "ack", &json!({})).expect(200);
    eventually("the class in the history", || {
        let found = found(&search(&client, "q=okapi"));
        (found == expected(&[("job_class", &["Okapi::Mail"])])).then_some(())
    });
}

#[test]
fn a_search_shows_only_what_the_caller_may_see() {
    covers!("GET /api/v1/search", Refusal);
    let server = Server::start();
    let client = server.client();
    let key = json!({"name": "giraffe", "user": "a@example.com", "scopes": ["read"]});
    let made = client.post("/api/v1/keys", &key).data(201);
    let seen = search(&client, "q=giraffe");
    assert_eq!(found(&seen), expected(&[("key", &["giraffe"])]));
    assert!(!seen.to_string().contains(text(&made["key"])), "{seen}");
    let reader = client_with(&client, json!(["read"]));
    assert_eq!(search(&reader, "q=giraffe")["results"], json!([]));
    let asked = reader.get("/api/v1/search?q=giraffe&kinds=key");
    asked.refused_for(400, "invalid_parameter", "kinds");
    client_with(&client, json!(["ingest"])).get("/api/v1/search?q=a").refused(403, "forbidden");
    for (query, field) in [
        ("", "q"),
        ("q=", "q"),
        ("q=+", "q"),
        ("q=a&limit=0", "limit"),
        ("q=a&kinds=", "kinds"),
        ("q=a&kinds=metric,x", "kinds"),
        ("q=a&q=b", "q"),
    ] {
        let refused = client.get(&format!("/api/v1/search?{query}"));
        refused.refused_for(400, "invalid_parameter", field);
    }
    let long = format!("/api/v1/search?q={}", "x".repeat(201));
    client.get(&long).refused_for(400, "invalid_parameter", "q");
}
