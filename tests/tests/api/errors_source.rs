//! Errors show the lines of the source code that their frames name, if a repository that is synced
//! has the file.

use serde_json::{Value, json};
use telltale_tests::{Client, Server};

use crate::keys::text;
use crate::repositories_git::{GitServer, REPOSITORIES, Source, connect, setup, sync};
use crate::repositories_shop::shop;

/// Reports an error with these lines of a backtrace, and returns its detail.
#[track_caller]
fn reported(client: &Client, message: &str, backtrace: &[String]) -> Value {
    let body = json!({
        "exception": {"type": "RetriesExhausted", "message": message, "backtrace": backtrace},
        "fingerprint": [message],
    });
    let id = client.post("/api/v1/errors", &body).data(201)["id"].clone();
    detail(client, text(&id))
}

#[track_caller]
fn detail(client: &Client, id: &str) -> Value {
    client.get(&format!("/api/v1/errors/{id}")).data(200)
}

/// Checks that the lines of an error are those of a commit, byte for byte.
#[track_caller]
fn check_source(source: &Source, commit: &str, error: &Value) {
    let shown = error["source"].as_array().cloned().unwrap_or_default();
    assert_eq!(shown.len(), 2, "{error}");
    for one in shown {
        let start = one["line_start"].as_u64().unwrap_or_default();
        let end = start + text(&one["snippet"]).split('\n').count() as u64 - 1;
        let expected = source.lines(commit, text(&one["file_path"]), start, end);
        assert_eq!(text(&one["snippet"]), expected, "{one}");
    }
}

/// Returns the first line of a file of the shop that contains a text, from 1.
fn line_of(contents: &[u8], part: &str) -> usize {
    let contents = String::from_utf8_lossy(contents);
    contents.lines().position(|line| line.contains(part)).map_or(0, |at| at + 1)
}

#[test]
fn frames_of_an_error_show_their_lines_of_the_repository() {
    let git = GitServer::start();
    let (source, commit) = shop(&git);
    let server = setup().start();
    let client = server.client();
    let id = connect(&client, &git.url("shop"));
    let line = line_of(&source.show(&commit, "src/shop/retry.py"), "raise RetriesExhausted");
    let other = line_of(&source.show(&commit, "src/shop/payments.py"), "return retry_with_backoff");
    let found = reported(
        &client,
        "all attempts failed",
        &[
            format!("/app/src/shop/retry.py:{line} in retry_with_backoff"),
            format!("src/shop/payments.py:{other} in charge_card"),
            "/usr/lib/python3/http/client.py:12 in request".to_owned(),
        ],
    );
    let shown = found["source"].as_array().cloned().unwrap_or_default();
    let places: Vec<(&str, Option<u64>)> =
        shown.iter().map(|one| (text(&one["file_path"]), one["line"].as_u64())).collect();
    assert_eq!(
        places,
        [("src/shop/retry.py", Some(line as u64)), ("src/shop/payments.py", Some(other as u64))],
        "{found}"
    );
    check_source(&source, &commit, &found);
    assert_eq!((&shown[0]["frame"], &shown[1]["frame"]), (&json!(0), &json!(1)));
    for (one, part) in shown.iter().zip(["raise RetriesExhausted", "return retry_with_backoff"]) {
        let at =
            one["line"].as_u64().zip(one["line_start"].as_u64()).map(|(line, start)| line - start);
        let shown = text(&one["snippet"]).split('\n').nth(at.unwrap_or(u64::MAX) as usize);
        assert!(shown.is_some_and(|shown| shown.contains(part)), "{one}");
        assert_eq!(one["repository"], *id);
        assert!(commit.starts_with(text(&one["commit"])), "{one}");
    }
    // The lines are those that are indexed now.
    let error = text(&found["id"]).to_owned();
    let moved =
        format!("# moved\n{}", String::from_utf8_lossy(&source.show(&commit, "src/shop/retry.py")));
    let moved = source.commit([("src/shop/retry.py", &*moved)]);
    sync(&client, &id);
    check_source(&source, &moved, &detail(&client, &error));
    client.delete(&format!("{REPOSITORIES}/{id}")).expect(200);
    let after = detail(&client, &error);
    assert!(after["source"].as_array().is_none_or(Vec::is_empty), "{after}");
}

#[test]
fn frames_that_name_no_file_or_line_show_nothing() {
    let git = GitServer::start();
    shop(&git);
    let server = setup().start();
    let client = server.client();
    connect(&client, &git.url("shop"));
    let found = reported(
        &client,
        "odd frames",
        &[
            "src/shop/retry.py:0 in f".to_owned(),
            "src/shop/retry.py:4294967296 in f".to_owned(),
            "src/shop/retry.py:9999 in f".to_owned(),
            "../../etc/passwd:1 in f".to_owned(),
            "/etc/passwd:1 in f".to_owned(),
            ":1 in f".to_owned(),
            "py:1 in f".to_owned(),
            "nonsense".to_owned(),
        ],
    );
    assert!(found["source"].as_array().is_none_or(Vec::is_empty), "{found}");
    let server = Server::start();
    let found =
        reported(&server.client(), "no repository", &["src/shop/retry.py:1 in f".to_owned()]);
    assert!(found["source"].as_array().is_none_or(Vec::is_empty), "{found}");
}
