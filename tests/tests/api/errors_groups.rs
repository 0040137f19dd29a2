//! Error groups: reported, listed, resolved, ignored, assigned, merged, deleted.

use serde_json::{Value, json};
use telltale_tests::{Client, Server, covers, eventually};

use crate::errors_sentry::all;
use crate::keys::text;

const UNKNOWN: &str = "/api/v1/errors/err_00000000000000000000000000";

/// Reports an error and returns the id of its group.
#[track_caller]
fn report(client: &Client, kind: &str) -> String {
    let body = json!({"exception": {"type": kind, "message": "went wrong"}, "user": {"id": "ann"}});
    text(&client.post("/api/v1/errors", &body).data(201)["id"]).to_owned()
}

#[test]
fn an_error_is_reported_and_found() {
    covers!("POST /api/v1/errors", Happy);
    covers!("GET /api/v1/errors", Happy);
    covers!("GET /api/v1/errors/{id}", Happy);
    covers!("GET /api/v1/errors/{id}/events", Happy);
    covers!("GET /api/v1/errors/{id}/series", Happy);
    let server = Server::start();
    let client = server.client();
    let id = report(&client, "KeyError");
    assert_eq!(report(&client, "KeyError"), id);
    let path = format!("/api/v1/errors/{id}");
    let list = client.get("/api/v1/errors?status=unresolved&level=error&since=24h&search=keyerror");
    assert_eq!(list.expect(200)["meta"], json!({"total": 1, "limit": 50, "offset": 0}));
    let detail = client.get(&path).data(200);
    assert_eq!(detail["exception"]["type"], "KeyError");
    let events = client.get(&format!("{path}/events"));
    assert_eq!(events.expect(200)["meta"]["total"], 2);
    assert_eq!(events.data(200)[0]["id"], detail["latest_event"]["id"]);
    let series = client.get(&format!("{path}/series?interval=1d")).data(200);
    assert_eq!((&series["total"], &series["interval"]), (&json!(2), &json!("1d")));
}

#[test]
fn errors_are_found_by_environment_release_tags_and_time() {
    let mut server = Server::start();
    for (kind, environment, region) in [("A", "prod", "eu"), ("B", "staging", "us")] {
        let body = json!({
            "exception": {"type": kind}, "environment": environment, "release": "shop@1.2",
            "tags": {"region": region},
        });
        server.client().post("/api/v1/errors", &body).data(201);
    }
    let found = |client: &Client, query: &str| {
        let list = client.get(&format!("/api/v1/errors?sort=first_seen&{query}")).data(200);
        let titles =
            list.as_array().into_iter().flatten().map(|item| text(&item["title"]).to_owned());
        titles.collect::<Vec<_>>().join(" ")
    };
    // The same after a restart.
    for round in 0..2 {
        let client = server.client();
        for (query, expected) in [
            ("environment=prod", "A"),
            ("release=shop@1.2&tags[region]=us", "B"),
            ("environment=prod&tags[region]=us", ""),
            ("from=2020-01-01&to=2020-12-31", ""),
            ("from=2020-01-01&environment=staging", "B"),
        ] {
            assert_eq!(found(&client, query), expected, "{query}, round {round}");
        }
        server.terminate();
        server.restart();
    }
}

#[test]
fn invalid_reports_are_refused() {
    covers!("POST /api/v1/errors", Refusal);
    covers!("GET /api/v1/errors", Refusal);
    covers!("GET /api/v1/errors/{id}", Refusal);
    covers!("GET /api/v1/errors/{id}/events", Refusal);
    covers!("GET /api/v1/errors/{id}/series", Refusal);
    let server = Server::start();
    let client = server.client();
    client.post("/api/v1/errors", &json!({})).refused(422, "missing_field");
    client.get("/api/v1/errors?status=open").refused(400, "invalid_parameter");
    client.get(UNKNOWN).refused(404, "error_not_found");
    client.get(&format!("{UNKNOWN}/events")).refused(404, "error_not_found");
    client.get(&format!("{UNKNOWN}/series")).refused(404, "error_not_found");
    let path = format!("/api/v1/errors/{}", report(&client, "E"));
    client.get(&format!("{path}/series?interval=1")).refused(422, "invalid_interval");
    // Events of errors can only be created by reports.
    let forged = json!({"name": "telltale.error", "tags": {"error_id": "x"}});
    client.post("/api/v1/events", &forged).refused(422, "reserved_name");
}

#[test]
fn errors_are_resolved_ignored_and_assigned_through_restarts() {
    covers!("POST /api/v1/errors/{id}/resolve", Happy);
    covers!("POST /api/v1/errors/{id}/ignore", Happy);
    covers!("POST /api/v1/errors/{id}/unresolve", Happy);
    covers!("POST /api/v1/errors/{id}/assign", Happy);
    let mut server = Server::start();
    let ids: Vec<String> =
        ["A", "B", "C", "D"].iter().map(|kind| report(&server.client(), kind)).collect();
    let post = |client: &Client, id: &str, verb: &str, body: Value| {
        client.post(&format!("/api/v1/errors/{id}/{verb}"), &body).data(200)
    };
    let client = server.client();
    let resolved = post(&client, &ids[0], "resolve", json!({"note": "fixed in 1.3"}));
    assert_eq!(
        (&resolved["status"], &resolved["note"]),
        (&json!("resolved"), &json!("fixed in 1.3"))
    );
    let ignored = post(&client, &ids[1], "ignore", json!({"duration": "7d", "reason": "known"}));
    assert_eq!((&ignored["status"], &ignored["reason"]), (&json!("ignored"), &json!("known")));
    post(&client, &ids[2], "ignore", json!({}));
    assert_eq!(post(&client, &ids[2], "unresolve", json!({}))["status"], "unresolved");
    assert_eq!(post(&client, &ids[3], "assign", json!({"user_id": "ann"}))["assignee"], "ann");
    let before = all(&client);
    server.kill9();
    server.restart();
    assert_eq!(all(&server.client()), before, "a state change is durable when it is acknowledged");
    let shown = server.client().get(&format!("/api/v1/errors/{}", ids[0])).data(200);
    assert_eq!(
        (&shown["resolved_at"], &shown["note"]),
        (&resolved["resolved_at"], &resolved["note"])
    );
}

#[test]
fn invalid_state_changes_are_refused() {
    covers!("POST /api/v1/errors/{id}/resolve", Refusal);
    covers!("POST /api/v1/errors/{id}/ignore", Refusal);
    covers!("POST /api/v1/errors/{id}/unresolve", Refusal);
    covers!("POST /api/v1/errors/{id}/assign", Refusal);
    covers!("POST /api/v1/errors/{id}/merge", Refusal);
    covers!("POST /api/v1/errors/bulk", Refusal);
    covers!("DELETE /api/v1/errors/{id}", Refusal);
    let server = Server::start();
    let client = server.client();
    for verb in ["resolve", "ignore", "unresolve"] {
        client.post(&format!("{UNKNOWN}/{verb}"), &json!({})).refused(404, "error_not_found");
    }
    client.post(&format!("{UNKNOWN}/assign"), &json!({})).refused(422, "missing_field");
    client.post(&format!("{UNKNOWN}/merge"), &json!({"ids": []})).refused(422, "invalid_field");
    client.post("/api/v1/errors/bulk", &json!({"action": "resolve"})).refused(422, "missing_field");
    client.delete(UNKNOWN).refused(404, "error_not_found");
}

#[test]
fn merged_and_deleted_errors_leave_nothing_behind() {
    covers!("POST /api/v1/errors/{id}/merge", Happy);
    covers!("POST /api/v1/errors/bulk", Happy);
    covers!("DELETE /api/v1/errors/{id}", Happy);
    let mut server = Server::start();
    let client = server.client();
    let ids: Vec<String> = ["A", "B", "C", "D"].iter().map(|kind| report(&client, kind)).collect();
    let merge = json!({"ids": [ids[1]]});
    let merged = client.post(&format!("/api/v1/errors/{}/merge", ids[0]), &merge).data(200);
    assert_eq!(merged["occurrences"], 2);
    let found = client.get(&format!("/api/v1/errors/{}", ids[1])).data(200);
    assert_eq!((&found["id"], &found["merged_into"]), (&json!(ids[0]), &json!(ids[0])));
    let bulk = json!({"action": "resolve", "ids": [ids[2]]});
    let done = client.post("/api/v1/errors/bulk", &bulk).data(200);
    assert_eq!(done, json!({"matched": 1, "changed": 1}));
    let gone = client.delete(&format!("/api/v1/errors/{}", ids[0])).data(200);
    assert_eq!(gone, json!({"id": ids[0], "deleted": true}));
    assert_eq!(all(&client).as_array().map(Vec::len), Some(2));
    // The part that was not done before the kill is done after it.
    server.kill9();
    server.restart();
    let client = server.client();
    eventually("the events of both to be gone", || {
        let left = client.get("/api/v1/events?name=telltale.error").expect(200);
        (left["meta"]["total"] == 2).then_some(())
    });
    assert_ne!(report(&client, "B"), ids[0]);
}
