//! Names that nothing defines but that appear in the code, and words that look like paths.

use super::fixture::ask;
use crate::areas::repositories::answers::FOUND_CONFIDENCE_MIN;
use crate::areas::repositories::index::Index;
use crate::areas::repositories::wiki::test_index::index_of;

fn web() -> Index {
    index_of(&[
        (
            "src/app.py",
            "class App:\n    \"\"\"An application.\"\"\"\n\n    defaults = {\n        \"DEBUG\": None,\n        \"SESSION_COOKIE_NAME\": \"session\",\n    }\n",
        ),
        (
            "src/sessions.py",
            "def cookie_name(app):\n    \"\"\"Returns the name.\"\"\"\n    return app.config[\"SESSION_COOKIE_NAME\"]\n",
        ),
        (
            "src/http2.rs",
            "/// Sets how many concurrent streams an HTTP/2 connection may have at most.\npub fn max_concurrent_streams(max: u32) {\n    let _ = max;\n}\n",
        ),
        ("Cargo.toml", "[package]\nname = \"web-kit\"\n"),
        ("src/task/spawn.rs", "/// Spawns a task.\npub fn spawn(task: u8) {\n    drop(task);\n}\n"),
        (
            "src/task/local.rs",
            "/// Runs tasks of one thread.\npub struct LocalSet;\n\nimpl LocalSet {\n    /// Spawns on this thread.\n    pub fn spawn(&self) {}\n}\n",
        ),
    ])
}

#[test]
fn names_in_strings_are_found() {
    let index = web();
    for question in [
        "What is the default value of SESSION_COOKIE_NAME?",
        "Where is SESSION_COOKIE_NAME?",
        "What is session_cookie_name?",
        "Who calls SESSION_COOKIE_NAME?",
    ] {
        let answer = ask(&index, &[question]);
        let text = &answer.text;
        assert!(text.contains("is not defined in the index; it appears in"), "{question} {text}");
        assert!(
            text.contains("src/app.py:6 as `\"SESSION_COOKIE_NAME\": \"session\",` ["),
            "{text}"
        );
        assert!(answer.confidence >= FOUND_CONFIDENCE_MIN && answer.confidence < 0.6);
    }
    let none = ask(&index, &["What is SESSION_COOKIE_NAMES?"]);
    assert!(none.references.is_empty(), "{none:?}");
}

#[test]
fn words_with_a_slash_are_a_topic() {
    let index = web();
    for question in [
        "What is the max number of concurrent HTTP/2 streams?",
        "How does HTTP/2 limit concurrent streams?",
    ] {
        let text = ask(&index, &[question]).text;
        assert!(text.contains("`max_concurrent_streams`"), "{question} {text}");
    }
    for question in ["What is in src/missing?", "What is quark/gluon?", "Explain web/missing.rs"] {
        let answer = ask(&index, &[question]);
        assert!(answer.references.is_empty(), "{question} {answer:?}");
    }
}

#[test]
fn a_crate_is_a_path_to_what_it_exports() {
    let index = web();
    let text = ask(&index, &["What does web_kit::spawn do?"]).text;
    assert!(text.starts_with("`spawn` is a function in src/task/spawn.rs:2"), "{text}");
    assert!(ask(&index, &["What does other_kit::spawn do?"]).references.is_empty());
}
