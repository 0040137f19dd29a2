//! Requests that the tests of several resources send.

use http::Method;
use serde_json::{Value, json};
use telltale_engine::Options;

use super::ids::PageId;
use crate::areas::alerting::OptionalBaseUrl;
use crate::areas::testing::{Answer, TestServer};
use crate::config::Config;
use crate::platform::mail::{SenderAddress, SmtpHost, SmtpSecurity};
use crate::platform::settings::SettingValue as _;

/// The path of all status pages.
pub(super) const PAGES: &str = "/api/v1/status-pages";

/// Opens a server that has a mail server and knows its address, so that visitors can subscribe. No
/// job runs, so no mail is sent. At most `waiting_max` jobs of users wait.
pub(super) fn mailing(waiting_max: usize) -> TestServer {
    let mut config = Config::default();
    config.jobs.waiting_max = waiting_max;
    config.smtp.host = SmtpHost::from_text("127.0.0.1").unwrap();
    config.smtp.security = SmtpSecurity::None;
    config.smtp.from = SenderAddress::from_text("Status <status@example.com>").unwrap();
    config.server.public_url = OptionalBaseUrl::from_text("https://telltale.example.com").unwrap();
    TestServer::serving(Options::default(), &config, crate::areas::routes())
}

/// Returns `base` with the members of `change`.
pub(super) fn with(mut base: Value, change: &Value) -> Value {
    if let (Some(base), Some(change)) = (base.as_object_mut(), change.as_object()) {
        base.extend(change.clone());
    }
    base
}

/// Returns the id of a resource.
#[track_caller]
pub(super) fn id(resource: &Value) -> String {
    resource["id"].as_str().unwrap().to_owned()
}

/// Creates a monitor that waits for reports, and returns its id.
#[track_caller]
pub(super) fn monitor(server: &TestServer, name: &str) -> String {
    let body = json!({"name": name, "type": "heartbeat"});
    id(&server.post("/api/v1/monitors", &body).whole(201))
}

/// Reports that a monitor is `up` or `down`.
#[track_caller]
pub(super) fn report(server: &TestServer, monitor: &str, status: &str) {
    let path = format!("/api/v1/monitors/{monitor}/heartbeat");
    server.post(&path, &json!({"status": status})).whole(200);
}

/// Creates a status page with these monitors, and returns its path.
#[track_caller]
pub(super) fn page(server: &TestServer, subdomain: &str, monitors: &[&str]) -> String {
    let body = json!({"name": "Shop", "subdomain": subdomain, "monitors": monitors});
    format!("{PAGES}/{}", id(&server.post(PAGES, &body).whole(201)))
}

/// Returns the id in the path of a status page.
pub(super) fn id_of_page(path: &str) -> PageId {
    PageId::parse(path.rsplit('/').next().unwrap()).unwrap()
}

/// Sends a PATCH.
pub(super) fn patch(server: &TestServer, path: &str, body: &Value) -> Answer {
    server.call(Method::PATCH, path, &[], &body.to_string())
}

/// Checks that a change or deletion is refused unless `If-Match` has the current revision, and that
/// the change is made with it.
#[track_caller]
pub(super) fn check_if_match(server: &TestServer, method: &Method, path: &str, body: &Value) {
    let body = body.to_string();
    let etag = |answer: Answer| answer.headers["etag"].to_str().unwrap().to_owned();
    let send = |method: &Method, etag: &str| {
        server.call(method.clone(), path, &[("if-match", etag)], &body)
    };
    let current = etag(server.get(path));
    send(method, &current).whole(200);
    send(method, &current).refused(412, "precondition_failed", "");
    send(&Method::DELETE, &current).refused(412, "precondition_failed", "");
    send(&Method::DELETE, &etag(server.get(path))).whole(200);
}
