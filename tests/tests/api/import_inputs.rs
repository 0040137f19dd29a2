//! Inputs of `telltale import`: compressed files, byte order marks, standard input; and messages
//! about files that are misinterpreted.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use telltale_tests::{DAY_MS, Server, telltale};

use crate::cli::{failed, stdout_of};
use crate::points::{T0, pairs, query_metric, total};

const ROWS: &str = "timestamp,value\n2024-03-05 00:00:00,1\n2024-03-05 00:01:00,2\n";

fn file(server: &Server, name: &str, content: &[u8]) -> PathBuf {
    let path = server.home().join(name);
    assert!(std::fs::write(&path, content).is_ok(), "cannot write {}", path.display());
    path
}

fn packed(content: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    assert!(encoder.write_all(content.as_bytes()).is_ok());
    match encoder.finish() {
        Ok(bytes) => bytes,
        Err(error) => panic!("cannot pack: {error}"),
    }
}

fn import(server: &Server, path: &Path, flags: &[&str]) -> Output {
    let path = path.to_str().unwrap_or_default();
    server.cli([&["import", "csv", path], flags].concat())
}

#[track_caller]
fn sum(server: &Server, metric: &str) -> f64 {
    total(&server.client(), metric, T0, T0 + DAY_MS)
}

/// Returns the files that record the progress of imports.
fn remembered(server: &Server) -> usize {
    std::fs::read_dir(server.data().join("imports")).map_or(0, Iterator::count)
}

#[test]
fn compressed_files_and_byte_order_marks_are_read() {
    let server = Server::start();
    let counter = ["--type", "counter"];
    let gz = file(&server, "packed.csv.gz", &packed(ROWS));
    stdout_of(&import(&server, &gz, &counter));
    assert_eq!(sum(&server, "packed"), 3.0);
    // Lines appended since are imported; nothing is stored twice.
    stdout_of(&import(&server, &gz, &counter));
    assert_eq!(sum(&server, "packed"), 3.0);

    let marked = file(&server, "marked.csv", format!("\u{feff}{ROWS}").as_bytes());
    stdout_of(&import(&server, &marked, &counter));
    let more = format!("\u{feff}{ROWS}2024-03-05 00:02:00,4\n");
    file(&server, "marked.csv", more.as_bytes());
    stdout_of(&import(&server, &marked, &counter));
    assert_eq!(sum(&server, "marked"), 7.0);

    let line = "\u{feff}{\"name\":\"lines\",\"type\":\"counter\",\"value\":5,\"timestamp\":\"2024-03-05T00:00:00Z\"}\n";
    let lines = file(&server, "x.ndjson", line.as_bytes());
    stdout_of(&server.cli(["import", "ndjson", lines.to_str().unwrap_or_default()]));
    assert_eq!(sum(&server, "lines"), 5.0);
}

/// Runs an import from standard input into the data of a server.
#[track_caller]
fn piped(server: &Server, content: &str, flags: &[&str]) -> Output {
    let child = Command::new(telltale())
        .args([&["import", "csv", "-"], flags].concat())
        .arg("--data")
        .arg(server.data())
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else { panic!("telltale did not start") };
    if let Some(mut stdin) = child.stdin.take() {
        // A command with invalid flags reads nothing.
        drop(stdin.write_all(content.as_bytes()));
    }
    match child.wait_with_output() {
        Ok(output) => output,
        Err(error) => panic!("telltale did not end: {error}"),
    }
}

#[test]
fn standard_input_is_read_once_and_leaves_nothing_behind() {
    let server = Server::start();
    let flags = ["--type", "counter", "--metric", "piped"];
    for times in 1..=2_i32 {
        stdout_of(&piped(&server, ROWS, &flags));
        assert_eq!(sum(&server, "piped"), f64::from(3 * times));
    }
    let rows = "2024-03-05,5\n2024-03-06,7\n";
    stdout_of(&piped(&server, rows, &["--type", "counter", "--metric", "dates", "--no-header"]));
    assert_eq!(sum(&server, "dates"), 5.0, "a date is its midnight");
    assert_eq!(remembered(&server), 0);
    let refused = failed(&piped(&server, ROWS, &[]));
    assert!(refused.contains("--metric"), "{refused}");
}

#[test]
fn a_file_without_valid_rows_is_a_failure_and_not_recorded() {
    let server = Server::start();
    let path = file(&server, "x.csv", ROWS.as_bytes());
    let output = import(&server, &path, &["--time-format", "ms"]);
    assert_eq!(output.status.code(), Some(1));
    let reported = failed(&output);
    assert!(reported.contains("nothing was imported") && reported.contains("2 rows"), "{reported}");
    assert_eq!(remembered(&server), 0);
    stdout_of(&import(&server, &path, &[]));
    assert_eq!(remembered(&server), 1);
    let data = query_metric(&server.client(), "x", T0, T0 + DAY_MS, "&interval=1m").data(200);
    assert_eq!(pairs(&data["series"]), [(0, 1.0), (60_000, 2.0)]);
}

#[test]
fn an_unclosed_quote_is_reported_with_its_line() {
    let server = Server::start();
    let path = file(&server, "x.csv", format!("{ROWS}2024-03-05 00:02:00,\"4\n{ROWS}").as_bytes());
    let reported = stdout_of(&import(&server, &path, &["--type", "counter"]));
    assert!(reported.contains("x.csv:4: this row contains an unclosed quote"), "{reported}");
    assert_eq!(sum(&server, "x"), 3.0);
}
