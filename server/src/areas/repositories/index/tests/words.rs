//! How text is divided into words.

use super::super::words::{is_stop_word, parts, runs, stem, terms, whole};

#[test]
fn identifiers_are_found_by_their_words_and_as_a_whole() {
    let cases: [(&str, &[&str]); 12] = [
        ("parse", &["pars"]),
        ("parse_args", &["pars", "arg", "parseargs"]),
        ("parseArgs", &["pars", "arg", "parseargs"]),
        ("HTTPServer", &["http", "serv", "httpserver"]),
        ("utf8", &["utf8"]),
        ("Utf8Error", &["utf8", "error", "utf8error"]),
        ("x86_64", &["x86", "64", "x8664"]),
        ("__init__", &["init"]),
        ("T", &[]),
        ("7", &["7"]),
        ("größeInBytes", &["größe", "in", "byt", "größeinbytes"]),
        ("_", &[]),
    ];
    for (identifier, expected) in cases {
        let mut found = Vec::new();
        terms(identifier, |term| found.push(term.to_owned()));
        assert_eq!(found, expected, "{identifier}");
    }
    let long = "a".repeat(65);
    terms(&long, |term| panic!("{term} is too long to be looked up"));
}

#[test]
fn text_is_divided_at_everything_that_no_identifier_contains() {
    let found: Vec<&str> = runs("fn a_b(&self, c: &'x str) -> d::E { größe-漢字! }").collect();
    let expected = ["fn", "a_b", "self", "c", "x", "str", "d", "E", "größe", "漢字"];
    assert_eq!(found, expected);
    assert_eq!(
        parts("getHTTPResponse_code2Go").collect::<Vec<_>>(),
        ["get", "HTTP", "Response", "code2", "Go"]
    );
    assert_eq!(whole("get_HTTPResponse"), "gethttpresponse");
}

#[test]
fn forms_of_a_word_have_one_stem() {
    for same in [
        &["parse", "parses", "parsed", "parsing", "parser", "parsers"][..],
        &["create", "creates", "created", "creating", "creation"],
        &["entry", "entries"],
        &["map", "maps", "mapped", "mapping"],
        &["match", "matches", "matching"],
        &["allocate", "allocation", "allocations", "allocating"],
        &["class", "classes"],
        &["answer", "answers", "answering", "answered"],
        &["order", "orders", "ordered", "ordering"],
        &["fill", "fills", "filling", "filled"],
    ] {
        let stems: Vec<_> = same.iter().map(|word| stem(word)).collect();
        assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{stems:?}");
    }
    for kept in ["bus", "is", "ring", "red", "utf8", "größer", "status", "analysis", ""] {
        assert_eq!(stem(kept), kept);
    }
}

#[test]
fn words_that_only_ask_are_left_out() {
    for word in ["a", "how", "the", "your", "will", "where", "function", "why", "with"] {
        assert!(is_stop_word(word), "{word}");
    }
    for word in ["cache", "parse", "time", "zero", ""] {
        assert!(!is_stop_word(word), "{word}");
    }
}
