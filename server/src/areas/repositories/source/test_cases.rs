//! Which functions are tests: a module of tests has helpers, too.

use super::model::{Language, Symbol, SymbolKind};

/// Returns whether a function in test code is a test itself: by its attribute or annotation, or in
/// languages without these by its name. `head` is the text from the first line of the definition to
/// that of its name.
pub fn is_test_case(language: Option<Language>, symbol: &Symbol, head: &str) -> bool {
    let name = symbol.name.as_str();
    symbol.is_test
        && matches!(symbol.kind, SymbolKind::Function | SymbolKind::Method)
        && match language {
            Some(Language::Rust) => is_marked(head, "#[", "test"),
            Some(Language::Java) => is_marked(head, "@", "Test") || name.starts_with("test"),
            Some(Language::Go) => {
                ["Test", "Benchmark", "Fuzz", "Example"].iter().any(|word| name.starts_with(word))
            }
            _ => name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("test")),
        }
}

/// Returns whether a line begins in a way and contains a word.
fn is_marked(head: &str, beginning: &str, word: &str) -> bool {
    head.lines().any(|line| {
        let line = line.trim_start();
        line.starts_with(beginning) && line.contains(word) && !line.contains("cfg(")
    })
}
