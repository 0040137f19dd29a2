//! Operator actions: `POST /api/v1/admin/seal` and `/merge`.

use serde_json::json;
use telltale_tests::{HOUR_MS, Server, SmallDisk, covers};

use crate::keys::client_with;
use crate::points::{T0, gauge, send, total};

#[test]
fn seal_and_merge_are_complete_when_they_respond() {
    covers!("POST /api/v1/admin/seal", Happy);
    covers!("POST /api/v1/admin/merge", Happy);
    let server = Server::start();
    let client = server.client();
    for round in 0..4_i64 {
        let points: Vec<_> = (0..500)
            .map(|i| {
                let ms = T0 + (round * 500 + i) * 1_000;
                json!({"name": "c", "type": "counter", "value": 1, "timestamp": telltale_tests::iso(ms)})
            })
            .collect();
        send(&client, &points);
        client.post("/api/v1/admin/seal", &json!({})).data(200);
    }
    client.request("POST", "/api/v1/admin/merge").send().data(200);
    assert_eq!(total(&client, "c", T0, T0 + HOUR_MS), 2_000.0);
    // Nothing is left to do, which is not an error.
    assert_eq!(client.post("/api/v1/admin/seal", &json!({})).status, 200);
    assert_eq!(client.post("/api/v1/admin/merge", &json!({})).status, 200);
}

#[test]
fn a_backup_is_written_to_a_new_directory() {
    covers!("POST /api/v1/admin/backup", Happy);
    let server = Server::start();
    let client = server.client();
    send(&client, &[gauge("a", T0, 1.0)]);
    let copy = server.home().join("copy");
    let body = json!({ "target": copy });
    let data = client.post("/api/v1/admin/backup", &body).data(200);
    assert_eq!(data["target"], json!(copy));
    assert!(data["files"].as_u64().is_some_and(|files| files > 0), "{data}");
    let restored = Server::start_on_copy(&copy);
    restored.client().get("/api/v1/metrics/a").data(200);
    client.post("/api/v1/admin/backup", &body).refused_for(409, "conflict", "target");
}

#[test]
fn verify_checks_everything() {
    covers!("POST /api/v1/admin/verify", Happy);
    let server = Server::start();
    let client = server.client();
    send(&client, &[gauge("a", T0, 1.0)]);
    client.post("/api/v1/admin/seal", &json!({})).data(200);
    let data = client.post("/api/v1/admin/verify", &json!({})).data(200);
    assert_eq!((&data["ok"], &data["damaged"]), (&json!(true), &json!([])), "{data}");
    assert!(data["blocks"].as_u64().is_some_and(|blocks| blocks > 0), "{data}");
    assert!(data["documents"].as_u64().is_some_and(|documents| documents > 0), "{data}");
}

#[test]
fn a_backup_to_any_other_path_is_refused() {
    covers!("POST /api/v1/admin/backup", Refusal);
    let server = Server::start();
    let client = server.client();
    let refused = |body: serde_json::Value, status: u16, code: &str| {
        client.post("/api/v1/admin/backup", &body).refused(status, code);
    };
    refused(json!({}), 422, "missing_field");
    refused(json!({"target": 1}), 400, "invalid_parameter");
    refused(json!({"target": "copy"}), 422, "invalid_field");
    refused(json!({"target": "../copy"}), 422, "invalid_field");
    refused(json!({"target": server.home()}), 409, "conflict");
    refused(json!({"target": server.data().join("copy")}), 422, "invalid_field");
    refused(json!({"target": server.data().join("db").join("copy")}), 422, "invalid_field");
    let reported = |target: &std::path::Path| {
        let response = client.post("/api/v1/admin/backup", &json!({ "target": target }));
        response.refused_for(422, "invalid_field", "target");
        response.text().to_owned()
    };
    assert!(reported(&server.home().join("absent/copy")).contains("No such file"));
    let file = server.home().join("file");
    assert!(std::fs::write(&file, "x").is_ok());
    assert!(reported(&file.join("copy")).contains("Not a directory"));
    if let Some(disk) = SmallDisk::mount(1) {
        // Space for the directory, and for nothing in it.
        disk.fill(0);
        assert!(reported(&disk.path().join("copy")).contains("No space left"));
        assert!(!disk.path().join("copy").exists());
    }
    refused(json!({"target": server.home().join("copy"), "force": true}), 400, "invalid_parameter");
}

#[test]
fn only_admins_operate() {
    covers!("POST /api/v1/admin/seal", Refusal);
    covers!("POST /api/v1/admin/merge", Refusal);
    covers!("POST /api/v1/admin/verify", Refusal);
    let server = Server::start();
    let client = server.client();
    send(&client, &[gauge("a", T0, 1.0)]);
    let other = client_with(&client, json!(["read", "write", "ingest"]));
    for path in ["/api/v1/admin/seal", "/api/v1/admin/merge", "/api/v1/admin/verify"] {
        other.post(path, &json!({})).refused(403, "forbidden");
    }
}
