//! Bodies whose parsed documents use many times their size in memory: refused or reserved before
//! they are built.

use std::thread;

use serde_json::json;
use telltale_tests::{Server, Setup};

/// Peak memory that a refused body may use: a few copies of the largest one here.
const GROWTH_MAX: usize = 64 << 20;

/// Returns the peak memory of a process.
fn peak_bytes(pid: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let kilobytes: usize = line.trim().trim_end_matches(" kB").parse().unwrap_or(0);
    kilobytes << 10
}

/// The memory limit of the server.
const LIMIT: usize = 256 << 20;

/// Starts a server with little memory.
fn small() -> Server {
    Setup::new().set("memory.limit", &LIMIT.to_string()).start()
}

/// Returns a list of this many items.
fn list(item: &str, count: usize) -> String {
    let mut text = String::with_capacity((item.len() + 1) * count + 2);
    text.push('[');
    text.push_str(&format!("{item},").repeat(count.saturating_sub(1)));
    text.push_str(item);
    text.push(']');
    text
}

#[test]
fn items_above_the_limit_of_a_list_use_no_memory() {
    let server = small();
    let client = server.client();
    client.get("/api/v1/metrics").data(200);
    let before = peak_bytes(server.pid());
    let widgets = format!("{{\"name\":\"a\",\"widgets\":{}}}", list("{}", 340_000));
    client.post_text("/api/v1/dashboards/import", widgets).refused_for(
        422,
        "invalid_field",
        "widgets",
    );
    let jobs = format!("{{\"jobs\":{}}}", list("{}", 2_700_000));
    client.post_text("/api/v1/jobs/batch", jobs).refused_for(413, "batch_too_large", "jobs");
    let grown = peak_bytes(server.pid()) - before;
    assert!(before > 0 && grown < GROWTH_MAX, "{grown} bytes");
}

#[test]
fn documents_of_many_values_are_accounted() {
    let server = small();
    let numbers = format!("{{\"a\":{}}}", list("0", 1_900_000));
    let event = format!("{{\"name\":\"e\",\"properties\":{numbers}}}");
    let metric = format!("{{\"name\":\"m\",\"type\":\"gauge\",\"value\":1,\"x\":{numbers}}}");
    let bodies = [
        ("/api/v1/events/batch", format!("{{\"events\":[{event}]}}")),
        ("/api/v1/telemetry/batch", format!("{{\"events\":[{event}]}}")),
        ("/api/v1/metrics/batch", format!("{{\"metrics\":[{metric}]}}")),
    ];
    thread::scope(|scope| {
        for (path, body) in bodies.iter().cycle().take(9) {
            let client = server.client();
            scope.spawn(move || {
                for _ in 0..3 {
                    let response = client.post_text(path, body);
                    if response.status != 200 {
                        response.refused(503, "overloaded");
                    }
                }
            });
        }
    });
    let peak = peak_bytes(server.pid());
    assert!(peak > 0 && peak < LIMIT + LIMIT * 15 / 100, "{peak} of {LIMIT}");
    // Each of them alone fits.
    let client = server.client();
    for (path, body) in &bodies {
        client.post_text(path, body).data(200);
    }
    client.post("/api/v1/events", &json!({"name": "e"})).data(201);
}
