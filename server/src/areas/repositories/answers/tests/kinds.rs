//! Each kind of question, with the answer that a reader of the code would give.

use super::fixture::{ask, parcel};
use crate::areas::repositories::wiki::test_index::index_of;

/// Checks the beginning of an answer and the places of its first references.
#[track_caller]
fn check(question: &str, text: &str, places: &[(&str, u32)]) {
    let index = parcel();
    let answer = ask(index, &[question]);
    assert!(answer.text.contains(text), "{question}\n{}", answer.text);
    for (path, line) in places {
        let is_cited = answer
            .references
            .iter()
            .any(|found| found.path == *path && found.lines.contains(*line));
        assert!(is_cited, "{question}\n{path}:{line} is not in {:?}", answer.references);
    }
    assert!(answer.confidence >= 0.5, "{question}: {}", answer.confidence);
}

#[test]
fn definitions() {
    check(
        "Where is `replay_log` defined?",
        "`replay_log` is a function defined in src/store.rs:41 [1]. “Replays the log of a folder up to the last checkpoint.” [1]",
        &[("src/store.rs", 41)],
    );
    check(
        "where is HttpClient",
        "`HttpClient` is a class defined in web/client.ts:7 [1]. “Fetches parcels over HTTP.” [1]",
        &[("web/client.ts", 7)],
    );
    check("Where is hash_password defined?", "scripts/hashing.py:6", &[("scripts/hashing.py", 6)]);
    check(
        "Where is Store::open_folder?",
        "`Store::open_folder` is a method defined in src/store.rs:25",
        &[("src/store.rs", 25)],
    );
}

#[test]
fn descriptions() {
    check(
        "What does `Store::open_folder` do?",
        "“Opens the store in a folder and replays its log.”",
        &[("src/store.rs", 25)],
    );
    check("What does open_folder do?", "It calls `replay_log`", &[("src/store.rs", 25)]);
    check(
        "What is `StoreError`?",
        "Its variants include `DiskFull` and `DamagedLog`",
        &[("src/error.rs", 5)],
    );
    check("What is in src/config.rs?", "“The settings.”", &[("src/config.rs", 1)]);
    check(
        "explain src/store.rs:27",
        "is in `Store::open_folder`, a method",
        &[("src/store.rs", 27)],
    );
}

#[test]
fn uses() {
    check(
        "Who calls `replay_log`?",
        "`replay_log` is used by `Store::open_folder` (src/store.rs:27) [1]",
        &[("src/store.rs", 27)],
    );
    check(
        "Where is hash_password used?",
        "`DailyReport.login_user` (scripts/report.py:18)",
        &[("scripts/report.py", 18)],
    );
    check(
        "What does `main` call?",
        "`Store::open_folder` (src/store.rs:25)",
        &[("src/main.rs", 9)],
    );
    check(
        "What implements Storage?",
        "`MemoryStore`",
        &[("src/memory.rs", 9), ("src/store.rs", 33)],
    );
    check("Which classes extend `Report`?", "`DailyReport`", &[("scripts/report.py", 14)]);
}

#[test]
fn lists() {
    check(
        "Which routes are there?",
        "`/parcels/{id}` (src/routes.rs:9)",
        &[("src/routes.rs", 8), ("src/routes.rs", 9)],
    );
    check("Which errors are there?", "`StoreError`", &[("src/error.rs", 4)]);
    check(
        "What settings are available?",
        "has the fields `port` and `max_retries`",
        &[("src/config.rs", 6)],
    );
    check("List the functions in web/client.ts", "`retryTwice`", &[("web/client.ts", 15)]);
    check(
        "Which variants does StoreError have?",
        "`StoreError::DamagedLog`",
        &[("src/error.rs", 8)],
    );
}

#[test]
fn helpers_of_tests_are_no_tests() {
    let text = "fn work() {}\n\n#[cfg(test)]\nmod tests {\n    fn helper_of_tests() {}\n\n    \
                #[test]\n    fn work_is_done() {\n        helper_of_tests();\n    }\n}\n";
    let index = index_of(&[("src/work.rs", text)]);
    let answer = ask(&index, &["Which tests are there?"]).text;
    assert!(answer.contains("work_is_done") && !answer.contains("helper_of_tests"), "{answer}");
}

#[test]
fn topics() {
    check(
        "How are passwords hashed?",
        "“Hashes a password with PBKDF2 and a salt.”",
        &[("scripts/hashing.py", 6)],
    );
    check(
        "How is the log replayed?",
        "“Replays the log of a folder up to the last checkpoint.”",
        &[("src/store.rs", 41)],
    );
    check(
        "How do I install the server?",
        "“Run `cargo install parcel` to install the server.”",
        &[("README.md", 7)],
    );
    check(
        "Why is the log replayed twice?",
        "because the first pass only finds the last checkpoint",
        &[("src/store.rs", 26)],
    );
}

#[test]
fn overview() {
    check(
        "What is this repository?",
        "“Parcel tracks parcels on their way to customers.” [1]",
        &[("README.md", 3), ("src/main.rs", 8)],
    );
}
