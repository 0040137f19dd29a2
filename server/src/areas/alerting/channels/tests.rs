//! Channels through their routes.

use http::Method;
use serde_json::{Value, json};

use crate::areas::alerting::limits::CHANNELS_MAX;
use crate::areas::testing::TestServer;

const PATH: &str = "/api/v1/channels";

#[test]
fn a_change_of_the_configuration_ends_the_verification() {
    let server = TestServer::open();
    let config = json!({"routing_key": "0123456789abcdef0123456789abcdef"});
    let body = json!({"name": "n", "channel_type": "paging_a", "config": config});
    let made = server.post(PATH, &body).data(201);
    let path = format!("{PATH}/{}", made["id"].as_str().unwrap());
    let change = json!({"config": {"routing_key": "…cdef"}, "enabled": false}).to_string();
    let changed = server.call(Method::PATCH, &path, &[], &change).data(200);
    assert_eq!((&changed["enabled"], &changed["config"]), (&json!(false), &made["config"]));
    let partly = json!({"config": {"routing_key": "…0000"}}).to_string();
    let refused = server.call(Method::PATCH, &path, &[], &partly);
    refused.refused(422, "invalid_field", "config.routing_key");
    let key = server.dir.path().join("data").join("secret.key");
    assert!(key.is_file(), "the key is beside the data");
}

#[test]
fn the_number_of_channels_is_limited() {
    let server = TestServer::open();
    let config = json!({"recipients": ["ann@example.com"]});
    let body = json!({"name": "n", "channel_type": "email", "config": config});
    for _ in 0..CHANNELS_MAX {
        server.post(PATH, &body).data(201);
    }
    server.post(PATH, &body).refused(409, "conflict", "");
}

#[test]
fn a_signing_secret_is_replaced_and_used_for_a_day_more() {
    let server = TestServer::open();
    let config = json!({"webhook_url": "https://example.com/hook"});
    let body = json!({"name": "n", "channel_type": "webhook", "config": config});
    let made = server.post(PATH, &body).data(201);
    let path = format!("{PATH}/{}", made["id"].as_str().unwrap());
    let rotated = server.post(&format!("{path}/rotate_secret"), &Value::Null).data(200);
    let (old, new) = (&made["config"]["signing_secret"], &rotated["config"]["signing_secret"]);
    assert!(new.as_str().unwrap().starts_with("whsec_") && old != new);
    let shown = server.get(&path).data(200)["config"]["signing_secret"].clone();
    assert!(shown.as_str().unwrap().starts_with('…'), "{shown}");
    let body = json!({"name": "n", "channel_type": "email", "config": {"recipients": ["a@b.de"]}});
    let other = server.post(PATH, &body).data(201);
    let path = format!("{PATH}/{}/rotate_secret", other["id"].as_str().unwrap());
    server.post(&path, &Value::Null).refused(409, "invalid_state", "");
}
