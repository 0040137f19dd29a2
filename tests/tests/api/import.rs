//! `telltale import`: samples from files, rejected rows by reason, resumed imports.

use std::path::{Path, PathBuf};

use serde_json::json;
use telltale_tests::{Client, HOUR_MS, Server, iso, same};

use crate::cli::{failed, stdout_of};
use crate::points::{T0, pairs, query_metric, total};

fn file(server: &Server, name: &str, content: &str) -> PathBuf {
    let path = server.home().join(name);
    assert!(std::fs::write(&path, content).is_ok(), "cannot write {}", path.display());
    path
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}

fn values(client: &Client, name: &str, rest: &str) -> Vec<(i64, f64)> {
    let rest = format!("&interval=1m{rest}");
    pairs(&query_metric(client, name, T0, T0 + HOUR_MS, &rest).data(200)["series"])
}

#[test]
fn rows_become_points() {
    let server = Server::start();
    let path = file(
        &server,
        "load.csv",
        "timestamp,value\n2024-03-05 00:00:00,1.5\n2024-03-05T00:01:00Z,2\n2024-03-05T01:02:00+01:00,-3e0\n",
    );
    stdout_of(&server.cli(["import", "csv", text(&path)]));
    let expected = [(0, 1.5), (60_000, 2.0), (120_000, -3.0)];
    assert_eq!(values(&server.client(), "load", "&aggregation=last"), expected);
    let definition = server.client().get("/api/v1/metrics/load").data(200);
    same(&json!([definition["type"], definition["data_points"]]), &json!(["gauge", 3]));
}

#[test]
fn columns_types_tags_and_delimiters_can_be_set() {
    let server = Server::start();
    let path = file(
        &server,
        "x.txt",
        "when;n;host;unused\n1709596800;3;a;?\n1709596860.5;4;b;?\n1709596861;5;;?\n",
    );
    let arguments = [
        "import",
        "csv",
        text(&path),
        "--metric",
        "hits",
        "--type",
        "counter",
        "--delimiter",
        ";",
        "--time-column",
        "when",
        "--time-format",
        "s",
        "--value-column",
        "n",
        "--tag-column",
        "host",
        "--tag",
        "region=eu",
    ];
    stdout_of(&server.cli(arguments));
    let client = server.client();
    assert_eq!(values(&client, "hits", ""), [(0, 3.0), (60_000, 9.0)]);
    assert_eq!(values(&client, "hits", "&tags[host]=b&tags[region]=eu"), [(60_000, 4.0)]);
    let data = query_metric(&client, "hits", T0, T0 + HOUR_MS, "&interval=1d&group_by=tags.host")
        .data(200);
    same(&data["groups"][""], &json!([{"timestamp": iso(T0), "value": 5}]));
}

#[test]
fn invalid_rows_are_reported_by_reason_and_valid_ones_stored() {
    let server = Server::start();
    let content = "timestamp,value\n2024-03-05 00:00:00,1\nyesterday,1\n2024-03-05 00:01:00,NaN\n\
                   2024-03-05 00:01:00,\n2024-03-05 00:02:00\n2024-03-05 00:03:00,inf\n\
                   2024-03-05 00:04:00,2\n\n2024-03-05 00:05:00,1,2\n\"2024-03-05 00:06:00\",\"3\"\n";
    let path = file(&server, "mixed.csv", content);
    let output = server.cli(["import", "csv", text(&path)]);
    let reported = stdout_of(&output) + &String::from_utf8_lossy(&output.stderr);
    for reason in ["timestamp", "value"] {
        assert!(reported.contains(reason), "{reason} in {reported}");
    }
    let expected = [(0, 1.0), (240_000, 2.0), (360_000, 3.0)];
    assert_eq!(values(&server.client(), "mixed", "&aggregation=last"), expected);
    let again = file(&server, "strict.csv", content);
    failed(&server.cli(["import", "csv", "--strict", text(&again)]));
    assert_eq!(values(&server.client(), "strict", "&aggregation=last"), expected);
}

#[test]
fn lines_of_json_become_points() {
    let mut server = Server::start();
    let content = format!(
        "{}\n{}\n\n{}\nnot json\n{}\n",
        json!({"name": "n.c", "type": "counter", "value": 2, "timestamp": iso(T0), "tags": {"k": 1}}),
        json!({"name": "n.s", "type": "set", "value": "é", "timestamp": iso(T0)}),
        json!({"name": "n.c", "type": "gauge", "value": 2, "timestamp": iso(T0)}),
        json!({"name": "n.c", "type": "counter", "value": 5, "timestamp": iso(T0 + 1)}),
    );
    let path = file(&server, "points.ndjson", &content);
    // Imports also work on the data of a stopped server.
    assert!(server.terminate().success());
    let output = server.cli(["import", "ndjson", text(&path)]);
    let reported = stdout_of(&output) + &String::from_utf8_lossy(&output.stderr);
    assert!(reported.contains("type_conflict") || reported.contains("not a gauge"), "{reported}");
    server.restart();
    assert_eq!(total(&server.client(), "n.c", T0, T0 + 10), 7.0);
    assert_eq!(values(&server.client(), "n.s", ""), [(0, 1.0)]);
}

#[test]
fn an_import_that_is_repeated_stores_nothing_twice() {
    let server = Server::start();
    let rows: String = (0..5_000).map(|i| format!("{},1\n", T0 + i)).collect();
    let path = file(&server, "c.csv", &format!("timestamp,value\n{rows}"));
    let arguments = ["import", "csv", text(&path), "--type", "counter", "--time-format", "ms"];
    for _ in 0..2 {
        stdout_of(&server.cli(arguments));
        assert_eq!(total(&server.client(), "c", T0, T0 + 10_000), 5_000.0);
    }
    // Lines appended since are imported; nothing is stored twice.
    let more: String = (5_000..6_000).map(|i| format!("{},1\n", T0 + i)).collect();
    file(&server, "c.csv", &format!("timestamp,value\n{rows}{more}"));
    stdout_of(&server.cli(arguments));
    assert_eq!(total(&server.client(), "c", T0, T0 + 10_000), 6_000.0);
    stdout_of(&server.cli([&arguments[..], &["--restart"]].concat()));
    assert_eq!(total(&server.client(), "c", T0, T0 + 10_000), 12_000.0);
}

#[test]
fn invalid_imports_are_reported() {
    let server = Server::start();
    let empty = file(&server, "empty.csv", "");
    let other = file(&server, "other.csv", "a,b\n1,2\n");
    let absent = server.home().join("absent.csv");
    let reported = |path: &Path| {
        let output = server.cli(["import", "csv", text(path)]);
        failed(&output) + &String::from_utf8_lossy(&output.stdout)
    };
    assert!(reported(&absent).contains("absent.csv"));
    let reported = reported(&other);
    assert!(reported.contains("timestamp"), "{reported}");
    let output = server.cli(["import", "csv", text(&empty)]);
    let reported = String::from_utf8_lossy(&output.stderr);
    assert!(!reported.contains("panicked"), "{reported}");
}
