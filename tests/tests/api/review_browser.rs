//! The review page of a comparison in a real browser: Chromium, with axe-core.

use serde_json::{Value, json};
use telltale_tests::{WebSite, browser_problems};

use crate::keys::text;
use crate::page_comparisons::compare;
use crate::page_snapshots::{capture, page_with_box, path_of, start};

const SCRIPT: &str = include_str!("review_browser.js");

#[test]
fn a_comparison_is_reviewed_and_decided_in_a_browser() {
    let path = "/?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E";
    let site = WebSite::new([(path, &page_with_box("#fff"))]);
    let server = start();
    let client = server.client();
    capture(&client, &site.url(path));
    site.show(path, &page_with_box("#00f"));
    let changed = capture(&client, &site.url(path));
    let [read, decided] = [(); 2].map(|()| compare(&client, &changed, &json!({})));
    let urls = [&read, &decided]
        .map(|made| format!("http://{}{}", server.address(), path_of(&made["review_url"])));
    let key = client.post(
        "/api/v1/keys",
        &json!({"name": "reviewer", "user": "r@acme.example", "scopes": ["write"]}),
    );
    let key = key.expect(201)["data"]["key"].clone();
    assert_eq!(browser_problems(SCRIPT, [&*urls[0], &*urls[1], text(&key)]), json!([]));
    let status = |made: &Value| {
        let path = format!("/api/v1/comparisons/{}", text(&made["comparison_id"]));
        client.get(&path).expect(200)
    };
    let [read, decided] = [status(&read), status(&decided)];
    assert_eq!(read["status"], "pending_review", "what is typed into a field decides nothing");
    assert_eq!((&decided["status"], &decided["reason"]), (&json!("approved"), &json!("a new box")));
}
