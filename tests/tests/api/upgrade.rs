//! Data directories written by earlier versions: they open, and queries return what those versions
//! returned. `tests/fixtures/README.md` says what the directories contain.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use telltale_tests::{Client, Setup, folder};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");

/// Copies a directory with its subdirectories.
#[track_caller]
fn copy(from: &Path, to: &Path) {
    let copied = fs::create_dir_all(to).and_then(|()| fs::read_dir(from)).and_then(|entries| {
        for entry in entries {
            let (path, target) = entry.map(|entry| (entry.path(), to.join(entry.file_name())))?;
            if path.is_dir() {
                copy(&path, &target);
            } else {
                fs::copy(&path, &target)?;
            }
        }
        Ok(())
    });
    assert!(copied.is_ok(), "cannot copy {}: {copied:?}", from.display());
}

/// Checks that `actual` has every field of `expected` with the same value; it may have others.
#[track_caller]
fn same_fields(actual: &Value, expected: &Value, at: &str) {
    match (actual, expected) {
        (Value::Object(actual), Value::Object(expected)) => {
            for (name, value) in expected {
                let at = format!("{at} .{name}");
                match actual.get(name) {
                    Some(field) => same_fields(field, value, &at),
                    None => panic!("{at} is missing"),
                }
            }
        }
        (Value::Array(actual), Value::Array(expected)) => {
            assert_eq!(actual.len(), expected.len(), "{at}: the number of items");
            for (i, (actual, expected)) in actual.iter().zip(expected).enumerate() {
                same_fields(actual, expected, &format!("{at} [{i}]"));
            }
        }
        (Value::Number(_), Value::Number(_)) => {
            assert_eq!(actual.as_f64(), expected.as_f64(), "{at}");
        }
        _ => assert_eq!(actual, expected, "{at}"),
    }
}

/// Sends all queries of `answers.json` and compares the responses.
#[track_caller]
fn compare(client: &Client, answers: &[Value], state: &str) {
    for response in answers {
        let path = response["path"].as_str().unwrap_or_default();
        let actual = client.get(path).expect(200);
        same_fields(&actual, &response["body"], &format!("{state}: {path}"));
    }
}

/// Opens the directory that `commit` wrote, and compares queries of it after the replay of the log,
/// after everything was rewritten, and after a restart.
#[track_caller]
fn opens(commit: &str) {
    let fixture = PathBuf::from(format!("{FIXTURES}/data-{commit}"));
    let file = fs::read(fixture.join("answers.json")).unwrap_or_default();
    let recorded: Value = match serde_json::from_slice(&file) {
        Ok(recorded) => recorded,
        Err(error) => panic!("answers.json of {commit}: {error}"),
    };
    let Some(answers) = recorded["answers"].as_array() else { panic!("{commit} has no answers") };
    assert!(answers.len() > 50, "{commit} has {} answers", answers.len());
    let Some(key) = recorded["key"].as_str() else { panic!("{commit} has no key") };

    let home = folder();
    let data = home.path().join("data");
    copy(&fixture.join("data"), &data);
    // Nothing in the directory may expire, however old it is.
    let setup =
        Setup::new().set("jobs.dead_keep", "\"100y\"").set("jobs.finished_keep", "\"100y\"");
    let mut server = setup.data(&data).start();
    let client = server.client().with_key(key);
    compare(&client, answers, "replayed");
    client.request("POST", "/api/v1/admin/seal").send().data(200);
    client.request("POST", "/api/v1/admin/merge").send().data(200);
    compare(&client, answers, "compacted");
    let verified = client.request("POST", "/api/v1/admin/verify").send().data(200);
    assert_eq!(verified["ok"], true, "{verified}");
    server.restart();
    compare(&server.client().with_key(key), answers, "restarted");
}

#[test]
fn data_written_by_commit_d6286b1_yields_the_same_results() {
    opens("d6286b1");
}
