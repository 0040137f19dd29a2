//! Escalation policies over HTTP.

use serde_json::{Value, json};
use telltale_tests::{Client, Server, covers};

const PATH: &str = "/api/v1/escalation_policies";

/// Creates a webhook channel and returns its id.
#[track_caller]
fn channel(client: &Client, name: &str) -> Value {
    let config = json!({"webhook_url": "https://hooks.example.com/a"});
    let body = json!({"name": name, "channel_type": "webhook", "config": config});
    client.post("/api/v1/channels", &body).data(201)["id"].clone()
}

fn path_of(resource: &Value) -> String {
    format!("{PATH}/{}", resource["id"].as_str().unwrap_or_default())
}

#[test]
fn a_policy_is_created_listed_changed_and_deleted() {
    covers!("POST /api/v1/escalation_policies", Happy);
    covers!("GET /api/v1/escalation_policies", Happy);
    covers!("GET /api/v1/escalation_policies/{id}", Happy);
    covers!("PATCH /api/v1/escalation_policies/{id}", Happy);
    covers!("DELETE /api/v1/escalation_policies/{id}", Happy);
    let mut server = Server::start();
    let client = server.client();
    let (chat, pager) = (channel(&client, "Chat"), channel(&client, "Pager"));
    let steps = json!([
        {"channel_id": pager, "delay_minutes": 15}, {"channel_id": chat, "delay_minutes": 0}
    ]);
    let body = json!({"name": "Shop", "steps": steps, "repeat": true, "repeat_after_minutes": 30});
    let made = client.post(PATH, &body).data(201);
    assert!(made["id"].as_str().is_some_and(|id| id.starts_with("esc_")), "{made}");
    assert_eq!((&made["enabled"], &made["max_repeats"]), (&json!(true), &json!(3)));
    let sorted = json!([
        {"channel_id": chat, "channel_name": "Chat", "delay_minutes": 0},
        {"channel_id": pager, "channel_name": "Pager", "delay_minutes": 15},
    ]);
    assert_eq!(made["steps"], sorted);
    server.kill9();
    server.restart();
    let client = server.client();
    assert_eq!(client.get(&path_of(&made)).data(200), made);
    let listed = client.get(&format!("{PATH}?enabled=true")).json();
    assert_eq!(
        (&listed["data"][0]["steps_count"], &listed["meta"]["total"]),
        (&json!(2), &json!(1))
    );
    assert_eq!(client.get(&format!("{PATH}?enabled=false")).data(200), json!([]));

    let etag = client.get(&path_of(&made)).must_header("etag").to_owned();
    let change = json!({"enabled": false, "steps": sorted, "repeat": false});
    let path = path_of(&made);
    let patch = || client.request("PATCH", &path).header("if-match", &etag).json(&change).send();
    let changed = patch().data(200);
    assert_eq!((&changed["enabled"], &changed["repeat"]), (&json!(false), &json!(false)));
    assert_eq!(changed["name"], "Shop");
    patch().refused(412, "precondition_failed");
    let deleted = client.delete(&path).data(200);
    assert_eq!(deleted, json!({"id": made["id"], "deleted": true, "removed_from": []}));
    client.get(&path).refused(404, "policy_not_found");
}

#[test]
fn invalid_policies_are_refused() {
    covers!("POST /api/v1/escalation_policies", Refusal);
    covers!("GET /api/v1/escalation_policies", Refusal);
    covers!("GET /api/v1/escalation_policies/{id}", Refusal);
    covers!("PATCH /api/v1/escalation_policies/{id}", Refusal);
    covers!("DELETE /api/v1/escalation_policies/{id}", Refusal);
    let server = Server::start();
    let client = server.client();
    let chat = channel(&client, "Chat");
    let step = |delay: Value| json!([{"channel_id": chat, "delay_minutes": delay}]);
    for (change, code, field) in [
        (json!({"name": null}), "missing_name", "name"),
        (json!({"name": "a\nb"}), "invalid_name", "name"),
        (json!({"steps": null}), "missing_field", "steps"),
        (json!({"steps": []}), "invalid_field", "steps"),
        (json!({"steps": step(json!(1441))}), "invalid_field", "steps[0].delay_minutes"),
        (json!({"steps": [{"delay_minutes": 0}]}), "missing_field", "steps[0].channel_id"),
        (json!({"steps": [{"channel_id": "chan_x"}]}), "invalid_field", "steps[0].channel_id"),
        (json!({"repeat": true}), "missing_field", "repeat_after_minutes"),
        (json!({"repeat_after_minutes": 0}), "invalid_field", "repeat_after_minutes"),
        (json!({"max_repeats": 101}), "invalid_field", "max_repeats"),
    ] {
        let mut body = json!({"name": "n", "steps": step(json!(0))});
        if let (Some(body), Some(change)) = (body.as_object_mut(), change.as_object()) {
            body.extend(change.clone());
        }
        client.post(PATH, &body).refused_for(422, code, field);
    }
    let negative = json!({"name": "n", "steps": step(json!(-1))});
    client.post(PATH, &negative).refused(400, "invalid_parameter");
    client.post(PATH, &json!({"name": "n", "stepz": []})).refused(400, "invalid_parameter");
    client.get(&format!("{PATH}?enabled=maybe")).refused(400, "invalid_parameter");
    let unknown = format!("{PATH}/esc_01J0000000000000000000000A");
    client.get(&unknown).refused(404, "policy_not_found");
    client.delete(&unknown).refused(404, "policy_not_found");
    let patch = client.request("PATCH", &unknown).json(&json!({"name": "o"})).send();
    patch.refused(404, "policy_not_found");
}

#[test]
fn a_deleted_channel_leaves_its_policies() {
    covers!("DELETE /api/v1/channels/{id}", Happy);
    let server = Server::start();
    let client = server.client();
    let (chat, pager) = (channel(&client, "Chat"), channel(&client, "Pager"));
    let steps = json!([{"channel_id": chat}, {"channel_id": pager, "delay_minutes": 5}]);
    let made = client.post(PATH, &json!({"name": "Shop", "steps": steps})).data(201);
    let path = format!("/api/v1/channels/{}", chat.as_str().unwrap_or_default());
    let deleted = client.delete(&path).data(200);
    assert_eq!(deleted, json!({"id": chat, "deleted": true, "removed_from": [made["id"]]}));
    let left = client.get(&path_of(&made)).data(200);
    assert_eq!(left["steps"][0]["channel_id"], pager);
    assert_eq!(left["steps_count"], 1);
}
