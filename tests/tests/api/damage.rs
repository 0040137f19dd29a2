//! Files corrupted on disk: the server starts, serves the intact data, and reports the rest.
#![expect(clippy::unwrap_used, reason = "a failing test may panic")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use telltale_tests::{DAY_MS, Server, Setup};

use crate::cli::{failed, stdout_of};
use crate::points::{T0, point, send, total};

const METRICS: usize = 20;
const POINTS: usize = 200;

/// Returns a stopped server with metrics in tables and some in the log.
fn stopped() -> Server {
    let mut server = Setup::new().start();
    let client = server.client();
    for metric in 0..METRICS {
        let name = format!("damage.{metric}");
        let points: Vec<Value> =
            (0..POINTS).map(|i| increment(&name, T0 + i as i64 * 1_000)).collect();
        send(&client, &points);
    }
    client.post("/api/v1/admin/seal", &json!({})).data(200);
    assert!(server.terminate().success());
    server
}

fn increment(name: &str, ms: i64) -> Value {
    point(name, "counter", ms, 1, json!({}))
}

fn tables(server: &Server) -> Vec<PathBuf> {
    let entries = fs::read_dir(server.data().join("db")).unwrap();
    let mut tables: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    tables.retain(|path| path.extension().is_some_and(|extension| extension == "sst"));
    tables.sort();
    tables
}

fn flip(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 3;
    bytes[middle] ^= 0x10;
    fs::write(path, bytes).unwrap();
}

/// Returns the metrics whose samples are all returned.
fn whole(server: &Server) -> usize {
    let client = server.client();
    let all = (0..METRICS).filter(|metric| {
        let name = format!("damage.{metric}");
        client.get(&format!("/api/v1/metrics/{name}")).status == 200
            && total(&client, &name, T0, T0 + DAY_MS) == POINTS as f64
    });
    all.count()
}

#[track_caller]
fn says(server: &Server, kind: &str) {
    let client = server.client();
    let ready = client.get("/readyz").json();
    let lines = ready["damage"].as_array().cloned().unwrap_or_default();
    assert!(lines.iter().any(|line| line.as_str().is_some_and(|line| line.starts_with(kind))));
    assert!(ready["damage_found"].as_u64().is_some_and(|found| found > 0), "{ready}");
    let metrics = client.get("/metrics");
    let found = metrics.text().lines().find(|line| line.starts_with("telltale_damage_found "));
    assert!(found.is_some_and(|line| !line.ends_with(" 0")), "{found:?}");
    assert!(server.log().iter().any(|line| line.contains("damage was found")));
    failed(&server.cli(["verify"]));
}

#[test]
fn one_flipped_bit_in_each_table_is_repaired_and_reported_until_acknowledged() {
    let mut server = stopped();
    let tables = tables(&server);
    assert!(!tables.is_empty());
    tables.iter().for_each(|table| flip(table));
    server.restart();
    assert_eq!(whole(&server), METRICS);
    says(&server, "mended: ");
    // It is reported after another start as well, until it was acknowledged.
    server.kill9();
    server.restart();
    says(&server, "mended: ");
    fs::remove_file(server.data().join("DAMAGE")).unwrap();
    let ready = server.client().get("/readyz").json();
    assert!(ready["damage"].is_null(), "{ready}");
    stdout_of(&server.cli(["verify"]));
    assert_eq!(whole(&server), METRICS);
}

#[test]
fn corruption_beyond_repair_is_reported_and_new_data_is_accepted() {
    let mut server = stopped();
    fs::remove_dir_all(server.data().join("db/guards")).unwrap();
    let bytes = |path: &PathBuf| fs::metadata(path).map_or(0, |file| file.len());
    let largest = tables(&server).into_iter().max_by_key(bytes).unwrap();
    flip(&largest);
    server.restart();
    let left = whole(&server);
    let client = server.client();
    send(&client, &[increment("damage.new", T0)]);
    for work in ["seal", "merge"] {
        client.post(&format!("/api/v1/admin/{work}"), &json!({})).data(200);
    }
    assert_eq!(total(&client, "damage.new", T0, T0 + DAY_MS), 1.0);
    assert!(whole(&server) >= left);
    says(&server, "lost: ");
}
