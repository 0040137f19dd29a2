//! Which functions are tests: a module of tests has helpers, too.

use super::files::OpenFile;
use crate::areas::repositories::source::{Language, LineRange, Symbol};

/// Returns whether a function in test code is a test itself: by its attribute or annotation, or in
/// languages without these by its name.
pub(super) fn is_test_case(file: &OpenFile, symbol: &Symbol) -> bool {
    let name = symbol.name.as_str();
    match file.outline.language {
        Some(Language::Rust) => is_marked(file, symbol, "#[", "test"),
        Some(Language::Java) => is_marked(file, symbol, "@", "Test") || name.starts_with("test"),
        Some(Language::Go) => {
            ["Test", "Benchmark", "Fuzz", "Example"].iter().any(|word| name.starts_with(word))
        }
        _ => name.to_ascii_lowercase().starts_with("test"),
    }
}

/// Returns whether a line above the name of a function begins in a way and contains a word.
fn is_marked(file: &OpenFile, symbol: &Symbol, beginning: &str, word: &str) -> bool {
    let above = LineRange::new(symbol.lines.start(), symbol.name_line);
    above.is_some_and(|above| {
        file.numbered(above).any(|(_, line)| {
            let line = line.trim_start();
            line.starts_with(beginning) && line.contains(word) && !line.contains("cfg(")
        })
    })
}
