//! Each defence of the console is proved by removing it: without it an attack succeeds, and what
//! the tests look at shows it.

use serde_json::json;
use telltale_tests::{ADMIN_KEY, Setup, playwright_problems};

const SCRIPT: &str = include_str!("console_defences.js");
/// Runs a script if it becomes markup.
const MARKUP: &str = "<b>bold</b><img src=/none onerror=alert(1)>";

#[test]
fn each_defence_holds_off_an_attack_that_succeeds_without_it() {
    let server = Setup::new().set("console.sign_ins_per_minute", "100").start();
    let error = json!({"type": "E", "message": MARKUP, "level": "error"});
    server.client().post("/api/v1/errors", &error).expect(201);
    let base = format!("http://{}", server.address());
    assert_eq!(playwright_problems(SCRIPT, [&*base, ADMIN_KEY]), json!([]));
}
