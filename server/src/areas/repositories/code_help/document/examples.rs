//! Examples: code in comments, and code of the repository that uses what is documented.

use super::super::docs::{DocSections, doc_sections, is_licence};
use super::super::limits::{
    EXAMPLE_CHARS_MAX, EXAMPLE_LINES_MAX, FILE_EXAMPLES_MAX, METHOD_EXAMPLES_MAX,
};
use super::super::model::Usage;
use crate::areas::repositories::quotes::contains_secret;
use crate::areas::repositories::source::{FileOutline, Symbol};

/// Returns examples of a function, by its position in the outline: those of its documentation, then
/// calls in tests, then others.
pub(super) fn of_method(
    symbol: &Symbol,
    position: u32,
    sections: &DocSections,
    usages: &[Usage],
) -> Vec<String> {
    let calls = || {
        let own = usages.iter().filter(move |usage| usage.symbol == position);
        own.filter(|usage| calls(&usage.snippet, &symbol.name)).filter(|usage| is_shown(usage))
    };
    let tests = calls().filter(|usage| usage.is_test);
    let others = calls().filter(|usage| !usage.is_test);
    let used = tests.chain(others).map(|usage| shown(&usage.snippet));
    let all = sections.examples.iter().map(|example| shown(example)).chain(used);
    distinct(all, METHOD_EXAMPLES_MAX)
}

/// Returns examples of a file: those of its own documentation, then code of tests.
pub(super) fn of_file(outline: &FileOutline, usages: &[Usage]) -> Vec<String> {
    let doc = outline.doc.as_deref().filter(|doc| !is_licence(doc));
    let doc = outline.language.zip(doc);
    let sections = doc.map(|(language, doc)| doc_sections(language, doc)).unwrap_or_default();
    let own = sections.examples.into_iter().map(|example| shown(&example));
    let tests = usages.iter().filter(|usage| usage.is_test && is_shown(usage));
    let tests = tests.map(|usage| shown(&usage.snippet));
    distinct(own.chain(tests), FILE_EXAMPLES_MAX)
}

/// Returns whether code that uses a file is an example: not if it seems to hold a secret.
fn is_shown(usage: &Usage) -> bool {
    !contains_secret(&usage.snippet)
}

fn distinct(all: impl Iterator<Item = String>, examples_max: usize) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for example in all.filter(|example| !example.trim().is_empty()) {
        if found.len() >= examples_max {
            break;
        }
        if !found.contains(&example) {
            found.push(example);
        }
    }
    found
}

/// Returns whether code calls a function of a name.
fn calls(snippet: &str, name: &str) -> bool {
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    !name.is_empty()
        && snippet.match_indices(name).any(|(at, _)| {
            let before = snippet.get(..at).unwrap_or_default().chars().next_back();
            let after = snippet.get(at + name.len()..).unwrap_or_default();
            // Ruby and macros of Rust call without parentheses right behind the name.
            let is_called = !after.starts_with(is_word);
            !before.is_some_and(is_word) && is_called
        })
}

/// Returns code without the indentation that its lines share, of limited length.
fn shown(snippet: &str) -> String {
    let lines: Vec<&str> = snippet.lines().take(EXAMPLE_LINES_MAX).collect();
    let full = lines.iter().filter(|line| !line.trim().is_empty());
    let indentation = |line: &&&str| line.len() - line.trim_start().len();
    let common = full.clone().map(|line| indentation(&line)).min().unwrap_or(0);
    let dedented = lines.iter().map(|line| line.get(common..).unwrap_or_default().trim_end());
    let text = dedented.collect::<Vec<_>>().join("\n");
    let text = text.trim_matches('\n');
    text.get(..text.floor_char_boundary(EXAMPLE_CHARS_MAX)).unwrap_or(text).to_owned()
}
