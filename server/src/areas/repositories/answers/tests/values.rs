//! Questions for values, in some respect, and how things differ.

use super::fixture::ask;
use crate::areas::repositories::index::Index;
use crate::areas::repositories::wiki::test_index::index_of;

const RUNTIME: &str = r#"//! A runtime.

/// Tasks that a queue holds.
const QUEUE_CAPACITY: usize = 256;

/// Builds a runtime.
pub struct Builder;

impl Builder {
    /// Sets how many threads may block.
    ///
    /// They are used for blocking work, so this limits how much of it is done at once.
    ///
    /// The default value is 512.
    pub fn max_blocking_threads(&mut self, threads: usize) {}

    /// Sets the number of workers.
    ///
    /// The default value is the number of cores of the system.
    pub fn worker_threads(&mut self, threads: usize) {}
}

/// Reads as many bytes as fit.
///
/// This method is not cancel safe: bytes can be lost.
pub fn read_exact() {}

/// Spawns a task on the present thread.
pub fn spawn_local() {}

/// Spawns a task on any thread.
pub fn spawn() {}
"#;

fn runtime() -> Index {
    index_of(&[
        ("src/lib.rs", RUNTIME),
        ("c.py", "MAX_RETRIES = 3  # how often a failed upload is retried\n"),
        ("src/loom/mutex.rs", "/// Adapts a lock.\npub struct Mutex;\n"),
        (
            "src/mutex.rs",
            "/// A lock.\n///\n/// It is not poisoned when a holder panics.\npub struct Mutex;\n",
        ),
    ])
}

#[track_caller]
fn check(question: &str, text: &str) {
    let answer = ask(&runtime(), &[question]);
    assert!(answer.text.contains(text), "{question}\n{}", answer.text);
}

#[test]
fn values_are_said() {
    check(
        "What is MAX_RETRIES?",
        "`MAX_RETRIES` is a constant in c.py:1 [1]. Its value is `3` [1].",
    );
    check("What is QUEUE_CAPACITY?", "Its value is `256` [1].");
    check("What is the default max_blocking_threads?", "“The default value is 512.” [1]");
    check(
        "What is the default number of worker threads?",
        "“The default value is the number of cores of the system.”",
    );
    check("What is the capacity of the queue?", "Its value is `256` [1].");
}

#[test]
fn a_respect_is_answered_by_the_name_itself() {
    check("Is read_exact cancel safe?", "“This method is not cancel safe: bytes can be lost.” [1]");
    check("Does a Mutex get poisoned?", "“It is not poisoned when a holder panics.” [1]");
}

#[test]
fn what_differs_is_described_both() {
    let answer = ask(&runtime(), &["What is the difference between spawn_local and spawn?"]).text;
    assert!(answer.contains("“Spawns a task on the present thread.”"), "{answer}");
    assert!(answer.contains("“Spawns a task on any thread.”"), "{answer}");
}

#[test]
fn values_that_change_are_not_the_value() {
    let text = "MAX_ITEMS = 5\nMAX_ITEMS = 7\nretry_count = 3\n\n\ndef f():\n    \
                global retry_count\n    retry_count = 9\n";
    let index = index_of(&[("lim.py", text)]);
    let found = ask(&index, &["What is MAX_ITEMS?"]).text;
    assert!(found.contains("Its value is `5` [1]. At lim.py:2 it is set to `7` [2]."), "{found}");
    let found = ask(&index, &["What is retry_count?"]).text;
    assert!(found.contains("It is first set to `3`") && !found.contains("Its value"), "{found}");
}

#[test]
fn all_comments_of_a_function_are_read() {
    let text = "/// Closes it.\npub fn closer_fn() {\n    // Bananas are kept.\n    a();\n    \
                // Bananas are kept, since apples are not.\n    b();\n}\n";
    let index = index_of(&[("src/lib.rs", text), ("src/o.rs", "pub fn other() {}\n")]);
    let found = ask(&index, &["Does closer_fn keep bananas?"]).text;
    assert!(found.contains("“Bananas are kept.”"), "{found}");
}
