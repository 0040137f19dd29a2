//! The console in a real browser: Chromium, with axe-core.

use serde_json::json;
use telltale_tests::{ADMIN_KEY, Setup, console_problems};

use crate::keys::text;

const SCRIPT: &str = include_str!("console_browser.js");

#[test]
fn the_console_is_used_in_a_browser() {
    let server = Setup::new().set("console.sign_ins_per_minute", "100").start();
    let client = server.client();
    let error = json!({"type": "E", "message": "the card <b>was</b> declined", "level": "error"});
    client.post("/api/v1/errors", &error).expect(201);
    let job = json!({"queue": "mailers", "class_name": "Welcome", "arguments": {}});
    client.post("/api/v1/jobs", &job).expect(201);
    let base = format!("http://{}", server.address());
    let links = [(); 2].map(|()| {
        let code = client.post("/api/v1/session/codes", &json!({})).data(201);
        format!("{base}{}", text(&code["path"]))
    });
    let links = json!(links).to_string();
    assert_eq!(console_problems(SCRIPT, [&*base, &*links, ADMIN_KEY]), json!([]));
}
