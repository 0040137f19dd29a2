//! Failures of the machine: no file descriptors, no CPU time. The server survives, reports them,
//! and continues by itself.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use telltale_tests::{Client, Server, Setup, eventually, iso};

use crate::points::{T0, gauge, send, total};

/// Longer than any period of a check in the server.
const STOPPED: Duration = Duration::from_millis(1_500);

/// Limits the open files of the process, sockets included.
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
fn a_server_without_file_descriptors_reports_it_and_recovers() {
    let server = Setup::new().set("storage.head_age", "\"1s\"").start();
    let client = server.client();
    send(&client, &[gauge("a", T0, 1.0)]);
    let files = soft_limit(&server);
    allow_files(&server, 8);
    let mut stored = 0;
    let mut write = || {
        let response = client.post("/api/v1/metrics", &one());
        if response.status == 201 {
            stored += 1;
        } else {
            response.refused(503, "unavailable");
        }
        (response.status == 201).then_some(())
    };
    let reported = eventually("the trouble to be told", || {
        write();
        let reported = notices(&client);
        reported.contains("open files").then_some(reported)
    });
    assert!(reported.contains("Too many open files"), "{reported}");
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

/// Returns whether no thread of the process runs: a signal reaches them one after the other.
fn is_stopped(server: &Server) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{}/task", server.pid()));
    threads.is_ok_and(|threads| {
        threads.flatten().all(|thread| {
            let status = std::fs::read_to_string(thread.path().join("status"));
            status.is_ok_and(|status| status.contains("State:\tT"))
        })
    })
}

#[test]
fn a_suspended_process_continues() {
    let server = Server::start();
    let client = server.client();
    send(&client, &[gauge("a", T0, 1.0)]);
    server.signal("STOP");
    eventually("every thread to be stopped", || is_stopped(&server).then_some(()));
    let mut wire = server.wire();
    wire.send("GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(wire.response_within(STOPPED).is_none());
    server.signal("CONT");
    assert_eq!(wire.response().map(|response| response.status), Some(200));
    send(&client, &[gauge("a", T0 + 1, 1.0)]);
    assert_eq!(notices(&client), "null");
}
