//! Every page of the console in a real browser, with the data of the demo: over the end of daylight
//! saving time, and with the network cut.

use serde_json::{Value, json};
use telltale_tests::{ADMIN_KEY, HOUR_MS, Setup, folder, iso, parse_iso, playwright_problems};

use crate::demo::Demo;

const WALK: &str = include_str!("console_walk.js");
const LONG_DAY: &str = include_str!("console_long_day.js");
/// When the day begins in New York that has 25 hours.
const LONG_DAY_BEGINS: &str = "2026-11-01T04:00:00.000Z";

#[test]
fn every_page_is_shown_in_every_view_and_survives_a_cut_of_the_network() {
    let folder = folder();
    let demo = Demo::start(&folder.path().join("demo"));
    let (base, key) = demo.base_and_key();
    assert_eq!(playwright_problems(WALK, [base, key]), json!([]));
}

#[test]
fn a_day_of_25_hours_is_shown_in_full() {
    let server = Setup::new().set("console.sign_ins_per_minute", "100").start();
    let client = server.client();
    let begin = parse_iso(LONG_DAY_BEGINS);
    let samples: Vec<Value> = (0..25)
        .map(|hour| {
            let timestamp = iso(begin + hour * HOUR_MS);
            json!({"name": "hours", "type": "gauge", "value": hour + 1, "timestamp": timestamp})
        })
        .collect();
    client.post("/api/v1/metrics/batch", &json!({"metrics": samples})).expect(200);
    let schedule = json!({
        "name": "By day", "schedule_type": "custom", "timezone": "America/New_York",
        "members": ["ann@example.com", "bob@example.com"], "rotation_type": "daily",
        "rotation_start": "2026-10-01T04:00:00Z",
    });
    let made = client.post("/api/v1/on_call_schedules", &schedule).data(201);
    let base = format!("http://{}", server.address());
    let id = crate::keys::text(&made["id"]);
    assert_eq!(playwright_problems(LONG_DAY, [&*base, id, ADMIN_KEY]), json!([]));
}
