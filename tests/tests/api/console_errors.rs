//! Errors in the console, in a real browser: found, read, settled, merged and deleted.

use serde_json::{Value, json};
use telltale_tests::{ADMIN_KEY, Client, MINUTE_MS, Setup, console_problems, iso, now_ms};

const SCRIPT: &str = include_str!("console_errors.js");
/// Values that would show if data became markup, or was not escaped in an address.
const HOSTILE: &str = "<img src=x onerror=alert(1)> a,b/%2F \u{202e}abc";

fn frame(file: &str, line: u32, function: &str, in_app: bool) -> Value {
    json!({
        "filename": file, "lineno": line, "function": function, "in_app": in_app,
        "context_line": "    raise Declined(code)", "vars": {"code": "<b>51</b>", "id": 9_007_199_254_740_993_i64},
    })
}

/// Returns an event as SDKs of Sentry send it.
fn event(kind: &str, value: &str, at: i64, user: i64) -> Value {
    let cause = json!({"type": "Timeout", "value": "no answer", "stacktrace": {"frames": [frame("http.py", 9, "post", true)]}});
    let frames = [frame("lib/server.py", 3, "handle", false), frame("shop/pay.py", 77, kind, true)];
    let raised = json!({"type": kind, "value": value, "stacktrace": {"frames": frames}});
    json!({
        "timestamp": at / 1_000, "platform": "python", "level": "error", "release": "shop@1.4", "environment": "production",
        "exception": {"values": [cause, raised]}, "user": {"id": user.to_string(), "email": format!("user{user}@example.com")},
        "tags": {"browser": if user % 2 == 0 { "Firefox" } else { "Chrome" }, "<i>key</i>": HOSTILE},
        "breadcrumbs": {"values": [{"timestamp": at / 1_000, "category": "query", "level": "info", "message": "SELECT <b>1</b>"}]},
        "request": {"method": "POST", "url": "https://shop.example/pay", "headers": {"Accept": "*/*"}, "data": {"note": HOSTILE}},
        "contexts": {"runtime": {"name": "CPython", "version": "3.14"}}, "extra": {"nothing": null, "huge": 1e308},
    })
}

/// Reports errors: one with several occurrences, one that is hostile, and some to fill the list.
fn report(client: &Client) {
    let now = now_ms();
    let store = |event: &Value| client.post("/api/1/store/", event).expect(200);
    for i in 1..=4 {
        store(&event("PaymentError", "the card <b>was</b> declined", now - i * MINUTE_MS, i));
    }
    store(&event("HostileError", HOSTILE, now - 10 * MINUTE_MS, 9));
    for i in 0..55 {
        let exception =
            json!({"type": format!("Import{i:02}Error"), "message": "a row is not valid"});
        let timestamp = iso(now - (20 + i) * MINUTE_MS);
        let body = json!({"exception": exception, "level": "warning", "environment": "batch", "timestamp": timestamp});
        client.post("/api/v1/errors", &body).expect(201);
    }
}

#[test]
fn errors_are_settled_in_the_console() {
    let server = Setup::new().set("console.sign_ins_per_minute", "100").start();
    report(&server.client());
    let base = format!("http://{}", server.address());
    assert_eq!(console_problems(SCRIPT, [&*base, ADMIN_KEY]), json!([]));
}
