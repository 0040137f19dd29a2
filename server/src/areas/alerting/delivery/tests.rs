//! Messages to receivers that cannot get them. Delivery itself is tested with real receivers.

use serde_json::{Value, json};

use super::send_due;
use super::work::deliver_all;
use crate::areas::alerting::evaluation::evaluate;
use crate::areas::alerting::ledger::Destination;
use crate::areas::testing::TestServer;

/// Opens a server with an alert whose channel is an email channel, without a mail server.
fn with_message() -> (TestServer, String, String) {
    let server = TestServer::open();
    let channel =
        json!({"name": "n", "channel_type": "email", "config": {"recipients": ["a@example.com"]}});
    let channel = server.post("/api/v1/channels", &channel).data(201)["id"].clone();
    let rule = json!({
        "name": "CPU high",
        "query": {"metric": "cpu"},
        "condition": {"op": "gt", "threshold": 90},
        "channel_ids": [channel],
    });
    server.post("/api/v1/alert_rules", &rule).data(201);
    server.post("/api/v1/metrics", &json!({"name": "cpu", "type": "gauge", "value": 97})).data(201);
    evaluate(server.app()).unwrap();
    let alert = server.get("/api/v1/alerts").data(200)[0]["id"].as_str().unwrap().to_owned();
    (server, channel.as_str().unwrap().to_owned(), format!("/api/v1/alerts/{alert}"))
}

fn deliver(server: &TestServer, channel: &str) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let destination = Destination::Channel(channel.to_owned().into());
    runtime.block_on(deliver_all(server.app(), destination)).unwrap();
}

#[test]
fn a_message_that_cannot_be_delivered_is_counted_and_shown() {
    let (server, channel, alert) = with_message();
    deliver(&server, &channel);
    let sent = server.get(&alert).data(200)["notifications"][0].clone();
    assert_eq!((&sent["status"], &sent["attempts"]), (&json!("failed"), &json!(1)), "{sent}");
    assert_eq!(sent["error"], "the server has no smtp.host");
    let shown = server.get(&format!("/api/v1/channels/{channel}")).data(200);
    assert_eq!((&shown["success_count"], &shown["failure_count"]), (&json!(0), &json!(1)));
    assert_eq!(shown["last_used_at"], "2026-01-02T03:04:05.678Z");
}

#[test]
fn messages_to_a_channel_that_is_disabled_or_deleted_meanwhile_are_dropped() {
    for end in ["disabled", "deleted"] {
        let (server, channel, alert) = with_message();
        let path = format!("/api/v1/channels/{channel}");
        if end == "deleted" {
            server.delete(&path).data(200);
        } else {
            let change = json!({"enabled": false}).to_string();
            server.call(http::Method::PATCH, &path, &[], &change).data(200);
        }
        deliver(&server, &channel);
        let sent = server.get(&alert).data(200)["notifications"][0].clone();
        assert_eq!(sent["status"], "dropped", "{end}: {sent}");
    }
}

#[test]
fn one_job_is_enqueued_for_the_messages_of_a_receiver() {
    let (server, channel, _) = with_message();
    let enqueued = || {
        let queues = server.get("/api/v1/queues?internal=true").body;
        let all = queues["queues"].as_array().or(queues["data"].as_array()).cloned();
        let size = |queue: &Value| queue["size"].as_u64().unwrap();
        let notify = |queue: &&Value| queue["name"] == "telltale-notify";
        all.unwrap().iter().filter(notify).map(size).sum::<u64>()
    };
    for _ in 0..3 {
        send_due(server.app());
        assert_eq!(enqueued(), 1);
    }
    deliver(&server, &channel);
    send_due(server.app());
    assert_eq!(enqueued(), 1, "nothing is due");
}
