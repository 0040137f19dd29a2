//! The sections of comments, in each style.

use super::super::{DocSections, doc_sections};
use crate::areas::repositories::source::Language;

/// Returns sections as text.
fn read(language: Language, doc: &str) -> String {
    let sections: DocSections = doc_sections(language, doc);
    let mut read = format!("{} | {}\n", sections.summary, sections.body);
    for of in &sections.parameters {
        let type_name = of.type_name.as_deref().unwrap_or("-");
        read += &format!("param {}: {type_name} = {}\n", of.name, of.description);
    }
    if let Some(of) = &sections.returns {
        let type_name = of.type_name.as_deref().unwrap_or("-");
        read += &format!("returns {type_name} = {}\n", of.description);
    }
    for error in &sections.errors {
        let name = error.name.as_deref().unwrap_or("-");
        read += &format!("error {name} = {}\n", error.description);
    }
    for example in &sections.examples {
        read += &format!("example {example:?}\n");
    }
    read
}

#[test]
fn each_style_of_documentation_has_the_same_sections() {
    let expected = "Adds a line. | Long lines are cut.\n\
        param title: String = what was bought, in full\n\
        param cents: int = what it costs\n\
        returns - = the total\n\
        error ValueError = if it costs nothing\n\
        example \"add(1)\"\n";
    let google = "Adds a line. Long lines are cut.\n\nArgs:\n    title (String): what was bought,\n        in full\n    cents (int, optional): what it costs\n\nReturns:\n    the total\n\nRaises:\n    ValueError: if it costs nothing\n\nExample:\n    add(1)\n";
    let numpy = "Adds a line. Long lines are cut.\n\nParameters\n----------\ntitle : String\n    what was bought,\n    in full\ncents : int, optional\n    what it costs\n\nReturns\n-------\nthe total\n\nRaises\n------\nValueError\n    if it costs nothing\n\nExamples\n--------\n```\nadd(1)\n```\n";
    let without_underlines: String = numpy
        .lines()
        .filter(|line| !line.starts_with("--"))
        .map(|line| format!("{line}\n"))
        .collect();
    let sphinx = "Adds a line. Long lines are cut.\n\n:param String title: what was bought,\n    in full\n:param cents: what it costs\n:type cents: int\n:returns: the total\n:raises ValueError: if it costs nothing\n\nExample:\n    add(1)\n";
    for doc in [google, numpy, &without_underlines, sphinx] {
        assert_eq!(read(Language::Python, doc), expected, "{doc}");
    }
    let jsdoc = "Adds a line. Long lines are cut.\n\n@param {String} title - what was bought,\n  in full\n@param {int} [cents=0] what it costs\n@returns the total\n@throws {ValueError} if it costs nothing\n@example\nadd(1)\n@public\n";
    assert_eq!(read(Language::TypeScript, jsdoc), expected);
    let yard = "Adds a line. Long lines are cut.\n\n@param title [String] what was bought,\n  in full\n@param [int] cents what it costs\n@return the total\n@raise [ValueError] if it costs nothing\n@example\n  add(1)\n";
    assert_eq!(read(Language::Ruby, yard), expected);
    let javadoc = "Adds a line. Long lines are cut.\n@param title what was bought,\n   in full\n@param cents what it costs\n@return the total\n@throws ValueError if it costs nothing\n@since 3\n";
    let doxygen = "\\brief Adds a line. Long lines are cut.\n\n\\param[in] title what was bought,\n  in full\n@param[in,out] cents what it costs\n\\return the total\n\\throws ValueError if it costs nothing\n";
    let untyped = expected.replace("String =", "- =").replace("int =", "- =");
    let untyped = untyped.lines().filter(|line| !line.starts_with("example"));
    let untyped: String = untyped.map(|line| format!("{line}\n")).collect();
    assert_eq!(read(Language::Java, javadoc), untyped);
    assert_eq!(read(Language::Cpp, doxygen), untyped);
    let markdown = "Adds a line. Long lines are cut.\n\n# Arguments\n\n* `title` - what was bought,\n  in full\n* `cents` - what it costs\n\n# Returns\n\nthe total\n\n# Errors\n\nValueError: if it costs nothing\n\n# Examples\n\nIt is called so:\n\n```rust,no_run\n# use shop::add;\nadd(1)\n```\n";
    let with_example = format!("{untyped}example \"add(1)\"\n");
    assert_eq!(read(Language::Rust, markdown), with_example);
}

#[test]
fn tags_may_follow_in_the_same_line() {
    let expected = "Formats. | \n\
        param format: - = the format\n\
        param args: - = the arguments\n\
        returns - = text\n";
    let one_line = "Formats. @param format the format @param args the arguments @return text";
    for language in [Language::Java, Language::TypeScript, Language::Ruby, Language::Cpp] {
        assert_eq!(read(language, one_line), expected);
    }
    for prose in ["Mail a@param.org or `x @param y`.", "The decorator @parameterised is used."] {
        assert_eq!(read(Language::TypeScript, prose), format!("{prose} | \n"));
    }
    assert_eq!(read(Language::Python, "Adds @param x."), "Adds @param x. | \n");
}

#[test]
fn a_section_of_errors_may_say_that_there_are_none() {
    for never in ["Never.", "never fails", "This function does not fail.", "None."] {
        let sections = doc_sections(Language::Rust, &format!("Adds.\n\n# Errors\n\n{never}\n"));
        assert!(sections.errors.is_empty(), "{sections:?}");
    }
}

#[test]
fn prose_is_split_into_sentences_and_paragraphs() {
    for (doc, summary, body) in [
        ("One.", "One.", ""),
        ("No full stop", "No full stop", ""),
        ("Uses e.g. a map. Then more.", "Uses e.g. a map.", "Then more."),
        ("Calls `a. B`. Ends.", "Calls `a. B`.", "Ends."),
        ("Version 1.2 is read. No. 3 is not.", "Version 1.2 is read.", "No. 3 is not."),
        ("One\nline.\n\nSecond\nparagraph.", "One line.", "\n\nSecond paragraph."),
        ("Does:\n- one\n- two", "Does:", "\n- one\n- two"),
        ("Is it? Yes.", "Is it?", "Yes."),
        ("See {@link Cart#add the cart}, {@code n}.", "See cart, `n`.", ""),
        ("See [`Cart`](crate::Cart) and [`Self::add`].", "See `Cart` and `Self::add`.", ""),
        ("A :class:`~shop.Cart` or :ref:`text <target>`.", "A `Cart` or `text`.", ""),
        ("<p>The <code>n</code> lines.</p>", "The `n` lines.", ""),
        ("# Title\n\nProse.", "Prose.", ""),
        ("", "", ""),
    ] {
        let sections = doc_sections(Language::Rust, doc);
        assert_eq!((sections.summary.as_str(), sections.body.as_str()), (summary, body), "{doc}");
    }
}

#[test]
fn examples_are_found_in_all_forms() {
    for (language, doc, examples) in [
        (
            Language::Python,
            "Adds.\n\n>>> add(1)\n2\n>>> add(2)\n3\n\nMore.",
            vec![">>> add(1)\n2\n>>> add(2)\n3"],
        ),
        (
            Language::Go,
            "Put adds.\n\n\tn := Put()\n\tif n > 0 {\n\t}\n\nMore.",
            vec!["n := Put()\nif n > 0 {\n}"],
        ),
        (Language::Ruby, "Adds.\n\n  add(1)\n    .twice\n\nMore.", vec!["add(1)\n  .twice"]),
        (
            Language::Rust,
            "Adds.\n\n```\nadd(1);\n#\n# fn main() {}\n#[derive(Debug)]\n```\n",
            vec!["add(1);\n#[derive(Debug)]"],
        ),
        (Language::Rust, "Adds.\n\n```text\na | b\n```\n", vec![]),
        (
            Language::JavaScript,
            "Adds.\n@example\nadd(1);\n\n@example add(2);\n",
            vec!["add(1);", "add(2);"],
        ),
        (Language::Rust, "Adds.\n\n```\nnever closed", vec!["never closed"]),
    ] {
        assert_eq!(doc_sections(language, doc).examples, examples, "{doc}");
    }
}
