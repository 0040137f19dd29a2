//! Snapshots in the console, in a real browser: reviewed, decided, undone, taken.

use serde_json::json;
use telltale_tests::{ADMIN_KEY, WebSite, console_problems};

use crate::keys::text;
use crate::page_comparisons::compare;
use crate::page_snapshots::{SNAPSHOTS, capture, page_with_box, start};

const SCRIPT: &str = include_str!("console_snapshots.js");

#[test]
fn snapshots_are_reviewed_in_the_console() {
    let path = "/?q=%22%3E%3Cb%3Ebold%3C/b%3E&a=,%2F";
    let site = WebSite::new([(path, &page_with_box("#fff"))]);
    // The form waits until the network is idle: every request gets a response.
    site.show("/favicon.ico", "");
    let server = start();
    let client = server.client();
    capture(&client, &site.url(path));
    // The baseline of the size that the form has at first.
    client.post(SNAPSHOTS, &json!({"url": site.url(path), "wait_for": "load"})).expect(201);
    let made = ["#0f0", "#00f", "#f00"].map(|colour| {
        site.show(path, &page_with_box(colour));
        let snapshot = capture(&client, &site.url(path));
        let made = compare(&client, &snapshot, &json!({}));
        text(&made["comparison_id"]).to_owned()
    });
    let refused = json!({"url": site.url("/"), "wait_for": "selector:]["});
    let failed = client.post(SNAPSHOTS, &refused).expect(201);
    assert_eq!(failed["status"], "failed", "{failed}");
    let base = format!("http://{}", server.address());
    let newest_first = [&made[2], &made[1], &made[0]];
    let page = site.url(path);
    let ids = json!({"comparisons": newest_first, "failed": failed["id"], "page": page});
    assert_eq!(console_problems(SCRIPT, [&*base, &*ids.to_string(), ADMIN_KEY]), json!([]));
}
