//! Snapshots: captured with a real browser, listed, shown, deleted; what cannot be captured; and
//! what a crash in the middle leaves.

use serde_json::{Value, json};
use telltale_tests::{Client, Server, Setup, WebSite, covers, eventually};

use crate::keys::text;

pub(crate) const SNAPSHOTS: &str = "/api/v1/snapshots";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// A page with a box of 10 by 10 pixels in a colour.
pub(crate) fn page_with_box(color: &str) -> String {
    format!(
        "<!doctype html><style>body{{margin:0;background:#fff}}\
         div{{position:absolute;left:20px;top:30px;width:10px;height:10px;background:{color}}}\
         </style><div></div>"
    )
}

/// Starts a server whose browser may reach the sites of the tests.
pub(crate) fn start() -> Server {
    Setup::new().set("outbound.allow", "[\"127.0.0.1/32\"]").start()
}

/// Captures a page of a small viewport, and returns the snapshot.
#[track_caller]
pub(crate) fn capture(client: &Client, url: &str) -> Value {
    let body = json!({"url": url, "viewport": {"width": 320, "height": 240}, "wait_for": "load"});
    let made = client.post(SNAPSHOTS, &body).expect(201);
    assert_eq!(made["status"], "completed", "{made}");
    made
}

/// Returns the path and query of a URL.
#[track_caller]
pub(crate) fn path_of(url: &Value) -> String {
    let rest = text(url).strip_prefix("http://").unwrap_or_default();
    rest.split_once('/').map(|(_, path)| format!("/{path}")).unwrap_or_default()
}

#[test]
fn a_page_is_captured_listed_shown_and_deleted() {
    covers!("POST /api/v1/snapshots", Happy);
    covers!("GET /api/v1/snapshots", Happy);
    covers!("GET /api/v1/snapshots/{id}", Happy);
    covers!("GET /api/v1/snapshots/{id}/image", Happy);
    covers!("DELETE /api/v1/snapshots/{id}", Happy);
    let site = WebSite::new([("/", &page_with_box("#00f"))]);
    let mut server = start();
    let client = server.client();
    let made = capture(&client, &site.url("/"));
    let id = text(&made["id"]);
    assert!(id.starts_with("snap_") && id.len() == 5 + 26, "{id}");
    assert!(text(&made["page_id"]).starts_with("page_"), "{made}");
    assert_eq!(made["browser"], "chromium");
    assert_eq!(made["viewport"], json!({"width": 320, "height": 240}));
    assert_eq!((&made["image_width"], &made["image_height"]), (&json!(320), &json!(240)));
    assert_eq!((&made["http_status"], &made["error"]), (&json!(200), &Value::Null));
    assert!(made["duration_ms"].as_u64() > Some(0), "{made}");

    let path = format!("{SNAPSHOTS}/{id}");
    // Without a key, as a browser loads it.
    let image = client.without_key().get(&path_of(&made["image_url"]));
    assert_eq!((image.status, image.must_header("content-type")), (200, "image/png"));
    assert_eq!(Some(image.body.len() as u64), made["image_size_bytes"].as_u64());
    assert!(image.body.starts_with(PNG));
    assert_eq!(client.get(&format!("{path}/image")).body, image.body, "with a key");

    let other = capture(&client, &site.url("/#top"));
    assert_eq!(other["page_id"], made["page_id"], "the same page");
    let ids = |query: &str| {
        let listed = client.get(&format!("{SNAPSHOTS}?{query}")).expect(200)["snapshots"].clone();
        let all = listed.as_array().into_iter().flatten();
        all.map(|one| text(&one["id"]).to_owned()).collect::<Vec<_>>()
    };
    let both = [text(&other["id"]).to_owned(), id.to_owned()];
    assert_eq!(ids(""), both, "newest first");
    assert_eq!(ids("limit=1&offset=1"), both[1..]);
    assert_eq!(ids(&format!("page_id={}&browser=chromium", text(&made["page_id"]))), both);
    assert_eq!(ids(&format!("since={}", text(&other["captured_at"]))), both[..1]);
    assert!(ids("browser=firefox").is_empty() && ids("status=failed").is_empty());

    server.restart();
    let client = server.client();
    let mut again = client.get(&path).expect(200);
    again["image_url"] = made["image_url"].clone();
    assert_eq!(again, made);
    let deleted = client.delete(&path).expect(200);
    assert_eq!(deleted, json!({"id": id, "deleted": true}));
    client.get(&path).refused(404, "snapshot_not_found");
    client.get(&format!("{path}/image")).refused(404, "snapshot_not_found");
}

#[test]
fn invalid_requests_for_snapshots_are_refused() {
    covers!("POST /api/v1/snapshots", Refusal);
    covers!("GET /api/v1/snapshots", Refusal);
    covers!("GET /api/v1/snapshots/{id}", Refusal);
    covers!("GET /api/v1/snapshots/{id}/image", Refusal);
    covers!("DELETE /api/v1/snapshots/{id}", Refusal);
    let server = Server::start();
    let client = server.client();
    let refused = |changes: Value, field: &str| {
        let mut body = json!({"url": "https://shop.example.com/"});
        for (name, value) in changes.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        client.post(SNAPSHOTS, &body).refused_for(422, "invalid_field", field);
    };
    client.post(SNAPSHOTS, &json!({})).refused_for(422, "missing_field", "url");
    for url in [
        "file:///etc/passwd",
        "chrome://version",
        "data:text/html,x",
        "ftp://shop.example.com/",
        "https://user:pass@shop.example.com/",
        "shop.example.com",
        // Addresses that are not public, in all spellings.
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://169.254.169.254/latest/meta-data",
        "http://192.168.1.1/",
    ] {
        refused(json!({"url": url}), "url");
    }
    refused(json!({"browser": "firefox"}), "browser");
    refused(json!({"viewport": {"width": 319, "height": 240}}), "viewport");
    refused(json!({"viewport": {"width": 320, "height": 2161}}), "viewport");
    refused(json!({"device_scale_factor": 4.5}), "device_scale_factor");
    refused(json!({"wait_for": "idle"}), "wait_for");
    refused(json!({"wait_for": "selector:"}), "wait_for");
    refused(json!({"hide_selectors": vec!["a"; 51]}), "hide_selectors");
    refused(json!({"mask_selectors": [""]}), "mask_selectors");
    let many: serde_json::Map<_, _> = (0..51).map(|i| (format!("c{i}"), json!("v"))).collect();
    refused(json!({"headers": many}), "headers");
    refused(json!({"cookies": many}), "cookies");
    refused(json!({"headers": {"Host": "a"}}), "headers.Host");
    refused(json!({"cookies": {"a b": "c"}}), "cookies.a b");
    client.post(SNAPSHOTS, &json!({"url": "https://shop.example.com/", "colour": 1})).refused_for(
        400,
        "invalid_parameter",
        "colour",
    );
    client.get(&format!("{SNAPSHOTS}?page_id=x")).refused(400, "invalid_parameter");
    client.get(&format!("{SNAPSHOTS}?status=x")).refused(400, "invalid_parameter");
    let missing = format!("{SNAPSHOTS}/snap_01ARZ3NDEKTSV4RRFFQ69G5FAV");
    client.get(&missing).refused(404, "snapshot_not_found");
    client.delete(&missing).refused(404, "snapshot_not_found");
    client.get(&format!("{missing}/image")).refused(404, "snapshot_not_found");
    // Neither a key nor a signature, or one of another path.
    let stranger = client.without_key();
    stranger.get(&format!("{missing}/image")).refused(401, "unauthorized");
    let forged = format!("{missing}/image?expires=9999999999&signature={}", "A".repeat(43));
    stranger.get(&forged).refused(401, "unauthorized");
}

#[test]
fn without_a_browser_everything_else_works() {
    let server = Setup::new().set("snapshots.browser", "\"/nonexistent/chromium\"").start();
    let client = server.client();
    let refused = client.post(SNAPSHOTS, &json!({"url": "https://shop.example.com/"}));
    let error = refused.refused(503, "unavailable");
    assert!(text(&error["message"]).contains("/nonexistent/chromium"), "{error}");
    assert_eq!(client.get(SNAPSHOTS).expect(200)["snapshots"], json!([]));
    client.get("/api/v1/metrics").data(200);
}

#[test]
fn what_a_page_must_not_reach_is_refused_and_named() {
    let page = "<!doctype html><img src='http://169.254.169.254/secret'>\
                <iframe src='http://10.0.0.1/'></iframe><p>text</p>";
    let site = WebSite::new([("/", page)]);
    let server = start();
    let made = capture(&server.client(), &site.url("/"));
    let hosts: Vec<_> = made["refused_requests"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|refused| text(&refused["host"]).to_owned())
        .collect();
    for host in ["169.254.169.254", "10.0.0.1"] {
        assert!(hosts.contains(&host.to_owned()), "{made}");
    }
    // A redirect is no way around.
    let site = WebSite::new([("/", "<meta http-equiv=refresh content='0;url=http://10.0.0.1/'>")]);
    let body = json!({"url": site.url("/"), "wait_for": "network_idle"});
    let made = server.client().post(SNAPSHOTS, &body).expect(201);
    assert_ne!(made["final_url"], "http://10.0.0.1/", "{made}");
}

#[test]
fn a_page_that_cannot_be_loaded_fails_with_a_reason() {
    let server = start();
    let body = json!({"url": "http://127.0.0.1:1/"});
    let made = server.client().post(SNAPSHOTS, &body).expect(201);
    assert_eq!(
        (&made["status"], &made["error"]["code"]),
        (&json!("failed"), &json!("navigation_failed"))
    );
    assert_eq!((&made["image_url"], &made["captured_at"]), (&Value::Null, &Value::Null));
    let path = format!("{SNAPSHOTS}/{}", text(&made["id"]));
    server.client().get(&format!("{path}/image")).refused(409, "invalid_state");
    server.client().post(&format!("{path}/compare"), &json!({})).refused(409, "invalid_state");
}

#[test]
fn secrets_reach_the_page_and_nobody_else() {
    let site = WebSite::new([("/", "<!doctype html><p>members only</p>")]);
    let server = start();
    let client = server.client();
    let body = json!({
        "url": site.url("/"),
        "wait_for": "load",
        "headers": {"Authorization": "Bearer s3cret-header"},
        "cookies": {"session": "s3cret-cookie"},
    });
    let made = client.post(SNAPSHOTS, &body).expect(201);
    assert_eq!(made["header_names"], json!(["Authorization"]));
    assert_eq!(made["cookie_names"], json!(["session"]));
    let shown = made.to_string() + &client.get(SNAPSHOTS).expect(200).to_string();
    assert!(!shown.contains("s3cret"), "{shown}");
    let head = site.heads().remove(0);
    assert!(
        head.contains("Bearer s3cret-header") && head.contains("session=s3cret-cookie"),
        "{head}"
    );
    assert!(!server.log().join("\n").contains("s3cret"));
}

#[test]
fn captures_that_wait_are_made_after_a_restart() {
    let site = WebSite::new([("/", "<!doctype html><img src='/never.png'><p>text</p>")]);
    let mut server = start();
    let body = json!({"url": site.url("/"), "wait_for": "load"});
    let client = server.client();
    let ids: Vec<String> = (0..8)
        .map(|_| {
            let request = client.request("POST", SNAPSHOTS).header("Prefer", "respond-async");
            text(&request.json(&body).send().expect(202)["id"]).to_owned()
        })
        .collect();
    eventually("captures run", || {
        let count = site.heads().iter().filter(|head| head.starts_with("GET /never.png")).count();
        (count >= 2).then_some(())
    });
    server.kill9();
    site.show("/never.png", "no image");
    server.restart();
    let client = server.client();
    for id in ids {
        let path = format!("{SNAPSHOTS}/{id}");
        let status = eventually("a page is captured", || {
            let status = client.get(&path).expect(200)["status"].clone();
            ["completed", "failed"].contains(&text(&status)).then_some(status)
        });
        assert_eq!(status, "completed");
    }
}

#[test]
fn a_capture_that_a_crash_interrupts_is_made_anew() {
    let site = WebSite::new([("/", "<!doctype html><img src='/never.png'><p>text</p>")]);
    let mut server = start();
    let body = json!({"url": site.url("/"), "wait_for": "load"});
    let outgoing = server.client();
    let accepted =
        outgoing.request("POST", SNAPSHOTS).header("Prefer", "respond-async").json(&body).send();
    let made = accepted.expect(202);
    assert_eq!((&made["status"], &made["image_url"]), (&json!("pending"), &Value::Null));
    let path = format!("{SNAPSHOTS}/{}", text(&made["id"]));
    eventually("the page is being captured", || {
        let is_loading = site.heads().iter().any(|head| head.starts_with("GET /never.png"));
        is_loading.then_some(())
    });
    assert_eq!(server.client().get(&path).expect(200)["status"], "capturing");
    server.kill9();
    site.show("/never.png", "no image");
    server.restart();
    let client = server.client();
    let done = eventually("the page is captured", || {
        let found = client.get(&path).expect(200);
        ["completed", "failed"].contains(&text(&found["status"])).then_some(found)
    });
    assert_eq!(done["status"], "completed", "{done}");
}
