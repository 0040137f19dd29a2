//! The demo (`make demo`) fills every area of the real program, goes on sending, serves its data
//! again, and leaves directories alone that are not its own.
#![expect(clippy::unwrap_used, reason = "a failing test may panic")]

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use serde_json::{Value, json};
use telltale_tests::{Client, eventually, folder, telltale};

use crate::keys::text;

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tools/demo");

/// Returns the command that starts a small demo on a free port.
fn command(data: &Path) -> Command {
    let mut command = Command::new("python3");
    command.args(["-B", DEMO, "--scale", "0.02", "--listen", "127.0.0.1:0", "--program"]);
    command.arg(telltale()).arg("--data").arg(data).stdin(Stdio::null());
    // What is meant for another program is not read as a setting of the server.
    command.env("TELLTALE_OF_ANOTHER_PROGRAM", "1");
    command
}

/// A running demo, whose server ends with it.
pub(crate) struct Demo {
    child: Child,
    /// Kept open, because the demo ends when nobody reads what it prints.
    _output: BufReader<ChildStdout>,
    client: Client,
    /// The key of its administrator.
    key: String,
    /// The URL of its server.
    base: String,
    /// The code that signs in to the console once.
    code: String,
    /// The lines that say what was made.
    progress: Vec<String>,
}

impl Demo {
    /// Starts a demo and waits until it prints the link.
    #[track_caller]
    pub(crate) fn start(data: &Path) -> Self {
        let mut child = match command(data).stdout(Stdio::piped()).spawn() {
            Ok(child) => child,
            Err(error) => panic!("python3 did not start ({error}); `make setup` installs it"),
        };
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut progress = Vec::new();
        let link = loop {
            let mut line = String::new();
            let bytes = output.read_line(&mut line).unwrap();
            assert!(bytes > 0, "the demo ended ({:?}):\n{}", child.wait(), progress.join("\n"));
            let line = line.trim().to_owned();
            if line.contains("/console#code=") {
                break line;
            }
            progress.push(line);
        };
        let (address, code) = link.split_once("/console#code=").unwrap();
        let address: SocketAddr = address.trim_start_matches("http://").parse().unwrap();
        let state = std::fs::read(data.join("demo.json")).unwrap();
        let state: Value = serde_json::from_slice(&state).unwrap();
        let (base, key) = (format!("http://{address}"), text(&state["key"]).to_owned());
        let client = Client::new(address, Some(&key));
        Self { child, _output: output, client, key, base, code: code.to_owned(), progress }
    }

    /// Returns the URL of its server, and the key of its administrator.
    pub(crate) fn base_and_key(&self) -> (&str, &str) {
        (&self.base, &self.key)
    }

    /// Interrupts it, as Ctrl-C does, and waits until it has ended.
    #[track_caller]
    fn interrupt(mut self) -> ExitStatus {
        let command = format!("kill -INT {}", self.child.id());
        let sent = Command::new("sh").args(["-c", &command]).status();
        assert!(sent.is_ok_and(|status| status.success()), "{command} failed");
        self.child.wait().unwrap()
    }

    #[track_caller]
    fn data(&self, path: &str) -> Value {
        self.client.get(&format!("/api/v1/{path}")).data(200)
    }

    /// Returns the items under a key of a response.
    #[track_caller]
    fn items(&self, path: &str, key: &str) -> Vec<Value> {
        let mut body = self.client.get(&format!("/api/v1/{path}")).expect(200);
        match body[key].take() {
            Value::Array(items) => items,
            _ => panic!("{path} has no list {key}"),
        }
    }

    /// Fails unless a list of the API has at least so many items.
    #[track_caller]
    fn has(&self, path: &str, key: &str, min: usize) {
        let found = self.items(path, key).len();
        assert!(found >= min, "{path} has {found} items, fewer than {min}");
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // It may have ended already. The kernel then stops its server.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn the_demo_fills_every_area_and_serves_it_again() {
    let folder = folder();
    let data = folder.path().join("demo");
    let demo = Demo::start(&data);
    telemetry_is_there(&demo);
    errors_are_in_every_state(&demo);
    jobs_are_in_every_state(&demo);
    alerts_fire(&demo);
    status_and_snapshots_are_there(&demo);
    code_is_explained(&demo);
    it_goes_on(&demo);
    let opened = demo.client.without_key().post("/api/v1/session", &json!({"code": demo.code}));
    assert_eq!(opened.data(201)["scopes"], json!(["admin"]));

    let dashboards = demo.items("dashboards", "data").len();
    let client = demo.client.clone();
    assert!(demo.interrupt().success());
    let stopped = client.request("GET", "/healthz").try_send();
    assert!(stopped.is_err(), "the server goes on without its demo");

    let again = Demo::start(&data);
    assert!(!again.progress.iter().any(|line| line.contains("filled")), "{:?}", again.progress);
    assert_eq!(again.items("dashboards", "data").len(), dashboards);
    it_goes_on(&again);
    assert!(again.interrupt().success());
}

#[test]
fn the_demo_leaves_other_directories_alone() {
    let folder = folder();
    let own = folder.path().join("letter.txt");
    std::fs::write(&own, "Dear Ann").unwrap();
    let refused = command(folder.path()).output().unwrap();
    let error = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{error}");
    assert!(error.contains("is not the directory of a demo"), "{error}");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[track_caller]
fn telemetry_is_there(demo: &Demo) {
    demo.has("metrics?limit=1000&prefix=http.", "data", 2);
    demo.has("metrics?limit=1000&prefix=shop.", "data", 4);
    for event in ["page.viewed", "order.paid", "deploy.finished"] {
        let total = demo.data(&format!("events/count?name={event}"))["total"].as_u64();
        assert!(total > Some(2), "{event}: {total:?}");
    }
    let dashboards = demo.items("dashboards", "data");
    assert!(dashboards.len() >= 4, "{dashboards:?}");
    for dashboard in dashboards.iter().filter(|dashboard| dashboard["name"] != "Telltale") {
        let shown = demo.data(&format!("dashboards/{}", text(&dashboard["id"])));
        let widgets = shown["widgets"].as_array().unwrap();
        assert!(widgets.len() > 5, "{shown}");
        for widget in widgets {
            let parts = ["value", "series", "groups", "items", "rows", "cells"];
            let shows = parts.iter().any(|part| match &widget[part] {
                Value::Null => false,
                Value::Array(items) => !items.is_empty(),
                Value::Object(groups) => !groups.is_empty(),
                _ => true,
            });
            assert!(shows, "{}: {} shows nothing: {widget}", dashboard["name"], widget["title"]);
        }
    }
}

#[track_caller]
fn errors_are_in_every_state(demo: &Demo) {
    for state in ["unresolved", "resolved", "ignored"] {
        demo.has(&format!("errors?status={state}"), "data", 2);
    }
    let groups = demo.items("errors?limit=100", "data");
    assert!(groups.iter().any(|group| !group["assignee"].is_null()), "{groups:?}");
    let of = |kind: &str| {
        let group = groups.iter().find(|group| text(&group["title"]).starts_with(kind)).unwrap();
        demo.data(&format!("errors/{}", text(&group["id"])))
    };
    assert!(of("KeyError")["regressed_at"].is_string());
    let timeout = of("PaymentTimeout");
    let source = text(&timeout["source"][0]["snippet"]);
    assert!(source.contains("raise PaymentTimeout"), "{timeout}");
}

#[track_caller]
fn jobs_are_in_every_state(demo: &Demo) {
    demo.has("dead-jobs", "dead_jobs", 10);
    for state in ["ready", "scheduled", "retrying"] {
        demo.has(&format!("jobs?status={state}"), "jobs", 1);
    }
    eventually("workers to hold jobs", || {
        let workers = demo.items("workers", "workers").len();
        (workers == 4 && !demo.items("jobs?status=running", "jobs").is_empty()).then_some(())
    });
    let queues = demo.items("queues", "queues");
    let paused = |queue: &&Value| queue["status"] == "paused";
    assert_eq!(queues.iter().filter(paused).count(), 1, "{queues:?}");
}

#[track_caller]
fn alerts_fire(demo: &Demo) {
    let firing = demo.items("alerts?status=firing", "data");
    assert!(firing.iter().any(|alert| alert["rule_name"] == "Search index is stale"), "{firing:?}");
    assert!(firing.iter().any(|alert| alert["muted"] == true), "{firing:?}");
    demo.has("alerts?status=acknowledged", "data", 1);
    for (area, min) in [
        ("alert_rules", 9),
        ("channels", 4),
        ("escalation_policies", 1),
        ("on_call_schedules", 2),
        ("maintenance_windows?current=true", 1),
    ] {
        demo.has(area, "data", min);
    }
}

#[track_caller]
fn status_and_snapshots_are_there(demo: &Demo) {
    demo.has("monitors", "monitors", 7);
    let page = demo.client.without_key().get("/status/harbor-pine/api/v1/status").json();
    for (list, count) in [("components", 5), ("incidents", 1), ("scheduled_maintenances", 1)] {
        assert_eq!(page[list].as_array().map(Vec::len), Some(count), "{list} of {page}");
    }
    let has_none = |line: &String| line.starts_with("snapshots") && line.contains("no Chromium");
    if !demo.progress.iter().any(has_none) {
        demo.has("snapshots", "snapshots", 5);
        assert_eq!(demo.items("comparisons?status=pending_review", "comparisons").len(), 1);
    }
}

#[track_caller]
fn code_is_explained(demo: &Demo) {
    let repositories = demo.items("repositories", "repositories");
    let [repository] = repositories.as_slice() else { panic!("{repositories:?}") };
    assert_eq!(repository["status"], "synced");
    let path = format!("repositories/{}", text(&repository["id"]));
    demo.has(&format!("{path}/wiki"), "pages", 5);
    demo.has(&format!("{path}/diagrams"), "diagrams", 1);
}

/// Waits until samples arrive that are not of the day before.
#[track_caller]
fn it_goes_on(demo: &Demo) {
    let samples = || demo.data("metrics/http.requests")["data_points"].as_u64();
    let before = samples();
    eventually("new samples", || (samples() > before).then_some(()));
}
