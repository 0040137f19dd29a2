//! Names that the repository uses and does not define, without backticks, and lists that are cut.

use super::fixture::ask;
use crate::areas::repositories::index::Index;
use crate::areas::repositories::wiki::test_index::index_of;

fn iterators() -> Index {
    index_of(&[
        (
            "src/lines.rs",
            "pub struct Lines;\n\nimpl Iterator for Lines {\n    type Item = u8;\n}\n",
        ),
        ("src/iterator.rs", "//! Helpers.\n\npub fn count() -> usize {\n    0\n}\n"),
        ("py/errors.py", "class Late(Exception):\n    pass\n\n\nclass Iterators:\n    types = 1\n"),
    ])
}

#[test]
fn what_implements_a_name_of_elsewhere_is_found_without_backticks() {
    let index = iterators();
    for question in [
        "What implements Iterator?",
        "what implements `Iterator`?",
        "Which types implement Iterator?",
        "Which structs of the library implement the Iterator trait?",
        "List the implementations of Iterator",
    ] {
        let answer = ask(&index, &[question]);
        let expected = "`Iterator` is not defined in the index; it is implemented or extended by \
                        `Lines` (src/lines.rs:3) [1].";
        assert_eq!(answer.text, expected, "{question}");
        assert!(answer.confidence >= 0.5, "{question}: {}", answer.confidence);
    }
    let answer = ask(&index, &["What extends Exception?"]);
    assert!(answer.text.contains("`Late` (py/errors.py:1)"), "{}", answer.text);
    for question in ["What implements Serializer?", "What implements iterator?"] {
        let answer = ask(&index, &[question]);
        assert!(!answer.text.contains("src/lines.rs"), "{question}\n{}", answer.text);
    }
}

#[test]
fn a_list_that_is_cut_says_so() {
    let files: Vec<(String, String)> = (0..260)
        .map(|number| {
            let text = format!(
                "pub struct S{number};\n\nimpl Iterator for S{number} {{}}\n\nfn f{number}() {{\n    \
                 vanish();\n}}\n"
            );
            (format!("src/s{number}.rs"), text)
        })
        .collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let index = index_of(&files);
    for question in ["What implements Iterator?", "Who calls vanish?"] {
        let answer = ask(&index, &[question]);
        let expected = ", among at least 200 places that were found.";
        assert!(answer.text.contains(expected), "{question}\n{}", answer.text);
    }
    let index = index_of(files.get(..9).unwrap());
    for question in ["What implements Iterator?", "Who calls vanish?"] {
        let answer = ask(&index, &[question]);
        let expected = ", among 9 places that were found.";
        assert!(answer.text.contains(expected), "{question}\n{}", answer.text);
    }
}

#[test]
fn one_thing_is_listed_in_the_singular() {
    let index = index_of(&[("a.py", "class Late(Exception):\n    pass\n")]);
    let answer = ask(&index, &["Which classes are there?"]);
    assert_eq!(answer.text, "This class was found: `Late` (a.py:1) [1].");
}
