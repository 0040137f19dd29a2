//! Notification channels over HTTP, with real receivers of their test messages.

use std::path::Path;

use serde_json::{Value, json};
use telltale_tests::{Conversation, Server, Setup, converse, covers};

const PATH: &str = "/api/v1/channels";
const RECEIVER: &str = include_str!("alerting_receiver.py");
/// What the mail server needs; the receiver of the other types needs nothing.
const PACKAGES: &[&str] = &["aiosmtpd==1.4.6"];
const MAIL_SERVER: &str = include_str!("alerting_smtp.py");

/// A secret that must not be found where it does not belong.
const PLANTED: &str = "planted0secret0routing0key0abcd";

/// Starts a strict receiver of all types of messages, and returns its address.
fn receiver() -> (Conversation, String) {
    let mut receiver = converse(PACKAGES, RECEIVER, []);
    let first: Value = serde_json::from_str(&receiver.exchange("")).unwrap_or_default();
    let port = first["port"].as_u64().unwrap_or_default();
    (receiver, format!("http://127.0.0.1:{port}"))
}

/// Returns the next request that the receiver got.
fn received(receiver: &mut Conversation) -> Value {
    serde_json::from_str(&receiver.exchange("")).unwrap_or_default()
}

/// Starts a server that may reach the receivers of a test.
fn server_for(address: &str) -> Server {
    let quoted = |path: &str| format!("\"{address}{path}\"");
    Setup::new()
        .set("outbound.allow", "[\"127.0.0.1/32\"]")
        .set("notifications.paging_a_url", &quoted("/pagerduty"))
        .set("notifications.paging_b_url", &quoted("/opsgenie"))
        .start()
}

fn path_of(channel: &Value) -> String {
    format!("{PATH}/{}", channel["id"].as_str().unwrap_or_default())
}

#[track_caller]
fn create(server: &Server, kind: &str, config: Value) -> Value {
    let body = json!({"name": kind, "channel_type": kind, "config": config});
    server.client().post(PATH, &body).data(201)
}

/// Returns whether any file below `folder` contains `text`.
pub(crate) fn is_in_files(folder: &Path, text: &str) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else {
        panic!("cannot list {}", folder.display());
    };
    let mut paths = entries.flatten().map(|entry| entry.path());
    paths.any(|path| {
        if path.is_dir() {
            return is_in_files(&path, text);
        }
        // A socket cannot be read.
        let bytes = std::fs::read(&path).unwrap_or_default();
        bytes.windows(text.len()).any(|part| part == text.as_bytes())
    })
}

#[test]
fn test_messages_of_every_type_satisfy_a_strict_receiver() {
    covers!("POST /api/v1/channels/{id}/test", Happy);
    covers!("POST /api/v1/channels", Happy);
    covers!("GET /api/v1/channels/{id}", Happy);
    let (mut receiver, address) = receiver();
    let server = server_for(&address);
    let at = |path: &str| json!({"webhook_url": format!("{address}{path}")});
    for (kind, config) in [
        ("team_chat_a", at("/slack/services/T/B/x")),
        ("team_chat_b", at("/discord/api/webhooks/1/x")),
        ("team_chat_c", at("/teams/workflows/x")),
        ("paging_a", json!({"routing_key": "0123456789abcdef0123456789abcdef"})),
        ("paging_b", json!({"api_key": "0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f"})),
        ("webhook", at("/webhook/a")),
    ] {
        let channel = create(&server, kind, config);
        assert_eq!(
            (&channel["verified"], &channel["last_tested_at"]),
            (&json!(false), &Value::Null)
        );
        let test = server.client().post(&format!("{}/test", path_of(&channel)), &json!({}));
        assert_eq!(test.expect(200)["success"], true, "{kind}: {}", test.text());
        let request = received(&mut receiver);
        assert_eq!(request["problems"], json!([]), "{kind}: {request}");
        let tested = server.client().get(&path_of(&channel)).data(200);
        assert_eq!(tested["verified"], true, "{kind}");
        assert!(tested["last_tested_at"].is_string(), "{kind}");
    }
}

#[test]
fn failures_of_a_test_name_their_kind() {
    let (_receiver, address) = receiver();
    let server = server_for(&address);
    for (path, error) in [
        ("/slack/a?body=no_service", "no_service"),
        ("/slack/b?status=404", "404"),
        ("/webhook/c?status=410", "410"),
        ("/webhook/d?redirect=http://169.254.169.254/", "302"),
        ("/discord/e?status=500", "500"),
    ] {
        let kind = match path.split('/').nth(1) {
            Some("slack") => "team_chat_a",
            Some("discord") => "team_chat_b",
            _ => "webhook",
        };
        let channel = create(&server, kind, json!({"webhook_url": format!("{address}{path}")}));
        let test = server.client().post(&format!("{}/test", path_of(&channel)), &json!({}));
        let result = test.expect(200);
        assert_eq!(result["success"], false, "{path}");
        assert!(result["error"].as_str().is_some_and(|text| text.contains(error)), "{result}");
        assert_eq!(server.client().get(&path_of(&channel)).data(200)["verified"], false);
    }
    let channel = create(&server, "email", json!({"recipients": ["ann@example.com"]}));
    let test = server.client().post(&format!("{}/test", path_of(&channel)), &json!({}));
    assert_eq!(test.expect(200), json!({"success": false, "error": "the server has no smtp.host"}));
}

#[test]
fn a_test_email_is_delivered_by_a_real_mail_server() {
    let mut mail = converse(PACKAGES, MAIL_SERVER, []);
    let port = mail.exchange("");
    let server = Setup::new()
        .set("smtp.host", "\"127.0.0.1\"")
        .set("smtp.port", &port)
        .set("smtp.security", "\"none\"")
        .set("smtp.from", "\"Telltale <telltale@example.com>\"")
        .start();
    let recipients = json!({"recipients": ["ann@example.com", "bob@example.com"]});
    let channel = create(&server, "email", recipients);
    let test = server.client().post(&format!("{}/test", path_of(&channel)), &json!({}));
    assert_eq!(test.expect(200)["success"], true, "{}", test.text());
    // One message each, in any order: a refused recipient keeps nobody else from being notified.
    let (one, other) = (mail.exchange(""), mail.exchange(""));
    for recipient in ["ann@example.com", "bob@example.com"] {
        let is_to = |message: &str| message.contains(recipient);
        assert!(is_to(&one) != is_to(&other), "{recipient}: {one} {other}");
    }
}

#[test]
fn secrets_are_sealed_redacted_and_kept() {
    covers!("PATCH /api/v1/channels/{id}", Happy);
    covers!("GET /api/v1/channels", Happy);
    let mut server = Server::start();
    let made = create(&server, "paging_a", json!({"routing_key": PLANTED}));
    let shown = json!({"routing_key": "…abcd"});
    assert_eq!(made["config"], shown);
    // What is sent back as it was returned is unchanged.
    let patch = json!({"name": "Pager", "config": shown});
    let path = path_of(&made);
    let changed = server.client().request("PATCH", &path).json(&patch).send();
    assert_eq!(changed.data(200)["config"], shown);
    server.client().post("/api/v1/admin/seal", &json!({})).expect(200);
    server.kill9();
    server.restart();
    let client = server.client();
    assert_eq!(client.get(&path).data(200)["config"], shown);
    let list = client.get(&format!("{PATH}?channel_type=paging_a&enabled=true"));
    assert!(list.data(200)[0].get("config").is_none());
    let copy = tempfile::tempdir().unwrap();
    let target = copy.path().join("copy");
    assert!(server.cli(["backup", target.to_str().unwrap()]).status.success());
    for folder in [server.data(), target.as_path()] {
        assert!(!is_in_files(folder, PLANTED), "{}", folder.display());
    }
    assert!(!target.join("secret.key").exists(), "backups do not contain the key");
    assert!(!server.log().iter().any(|line| line.contains(PLANTED)));
    // Without the key nothing is shown, and none is made in its place.
    let key = server.data().join("secret.key");
    server.kill9();
    std::fs::remove_file(&key).unwrap();
    server.restart();
    server.client().get(&path).refused(503, "unavailable");
    let config = json!({"routing_key": "0123456789abcdef0123456789abcdef"});
    let body = json!({"name": "n", "channel_type": "paging_a", "config": config});
    server.client().post(PATH, &body).refused(503, "unavailable");
    assert!(!key.exists());
}

#[test]
fn a_signing_secret_is_shown_once() {
    let server = Server::start();
    let client = server.client();
    let config = json!({"webhook_url": "https://hooks.example.com/a"});
    let body = json!({"name": "n", "channel_type": "webhook", "config": config});
    let post = || {
        let request = client.request("POST", PATH).header("idempotency-key", "one");
        request.json(&body).send().data(201)
    };
    let made = post();
    let secret = made["config"]["signing_secret"].as_str().unwrap().to_owned();
    assert!(secret.starts_with("whsec_"), "{made}");
    let again = post();
    assert_eq!(again["id"], made["id"]);
    for shown in [&again, &client.get(&path_of(&made)).data(200)] {
        let shown = shown["config"]["signing_secret"].as_str().unwrap();
        assert!(shown.starts_with('…') && secret.ends_with(shown.trim_start_matches('…')));
    }
    assert!(!is_in_files(server.data(), &secret), "the receipt does not contain it either");
}

#[test]
fn another_address_does_not_get_the_secrets_of_the_old_one() {
    let server = Server::start();
    let headers = json!({"Authorization": PLANTED});
    let config = json!({"webhook_url": "https://a.example.com/", "headers": headers});
    let made = create(&server, "webhook", config);
    let moved = json!({"config": {"webhook_url": "https://b.example.com/"}});
    let client = server.client();
    let path = path_of(&made);
    let patch = client.request("PATCH", &path).json(&moved).send();
    patch.refused_for(422, "invalid_field", "config.headers");
    let url = client.get(&path).data(200)["config"]["webhook_url"].clone();
    assert_eq!(url, "https://a.example.com/");
}

#[test]
fn invalid_channels_are_refused() {
    covers!("POST /api/v1/channels", Refusal);
    covers!("GET /api/v1/channels", Refusal);
    covers!("GET /api/v1/channels/{id}", Refusal);
    covers!("PATCH /api/v1/channels/{id}", Refusal);
    covers!("DELETE /api/v1/channels/{id}", Refusal);
    covers!("POST /api/v1/channels/{id}/test", Refusal);
    let server = Server::start();
    let client = server.client();
    let url = |url: &str| json!({"webhook_url": url});
    for (kind, config, code, field) in [
        (json!(null), json!({}), "missing_field", "channel_type"),
        (json!("sms"), json!({}), "invalid_field", "channel_type"),
        (json!("webhook"), json!(null), "missing_field", "config"),
        (json!("webhook"), json!({}), "missing_field", "config.webhook_url"),
        (json!("webhook"), url("http://127.0.0.1/a"), "invalid_field", "config.webhook_url"),
        (json!("webhook"), url("http://[::ffff:10.0.0.1]/"), "invalid_field", "config.webhook_url"),
        (json!("webhook"), url("http://2130706433/"), "invalid_field", "config.webhook_url"),
        (json!("team_chat_a"), url("ftp://a.example/"), "invalid_field", "config.webhook_url"),
        (json!("team_chat_a"), json!({"routing_key": "k"}), "invalid_field", "config.routing_key"),
        (json!("email"), json!({"recipients": []}), "invalid_field", "config.recipients"),
    ] {
        let body = json!({"name": "n", "channel_type": kind, "config": config});
        client.post(PATH, &body).refused_for(422, code, field);
    }
    client.post(PATH, &json!({"channel_type": "email"})).refused_for(422, "missing_name", "name");
    let header = json!({"webhook_url": "https://a.example/", "headers": {"X-A": "a\r\nb: c"}});
    let body = json!({"name": "n", "channel_type": "webhook", "config": header});
    client.post(PATH, &body).refused(422, "invalid_field");
    client.get(&format!("{PATH}?enabled=maybe")).refused(400, "invalid_parameter");
    client.get(&format!("{PATH}?channel_type=sms")).refused(422, "invalid_field");
    let unknown = format!("{PATH}/chan_01J0000000000000000000000A");
    client.get(&unknown).refused(404, "channel_not_found");
    client.delete(&unknown).refused(404, "channel_not_found");
    client.post(&format!("{unknown}/test"), &json!({})).refused(404, "channel_not_found");
    let patch = client.request("PATCH", &unknown).json(&json!({"name": "o"})).send();
    patch.refused(404, "channel_not_found");
}

#[test]
fn both_secrets_sign_for_a_while_after_a_rotation() {
    covers!("POST /api/v1/channels/{id}/rotate_secret", Happy);
    covers!("POST /api/v1/channels/{id}/rotate_secret", Refusal);
    // The receiver gets the secrets when they are known, so it only records here.
    let (mut receiver, address) = receiver();
    let server = server_for(&address);
    let channel =
        create(&server, "webhook", json!({"webhook_url": format!("{address}/webhook/r")}));
    let path = path_of(&channel);
    let rotated = server.client().post(&format!("{path}/rotate_secret"), &json!({})).data(200);
    assert_ne!(rotated["config"]["signing_secret"], channel["config"]["signing_secret"]);
    server.client().post(&format!("{path}/test"), &json!({})).expect(200);
    let request = received(&mut receiver);
    let signatures = request["headers"]["webhook-signature"].as_str().unwrap_or_default();
    assert_eq!(signatures.split(' ').count(), 2, "{request}");
    let mail = create(&server, "email", json!({"recipients": ["ann@example.com"]}));
    let refused = format!("{}/rotate_secret", path_of(&mail));
    server.client().post(&refused, &json!({})).refused(409, "invalid_state");
}
