//! What lines of a file mean.

use super::super::{InvalidLines, explain};
use super::harness::{explained, told};
use super::{python, rust};
use crate::areas::repositories::source::{LineRange, outline};

#[test]
fn lines_outside_of_the_file_are_refused() {
    for (text, start, end) in
        [("a\nb\n", 1, 3), ("a\nb\n", 3, 3), ("", 1, 1), ("a", 2, 2), ("a", 1, u32::MAX)]
    {
        for path in ["a.py", "a.txt"] {
            let outline = outline(path, text);
            let line_count = u32::try_from(text.lines().count()).unwrap();
            let found = explain(path, text, &outline, LineRange::new(start, end));
            assert_eq!(found, Err(InvalidLines { line_count }), "{text:?} {start}-{end}");
        }
    }
    let refused = InvalidLines { line_count: 7 }.to_string();
    assert_eq!(refused, "lines must be within 1 and 7, the number of lines of the file");
}

/// Returns the first sentence of the summary of lines.
fn subject(path: &str, text: &str, start: u32, end: u32) -> String {
    let summary = explained(path, text, Some((start, end))).summary;
    summary.split_inclusive(". ").next().unwrap_or_default().trim_end().to_owned()
}

#[test]
fn lines_mean_the_symbol_that_they_mostly_have() {
    let queue = |start, end| subject("queue.rs", rust::QUEUE, start, end);
    // The whole method, with and without its documentation, and with empty lines around it.
    for (start, end) in [(26, 65), (45, 65), (44, 66), (46, 63)] {
        let expected = "`enqueue` is a method of `Queue`.";
        assert_eq!(queue(start, end), expected, "{start}-{end}");
    }
    // The line of its name.
    assert_eq!(queue(45, 45), "`enqueue` is a method of `Queue`.");
    assert_eq!(queue(48, 50), "Lines 48 to 50 are part of the method `enqueue` of `Queue`.");
    assert_eq!(queue(60, 60), "Line 60 is part of the method `enqueue` of `Queue`.");
    assert_eq!(queue(22, 22), "`Full` is a variant of `QueueError`.");
    assert_eq!(queue(5, 8), "Lines 5 to 8 import from 3 modules.");
    assert_eq!(
        queue(10, 23),
        "Lines 10 to 23 define the constant `GRAMS_MAX`; the struct `Queue`; the enum `QueueError`."
    );
    assert_eq!(queue(1, 2), "Lines 1 to 2 are outside of any definition.");
}

#[test]
fn a_part_of_a_function_is_explained_by_its_own_statements() {
    let found = explained("retry.py", python::RETRY, Some((46, 49)));
    assert_eq!(
        told(&found),
        r#"Lines 46 to 49 are part of the method `run` of `Retry`. Of the method: Calls an operation until it succeeds, e.g. a payment. Waits between calls. They call `sleep` and `random`.
  Leaves the loop if `attempt + 1 == self.attempts`.
  Calls `time.sleep(delay * random.random())`.
  Applies `delay *= 2`.
success: These lines do not return.
failure: These lines do not fail by themselves.
uses: random, time
"#
    );
    let found = explained("queue.rs", rust::QUEUE, Some((56, 60)));
    assert_eq!(
        told(&found),
        r#"Lines 56 to 60 are part of the method `enqueue` of `Queue`. Of the method: Adds shipments at the end of the queue. Heavy ones are refused; see `QueueError`. They call `drop_oldest` and `log_event`.
  Calls `self.drop_oldest()?`.
  If `room == 1`, calls `log_event("nearly full")`; otherwise, adds `1` to `added`.
success: These lines do not return.
failure: Passes on the error of `self.drop_oldest()`.
uses: Queue::drop_oldest (line 67), crate::log::record
"#
    );
}
