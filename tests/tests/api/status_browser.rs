//! Status pages in a real browser: Chromium, with axe-core. `TELLTALE_SCREENSHOTS` names a folder
//! for pictures of them.

use serde_json::{Value, json};
use telltale_tests::{HOUR_MS, Server, browser_problems, iso, now_ms};

use crate::status_public::{HOSTILE, heartbeat, page, report};

const SCRIPT: &str = include_str!("status_browser.js");

#[test]
fn pages_work_in_a_real_browser_and_hostile_texts_do_nothing() {
    let server = Server::start();
    let client = server.client();
    let mut pages = Vec::new();
    let mut open = |name: &str, is_whole: bool| {
        let url = format!("http://{}/status/{name}", server.address());
        pages.push(json!([name, url, is_whole, name == "acme"]));
    };
    for (i, hostile) in HOSTILE.iter().enumerate() {
        let monitor = heartbeat(&client, hostile);
        let subdomain = format!("hostile{i}");
        let made = page(&client, &json!({"name": hostile, "subdomain": subdomain, "monitors": []}));
        let component = json!({"monitor_id": monitor, "display_name": hostile, "group": hostile});
        client.post(&format!("{made}/monitors"), &component).expect(200);
        let incident = json!({"title": hostile, "monitors": [monitor], "message": hostile});
        client.post(&format!("{made}/incidents"), &incident).expect(201);
        open(&subdomain, i == 0);
    }
    let [shop, pay, mail] = ["Shop", "Payments", "Mail"].map(|name| heartbeat(&client, name));
    report(&client, &shop, "up");
    report(&client, &pay, "down");
    let body = json!({"name": "Acme", "subdomain": "acme", "branding": {"primary_color": "#4F46E5"}, "monitors": [shop, pay, mail]});
    let acme = page(&client, &body);
    for (title, impact, status) in
        [("Payments fail", "critical", "investigating"), ("The shop was slow", "minor", "resolved")]
    {
        let incident = json!({"title": title, "impact": impact, "status": status, "monitors": [pay], "message": "A disk is full."});
        client.post(&format!("{acme}/incidents"), &incident).expect(201);
    }
    let [starts_at, ends_at] = [1, 2].map(|hours| iso(now_ms() + hours * HOUR_MS));
    let maintenance = json!({"title": "New database", "description": "Orders are read-only.", "monitors": [shop], "starts_at": starts_at, "ends_at": ends_at});
    client.post(&format!("{acme}/maintenance"), &maintenance).expect(201);
    page(&client, &json!({"name": "Empty", "subdomain": "empty", "monitors": []}));
    open("acme", true);
    open("empty", true);
    assert_eq!(
        browser_problems(SCRIPT, [&*Value::from(pages).to_string(), &*screenshots()]),
        json!([])
    );
}

#[expect(clippy::disallowed_methods, reason = "the test has one setting of its own")]
fn screenshots() -> String {
    std::env::var("TELLTALE_SCREENSHOTS").unwrap_or_default()
}
