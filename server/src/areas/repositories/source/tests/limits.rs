//! Files that nobody would write.

use super::fixtures::{
    C_FILE, CPP_FILE, GO_FILE, JAVA_FILE, JAVASCRIPT_FILE, PYTHON_FILE, RUBY_FILE, RUST_FILE,
    TYPESCRIPT_FILE,
};
use crate::areas::repositories::source::{Language, limits, outline};

/// Checks what every outline promises.
fn check(path: &str, text: &str) {
    let found = outline(path, text);
    let lines = u32::try_from(text.lines().count()).unwrap().max(1);
    for (position, symbol) in (0..).zip(&found.symbols) {
        assert!(symbol.lines.end() <= lines && symbol.lines.contains(symbol.name_line));
        assert!(symbol.parent.is_none_or(|parent| parent < position));
        assert!(!symbol.name.is_empty() && symbol.signature.len() <= limits::SIGNATURE_BYTES_MAX);
    }
    let count = u32::try_from(found.symbols.len()).unwrap();
    for reference in &found.references {
        assert!(reference.line <= lines && reference.within.is_none_or(|within| within < count));
    }
}

const ALL_FILES: [(&str, &str); 9] = [
    ("src/lib.rs", RUST_FILE),
    ("store.py", PYTHON_FILE),
    ("client.ts", TYPESCRIPT_FILE),
    ("index.js", JAVASCRIPT_FILE),
    ("store.go", GO_FILE),
    ("Shop.java", JAVA_FILE),
    ("cart.rb", RUBY_FILE),
    ("point.h", C_FILE),
    ("cart.cpp", CPP_FILE),
];

#[test]
fn any_part_of_a_file_has_an_outline() {
    for (path, text) in ALL_FILES {
        for end in 0..text.len() {
            check(path, text.get(..end).unwrap_or_default());
        }
        // As if it were of another language.
        for (other, _) in ALL_FILES {
            check(other, text);
        }
    }
}

#[test]
fn no_nesting_is_too_deep() {
    for (path, open, close) in [
        ("a.rs", "(", ")"),
        ("a.py", "[", "]"),
        ("a.js", "{", "}"),
        ("a.ts", "(", ")"),
        ("a.go", "{", "}"),
        ("a.java", "{", "}"),
        ("a.rb", "(", ")"),
        ("a.c", "{", "}"),
        ("a.cpp", "<", ">"),
    ] {
        let text = format!("{}\n{}\n", open.repeat(20_000), close.repeat(20_000));
        check(path, &text);
        let modules = "mod a {\n".repeat(5_000);
        check(path, &modules);
    }
}

#[test]
fn files_beyond_the_limits_have_a_language_only() {
    let long_line = format!("fn a() {{}}\n// {}\n", "x".repeat(limits::LINE_BYTES_MAX));
    let large = "fn a() {}\n".repeat(limits::PARSED_BYTES_MAX / 10 + 1);
    for text in [&long_line, &large] {
        let found = outline("a.rs", text);
        assert_eq!(found.language, Some(Language::Rust));
        assert!(!found.is_complete && found.symbols.is_empty());
    }
    let many = "const A: u8 = 1;\n".repeat(limits::SYMBOLS_MAX + 10);
    let found = outline("a.rs", &many);
    assert_eq!(found.symbols.len(), limits::SYMBOLS_MAX);
    assert!(!found.is_complete);
}
