//! Calls that a documentation shows, and examples in documentation, which are no prose.

use super::fixture::ask;
use crate::areas::repositories::answers::calls_from_elsewhere;
use crate::areas::repositories::wiki::test_index::index_of;

#[test]
fn calls_are_of_the_same_language_and_mean_the_function() {
    let index = index_of(&[
        (
            "lang/box.cpp",
            "struct Box {\n  int get(int x) { return x; }\n};\n\nint make_box(int x) { return x; }\n",
        ),
        ("lang/use.cpp", "int use_it(int x) { return make_box(x); }\n"),
        (
            "dup/one.py",
            "def one(d):\n    return d.get(\"x\")\n\n\ndef two():\n    return make_box(1)\n",
        ),
        ("src/t.rs", "fn doit() -> Result<(), Box<dyn Error>> {\n    make_box(1)\n}\n"),
    ]);
    let file = index.find("lang/box.cpp").unwrap();
    let symbols = index.outline(file).unwrap().symbols;
    let positions: Vec<u32> = (0..u32::try_from(symbols.len()).unwrap()).collect();
    let calls = calls_from_elsewhere(&index, file, &positions, 9).unwrap();
    let found: Vec<(&str, &str, u32)> = calls
        .iter()
        .map(|call| {
            let function = symbols[usize::try_from(call.function).unwrap()].name.as_str();
            (function, index.entry(call.file).unwrap().path, call.line)
        })
        .collect();
    assert_eq!(found, [("make_box", "lang/use.cpp", 1)]);
}

#[test]
fn code_of_an_example_is_not_quoted() {
    let index = index_of(&[(
        "src/load.js",
        "/**\n * Loads a thing.\n * @example\n * load(\"a\", {deep: true}) // returns the deep bilby\n *\n * const bilby = load(\"b\")\n */\nexport function load(name, options) {\n  return name;\n}\n",
    )]);
    let text = ask(&index, &["How is the deep bilby returned?"]).text;
    assert!(!text.contains("“load("), "{text}");
    assert!(!text.contains("“const"), "{text}");
}

#[test]
fn implementations_are_found_among_any_number_of_other_uses() {
    let uses: String =
        (0..600).map(|i| format!("fn take_{i}(one: &mut dyn Walker) {{}}\n")).collect();
    let index = index_of(&[
        ("src/takes.rs", uses.as_str()),
        ("src/steps.rs", "pub struct Steps(u8);\n\nimpl Walker for Steps {}\n"),
    ]);
    let text = ask(&index, &["What implements Walker?"]).text;
    assert!(text.contains("implemented or extended by `Steps` (src/steps.rs:3)"), "{text}");
}
