//! Messages about alerts as receivers get them: over real mail servers, verified by the libraries
//! that receivers use, part by part.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use telltale_tests::{Conversation, Server, Setup, converse, eventually, python};

use crate::alerting_alerts::{alert, channel, receiver, rule, sample, start};
use crate::alerting_channels::is_in_files;
use crate::keys::text;

const ALERTS: &str = "/api/v1/alerts";
const MAIL_SERVER: &str = include_str!("alerting_smtp.py");
const CALENDAR_READER: &str = include_str!("../oracles/ics.py");
/// Verifies a webhook as its documentation says.
const VERIFIER: &str = r#"
import json, sys
from standardwebhooks import Webhook
for line in sys.stdin:
    request = json.loads(line)
    try:
        Webhook(request["secret"]).verify(request["body"], request["headers"])
        print("verified", flush=True)
    except Exception as error:
        print(repr(error), flush=True)
"#;
/// A password that must not be found where it does not belong.
const PLANTED: &str = "planted0smtp0password";

fn certificate(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/src/platform/mail");
    folder.join("test_certificates").join(name)
}

/// Starts a server that delivers to a mail server without encryption.
fn mailing(port: &str) -> Server {
    Setup::new()
        .set("alerting.evaluation_interval", "\"200ms\"")
        .set("smtp.host", "\"127.0.0.1\"")
        .set("smtp.port", port)
        .set("smtp.security", "\"none\"")
        .set("smtp.from", "\"Telltale <telltale@example.com>\"")
        .start()
}

fn mailbox(server: &Server, recipients: &[&str]) -> String {
    let config = json!({"recipients": recipients});
    let body = json!({"name": "mail", "channel_type": "email", "config": config});
    text(&server.client().post("/api/v1/channels", &body).data(201)["id"]).to_owned()
}

/// Returns the next event of a mail server.
fn next(mail: &mut Conversation) -> Value {
    serde_json::from_str(&mail.exchange("")).unwrap_or_default()
}

/// Waits until a message about the alert of a host is over, and returns its entry in the log.
#[track_caller]
fn finished(server: &Server, host: &str) -> Value {
    let path = format!("{ALERTS}/{}", text(&alert(server, host, "firing")["id"]));
    eventually("the result of the message", || {
        let sent = server.client().get(&path).data(200)["notifications"][0].clone();
        (sent["status"] != "queued").then_some(sent)
    })
}

#[test]
fn a_mail_server_that_is_busy_is_tried_again_and_one_that_refuses_is_not() {
    let mut mail = converse(&["aiosmtpd==1.4.6"], MAIL_SERVER, ["--replies", "451,250,550"]);
    let server = mailing(&mail.exchange(""));
    let mailbox = mailbox(&server, &["ann@example.com"]);
    rule(&server, &[&mailbox]);
    sample(&server, "a", 97.0);
    assert_eq!(next(&mut mail)["reply"], "451");
    // After five seconds.
    let message = next(&mut mail);
    assert_eq!(
        (&message["event"], &message["to"]),
        (&json!("message"), &json!(["ann@example.com"]))
    );
    sample(&server, "b", 97.0);
    assert_eq!(next(&mut mail)["reply"], "550");
    for (host, status, attempts) in [("a", "delivered", 2), ("b", "failed", 1)] {
        let sent = finished(&server, host);
        assert_eq!(
            (&sent["status"], &sent["attempts"]),
            (&json!(status), &json!(attempts)),
            "{sent}"
        );
    }
}

#[test]
fn a_recipient_who_is_refused_keeps_no_other_from_being_notified_once() {
    let script = ["--replies", "550,451", "--at", "RCPT"];
    let mut mail = converse(&["aiosmtpd==1.4.6"], MAIL_SERVER, script);
    let server = mailing(&mail.exchange(""));
    let everybody = ["ann@example.com", "bob@example.com", "eve@example.com"];
    let mailbox = mailbox(&server, &everybody);
    rule(&server, &[&mailbox]);
    sample(&server, "a", 97.0);
    let mut notified = Vec::new();
    let mut replies = Vec::new();
    while replies.len() < 2 || notified.len() < 2 {
        let event = next(&mut mail);
        match text(&event["event"]) {
            "refused" => replies.push(text(&event["reply"]).to_owned()),
            _ => notified.push(text(&event["to"][0]).to_owned()),
        }
    }
    notified.sort();
    notified.dedup();
    assert_eq!(notified.len(), 2, "nobody twice: {notified:?}");
    let sent = finished(&server, "a");
    assert_eq!((&sent["status"], &sent["attempts"]), (&json!("failed"), &json!(2)), "{sent}");
    assert!(text(&sent["error"]).contains("550"), "{sent}");
}

#[test]
fn an_event_that_is_refused_keeps_no_other_alert_from_being_paged() {
    let (mut receiver, address) = receiver();
    let server = Setup::new()
        .set("outbound.allow", "[\"127.0.0.1/32\"]")
        .set("alerting.evaluation_interval", "\"1s\"")
        .set("notifications.paging_a_url", &format!("\"{address}/pagerduty;status=400,503\""))
        .start();
    let config = json!({"routing_key": "0123456789abcdef0123456789abcdef"});
    let body = json!({"name": "pager", "channel_type": "paging_a", "config": config});
    let pager = server.client().post("/api/v1/channels", &body).data(201)["id"].clone();
    rule(&server, &[text(&pager)]);
    let host = |i: i32| json!({"name": "cpu", "type": "gauge", "value": 97, "tags": {"host": i.to_string()}});
    let metrics: Vec<Value> = (0..4).map(host).collect();
    server.client().post("/api/v1/metrics/batch", &json!({"metrics": metrics})).expect(200);
    // The first is refused; the second waits five seconds, with those after it.
    let mut keys = Vec::new();
    for status in [400, 503, 202, 202, 202] {
        let request = serde_json::from_str::<Value>(&receiver.exchange("")).unwrap_or_default();
        assert_eq!(request["status"], status, "{request}");
        keys.push(text(&request["json"]["dedup_key"]).to_owned());
    }
    assert_eq!(keys[1], keys[2]);
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 4, "each alert has its event: {keys:?}");
}

#[test]
fn the_person_on_call_is_notified_over_an_encrypted_connection_with_a_login() {
    let (server_pem, key) = (certificate("server.pem"), certificate("server_key.pem"));
    let login = format!("telltale:{PLANTED}");
    let (server_pem, key) = (server_pem.display().to_string(), key.display().to_string());
    let options = ["--tls", "starttls", "--cert", &server_pem, "--key", &key, "--auth", &login];
    let mut mail = converse(&["aiosmtpd==1.4.6"], MAIL_SERVER, options);
    let port = mail.exchange("");
    let authority = certificate("authority.pem").display().to_string();
    let server = Setup::new()
        .set("alerting.evaluation_interval", "\"200ms\"")
        .set("smtp.host", "\"localhost\"")
        .set("smtp.port", &port)
        .set("smtp.from", "\"Telltale <telltale@example.com>\"")
        .set("smtp.username", "\"telltale\"")
        .set("smtp.password", &format!("\"{PLANTED}\""))
        .set("smtp.ca_file", &format!("\"{authority}\""))
        .start();
    let client = server.client();
    let schedule = json!({
        "name": "Shop", "schedule_type": "custom", "timezone": "America/New_York",
        "members": ["ann@example.com"], "rotation_type": "weekly",
        "rotation_start": "2020-01-06T14:00:00Z",
    });
    let schedule = client.post("/api/v1/on_call_schedules", &schedule).data(201)["id"].clone();
    let query = json!({"metric": "cpu", "aggregation": "max", "group_by": "tags.host"});
    let rule = json!({
        "name": "CPU high", "query": query, "condition": {"op": "gt", "threshold": 90},
        "on_call_schedule_id": schedule,
    });
    client.post("/api/v1/alert_rules", &rule).data(201);
    sample(&server, "a", 97.0);
    let logged_in = next(&mut mail);
    assert_eq!((&logged_in["event"], &logged_in["success"]), (&json!("login"), &json!(true)));
    let message = next(&mut mail);
    assert_eq!(message["to"], json!(["ann@example.com"]), "{message}");
    assert_eq!((&message["tls"], &message["defects"]), (&json!(true), &json!([])), "{message}");
    let sent = finished(&server, "a");
    assert_eq!(sent["status"], "delivered", "{sent}");
    let copy = tempfile::tempdir().unwrap();
    let target = copy.path().join("copy");
    assert!(server.cli(["backup", target.to_str().unwrap()]).status.success());
    for folder in [server.data(), target.as_path()] {
        assert!(!is_in_files(folder, PLANTED), "{}", folder.display());
    }
    assert!(!server.log().iter().any(|line| line.contains(PLANTED)));
}

#[test]
fn the_official_library_verifies_a_delivered_alert() {
    let (mut receiver, address) = receiver();
    let server = start();
    let config =
        json!({"webhook_url": format!("{address}/webhook/v"), "headers": {"X-Key": PLANTED}});
    let body = json!({"name": "hook", "channel_type": "webhook", "config": config});
    let made = server.client().post("/api/v1/channels", &body).data(201);
    let mut verifier = converse(&["standardwebhooks==1.0.0"], VERIFIER, []);
    rule(&server, &[text(&made["id"])]);
    sample(&server, "a", 97.0);
    let request: Value = serde_json::from_str(&receiver.exchange("")).unwrap_or_default();
    let secret = text(&made["config"]["signing_secret"]);
    let mut question =
        json!({"secret": secret, "body": request["body"], "headers": request["headers"]});
    assert_eq!(verifier.exchange(&question.to_string()), "verified");
    question["body"] = json!(format!("{} ", text(&request["body"])));
    assert_ne!(verifier.exchange(&question.to_string()), "verified");
    // What was sent with the secrets has left none of them.
    finished(&server, "a");
    for secret in [secret, PLANTED] {
        assert!(!is_in_files(server.data(), secret), "{secret}");
        assert!(!server.log().iter().any(|line| line.contains(secret)));
    }
}

#[test]
fn secrets_are_not_kept_for_repeated_requests() {
    let mut server = Server::start();
    let hook = channel(&server, "https://hooks.example.com/a");
    let schedule = json!({
        "name": "s", "schedule_type": "custom", "timezone": "UTC", "rotation_type": "weekly",
        "rotation_start": "2026-01-01T00:00:00Z", "members": ["ann@example.com"],
    });
    let client = server.client();
    let schedule = client.post("/api/v1/on_call_schedules", &schedule).data(201)["id"].clone();
    let post = |path: &str, status: u16| {
        let request = client.request("POST", path).header("idempotency-key", "once");
        request.json(&json!({})).send().data(status)
    };
    let rotate = format!("/api/v1/channels/{hook}/rotate_secret");
    let rotated = post(&rotate, 200)["config"]["signing_secret"].clone();
    let again = post(&rotate, 200)["config"]["signing_secret"].clone();
    assert!(text(&rotated).starts_with("whsec_") && text(&again).starts_with('…'), "{again}");
    let link = format!("/api/v1/on_call_schedules/{}/calendar_link", text(&schedule));
    let link = post(&link, 201)["path"].clone();
    let (_, token) = text(&link).split_once("token=").unwrap();
    server.kill9();
    for secret in [text(&rotated), token] {
        assert!(!is_in_files(server.data(), secret), "{secret}");
    }
}

#[test]
fn calendar_libraries_read_the_shared_calendar() {
    let server = Server::start();
    let client = server.client();
    let body = json!({
        "name": "Läden; \\ \"Shop\", Night", "schedule_type": "custom",
        "timezone": "Australia/Lord_Howe", "rotation_type": "daily",
        "rotation_start": "2020-01-06T14:00:00Z",
        "members": ["ann@example.com", "bob@example.com"],
    });
    let made = client.post("/api/v1/on_call_schedules", &body).data(201);
    let path = format!("/api/v1/on_call_schedules/{}", text(&made["id"]));
    let link = client.post(&format!("{path}/calendar_link"), &json!({})).data(201);
    let calendar = server.client().without_key().get(text(&link["path"]));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calendar.ics");
    std::fs::write(&file, calendar.text()).unwrap();
    let packages = ["icalendar==6.3.1", "vobject==0.9.9"];
    let read = python(&packages, CALENDAR_READER, [file.to_str().unwrap()]);
    let read: Value = serde_json::from_str(&read).unwrap_or_default();
    assert_eq!(read["icalendar"], read["vobject"]);
    let events = read["icalendar"].as_array().unwrap();
    assert!(events.len() > 88, "{read}");
    let bounds = |event: &Value| (event["start"].as_f64(), event["end"].as_f64());
    for pair in events.windows(2) {
        assert_eq!(bounds(&pair[0]).1, bounds(&pair[1]).0, "no gap, no overlap: {pair:?}");
        assert_ne!(pair[0]["summary"], pair[1]["summary"], "{pair:?}");
    }
}
