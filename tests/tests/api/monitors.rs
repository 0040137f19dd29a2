//! Monitors: creation, changes, refusals, checks of real targets, and what is known afterwards.

use serde_json::{Value, json};
use telltale_tests::{Client, Conversation, Response, Server, Setup, converse, covers, eventually};
use telltale_tests::{now_ms, parse_iso};

use crate::keys::text;

pub(crate) const MONITORS: &str = "/api/v1/monitors";
const TARGET: &str = include_str!("monitors_target.py");

/// Targets that are checked.
pub(crate) struct Target {
    script: Conversation,
    ports: Value,
}

impl Target {
    pub(crate) fn start() -> Self {
        let mut script = converse(&["cryptography==45.0.7"], TARGET, []);
        let ports = serde_json::from_str(&script.exchange("")).unwrap_or_default();
        Self { script, ports }
    }

    /// Returns the URL of a path over plain HTTP.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.ports["http"])
    }

    /// Returns the URL of a server with this certificate.
    fn tls(&self, certificate: &str) -> String {
        format!("https://127.0.0.1:{}/state", self.ports["tls"][certificate])
    }

    pub(crate) fn turn(&mut self, state: &str) {
        self.script.exchange(state);
    }

    fn last(&mut self) -> Value {
        serde_json::from_str(&self.script.exchange("last")).unwrap_or_default()
    }
}

/// Starts a server that may reach the targets.
pub(crate) fn start(target: &Target) -> Server {
    Setup::new()
        .set("outbound.allow", "[\"127.0.0.1/32\"]")
        .env("SSL_CERT_FILE", text(&target.ports["authority"]))
        .start()
}

/// Creates a monitor and returns its path.
#[track_caller]
pub(crate) fn monitor(client: &Client, body: &Value) -> String {
    format!("{MONITORS}/{}", text(&client.post(MONITORS, body).expect(201)["id"]))
}

/// Returns the body of a monitor that is checked by hand: the next planned check is far away.
pub(crate) fn http(url: &str) -> Value {
    json!({"name": "Shop", "type": "http", "url": url, "interval_seconds": 86400, "retries": 0})
}

/// Checks a monitor now and returns it.
#[track_caller]
pub(crate) fn check(client: &Client, path: &str) -> Value {
    client.post(&format!("{path}/check"), &json!({})).expect(200)
}

fn patch(client: &Client, path: &str, body: &Value) -> Response {
    client.request("PATCH", path).json(body).send()
}

/// Checks a URL and returns the result of the check.
#[track_caller]
fn result_of(client: &Client, body: &Value) -> Value {
    let path = monitor(client, body);
    let checked = check(client, &path);
    client.delete(&path).expect(200);
    checked["last_check"].clone()
}

#[test]
fn a_monitor_is_created_listed_read_changed_and_deleted() {
    covers!("POST /api/v1/monitors", Happy);
    covers!("GET /api/v1/monitors", Happy);
    covers!("GET /api/v1/monitors/{id}", Happy);
    covers!("PATCH /api/v1/monitors/{id}", Happy);
    covers!("DELETE /api/v1/monitors/{id}", Happy);
    covers!("POST /api/v1/monitors/{id}/check", Happy);
    let mut target = Target::start();
    let mut server = start(&target);
    let client = server.client();
    let mut body = http(&target.url("/echo"));
    body["method"] = json!("post");
    body["headers"] = json!({"X-Token": "0123456789abcdef"});
    body["body"] = json!("a body of sixteen or more");
    body["expected_status"] = json!(200);
    let made = client.post(MONITORS, &body).expect(201);
    let id = text(&made["id"]);
    assert!(id.starts_with("mon_") && id.len() == 4 + 26, "{id}");
    assert_eq!(made["headers"], json!({"X-Token": "…cdef"}));
    assert_eq!((&made["body"], &made["method"]), (&json!("…more"), &json!("POST")));
    assert_eq!(made["expected_status"], json!(["200"]));
    assert_eq!((&made["timeout_seconds"], &made["retries"]), (&json!(10), &json!(0)));
    assert!(["pending", "up"].contains(&text(&made["status"])), "{made}");
    let path = format!("{MONITORS}/{id}");

    let checked = check(&client, &path);
    assert_eq!(
        (&checked["status"], &checked["last_check"]["result"]),
        (&json!("up"), &json!("up"))
    );
    let sent = target.last();
    assert_eq!((&sent["method"], &sent["body"]), (&json!("POST"), &body["body"]));
    assert_eq!(sent["headers"]["x-token"], "0123456789abcdef");

    monitor(&client, &json!({"name": "Backup", "type": "heartbeat", "interval_seconds": 3600}));
    let listed = client.get(MONITORS).expect(200)["monitors"].clone();
    assert_eq!((&listed[0]["name"], &listed[1]["id"]), (&json!("Backup"), &json!(id)));
    let of_type = client.get(&format!("{MONITORS}?type=http&status=up&limit=1")).expect(200);
    assert_eq!(of_type["monitors"].as_array().map(Vec::len), Some(1), "{of_type}");
    let paged = client.get(&format!("{MONITORS}?offset=1")).expect(200);
    assert_eq!(paged["monitors"][0]["id"], id);

    let etag = client.get(&path).must_header("etag").to_owned();
    let change =
        json!({"name": "Store", "headers": {"X-Token": "…cdef"}, "expected_status": ["2xx", 301]});
    let changed = client.request("PATCH", &path).header("If-Match", &etag).json(&change).send();
    assert_eq!(changed.expect(200)["expected_status"], json!(["2xx", "301"]));
    client
        .request("PATCH", &path)
        .header("If-Match", &etag)
        .json(&change)
        .send()
        .refused(412, "precondition_failed");
    check(&client, &path);
    assert_eq!(target.last()["headers"]["x-token"], "0123456789abcdef", "it is kept");

    server.restart();
    let client = server.client();
    assert_eq!(client.get(&path).expect(200)["name"], "Store");
    check(&client, &path);
    assert_eq!(target.last()["headers"]["x-token"], "0123456789abcdef", "it is sealed and opened");
    let deleted = client.delete(&path).expect(200);
    assert_eq!(deleted, json!({"id": id, "deleted": true, "removed_from": []}));
    client.get(&path).refused(404, "monitor_not_found");
}

#[test]
fn bad_monitors_are_refused() {
    covers!("POST /api/v1/monitors", Refusal);
    let server = Server::start();
    let client = server.client();
    let with = |field: &str, value: Value| {
        let mut body = http("https://shop.example.com/");
        body[field] = value;
        body
    };
    client.post(MONITORS, &with("name", Value::Null)).refused(422, "missing_name");
    client.post(MONITORS, &with("name", json!("a\nb"))).refused(422, "invalid_name");
    client.post(MONITORS, &json!({"name": "a"})).refused_for(422, "missing_field", "type");
    client.post(MONITORS, &with("colour", json!("red"))).refused(400, "invalid_parameter");
    for (field, value) in [
        ("type", json!("ping")),
        ("url", json!("ftp://example.com/")),
        ("url", json!("https://user:secret@example.com/")),
        ("url", json!("http://127.0.0.1/")),
        ("url", json!("http://[::ffff:169.254.169.254]/latest/meta-data")),
        ("url", json!("http://0x7f.1/")),
        ("url", json!(format!("https://example.com/{}", "a".repeat(2_048)))),
        ("method", json!("BREW")),
        ("expected_status", json!([])),
        ("expected_status", json!(["6xx"])),
        ("expected_status", json!(99)),
        ("expected_status", json!(vec!["200"; 21])),
        ("body", json!("a".repeat(10_001))),
        ("body_contains", json!("")),
        ("interval_seconds", json!(9)),
        ("interval_seconds", json!(86_401)),
        ("timeout_seconds", json!(0)),
        ("timeout_seconds", json!(61)),
        ("retries", json!(11)),
        ("degraded_after_ms", json!(0)),
        ("certificate_warning_days", json!(366)),
        ("host", json!("example.com")),
        ("port", json!(80)),
        ("grace_seconds", json!(1)),
    ] {
        client.post(MONITORS, &with(field, value)).refused_for(422, "invalid_field", field);
    }
    client.post(MONITORS, &with("headers", json!({"Host": "a"}))).refused_for(
        422,
        "invalid_field",
        "headers.Host",
    );
    client.post(MONITORS, &with("headers", json!({"A": "b\r\nC: d"}))).refused_for(
        422,
        "invalid_field",
        "headers.A",
    );
}

#[test]
fn bad_targets_and_unknown_monitors_are_refused() {
    covers!("GET /api/v1/monitors", Refusal);
    covers!("GET /api/v1/monitors/{id}", Refusal);
    covers!("PATCH /api/v1/monitors/{id}", Refusal);
    covers!("DELETE /api/v1/monitors/{id}", Refusal);
    covers!("GET /api/v1/monitors/{id}/history", Refusal);
    covers!("GET /api/v1/monitors/{id}/uptime", Refusal);
    let server = Server::start();
    let client = server.client();
    let tcp =
        |host: &str, port: Value| json!({"name": "a", "type": "tcp", "host": host, "port": port});
    client.post(MONITORS, &json!({"name": "a", "type": "tcp"})).refused_for(
        422,
        "missing_field",
        "host",
    );
    for (host, port, field) in [
        ("example.com", json!(0), "port"),
        ("example.com", json!(65_536), "port"),
        ("10.0.0.1", json!(80), "host"),
        ("a b", json!(80), "host"),
        ("", json!(80), "host"),
    ] {
        client.post(MONITORS, &tcp(host, port)).refused_for(422, "invalid_field", field);
    }
    let short = json!({"name": "a", "type": "http", "url": "https://a.example/", "interval_seconds": 10, "timeout_seconds": 11});
    client.post(MONITORS, &short).refused_for(422, "invalid_field", "timeout_seconds");
    client.get(&format!("{MONITORS}?status=green")).refused_for(400, "invalid_parameter", "status");

    let path = monitor(&client, &http("https://shop.example.com/"));
    patch(&client, &path, &json!({"type": "tcp"})).refused_for(422, "invalid_field", "type");
    patch(&client, &path, &json!({"name": null})).refused(422, "missing_name");
    for absent in ["mon_", "mon_01JQZZZZZZZZZZZZZZZZZZZZZZ", "x"] {
        let path = format!("{MONITORS}/{absent}");
        client.get(&path).refused(404, "monitor_not_found");
        patch(&client, &path, &json!({"name": "a"})).refused(404, "monitor_not_found");
        client.delete(&path).refused(404, "monitor_not_found");
        client.get(&format!("{path}/history")).refused(404, "monitor_not_found");
        client.get(&format!("{path}/uptime")).refused(404, "monitor_not_found");
    }
}

#[test]
fn targets_are_judged_by_what_they_answer() {
    let mut target = Target::start();
    let server = start(&target);
    let client = server.client();
    let reason = |body: &Value| {
        let last = result_of(&client, body);
        assert_eq!(last["result"], "failed", "{last}");
        text(&last["reason"]).to_owned()
    };
    assert_eq!(result_of(&client, &http(&target.url("/moved")))["result"], "up");
    target.turn("down");
    assert_eq!(reason(&http(&target.url("/state"))), "HTTP 503, expected 2xx");
    target.turn("up");
    let mut body = http(&target.url("/state"));
    body["body_contains"] = json!("Welcome");
    assert_eq!(result_of(&client, &body)["result"], "up");
    body["body_contains"] = json!("Farewell");
    assert_eq!(reason(&body), "the response does not contain the expected text");
    let mut body = http(&target.url("/slow"));
    body["degraded_after_ms"] = json!(100);
    let last = result_of(&client, &body);
    assert_eq!(last["result"], "degraded");
    assert!(text(&last["reason"]).ends_with("ms, more than 100 ms"), "{last}");
    assert!(last["response_ms"].as_u64() >= Some(300), "{last}");

    assert_eq!(reason(&http(&target.url("/loop"))), "more than 5 redirects");
    let long = "redirected to a URL that has ";
    assert!(reason(&http(&target.url("/long"))).starts_with(long), "longer than a request line");
    let mut body = http(&target.url("/elsewhere"));
    body["method"] = json!("POST");
    body["body"] = json!("for one server only");
    assert_eq!(
        reason(&body),
        "redirected with HTTP 308 to another server, which must not get the method and the body"
    );
    assert_eq!(target.last(), json!({}), "nothing was sent there");
    let forbidden = reason(&http(&target.url("/forbidden")));
    assert!(forbidden.contains("127.0.0.2 is a loopback address"), "{forbidden}");
    let by_name = reason(&http("http://localhost.localdomain:1/"));
    assert!(by_name.contains("localhost.localdomain"), "{by_name}");
    let nonsense = reason(&http(&target.url("/nonsense")));
    assert_eq!(nonsense, "the connection failed before the response was complete");
    for path in ["/silent", "/drip"] {
        let mut body = http(&target.url(path));
        body["timeout_seconds"] = json!(1);
        body["body_contains"] = json!("never");
        assert_eq!(reason(&body), "no response within 1 s");
    }
    assert_eq!(result_of(&client, &http(&target.url("/head")))["result"], "up");
    let mut body = http(&target.url("/endless"));
    assert_eq!(result_of(&client, &body)["result"], "up", "only the head is read");
    body["body_contains"] = json!("never");
    assert_eq!(reason(&body), "the first MiB of the response does not contain the expected text");

    let tcp = |port: &Value| json!({"name": "a", "type": "tcp", "host": "127.0.0.1", "port": port, "interval_seconds": 86400, "retries": 0});
    assert_eq!(result_of(&client, &tcp(&target.ports["http"]))["result"], "up");
    assert_eq!(reason(&tcp(&json!(1))), "cannot connect to 127.0.0.1:1");
}

#[test]
fn addresses_of_ipv6_are_understood_with_and_without_brackets() {
    let server = Setup::new().set("outbound.allow", "[\"::1/128\"]").start();
    let client = server.client();
    let tcp = |host: &str| json!({"name": "a", "type": "tcp", "host": host, "port": 1, "interval_seconds": 86400, "retries": 0});
    for host in ["[::1]", "::1"] {
        let path = monitor(&client, &tcp(host));
        let checked = check(&client, &path);
        assert_eq!(checked["host"], host, "it is returned as it was sent");
        assert_eq!(checked["last_check"]["reason"], "cannot connect to [::1]:1");
    }
}

#[test]
fn a_new_body_may_contain_what_stands_for_hidden_text() {
    let mut target = Target::start();
    let server = start(&target);
    let client = server.client();
    let mut body = http(&target.url("/echo"));
    body["method"] = json!("POST");
    body["body"] = json!("wait… what is this?");
    let path = monitor(&client, &body);
    let mut sent = |change: Value| {
        patch(&client, &path, &change).expect(200);
        check(&client, &path);
        target.last()["body"].clone()
    };
    assert_eq!(sent(json!({"body": "…his?"})), "wait… what is this?", "sent as it is shown");
    assert_eq!(sent(json!({"body": "…"})), "…");
    assert_eq!(sent(json!({"body": "another… of sixteen"})), "another… of sixteen");
}

#[test]
fn certificates_are_judged_and_what_is_wrong_is_named() {
    let target = Target::start();
    let server = start(&target);
    let client = server.client();
    let of = |name: &str| result_of(&client, &http(&target.tls(name)));
    let valid = of("valid");
    assert_eq!((&valid["result"], &valid["reason"]), (&json!("up"), &Value::Null));
    let days = (parse_iso(text(&valid["certificate_ends_at"])) - now_ms()) / 86_400_000;
    assert_eq!(days, 60);
    let ending = of("ending");
    assert_eq!(ending["result"], "degraded");
    assert_eq!(ending["reason"], "the certificate ends in 5 days");
    for (name, fault) in [
        ("expired", "it has expired"),
        ("elsewhere", "it is for another host"),
        ("self-signed", "it is self-signed"),
        ("unknown", "it is issued by an unknown authority, or a certificate between is missing"),
    ] {
        let failed = of(name);
        let expected = format!("127.0.0.1 has an invalid certificate: {fault}");
        assert_eq!((&failed["result"], &failed["reason"]), (&json!("failed"), &json!(expected)));
    }
}

#[test]
fn checks_run_by_themselves_and_failed_ones_are_repeated_soon() {
    let mut target = Target::start();
    let server = start(&target);
    let client = server.client();
    let mut body = http(&target.url("/state"));
    body["interval_seconds"] = json!(10);
    body["timeout_seconds"] = json!(5);
    body["retries"] = json!(1);
    let path = monitor(&client, &body);
    let status = |wanted: &str| {
        eventually(wanted, || {
            let found = client.get(&path).expect(200);
            (found["status"] == wanted).then_some(found)
        })
    };
    status("up");
    target.turn("down");
    let down = status("down");
    let confirmed = parse_iso(text(&down["last_check"]["at"]));
    let since = parse_iso(text(&down["status_since"]));
    assert!((5_000..9_500).contains(&(confirmed - since)), "{down}");
    assert!(target.script.exchange("count").parse::<u32>().is_ok_and(|count| count >= 3));
}

#[test]
fn a_heartbeat_that_is_late_is_down_until_it_reports() {
    covers!("POST /api/v1/monitors/{id}/heartbeat", Happy);
    covers!("POST /api/v1/monitors/{id}/heartbeat", Refusal);
    let server = Server::start();
    let client = server.client();
    let body =
        json!({"name": "Backup", "type": "heartbeat", "interval_seconds": 10, "grace_seconds": 0});
    let path = monitor(&client, &body);
    let report = |body: &Value| client.post(&format!("{path}/heartbeat"), body);
    assert_eq!(client.get(&path).expect(200)["status"], "pending");
    assert_eq!(report(&json!({})).expect(200)["status"], "up");
    let down = report(&json!({"status": "down", "message": "disk full"})).expect(200);
    assert_eq!((&down["status"], &down["status_reason"]), (&json!("down"), &json!("disk full")));
    report(&json!({"status": "sideways"})).refused_for(422, "invalid_field", "status");
    report(&json!({"message": "a\u{7}"})).refused_for(422, "invalid_field", "message");
    client.post(&format!("{path}/check"), &json!({})).refused(409, "invalid_state");
    let up = client.post_text(&format!("{path}/heartbeat"), "").expect(200);
    assert_eq!(up["status"], "up");
    let late = eventually("a late heartbeat", || {
        let found = client.get(&path).expect(200);
        (found["status"] == "down").then_some(found)
    });
    assert_eq!(late["status_reason"], "no report within 10 s");
    let waited = parse_iso(text(&late["status_since"])) - parse_iso(text(&up["last_check"]["at"]));
    assert_eq!(waited, 10_000, "down since it was due");
    let other = monitor(&client, &http("https://shop.example.com/"));
    client.post(&format!("{other}/heartbeat"), &json!({})).refused(409, "invalid_state");
}
