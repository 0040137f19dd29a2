//! Backups: made while the server runs or not, verified, and restored.

use std::path::{Path, PathBuf};

use serde_json::json;
use telltale_tests::{Client, Server, Setup};

use crate::cli::{failed, stdout_of};
use crate::points::{T0, gauge, point, send, total};

fn fill(client: &Client, n: i64) {
    let points: Vec<_> = (0..n)
        .map(|i| point("c", "counter", T0 + i, 1.0, json!({"host": format!("h{}", i % 9)})))
        .collect();
    send(client, &points);
}

fn stored(client: &Client) -> f64 {
    total(client, "c", T0, T0 + 100_000)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap_or_default()
}

#[test]
fn a_backup_of_a_running_server_is_restored_elsewhere() {
    let server = Server::start();
    let client = server.client();
    fill(&client, 1_000);
    assert_eq!(client.post("/api/v1/admin/seal", &json!({})).status, 200);
    fill(&client, 500);
    let copy = server.home().join("copy");
    stdout_of(&server.cli(["backup", text(&copy)]));
    // Later writes are not in the copy.
    fill(&client, 500);
    assert_eq!(stored(&client), 2_000.0);

    let other = Server::start_on_copy(&copy);
    assert_eq!(stored(&other.client()), 1_500.0);
    // Keys are data too: the admin key of the first server is valid on the second.
    other.client().get("/api/v1/keys").data(200);
}

#[test]
fn a_backup_of_a_stopped_server_is_restored() {
    let mut server = Server::start();
    fill(&server.client(), 700);
    assert!(server.terminate().success());
    let copy = server.home().join("copy");
    stdout_of(&server.cli(["backup", text(&copy)]));
    assert_eq!(stored(&Server::start_on_copy(&copy).client()), 700.0);
}

#[test]
fn a_backup_overwrites_nothing() {
    let server = Server::start();
    let existing = server.home().join("existing");
    assert!(std::fs::create_dir(&existing).is_ok());
    assert!(std::fs::write(existing.join("precious"), "x").is_ok());
    failed(&server.cli(["backup", text(&existing)]));
    assert!(existing.join("precious").is_file());
    // Existing data, of a running server or not, is not replaced either.
    let copy = server.home().join("copy");
    stdout_of(&server.cli(["backup", text(&copy)]));
    failed(&server.cli(["restore", text(&copy)]));
    assert_eq!(server.client().get("/readyz").status, 200);
}

#[test]
fn only_a_backup_is_restored() {
    let server = Setup::new().start();
    let home = server.home();
    let target = home.join("target");
    for (name, content) in [("empty", None), ("junk", Some("junk"))] {
        let folder = home.join(name);
        assert!(std::fs::create_dir(&folder).is_ok());
        if let Some(content) = content {
            assert!(std::fs::write(folder.join("CURRENT"), content).is_ok());
        }
        failed(&server.cli_on(&target, ["restore", text(&folder)]));
        let left = std::fs::read_dir(&target).map_or(0, Iterator::count);
        assert_eq!(left, 0, "a refused copy leaves nothing behind");
    }
    failed(&server.cli_on(&target, ["restore", text(&home.join("absent"))]));
}

const SERVE: [&str; 3] = ["serve", "--listen", "127.0.0.1:0"];

/// Returns the sorted names in a directory.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn commands_refuse_other_directories_and_do_not_change_them() {
    let server = Server::start();
    let home = server.home();
    let (foreign, empty, absent) = (home.join("foreign"), home.join("empty"), home.join("absent"));
    for folder in [&foreign, &empty] {
        assert!(std::fs::create_dir(folder).is_ok());
    }
    assert!(std::fs::write(foreign.join("precious"), "x").is_ok());
    let copy = home.join("copy");
    for folder in [&foreign, &empty, &absent] {
        for command in [&["verify"][..], &["seal"], &["merge"], &["backup", text(&copy)]] {
            let reported = failed(&server.cli_on(folder, command));
            assert!(reported.contains("director"), "{command:?}: {reported}");
        }
    }
    failed(&server.cli_on(&empty, ["restore", text(&foreign)]));
    let reported = failed(&server.cli_on(&foreign, SERVE));
    assert!(reported.contains("precious"), "{reported}");
    failed(&server.cli_on(&foreign, ["keys", "list"]));
    assert_eq!(names(&foreign), ["precious"]);
    assert!(names(&empty).is_empty() && !absent.exists() && !copy.exists());
}

#[test]
fn an_incomplete_data_directory_fails_verification_and_is_not_served() {
    for part in ["db", "log"] {
        let mut server = Server::start();
        fill(&server.client(), 10);
        assert!(server.terminate().success());
        assert!(std::fs::remove_dir_all(server.data().join(part)).is_ok());
        let before = names(server.data());
        for command in [&["verify"][..], &["seal"], &SERVE] {
            let reported = failed(&server.cli(command));
            assert!(reported.contains("missing"), "{command:?} without {part}: {reported}");
        }
        assert_eq!(names(server.data()), before);
    }
}

#[test]
fn verify_of_a_stopped_server_writes_nothing() {
    let mut server = Server::start();
    fill(&server.client(), 100);
    server.kill9();
    let tree = |folder: &Path| {
        let mut found = Vec::new();
        let mut left = vec![folder.to_owned()];
        while let Some(path) = left.pop() {
            let Ok(about) = path.symlink_metadata() else { panic!("{} is gone", path.display()) };
            if about.is_dir() {
                left.extend(
                    std::fs::read_dir(&path).into_iter().flatten().flatten().map(|e| e.path()),
                );
            }
            found.push((path, about.len(), about.modified().ok()));
        }
        found.sort();
        found
    };
    let before = tree(server.data());
    let reported = stdout_of(&server.cli(["verify"]));
    assert!(reported.contains("no damage found"), "{reported}");
    assert_eq!(tree(server.data()), before);
}

#[test]
fn verify_finds_a_flipped_byte_anywhere() {
    let mut server = Server::start();
    // Incompressible values, so that most bytes on disk are values.
    let scatter = |i: i64| f64::from((i as u32).wrapping_mul(2_654_435_761)).sqrt();
    let points: Vec<_> = (0..12_000).map(|i| gauge("g", T0 + i, scatter(i))).collect();
    send(&server.client(), &points);
    stdout_of(&server.cli(["verify"]));
    assert_eq!(server.client().post("/api/v1/admin/seal", &json!({})).status, 200);
    stdout_of(&server.cli(["verify"]));
    assert!(server.terminate().success());
    stdout_of(&server.cli(["verify"]));

    let victim = largest_file(server.data());
    let Ok(mut bytes) = std::fs::read(&victim) else { panic!("{} unreadable", victim.display()) };
    let middle = bytes.len() / 3;
    bytes[middle] ^= 0x40;
    assert!(std::fs::write(&victim, bytes).is_ok());
    let reported = failed(&server.cli(["verify"]));
    assert!(!reported.contains("panicked"), "{reported}");
}

/// Returns the largest table file, which contains the values.
fn largest_file(folder: &Path) -> PathBuf {
    let mut files = Vec::new();
    tables(folder, &mut files);
    match files.into_iter().max() {
        Some((_, path)) => path,
        None => panic!("no table file in {}", folder.display()),
    }
}

fn tables(folder: &Path, files: &mut Vec<(u64, PathBuf)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            tables(&path, files);
        } else if path.extension().is_some_and(|e| e == "sst" || e == "blob") {
            files.push((entry.metadata().map_or(0, |m| m.len()), path));
        }
    }
}
