//! What holds of any file, however broken.

use proptest::prelude::*;

use super::super::doc_sections;
use super::super::limits;
use super::harness::{assert_verbatim, documented, explained, sentences};
use super::{c, ecmascript, go, java, python, ruby, rust};
use crate::areas::repositories::source::Language;

/// Files in all languages: those of the tests and some of this module.
const FILES: [(&str, &str); 12] = [
    ("queue.rs", rust::QUEUE),
    ("retry.py", python::RETRY),
    ("cart.ts", ecmascript::CART),
    ("cart.tsx", ecmascript::CART),
    ("store.go", go::STORE),
    ("invoice.rb", ruby::INVOICE),
    ("Ledger.java", java::LEDGER),
    ("buffer.c", c::BUFFER),
    ("pool.cpp", c::POOL),
    ("steps.rs", include_str!("../explain/steps.rs")),
    ("reader.rs", include_str!("../docs/reader.rs")),
    ("notes.txt", include_str!("../explain/plain_text.rs")),
];

/// Asserts what holds of any file: no panic, only code of the file, and no more than the limits.
fn check(path: &str, text: &str, lines: Option<(u32, u32)>) {
    let found = explained(path, text, lines);
    assert_verbatim(text, &sentences(&found));
    assert!(!found.summary.is_empty());
    assert!(found.steps.len() <= limits::STEPS_MAX * 2 + 2, "{} steps", found.steps.len());
    assert!(found.dependencies.is_sorted() && found.dependencies.len() <= limits::DEPENDENCIES_MAX);
    let documentation = documented(path, text, &[]);
    let descriptions = documentation.methods.iter().map(|method| method.description.as_str());
    let said: Vec<&str> = descriptions.chain([documentation.overview.as_str()]).collect();
    assert_verbatim(text, &said);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Beginnings of files have syntax errors at their end.
    #[test]
    fn any_part_of_a_file_is_explained_with_code_of_that_part(
        file in 0..FILES.len(),
        cut in 0.0..1.0f64,
        skipped in 0.0..0.3f64,
        start in 1u32..200,
        count in 0u32..80,
    ) {
        let (path, text) = FILES[file];
        let at = |part: f64| text.floor_char_boundary((text.len() as f64 * part) as usize);
        let text = text.get(at(skipped * cut)..at(cut)).unwrap();
        check(path, text, None);
        let line_count = u32::try_from(text.lines().count()).unwrap();
        if start <= line_count {
            check(path, text, Some((start, (start + count).min(line_count))));
        }
    }

    #[test]
    fn any_comment_has_sections(doc in "([ @:>`#*.\n-]|param|Args:|Returns|\\{@link|[a-z<é ]){0,60}") {
        for language in Language::ALL {
            let sections = doc_sections(language, &doc);
            prop_assert!(!sections.summary.contains('\n'));
        }
    }
}

#[test]
fn every_line_of_every_file_is_explained() {
    for (path, text) in FILES {
        for line in (1..=u32::try_from(text.lines().count()).unwrap()).step_by(11) {
            check(path, text, Some((line, line)));
        }
        assert_eq!(explained(path, text, None), explained(path, text, None));
    }
}

#[test]
fn deep_nesting_and_long_lists_are_explained_within_the_limits() {
    let deep = [
        ("a.py", format!("def f(x):\n    return {}1{}\n", "(".repeat(5_000), ")".repeat(5_000))),
        ("a.py", (0..60).map(|n| format!("{}if a{n}:\n", " ".repeat(n))).collect::<String>()),
        ("a.rs", format!("fn f() {{ {}1{} }}", "{".repeat(5_000), "}".repeat(5_000))),
        ("b.rs", format!("fn f() {{ {} {} }}", "if a {".repeat(3_000), "}".repeat(3_000))),
        ("c.rs", format!("fn f() {{ {} }}", "if a { b } else ".repeat(3_000))),
        ("a.js", "function f() {".repeat(3_000)),
        ("b.js", format!("function f() {{ {} }}", "g(() => {".repeat(2_000))),
        ("a.rb", format!("def f\n{}\nend", "if a\n".repeat(2_000))),
        ("a.go", format!("package a\nfunc f() {{ {} }}", "go func() {".repeat(2_000))),
        ("a.c", format!("int f() {{ {} }}", "while (1) {".repeat(2_000))),
        ("A.java", format!("class A {{ void f() {{ {} }} }}", "try {".repeat(2_000))),
        ("b.cpp", format!("{} int f() {{ return 1; }}", "template <class A> ".repeat(3_000))),
        ("b.c", format!("int f() {{ {} }}", "g(1);\n".repeat(5_000))),
        ("d.rs", format!("fn f() {{ match x {{ {} }} }}", "1 => 2,".repeat(5_000))),
        ("e.rs", format!("fn f({}) {{}}", "a: u8, ".repeat(3_000))),
        ("f.rs", format!("fn f() {{ a(\"{}\") }}", "x".repeat(60_000))),
        ("g.rs", format!("fn f() {{ a(\"{}\") }}", "x".repeat(100_000))),
        ("h.rs", format!("/// {}\nfn f() {{}}", "`a` ".repeat(20_000))),
    ];
    for (path, text) in deep {
        check(path, &text, None);
        let line_count = u32::try_from(text.lines().count()).unwrap();
        check(path, &text, Some((1, line_count)));
        check(path, &text, Some((1, 1)));
    }
}

#[test]
fn what_is_left_out_is_counted() {
    let text = format!("int f() {{ {} }}", "g(1);\n".repeat(70));
    let found = explained("a.c", &text, Some((1, 71)));
    assert_eq!(found.steps.len(), limits::STEPS_MAX + 1);
    assert_eq!(found.steps.last().unwrap(), "10 more steps are left out.");
    let text = format!("fn f() {{ match x {{ {} }} }}", "1 => a(),\n".repeat(20));
    let found = explained("a.rs", &text, Some((1, 21)));
    assert_eq!(found.steps.last().unwrap(), "- 8 more cases are left out.");
}
