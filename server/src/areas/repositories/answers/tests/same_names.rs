//! Names that several definitions have, and names of builtins: which one a use means is only said
//! if the code says it.

use super::fixture::ask;
use crate::areas::repositories::index::Index;
use crate::areas::repositories::wiki::test_index::index_of;

fn same_names() -> Index {
    index_of(&[
        ("dup/a/util.py", "def normalize(x):\n    return x\n"),
        ("dup/b/util.py", "def normalize(x):\n    return x\n"),
        (
            "dup/local.py",
            "def normalize(x):\n    return x\n\n\ndef process_local(x):\n    return normalize(x)\n",
        ),
        (
            "dup/main.py",
            "from dup.b.util import normalize\n\n\ndef process_order(x):\n    return normalize(x)\n",
        ),
        (
            "dup/unknown.py",
            "from dup import normalize\n\n\ndef process_any(x):\n    return normalize(x)\n",
        ),
        (
            "shapes.py",
            "class Gamma:\n    def sorted(self):\n        return 1\n\n\ndef start_list(xs):\n    return sorted(xs)\n",
        ),
    ])
}

#[test]
fn callers_are_those_of_each_definition() {
    let index = same_names();
    let text = ask(&index, &["Who calls normalize?"]).text;
    for sentence in [
        "`normalize`, defined in dup/b/util.py:1 [2], is used by `process_order` (dup/main.py:5)",
        "`normalize`, defined in dup/local.py:1 [4], is used by `process_local` (dup/local.py:6)",
        "There are 3 definitions of `normalize` in the index.",
        "also used by `process_any` (dup/unknown.py:5) [5]; which definition that means is not",
    ] {
        assert!(text.contains(sentence), "{sentence}\n{text}");
    }
    assert!(!text.contains("dup/a/util.py"), "{text}");
}

#[test]
fn methods_are_counted_with_their_type() {
    let index = index_of(&[
        (
            "src/a.rs",
            "pub struct Pool;\n\nimpl Pool {\n    pub fn new() -> Self {\n        Self\n    }\n}\n",
        ),
        (
            "src/b.rs",
            "pub struct Pool;\n\nimpl Pool {\n    pub fn new() -> Self {\n        Self\n    }\n}\n",
        ),
        (
            "src/c.rs",
            "pub struct Other;\n\nimpl Other {\n    pub fn new() -> Self {\n        Self\n    }\n}\n",
        ),
        (
            "src/main.rs",
            "use crate::b::Pool;\nuse std::io;\n\nfn start() {\n    run(io::Error::new(Pool::new()));\n    let first = Other::new();\n}\n",
        ),
    ]);
    let text = ask(&index, &["Who calls Pool::new?"]).text;
    assert!(text.contains("`Pool::new`, defined in src/b.rs:4 [2], is used by `start`"), "{text}");
    assert!(text.contains("There are 2 definitions of `Pool::new` in the index."), "{text}");
    assert!(!text.contains("Other") && !text.contains("src/a.rs"), "{text}");
    let text = ask(&index, &["What does `start` call?"]).text;
    assert!(text.contains("`start` calls `Pool::new` (src/b.rs:4)"), "{text}");
    assert!(text.contains("`Other::new` (src/c.rs:4)"), "{text}");
}

#[test]
fn calls_in_doubt_are_no_missing_calls() {
    let index = same_names();
    let ambiguous = ask(&index, &["What does process_any call?"]).text;
    assert!(ambiguous.contains("calls `normalize` (3 definitions)"), "{ambiguous}");
    let imported = ask(&index, &["What does process_order call?"]).text;
    assert!(imported.contains("calls `normalize` (dup/b/util.py:1)"), "{imported}");
}

#[test]
fn a_bare_name_is_no_method() {
    let index = same_names();
    for question in ["What does start_list do?", "What does start_list call?"] {
        let text = ask(&index, &[question]).text;
        assert!(!text.contains("Gamma.sorted"), "{text}");
    }
}

#[test]
fn a_method_of_an_unknown_value_is_not_meant() {
    let mocks = r#"use crate::local::Local;

thread_local! {
    static QUEUE: RefCell<VecDeque<Box<dyn FnOnce()>>> = RefCell::new(VecDeque::new());
}

pub(super) fn spawn_blocking(task: Local) {
    QUEUE.with(|cell| cell.borrow_mut().push_back(task));
}
"#;
    let local = r#"//! A queue.

/// A queue of one thread.
pub struct Local {
    items: Vec<u8>,
}

impl Local {
    /// Adds an item at the end.
    pub fn push_back(&mut self, item: u8) {
        self.items.push(item);
    }
}
"#;
    let pool = "/// Runs a function on a thread for blocking work.\npub fn spawn_blocking(run: u8) {\n    drop(run);\n}\n";
    let index =
        index_of(&[("src/fs/mocks.rs", mocks), ("src/local.rs", local), ("src/pool.rs", pool)]);
    let text = ask(&index, &["What does spawn_blocking do?"]).text;
    assert!(text.starts_with("`spawn_blocking` is a function in src/pool.rs:2"), "{text}");
    let text = ask(&index, &["explain src/fs/mocks.rs:8"]).text;
    assert!(!text.contains("Local::push_back"), "{text}");
}

#[test]
fn names_of_macros_and_functions_are_apart() {
    let index = index_of(&[(
        "src/lib.rs",
        "fn write(text: &str) {}\n\nfn run_all() {\n    write!(f, \"x\");\n}\n\nfn run_one() {\n    write(\"x\");\n}\n",
    )]);
    let text = ask(&index, &["What does run_one call?"]).text;
    assert!(text.contains("`write` (src/lib.rs:1)"), "{text}");
    let text = ask(&index, &["What does run_all call?"]).text;
    assert!(!text.contains("src/lib.rs:1"), "{text}");
}
