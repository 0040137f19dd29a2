//! The activity of errors: who changed what, comments, and how both survive.

use serde_json::{Value, json};
use telltale_tests::{Client, Server, covers};

use crate::keys::text;

const UNKNOWN: &str = "/api/v1/errors/err_00000000000000000000000000";

#[track_caller]
fn report(client: &Client, kind: &str) -> String {
    let body = json!({"exception": {"type": kind, "message": "went wrong"}});
    let id = text(&client.post("/api/v1/errors", &body).data(201)["id"]).to_owned();
    format!("/api/v1/errors/{id}")
}

/// Returns the actions of an error with their texts, oldest first.
fn actions(client: &Client, path: &str) -> Vec<(String, Value)> {
    let listed = client.get(&format!("{path}/activity")).data(200);
    let entries = listed.as_array().into_iter().flatten().rev();
    entries.map(|entry| (text(&entry["action"]).to_owned(), entry["text"].clone())).collect()
}

fn names(actions: &[(String, Value)]) -> Vec<&str> {
    actions.iter().map(|(action, _)| action.as_str()).collect()
}

#[test]
fn who_changed_an_error_is_recorded_through_restarts() {
    covers!("GET /api/v1/errors/{id}/activity", Happy);
    covers!("POST /api/v1/errors/{id}/comments", Happy);
    let mut server = Server::start();
    let client = server.client();
    let path = report(&client, "A");
    let post = |verb: &str, body: Value| client.post(&format!("{path}/{verb}"), &body);
    post("resolve", json!({"note": "fixed"})).data(200);
    post("resolve", json!({"note": "again"})).data(200);
    post("unresolve", json!({})).data(200);
    post("ignore", json!({"duration": "7d", "reason": "known"})).data(200);
    post("assign", json!({"user_id": "ann@example.com"})).data(200);
    post("assign", json!({"user_id": "ann@example.com"})).data(200);
    let hostile = "a/b%2F,\u{202e}<script>\n\u{1f600}";
    let comment = post("comments", json!({"text": hostile})).data(201);
    assert_eq!((&comment["action"], &comment["text"]), (&json!("comment"), &json!(hostile)));
    assert!(text(&comment["id"]).starts_with("act_") && comment["by"].is_string(), "{comment}");
    let bulk = json!({"action": "resolve", "filter": {}, "note": "all"});
    client.post("/api/v1/errors/bulk", &bulk).data(200);

    server.kill9();
    server.restart();
    let client = server.client();
    let listed = client.get(&format!("{path}/activity")).expect(200);
    assert_eq!(listed["meta"], json!({"total": 7, "limit": 100, "offset": 0}));
    let expected = [
        ("first_seen", Value::Null),
        ("resolve", json!("fixed")),
        ("unresolve", Value::Null),
        ("ignore", json!("known")),
        ("assign", Value::Null),
        ("comment", json!(hostile)),
        ("resolve", json!("all")),
    ];
    let expected: Vec<(String, Value)> =
        expected.into_iter().map(|(action, text)| (action.to_owned(), text)).collect();
    assert_eq!(actions(&client, &path), expected, "what changed nothing is not recorded");
    let entries = &listed["data"];
    assert_eq!(entries[1], comment);
    assert_eq!(entries[2]["assignee"], "ann@example.com");
    assert!(entries[3]["until"].is_string() && entries[6]["by"].is_null(), "{entries}");
    assert_eq!(entries[0]["by"], comment["by"]);
    let second = client.get(&format!("{path}/activity?limit=1&offset=1")).data(200);
    assert_eq!(second, json!([comment]));

    // A regression is part of it.
    report(&client, "A");
    assert_eq!(names(&actions(&client, &path)).last(), Some(&"regressed"));
}

#[test]
fn a_merge_keeps_the_activity_of_both_and_a_deletion_ends_it() {
    let server = Server::start();
    let client = server.client();
    let (a, b) = (report(&client, "A"), report(&client, "B"));
    client.post(&format!("{b}/comments"), &json!({"text": "of b"})).data(201);
    client.post(&format!("{a}/comments"), &json!({"text": "of a"})).data(201);
    let id = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    client.post(&format!("{a}/merge"), &json!({"ids": [id(&b)]})).data(200);
    for path in [&a, &b] {
        let found = actions(&client, path);
        assert_eq!(names(&found), ["first_seen", "comment", "comment", "merge"]);
    }
    // A comment on the merged error is one on both.
    client.post(&format!("{b}/comments"), &json!({"text": "later"})).data(201);
    let newest = client.get(&format!("{a}/activity?limit=2")).data(200);
    assert_eq!((&newest[0]["text"], &newest[1]["merged"]), (&json!("later"), &json!([id(&b)])));
    client.delete(&a).data(200);
    for path in [&a, &b] {
        client.get(&format!("{path}/activity")).refused(404, "error_not_found");
        let comment = client.post(&format!("{path}/comments"), &json!({"text": "x"}));
        comment.refused(404, "error_not_found");
    }
    let again = report(&client, "A");
    assert_eq!(names(&actions(&client, &again)), ["first_seen"]);
}

#[test]
fn comments_are_validated_and_repeatable() {
    covers!("GET /api/v1/errors/{id}/activity", Refusal);
    covers!("POST /api/v1/errors/{id}/comments", Refusal);
    let server = Server::start();
    let client = server.client();
    client.get(&format!("{UNKNOWN}/activity")).refused(404, "error_not_found");
    let path = report(&client, "A");
    client.get(&format!("{path}/activity?limit=0")).refused_for(400, "invalid_parameter", "limit");
    let comments = format!("{path}/comments");
    let post = |body: Value| client.post(&comments, &body);
    post(json!({})).refused_for(422, "missing_field", "text");
    post(json!({"text": " \n"})).refused_for(422, "invalid_field", "text");
    post(json!({"text": "x".repeat(4_001)})).refused_for(422, "invalid_field", "text");
    post(json!({"text": 1})).refused(400, "invalid_parameter");
    post(json!({"text": "x", "by": "eve"})).refused(400, "invalid_parameter");
    let send = || {
        let request = client.request("POST", &comments).header("idempotency-key", "c1");
        request.json(&json!({"text": "é".repeat(4_000)})).send().data(201)
    };
    assert_eq!(send(), send());
    assert_eq!(names(&actions(&client, &path)), ["first_seen", "comment"]);
}
