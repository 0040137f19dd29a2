//! Monitors and status pages in the console, in a real browser.

use serde_json::json;
use telltale_tests::{ADMIN_KEY, Setup, console_problems, eventually};

use crate::keys::text;

const SCRIPT: &str = include_str!("console_status.js");
const MONITORS: &str = "/api/v1/monitors";
const HEARTBEATS: usize = 70;
/// Nothing listens there.
const CLOSED_PORT: u16 = 1;

#[test]
fn monitors_and_status_pages_are_used_in_the_console() {
    let server = Setup::new()
        .set("console.sign_ins_per_minute", "100")
        .set("outbound.allow", "[\"127.0.0.1/32\"]")
        .start();
    let client = server.client();
    let base = format!("http://{}", server.address());
    let up =
        json!({"name": "itself", "type": "http", "url": format!("{base}/healthz"), "retries": 0});
    let up = client.post(MONITORS, &up).expect(201);
    let down = json!({"name": "down <b>port</b>", "type": "tcp", "host": "127.0.0.1", "port": CLOSED_PORT, "retries": 0});
    let down = client.post(MONITORS, &down).expect(201);
    for number in 0..HEARTBEATS {
        let body = json!({"name": format!("heartbeat {number:03}"), "type": "heartbeat", "interval_seconds": 86_400});
        client.post(MONITORS, &body).expect(201);
    }
    let page = json!({"name": "Shop & <b>more</b>", "subdomain": "shop", "monitors": [up["id"], down["id"]]});
    client.post("/api/v1/status-pages", &page).expect(201);
    for (monitor, status) in [(&up, "up"), (&down, "down")] {
        let path = format!("{MONITORS}/{}", text(&monitor["id"]));
        eventually("the first check", || {
            (client.get(&path).expect(200)["status"] == status).then_some(())
        });
    }
    let total = (HEARTBEATS + 2).to_string();
    assert_eq!(console_problems(SCRIPT, [&*base, ADMIN_KEY, &*total]), json!([]));
}
