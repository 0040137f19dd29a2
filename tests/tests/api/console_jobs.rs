//! Jobs in the console, in a real browser: queues, workers, jobs that wait, run and died.

use serde_json::{Value, json};
use telltale_tests::{ADMIN_KEY, Client, HOUR_MS, Setup, console_problems, iso, now_ms};

use crate::jobs::{about, enqueue, fetch, register};

const SCRIPT: &str = include_str!("console_jobs.js");
/// A value that would show if data became markup, or was not escaped in an address.
const HOSTILE: &str = "<img src=x onerror=alert(1)> a,b/%2F \u{202e}abc";

/// Makes jobs of two queues, of which some wait, one runs, one retries and some died.
fn work(client: &Client) {
    for i in 0..60 {
        let class = if i % 2 == 0 { "Charge" } else { "Import<b>" };
        let arguments = json!({"order": format!("order-{i:03}"), "id": 9_007_199_254_740_993_i64, "note": HOSTILE});
        enqueue(
            client,
            &json!({"class_name": class, "queue": "payments", "max_attempts": 1, "arguments": arguments}),
        );
    }
    let worker = register(client, &["payments"]);
    for job in fetch(client, &worker, 57) {
        let error = if job["class_name"] == "Charge" { "Timeout" } else { HOSTILE };
        let report = json!({"error_class": error, "error_message": "no <b>answer</b>", "backtrace": ["pay.rb:3"]});
        about(client, &job, "fail", &report).expect(200);
    }
    client.delete(&worker).expect(200);
    let mails = register(client, &["mails"]);
    for class in ["Welcome", "Welcome", HOSTILE] {
        enqueue(
            client,
            &json!({"class_name": class, "queue": "mails", "arguments": {"to": "ann@example.com"}}),
        );
    }
    let jobs: Vec<Value> = fetch(client, &mails, 2);
    let report = json!({"error_class": "Refused", "error_message": "later"});
    about(client, &jobs[0], "fail", &report).expect(200);
    let later = iso(now_ms() + HOUR_MS);
    enqueue(client, &json!({"class_name": "Digest", "queue": "mails", "run_at": later}));
}

#[test]
fn jobs_are_operated_in_the_console() {
    // Nothing changes by itself while somebody looks.
    let calm = Setup::new()
        .set("console.sign_ins_per_minute", "100")
        .set("jobs.worker_silence", "\"1h\"")
        .set("jobs.retry_base_seconds", "3600")
        .set("jobs.degraded_latency", "\"1d\"");
    let server = calm.start();
    work(&server.client());
    let base = format!("http://{}", server.address());
    assert_eq!(console_problems(SCRIPT, [&*base, ADMIN_KEY]), json!([]));
}
