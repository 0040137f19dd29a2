//! How comments and messages are worded: plain terms of the field, lines that fit a screen.

use crate::source::SourceFile;

/// Columns of a line that is a comment. Lines with a URL may be longer.
const COMMENT_COLUMNS_MAX: usize = 100;

/// Phrases that a reader who does not know the project has to guess, and what to write instead.
/// Split so that this file does not contain them.
const PHRASES: [(&str, &str); 14] = [
    (concat!("is to", "ld"), "is reported"),
    (concat!("are to", "ld"), "are reported"),
    (concat!("tel", "ls how"), "returns, reports"),
    (concat!("ans", "wers whether"), "returns whether"),
    (concat!("gone ar", "ound"), "skipped"),
    (concat!("costs it", "self"), "is quarantined and skipped"),
    (concat!("stands tw", "ice"), "is a duplicate"),
    (concat!("the most there ", "can be"), "the limit"),
    (concat!("which there ", "is not"), "unknown"),
    (concat!("that there ", "is not"), "unknown"),
    (concat!("has more to do than ", "it can"), "is overloaded"),
    (concat!("as it came", " in"), "as received"),
    (concat!("whoever", " asks"), "the caller"),
    (concat!("what is kn", "own of a"), "the header of a"),
];

/// Complains about comment lines that are too long.
pub(crate) fn comments_fit(source: &SourceFile) -> Vec<String> {
    let mut broken = Vec::new();
    for (number, line) in source.text.lines().enumerate() {
        let is_comment = line.trim_start().starts_with("//");
        let columns = line.chars().count();
        if is_comment && columns > COMMENT_COLUMNS_MAX && !line.contains("://") {
            broken.push(format!(
                "{}:{}: a comment of {columns} columns; at most {COMMENT_COLUMNS_MAX} fit",
                source.path,
                number + 1
            ));
        }
    }
    broken
}

/// Complains about phrases that have a standard term.
pub(crate) fn phrases_are_standard(source: &SourceFile) -> Vec<String> {
    let mut broken = Vec::new();
    for (number, line) in source.text.lines().enumerate() {
        let lower = line.to_lowercase();
        for (phrase, instead) in PHRASES {
            if lower.contains(phrase) {
                broken.push(format!(
                    "{}:{}: {phrase:?}; write {instead:?}",
                    source.path,
                    number + 1
                ));
            }
        }
    }
    broken
}
