//! The command line on a running and on a stopped server: keys, queries, the first key.

use std::process::Output;

use serde_json::Value;
use telltale_tests::{ADMIN_KEY, Client, DAY_MS, Server, Setup, eventually, folder, iso, now_ms};

use crate::points::{T0, gauge, send};

/// Returns the standard output of a command that must succeed.
#[track_caller]
pub(crate) fn stdout_of(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {error}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the standard error of a command that must fail.
#[track_caller]
pub(crate) fn failed(output: &Output) -> String {
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const CREATE: [&str; 8] =
    ["keys", "create", "--name", "agent", "--user", "ops@example.com", "--scope", "read,ingest"];

/// Returns the key that a command printed.
#[track_caller]
fn printed_key(text: &str) -> String {
    let found = text.split_whitespace().find(|word| word.starts_with("tt_"));
    match found {
        Some(key) => key.to_owned(),
        None => panic!("no key in {text:?}"),
    }
}

#[test]
fn keys_are_created_and_revoked_with_and_without_a_running_server() {
    let mut server = Server::start();
    let running = printed_key(&stdout_of(&server.cli(CREATE)));
    let client = server.client().with_key(&running);
    client.get("/api/v1/metrics").data(200);

    assert!(server.terminate().success());
    let stopped = printed_key(&stdout_of(&server.cli(CREATE)));
    server.restart();
    let client = Client::new(server.address(), Some(&stopped));
    client.get("/api/v1/metrics").data(200);

    let listed = stdout_of(&server.cli(["keys", "list"]));
    let ids: Vec<&str> =
        [&running, &stopped].map(|key| key.split('_').nth(1).unwrap_or("?")).into();
    for id in &ids {
        assert!(listed.contains(id), "{id} in {listed}");
    }
    let json: Value = serde_json::from_str(&stdout_of(&server.cli(["keys", "list", "--json"])))
        .unwrap_or_default();
    assert!(json.to_string().contains(ids[0]), "{json}");
    for secret in [&running, &stopped].map(|key| key.rsplit('_').next().unwrap_or("?")) {
        assert!(!listed.contains(secret) && !json.to_string().contains(secret));
    }

    stdout_of(&server.cli(["keys", "revoke", ids[1]]));
    client.get("/api/v1/metrics").refused(401, "unauthorized");
    assert!(server.terminate().success());
    stdout_of(&server.cli(["keys", "revoke", ids[0]]));
    server.restart();
    server.client().with_key(&running).get("/api/v1/metrics").refused(401, "unauthorized");
    failed(&server.cli(["keys", "revoke", "nobody12"]));
}

#[test]
fn a_key_with_limits_of_its_own() {
    let server = Setup::as_shipped().start();
    let mut arguments = CREATE.to_vec();
    arguments.extend(["--limit", "batch=unlimited", "--limit", "query=6000"]);
    let key = printed_key(&stdout_of(&server.cli(arguments)));
    let client = server.client().with_key(&key);
    let response = client.get("/api/v1/metrics/none/query");
    assert_eq!(response.header("ratelimit-limit"), Some("6000"));
    for _ in 0..15 {
        client.post_text("/api/v1/metrics/batch", "{\"metrics\":[]}").data(200);
    }
    for wrong in ["batch", "batch=0", "bulk=1", "batch=-1"] {
        let mut arguments = CREATE.to_vec();
        arguments.extend(["--limit", wrong]);
        failed(&server.cli(arguments));
    }
}

#[test]
fn the_first_start_prints_a_key_once() {
    let mut server = Setup::new().without_env("TELLTALE_ADMIN_KEY").start();
    let key = eventually("the key to be printed", || {
        let lines = server.log();
        let words =
            lines.iter().flat_map(|line| line.split(|c: char| !(c.is_alphanumeric() || c == '_')));
        let mut keys = words.filter(|word| word.starts_with("tt_") && word.len() > 50);
        keys.next().map(str::to_owned)
    });
    Client::new(server.address(), Some(&key)).get("/api/v1/keys").data(200);
    Client::new(server.address(), Some(ADMIN_KEY)).get("/api/v1/keys").refused(401, "unauthorized");
    server.restart();
    Client::new(server.address(), Some(&key)).get("/api/v1/keys").data(200);
    let secret = key.rsplit('_').next().unwrap_or_default();
    let times = server.log().iter().filter(|line| line.contains(secret)).count();
    assert_eq!(times, 1, "the key is printed once, and never again");
}

#[test]
fn health_is_that_of_the_server_on_the_data_directory() {
    let mut server = Server::start();
    let healthy = eventually("the server to be healthy", || {
        let output = server.cli(["health"]);
        output.status.success().then(|| stdout_of(&output))
    });
    assert_eq!(healthy, "ready\n");
    server.kill9();
    let output_text = failed(&server.cli(["health"]));
    assert!(output_text.contains("no server is ready"), "{output_text}");
}

#[test]
fn a_malformed_first_key_is_refused() {
    for key in ["secret", "tt_short_x", "tt_testadmin_tooshort", &ADMIN_KEY.replace('0', "-")] {
        let home = folder();
        let output = std::process::Command::new(telltale_tests::telltale())
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(home.path().join("data"))
            .env_clear()
            .env("TELLTALE_ADMIN_KEY", key)
            .output();
        let Ok(output) = output else { panic!("telltale did not start") };
        let output_text = failed(&output);
        assert!(output_text.contains("TELLTALE_ADMIN_KEY"), "{key:?}: {output_text}");
        assert!(
            key.len() < 10 || !output_text.contains(key),
            "a message tells no secret: {output_text}"
        );
    }
}

#[test]
fn a_metric_is_shown_as_a_table_a_line_and_json() {
    let mut server = Server::start();
    let client = server.client();
    send(&client, &[gauge("a", T0, 1.25), gauge("a", T0 + 300_000, 7.5)]);
    let (from, to) = (iso(T0), iso(T0 + 600_000));
    let query = |show: &[&str], server: &Server| {
        let base = ["query", "a", "--from", &from, "--to", &to, "--interval", "5m"];
        stdout_of(&server.cli([&base[..], show].concat()))
    };
    let table = query(&[], &server);
    assert!(table.contains("1.25") && table.contains("7.5"), "{table}");
    assert_eq!(table, query(&["--table"], &server));
    let line = query(&["--sparkline"], &server);
    assert!(line.chars().any(|c| ('▁'..='█').contains(&c)), "{line}");
    let json: Value = serde_json::from_str(&query(&["--json"], &server)).unwrap_or_default();
    assert_eq!(json["data"]["series"][1]["value"], 7.5, "{json}");

    assert!(server.terminate().success());
    assert_eq!(query(&[], &server), table, "the same with the data of a stopped server");
    failed(&server.cli(["query", "nothing"]));
    failed(&server.cli(["query", "a", "--aggregation", "p99"]));
}

#[test]
fn the_last_days_of_a_metric() {
    let server = Server::start();
    send(&server.client(), &[gauge("a", now_ms() - DAY_MS, 42.5)]);
    let shown = stdout_of(&server.cli(["query", "a", "--last", "48h", "--interval", "1h"]));
    assert!(shown.contains("42.5"), "{shown}");
}

#[test]
fn merge_compacts_blocks_and_loses_nothing() {
    let server = Server::start();
    let client = server.client();
    // Older than every retention.
    send(&client, &[gauge("a", T0, 77.25)]);
    assert!(stdout_of(&server.cli(["seal"])).starts_with("sealed "));
    let output_text = stdout_of(&server.cli(["merge"]));
    assert!(
        output_text.starts_with("compacted ") && !output_text.contains("retention"),
        "{output_text}"
    );
    assert_eq!(client.get("/api/v1/metrics/a").data(200)["data_points"], 1);
    let help = stdout_of(&server.cli(["merge", "--help"]));
    assert!(help.contains("Compact blocks") && !help.contains("drop"), "{help}");
    let output_text =
        stdout_of(&server.cli(["query", "a", "--from", &iso(T0), "--to", &iso(T0 + DAY_MS)]));
    assert!(output_text.contains("77.25"), "{output_text}");
}

#[test]
fn help_is_printed_and_unknown_arguments_are_refused() {
    let server = Server::start();
    let help = stdout_of(&server.cli(["--help"]));
    for command in ["serve", "config", "keys", "import", "query", "backup", "restore", "verify"] {
        assert!(help.contains(command), "{command} in {help}");
    }
    assert_eq!(server.cli(["dance"]).status.code(), Some(2));
    assert_eq!(server.cli(["keys"]).status.code(), Some(2));
}

#[test]
fn the_last_admin_key_is_revoked_only_on_purpose() {
    let mut server = Server::start();
    let id = ADMIN_KEY.split('_').nth(1).unwrap_or("?");
    let refused = failed(&server.cli(["keys", "revoke", id]));
    assert!(refused.contains("last admin key") && refused.contains("--yes"), "{refused}");
    server.client().get("/api/v1/keys").data(200);
    let create = ["keys", "create", "--name", "o", "--user", "o@example.com", "--scope", "admin"];
    let other = printed_key(&stdout_of(&server.cli(create)));
    stdout_of(&server.cli(["keys", "revoke", id]));
    server.client().get("/api/v1/keys").refused(401, "unauthorized");
    let id = other.split('_').nth(1).unwrap_or("?");
    failed(&server.cli(["keys", "revoke", id]));
    stdout_of(&server.cli(["keys", "revoke", id, "--yes"]));
    let client = server.client().with_key(&other);
    client.get("/api/v1/keys").refused(401, "unauthorized");
    assert!(server.terminate().success());
}

#[test]
fn commands_reach_a_server_with_a_long_data_path() {
    let home = folder();
    let data = home.path().join("a-folder-with-a-long-name/".repeat(8));
    assert!(std::fs::create_dir_all(&data).is_ok());
    let mut server = Setup::new().data(&data).start();
    let key = printed_key(&stdout_of(&server.cli(CREATE)));
    server.client().with_key(&key).get("/api/v1/metrics").data(200);
    assert!(server.terminate().success());
    server.restart();
    stdout_of(&server.cli(["keys", "list"]));
}

#[test]
fn commands_reach_a_server_elsewhere_with_a_key() {
    let server = Server::start();
    send(&server.client(), &[gauge("a", T0, 1.5)]);
    let url = format!("http://{}", server.address());
    // There is no data: the response comes from the server.
    let nowhere = server.home().join("nowhere");
    let on = |arguments: &[&str]| server.cli_on(&nowhere, arguments);
    let remote = ["--url", &url, "--key", ADMIN_KEY];
    let query = ["query", "a", "--from", "2024-03-05", "--to", "2024-03-05", "--json"];
    let response = stdout_of(&on(&[&query[..], &remote].concat()));
    assert!(response.contains("1.5"), "{response}");
    let listed = stdout_of(&on(&[&["keys", "list"][..], &remote].concat()));
    assert!(listed.contains("testadmin"), "{listed}");
    stdout_of(&on(&[&["seal"][..], &remote].concat()));
    stdout_of(&on(&[&["verify"][..], &remote].concat()));
    let copy = server.home().join("copy");
    let copy = copy.to_str().unwrap_or_default();
    stdout_of(&on(&[&["backup", copy][..], &remote].concat()));
    assert!(!nowhere.exists());

    let wrong = ADMIN_KEY.replacen("tt_", "tt_x", 1);
    let refused = failed(&on(&["keys", "list", "--url", &url, "--key", &wrong]));
    assert!(refused.contains("unauthorized"), "{refused}");
    for arguments in [
        &["keys", "list", "--url", &url][..],
        &["keys", "list", "--url", "https://example.com", "--key", ADMIN_KEY],
        &["backup", "copy", "--url", &url, "--key", ADMIN_KEY],
        &["restore", copy, "--url", &url, "--key", ADMIN_KEY],
        &["serve", "--url", &url, "--key", ADMIN_KEY],
        &["import", "csv", copy, "--url", &url, "--key", ADMIN_KEY],
        &["verify", "--key", ADMIN_KEY],
    ] {
        assert_eq!(on(arguments).status.code(), Some(2), "{arguments:?}");
    }
}
