//! What the machine does to the server: no more files for it, no time for it. It lives, says what
//! is wrong, and goes on by itself.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use telltale_tests::{Client, Server, Setup, eventually, iso};

use crate::points::{T0, gauge, send, total};

/// Longer than a look around of anything in the server.
const STOPPED: Duration = Duration::from_millis(1_500);

/// Gives the process so many files, sockets included.
#[track_caller]
fn allow_files(server: &Server, files: usize) {
    let (pid, limit) = (server.pid().to_string(), format!("--nofile={files}:"));
    let set = Command::new("prlimit").args(["--pid", &pid, &limit]).status();
    assert!(set.is_ok_and(|status| status.success()), "prlimit is a part of every Linux");
}

fn soft_limit(server: &Server) -> usize {
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.pid()));
    let limits = limits.unwrap_or_default();
    let line = limits.lines().find(|line| line.starts_with("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().nth(3));
    soft.and_then(|files| files.parse().ok()).unwrap_or(1_024)
}

fn notices(client: &Client) -> String {
    client.get("/readyz").expect(200)["notices"].to_string()
}

fn one() -> Value {
    json!({ "name": "c", "type": "counter", "value": 1, "timestamp": iso(T0) })
}

#[test]
fn a_server_without_files_to_open_says_so_and_goes_on_when_there_are_some() {
    let server = Setup::new().set("storage.head_age", "\"1s\"").start();
    let client = server.client();
    send(&client, &[gauge("a", T0, 1.0)]);
    let files = soft_limit(&server);
    allow_files(&server, 8);
    let mut stored = 0;
    let mut write = || {
        let answer = client.post("/api/v1/metrics", &one());
        if answer.status == 201 {
            stored += 1;
        } else {
            answer.refused(503, "unavailable");
        }
        (answer.status == 201).then_some(())
    };
    let told = eventually("the trouble to be told", || {
        write();
        let told = notices(&client);
        told.contains("open files").then_some(told)
    });
    assert!(told.contains("Too many open files"), "{told}");
    let page = client.get("/metrics");
    assert!(page.text().contains("telltale_storage_read_only 1\n"), "{}", page.text());
    client.get("/api/v1/metrics/a").data(200);
    allow_files(&server, files);
    eventually("the trouble to end", || {
        write();
        (notices(&client) == "null").then_some(())
    });
    eventually("writes to be taken", &mut write);
    let other = server.client();
    assert_eq!(total(&other, "c", T0, T0 + 10), f64::from(stored));
    assert!(other.get("/metrics").text().contains("telltale_storage_read_only 0\n"));
}

#[test]
fn a_process_that_stood_still_goes_on() {
    let server = Server::start();
    let client = server.client();
    send(&client, &[gauge("a", T0, 1.0)]);
    server.signal("STOP");
    let mut wire = server.wire();
    wire.send("GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(wire.answer_within(STOPPED).is_none());
    server.signal("CONT");
    assert_eq!(wire.answer().map(|answer| answer.status), Some(200));
    send(&client, &[gauge("a", T0 + 1, 1.0)]);
    assert_eq!(notices(&client), "null");
}
