//! The public side of status pages: by path and by host, in all forms, and mails to subscribers.

use std::io::Read;

use serde_json::{Value, json};
use telltale_tests::{
    Client, Conversation, HOUR_MS, Response, Server, Setup, converse, covers, eventually, iso,
    now_ms, parse_iso, python,
};

use crate::keys::text;
use crate::monitors::{Target, check, http, monitor};

const PAGES: &str = "/api/v1/status-pages";
const MAIL_SERVER: &str = include_str!("alerting_smtp.py");
/// Reads a feed as users' readers do, and prints what is wrong with it and its entries.
const FEED_READER: &str = r#"
import feedparser, json, sys
feed = feedparser.parse(sys.argv[1].encode())
print(json.dumps({"bozo": feed.bozo, "why": str(feed.get("bozo_exception", "")), "version": feed.version,
                  "title": feed.feed.title, "id": feed.feed.id,
                  "entries": [{"id": e.id, "title": e.title, "content": e.content[0].value} for e in feed.entries]}))
"#;
/// Strings that would do something if they were not escaped.
pub(crate) const HOSTILE: [&str; 8] = [
    "</title><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "]]><script>alert(1)</script>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "{{7*7}}{% raw %}",
    "\u{202e}txt.exe",
    "</style><svg onload=alert(1)>",
];

/// Returns a client that names another host.
struct ByHost<'a>(&'a Client, &'a str);

impl ByHost<'_> {
    fn get(&self, path: &str) -> Response {
        self.0.request("GET", path).header("Host", self.1).send()
    }
}

#[track_caller]
pub(crate) fn page(client: &Client, body: &Value) -> String {
    format!("{PAGES}/{}", text(&client.post(PAGES, body).expect(201)["id"]))
}

pub(crate) fn heartbeat(client: &Client, name: &str) -> String {
    let body = json!({"name": name, "type": "heartbeat", "interval_seconds": 86400});
    text(&client.post("/api/v1/monitors", &body).expect(201)["id"]).to_owned()
}

pub(crate) fn report(client: &Client, monitor: &str, status: &str) {
    client
        .post(&format!("/api/v1/monitors/{monitor}/heartbeat"), &json!({"status": status}))
        .expect(200);
}

#[test]
fn a_page_is_public_in_all_its_forms_and_agrees_with_its_monitors() {
    covers!("GET /status/{subdomain}", Happy);
    covers!("GET /status/{subdomain}/api/v1/status", Happy);
    covers!("GET /status/{subdomain}/history.atom", Happy);
    covers!("GET /status/{subdomain}/badge.svg", Happy);
    covers!("GET /status/{subdomain}/icon.svg", Happy);
    covers!("GET /status/{subdomain}/components/{monitor_id}/badge.svg", Happy);
    let mut target = Target::start();
    let server = crate::monitors::start(&target);
    let client = server.client();
    let path = monitor(&client, &http(&target.url("/state")));
    let id = path.rsplit('/').next().unwrap();
    let api = heartbeat(&client, "API");
    report(&client, &api, "up");
    check(&client, &path);
    let made = page(&client, &json!({"name": "Acme", "subdomain": "acme", "monitors": [id]}));
    let component = json!({"monitor_id": api, "display_name": "Public API", "group": "Programs"});
    client.post(&format!("{made}/monitors"), &component).expect(200);

    let public = client.without_key();
    let document = public.get("/status/acme/api/v1/status").expect(200);
    assert_eq!((&document["status"], &document["incidents"]), (&json!("operational"), &json!([])));
    let names: Vec<&Value> = (0..2).map(|i| &document["components"][i]["name"]).collect();
    assert_eq!(names, ["Shop", "Public API"]);
    assert_eq!(document["components"][1]["group"], "Programs");
    target.turn("down");
    let down = check(&client, &path);
    let document = eventually("the outage", || {
        let document = public.get("/status/acme/api/v1/status").expect(200);
        (document["status"] == "partial_outage").then_some(document)
    });
    assert_eq!(document["components"][0]["status"], "major_outage");
    let seconds = |time: &Value| parse_iso(text(time)) / 1_000;
    assert_eq!(seconds(&document["updated_at"]), seconds(&down["status_since"]));
    report(&client, &api, "down");
    eventually("all components down", || {
        let document = public.get("/status/acme/api/v1/status").expect(200);
        (document["status"] == "major_outage").then_some(())
    });

    let incident = json!({"title": "Shop is down", "impact": "critical", "monitors": [id], "message": "We look into it."});
    client.post(&format!("{made}/incidents"), &incident).expect(201);
    let [starts_at, ends_at] = [HOUR_MS, 2 * HOUR_MS].map(|ms| iso(now_ms() + ms));
    let maintenance = json!({"title": "Move", "description": "To another city.", "monitors": [api], "starts_at": starts_at, "ends_at": ends_at});
    client.post(&format!("{made}/maintenance"), &maintenance).expect(201);
    let document = public.get("/status/acme/api/v1/status").expect(200);
    let open = &document["incidents"][0];
    assert_eq!((&open["title"], &open["components"]), (&json!("Shop is down"), &json!(["Shop"])));
    assert_eq!(open["updates"][0]["message"], "We look into it.");
    let planned = &document["scheduled_maintenances"][0];
    assert_eq!((&planned["title"], &planned["status"]), (&json!("Move"), &json!("scheduled")));

    let html = public.get("/status/acme");
    html.expect_status(200);
    let policy = html.must_header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    for part in
        ["Major outage", "Shop is down", "We look into it.", "Move", "Public API", "Programs"]
    {
        assert!(html.text().contains(part), "{part} is not in {}", html.text());
    }
    assert!(!html.text().contains("<script"), "there is no script");
    let badge = public.get("/status/acme/badge.svg");
    assert_eq!(badge.must_header("content-type"), "image/svg+xml");
    assert!(badge.text().contains("Acme: major outage"), "{}", badge.text());
    public.get("/status/acme/icon.svg").expect_status(200);
    let of_component = public.get(&format!("/status/acme/components/{api}/badge.svg"));
    assert!(of_component.text().contains("Public API"), "{}", of_component.text());
    let feed = public.get("/status/acme/history.atom");
    let read: Value =
        serde_json::from_str(&python(&["feedparser==6.0.11"], FEED_READER, [feed.text()])).unwrap();
    assert_eq!((&read["bozo"], &read["version"]), (&json!(false), &json!("atom10")), "{read}");
    let titles: Vec<&Value> = (0..2).map(|i| &read["entries"][i]["title"]).collect();
    assert_eq!(titles, ["Maintenance: Move", "Investigating: Shop is down"]);
}

#[test]
fn responses_are_cacheable_compressed_and_open_to_other_origins() {
    let server = Server::start();
    let client = server.client();
    page(&client, &json!({"name": "Acme", "subdomain": "acme", "monitors": []}));
    let public = client.without_key();
    let path = "/status/acme/api/v1/status";
    let first = public.get(path);
    assert_eq!(first.must_header("cache-control"), "public, max-age=10");
    assert_eq!(first.must_header("access-control-allow-origin"), "*");
    let etag = first.must_header("etag").to_owned();
    let again = public.request("GET", path).header("If-None-Match", &etag).send();
    again.expect_status(304);
    for path in ["/status/acme", path, "/status/acme/history.atom"] {
        let packed = public.request("GET", path).header("Accept-Encoding", "gzip").send();
        packed.expect_status(200);
        assert_eq!(packed.must_header("content-encoding"), "gzip", "{path}");
        let mut unpacked = String::new();
        let mut decoder = flate2::read::GzDecoder::new(packed.body.as_slice());
        decoder.read_to_string(&mut unpacked).unwrap();
        assert_eq!(public.get(path).text(), unpacked, "{path}");
        public.request("HEAD", path).send().expect_status(200);
    }
}

#[test]
fn unknown_pages_are_not_found_and_name_no_other() {
    covers!("GET /status/{subdomain}", Refusal);
    covers!("GET /status/{subdomain}/api/v1/status", Refusal);
    covers!("GET /status/{subdomain}/history.atom", Refusal);
    covers!("GET /status/{subdomain}/badge.svg", Refusal);
    covers!("GET /status/{subdomain}/icon.svg", Refusal);
    covers!("GET /status/{subdomain}/components/{monitor_id}/badge.svg", Refusal);
    let server = Server::start();
    let client = server.client();
    let made = page(&client, &json!({"name": "Acme", "subdomain": "acme", "monitors": []}));
    let public = client.without_key();
    for path in ["/status/other", "/status/ACME", "/status/%2e%2e"] {
        let missing = public.get(path);
        missing.expect_status(404);
        assert!(missing.must_header("content-type").starts_with("text/html"), "{path}");
        assert!(!missing.text().contains("acme"), "{}", missing.text());
    }
    for form in ["api/v1/status", "history.atom", "badge.svg", "icon.svg"] {
        public.get(&format!("/status/other/{form}")).refused(404, "status_page_not_found");
    }
    let foreign = heartbeat(&client, "Other");
    let badge = format!("/status/acme/components/{foreign}/badge.svg");
    public.get(&badge).refused(404, "monitor_not_found");
    public.get("/status/acme/api/v1/status").expect(200);
    client.delete(&made).expect(200);
    public.get("/status/acme/api/v1/status").refused(404, "status_page_not_found");
}

#[test]
fn a_host_serves_its_page_and_nothing_else() {
    let server = Setup::new()
        .set("status.domain", "\"status.example.com\"")
        .set("server.public_url", "\"https://telltale.status.example.com\"")
        .start();
    let client = server.client();
    let acme = json!({"name": "Acme", "subdomain": "acme", "custom_domain": "up.acme.test", "monitors": []});
    let acme = page(&client, &acme);
    page(&client, &json!({"name": "Bolt", "subdomain": "bolt", "monitors": []}));
    for (host, name) in [
        ("acme.status.example.com", "Acme"),
        ("ACME.status.example.com:8080", "Acme"),
        ("up.acme.test", "Acme"),
        ("bolt.status.example.com.", "Bolt"),
    ] {
        let by_host = ByHost(&client, host);
        assert_eq!(by_host.get("/api/v1/status").expect(200)["name"], name, "{host}");
        let html = by_host.get("/");
        html.expect_status(200);
        let other = if name == "Acme" { "Bolt" } else { "Acme" };
        assert!(html.text().contains(name) && !html.text().contains(other), "{host}");
        assert!(html.text().contains("href=\"/history.atom\""), "links begin at the host");
        by_host.get("/history.atom").expect_status(200);
        // The key is of no use here.
        for path in [
            "/api/v1/monitors",
            "/api/v1/status-pages",
            "/healthz",
            "/status/bolt",
            "/status/acme",
            "/metrics",
            "/docs",
        ] {
            by_host.get(path).refused(404, "not_found");
        }
    }
    for host in ["other.status.example.com", "a.acme.status.example.com"] {
        let nothing = ByHost(&client, host);
        nothing.get("/").expect_status(404);
        nothing.get("/api/v1/monitors").refused(404, "not_found");
    }
    for host in
        ["telltale.status.example.com", "status.example.com", "127.0.0.1", "unknown.example"]
    {
        ByHost(&client, host).get("/api/v1/monitors").expect(200);
    }
    let moved = json!({"custom_domain": null, "subdomain": "apex"});
    client.request("PUT", &acme).json(&moved).send().expect(200);
    ByHost(&client, "acme.status.example.com").get("/").expect_status(404);
    assert_eq!(
        ByHost(&client, "apex.status.example.com").get("/api/v1/status").expect(200)["name"],
        "Acme"
    );
    ByHost(&client, "up.acme.test").get("/api/v1/monitors").expect(200);
}

#[test]
fn a_page_that_takes_the_name_of_the_server_keeps_no_agent_from_it() {
    let server = Server::start();
    let client = server.client();
    let host = "telltale.corp.test";
    let by_host = ByHost(&client, host);
    by_host.get("/healthz").expect_status(200);
    page(
        &client,
        &json!({"name": "Acme", "subdomain": "acme", "custom_domain": host, "monitors": []}),
    );
    page(&client, &json!({"name": "Bolt", "subdomain": "bolt", "monitors": []}));
    assert_eq!(by_host.get("/api/v1/status").expect(200)["name"], "Acme");
    // The server does not know its own name, so agents that send to this one go on.
    by_host.get("/healthz").expect_status(200);
    by_host.get("/api/v1/monitors").expect(200);
    let sample = json!({"name": "sent", "type": "gauge", "value": 1});
    client.request("POST", "/api/v1/metrics").header("Host", host).json(&sample).send().expect(201);
    // Pages do not mix.
    by_host.get("/status/bolt").refused(404, "not_found");
    by_host.get("/status/bolt/api/v1/status").refused(404, "not_found");
}

#[test]
fn hostile_texts_stay_texts() {
    let server = Server::start();
    let client = server.client();
    for (i, hostile) in HOSTILE.iter().enumerate() {
        let monitor = heartbeat(&client, hostile);
        let subdomain = format!("page{i}");
        let body = json!({"name": hostile, "subdomain": subdomain, "monitors": []});
        let path = page(&client, &body);
        let component = json!({"monitor_id": monitor, "display_name": hostile, "group": hostile});
        client.post(&format!("{path}/monitors"), &component).expect(200);
        let incident = json!({"title": hostile, "monitors": [monitor], "message": hostile});
        client.post(&format!("{path}/incidents"), &incident).expect(201);
        let [starts_at, ends_at] = [-HOUR_MS, HOUR_MS].map(|ms| iso(now_ms() + ms));
        let maintenance = json!({"title": hostile, "description": hostile, "monitors": [monitor], "starts_at": starts_at, "ends_at": ends_at});
        client.post(&format!("{path}/maintenance"), &maintenance).expect(201);
        let public = client.without_key();
        for form in ["", "/badge.svg"] {
            let shown = public.get(&format!("/status/{subdomain}{form}"));
            shown.expect_status(200);
            for part in ["<script", "<img src=x", "<svg onload", "onmouseover='"] {
                assert!(!shown.text().contains(part), "{part} in {}", shown.text());
            }
        }
        let feed = public.get(&format!("/status/{subdomain}/history.atom"));
        let read = python(&["feedparser==6.0.11"], FEED_READER, [feed.text()]);
        let read: Value = serde_json::from_str(&read).unwrap();
        assert_eq!(read["bozo"], false, "{read}");
        let document = public.get(&format!("/status/{subdomain}/api/v1/status")).expect(200);
        assert_eq!(document["components"][0]["name"], *hostile);
        assert_eq!(document["status"], "degraded_performance", "an incident with minor impact");
    }
}

/// Starts a server that sends mail, with a page.
fn mailing(mail: &mut Conversation) -> (Server, String) {
    let server = Setup::new()
        .set("smtp.host", "\"127.0.0.1\"")
        .set("smtp.port", &mail.exchange(""))
        .set("smtp.security", "\"none\"")
        .set("smtp.from", "\"Status <status@example.com>\"")
        .set("server.public_url", "\"https://telltale.example.com\"")
        .start();
    let monitor = heartbeat(&server.client(), "Shop");
    let body = json!({"name": "Acme", "subdomain": "acme", "monitors": [monitor]});
    let page = page(&server.client(), &body);
    (server, page)
}

/// Returns the next mail.
fn next(mail: &mut Conversation) -> Value {
    let message: Value = serde_json::from_str(&mail.exchange("")).unwrap_or_default();
    assert_eq!(message["event"], "message", "{message}");
    message
}

/// Returns a header of a mail.
fn header<'a>(message: &'a Value, name: &str) -> &'a str {
    let headers = message["headers"].as_array().map(Vec::as_slice).unwrap_or_default();
    let found = headers.iter().find(|header| header[0] == name);
    found.map_or("", |header| text(&header[1]))
}

/// Returns the path of the link that contains this word.
#[track_caller]
fn link(message: &Value, word: &str) -> String {
    let plain = message.to_string();
    let host = "https://telltale.example.com";
    let mut links = plain.split(host).skip(1).map(|rest| {
        rest.chars()
            .take_while(|c| c.is_ascii_alphanumeric() || "/-_".contains(*c))
            .collect::<String>()
    });
    match links.find(|link| link.ends_with(word)) {
        Some(link) => link,
        None => panic!("no link to {word} in {plain}"),
    }
}

#[test]
fn a_subscription_is_confirmed_by_its_button_gets_mails_and_ends_with_one_click() {
    covers!("POST /status/{subdomain}/api/v1/subscribers", Happy);
    covers!("GET /status/{subdomain}/subscribers/{token}/confirm", Happy);
    covers!("POST /status/{subdomain}/subscribers/{token}/confirm", Happy);
    covers!("GET /status/{subdomain}/subscribers/{token}/unsubscribe", Happy);
    covers!("POST /status/{subdomain}/subscribers/{token}/unsubscribe", Happy);
    covers!("GET /api/v1/status-pages/{id}/subscribers", Happy);
    let mut mail = converse(&["aiosmtpd==1.4.6"], MAIL_SERVER, []);
    let (mut server, page) = mailing(&mut mail);
    let public = server.client().without_key();
    let asked =
        public.post("/status/acme/api/v1/subscribers", &json!({"email": "Ann@example.com"}));
    assert_eq!(asked.expect(202)["status"], "pending");
    let confirmation = next(&mut mail);
    assert_eq!(confirmation["to"], json!(["Ann@example.com"]));
    let confirm = link(&confirmation, "confirm");
    let subscribers = |server: &Server| {
        server.client().get(&format!("{page}/subscribers")).expect(200)["subscribers"].clone()
    };
    public.get(&confirm).expect_status(200);
    assert_eq!(subscribers(&server)[0]["confirmed"], false, "scanners follow links");
    public.post_text(&confirm, "").expect_status(200);
    assert_eq!(subscribers(&server)[0]["confirmed"], true);
    let again =
        public.post("/status/acme/api/v1/subscribers", &json!({"email": "ann@EXAMPLE.com"}));
    assert_eq!(again.expect(202), asked.expect(202), "the same response");

    server.kill9();
    server.restart();
    let (client, public) = (server.client(), server.client().without_key());
    let incident =
        json!({"title": "Slow", "message": "We look into it.", "notify_subscribers": true});
    let incident = client.post(&format!("{page}/incidents"), &incident).expect(201);
    let opened = next(&mut mail);
    assert_eq!(header(&opened, "Subject"), "[Acme] Investigating: Slow");
    let unsubscribe = link(&opened, "unsubscribe");
    let address = format!("<https://telltale.example.com{unsubscribe}>");
    assert_eq!(header(&opened, "List-Unsubscribe"), address, "{opened}");
    assert_eq!(header(&opened, "List-Unsubscribe-Post"), "List-Unsubscribe=One-Click");
    let update = json!({"status": "resolved", "message": "Done.", "notify_subscribers": true});
    let path = format!("{page}/incidents/{}", text(&incident["id"]));
    client.request("PATCH", &path).json(&update).send().expect(200);
    assert_eq!(header(&next(&mut mail), "Subject"), "[Acme] Resolved: Slow");

    public.get(&unsubscribe).expect_status(200);
    assert_eq!(subscribers(&server).as_array().map(Vec::len), Some(1), "a link does nothing");
    let one_click = public
        .request("POST", &unsubscribe)
        .header("Content-Type", "application/x-www-form-urlencoded")
        .body("List-Unsubscribe=One-Click");
    one_click.send().expect_status(200);
    assert_eq!(subscribers(&server), json!([]));
    public.post_text(&unsubscribe, "").expect_status(200);
    // Nothing comes after it: the next mail is the one to somebody else.
    let late = json!({"title": "Down", "message": "Again.", "notify_subscribers": true});
    client.post(&format!("{page}/incidents"), &late).expect(201);
    public
        .post("/status/acme/api/v1/subscribers", &json!({"email": "bob@example.com"}))
        .expect(202);
    assert_eq!(next(&mut mail)["to"], json!(["bob@example.com"]));
}

#[test]
fn a_maintenance_is_announced_and_its_start_too() {
    let mut mail = converse(&["aiosmtpd==1.4.6"], MAIL_SERVER, []);
    let (server, page) = mailing(&mut mail);
    let (client, public) = (server.client(), server.client().without_key());
    public
        .post("/status/acme/api/v1/subscribers", &json!({"email": "ann@example.com"}))
        .expect(202);
    let confirm = link(&next(&mut mail), "confirm");
    public.post_text(&confirm, "").expect_status(200);
    let monitor = client.get(&page).expect(200)["monitors"][0]["id"].clone();
    let [starts_at, ends_at] = [2_000, HOUR_MS].map(|ms| iso(now_ms() + ms));
    let body = json!({"title": "Move", "monitors": [monitor], "starts_at": starts_at, "ends_at": ends_at, "notify_subscribers": true});
    client.post(&format!("{page}/maintenance"), &body).expect(201);
    assert_eq!(header(&next(&mut mail), "Subject"), "[Acme] Planned maintenance: Move");
    assert_eq!(header(&next(&mut mail), "Subject"), "[Acme] Maintenance has begun: Move");
    let document = public.get("/status/acme/api/v1/status").expect(200);
    assert_eq!(document["scheduled_maintenances"][0]["status"], "in_progress");
    assert_eq!(document["components"][0]["status"], "under_maintenance");
    assert_eq!(document["status"], "under_maintenance");
}

#[test]
fn bad_subscriptions_are_refused_and_strangers_get_few() {
    covers!("POST /status/{subdomain}/api/v1/subscribers", Refusal);
    covers!("POST /status/{subdomain}/subscribe", Happy);
    covers!("POST /status/{subdomain}/subscribe", Refusal);
    covers!("GET /status/{subdomain}/subscribers/{token}/confirm", Refusal);
    covers!("POST /status/{subdomain}/subscribers/{token}/confirm", Refusal);
    covers!("GET /status/{subdomain}/subscribers/{token}/unsubscribe", Refusal);
    covers!("POST /status/{subdomain}/subscribers/{token}/unsubscribe", Refusal);
    covers!("GET /api/v1/status-pages/{id}/subscribers", Refusal);
    covers!("DELETE /api/v1/status-pages/{id}/subscribers/{subscriber_id}", Happy);
    covers!("DELETE /api/v1/status-pages/{id}/subscribers/{subscriber_id}", Refusal);
    let mut mail = converse(&["aiosmtpd==1.4.6"], MAIL_SERVER, []);
    let (server, page) = mailing(&mut mail);
    let (client, public) = (server.client(), server.client().without_key());
    let subscribe =
        |email: &str| public.post("/status/acme/api/v1/subscribers", &json!({"email": email}));
    for email in
        ["", "ann", "ann@example.com\r\nBcc: bob@example.com", "a@b,c@d", "Ann <ann@example.com>"]
    {
        subscribe(email).refused_for(422, "invalid_field", "email");
    }
    public.post("/status/acme/api/v1/subscribers", &json!({})).refused_for(
        422,
        "missing_field",
        "email",
    );
    public
        .post("/status/other/api/v1/subscribers", &json!({"email": "ann@example.com"}))
        .refused(404, "status_page_not_found");
    let form = |page: &str, body: &str| {
        let path = format!("/status/{page}/subscribe");
        let request = public.request("POST", &path);
        request.header("Content-Type", "application/x-www-form-urlencoded").body(body).send()
    };
    let shown = form("acme", "email=ann%40example.com");
    shown.expect_status(200);
    assert!(shown.text().contains("Check your mailbox"), "{}", shown.text());
    assert!(form("acme", "email=%3Cscript%3E").text().contains("That did not work"));
    form("other", "email=ann%40example.com").expect_status(404);
    assert_eq!(next(&mut mail)["to"], json!(["ann@example.com"]));

    let token = "0".repeat(26) + &"A".repeat(43);
    for (page, token) in [("acme", token.as_str()), ("acme", "x"), ("other", token.as_str())] {
        let path = |verb: &str| format!("/status/{page}/subscribers/{token}/{verb}");
        public.post_text(&path("confirm"), "").expect_status(404);
        let status = if page == "acme" { 200 } else { 404 };
        public.post_text(&path("unsubscribe"), "").expect_status(status);
        public.get(&path("confirm")).expect_status(status);
        public.get(&path("unsubscribe")).expect_status(status);
    }
    for i in 0..40 {
        let status = subscribe(&format!("user{i}@example.com")).status;
        if status == 429 {
            break;
        }
        assert_eq!(status, 202);
        assert!(i < 25, "there is a limit");
    }
    subscribe("late@example.com").refused(429, "rate_limited");
    let listed = client.get(&format!("{page}/subscribers?limit=1")).expect(200);
    let path = format!("{page}/subscribers/{}", text(&listed["subscribers"][0]["id"]));
    client.delete(&path).expect(200);
    client.delete(&path).refused(404, "subscriber_not_found");
    let missing = "sp_01JQZZZZZZZZZZZZZZZZZZZZZZ";
    client.get(&format!("{PAGES}/{missing}/subscribers")).refused(404, "status_page_not_found");
}

#[test]
fn a_mail_that_is_refused_for_good_is_not_sent_again() {
    let script = ["--at", "RCPT", "--replies", "250,550"];
    let mut mail = converse(&["aiosmtpd==1.4.6"], MAIL_SERVER, script);
    let (server, page) = mailing(&mut mail);
    let (client, public) = (server.client(), server.client().without_key());
    public
        .post("/status/acme/api/v1/subscribers", &json!({"email": "ann@example.com"}))
        .expect(202);
    let confirm = link(&next(&mut mail), "confirm");
    public.post_text(&confirm, "").expect_status(200);
    let notify = |title: &str| {
        let body = json!({"title": title, "message": "Look.", "notify_subscribers": true});
        client.post(&format!("{page}/incidents"), &body).expect(201);
    };
    notify("First");
    let refused: Value = serde_json::from_str(&mail.exchange("")).unwrap();
    assert_eq!((&refused["event"], &refused["reply"]), (&json!("refused"), &json!("550")));
    notify("Second");
    assert_eq!(header(&next(&mut mail), "Subject"), "[Acme] Investigating: Second");
    eventually("no job is left", || {
        let queue = client.get("/api/v1/queues/telltale-status-mail").expect(200);
        let left = ["size", "scheduled", "retrying", "running"].map(|kind| queue[kind].as_u64());
        (left == [Some(0); 4]).then_some(())
    });
    assert_eq!(client.get("/api/v1/dead-jobs?internal=true").expect(200)["total"], 0);
    // A single refusal ends no subscription.
    let listed = client.get(&format!("{page}/subscribers")).expect(200);
    assert_eq!(listed["subscribers"][0]["confirmed"], true);
}

#[test]
fn without_a_mail_server_a_page_takes_no_subscriptions() {
    let server = Server::start();
    page(&server.client(), &json!({"name": "Acme", "subdomain": "acme", "monitors": []}));
    let public = server.client().without_key();
    public
        .post("/status/acme/api/v1/subscribers", &json!({"email": "ann@example.com"}))
        .refused(409, "invalid_state");
    assert!(!public.get("/status/acme").text().contains("<form"));
}
