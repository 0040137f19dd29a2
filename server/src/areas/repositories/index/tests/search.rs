//! What questions find.

use super::super::super::source::SymbolKind;
use super::super::{Index, SearchResult};
use super::sample::{lines, open, plain, repository, symbol, with_symbols};

fn first<'a>(index: &'a Index, result: &SearchResult) -> &'a str {
    index.entry(result.hits[0].file).unwrap().path
}

#[test]
fn questions_in_words_find_functions() {
    let index = open(repository());
    let cases = [
        ("How are expired entries removed?", "src/cache.rs", lines(6, 9)),
        ("which function evicts what is expired", "src/cache.rs", lines(6, 9)),
        ("Where are the headers of requests parsed?", "src/parser.rs", lines(10, 13)),
        ("parseHeaders", "src/parser.rs", lines(10, 13)),
        ("RequestParser::parse_headers", "src/parser.rs", lines(10, 13)),
        ("keep responses in memory", "src/cache.rs", lines(1, 4)),
        ("answering quickly", "README.md", lines(1, 2)),
    ];
    for (question, path, lines) in cases {
        let result = index.search(question, 5).unwrap();
        assert_eq!((first(&index, &result), result.hits[0].lines), (path, lines), "{question}");
        assert!(result.coverage > 0.6, "{question}: {}", result.coverage);
        let symbol = result.hits[0].symbol.map(|symbol| symbol.position);
        assert_eq!(symbol.is_some(), path != "README.md");
    }
}

#[test]
fn tests_come_after_what_they_test_unless_they_are_asked_for() {
    let index = open(repository());
    let question = "removes entries whose time to live is over";
    assert_eq!(first(&index, &index.search(question, 5).unwrap()), "src/cache.rs");
    let question = "test that removes entries whose time to live is over with now";
    assert_eq!(first(&index, &index.search(question, 5).unwrap()), "tests/cache.rs");
}

#[test]
fn questions_about_something_else_have_a_low_coverage() {
    let index = open(repository());
    for question in [
        "How does the Kubernetes operator reconcile pods?",
        "Where is the OAuth token refreshed?",
        "How are shaders compiled for the GPU?",
    ] {
        let result = index.search(question, 5).unwrap();
        assert!(result.coverage < 0.4, "{question}: {}", result.coverage);
    }
    let result = index.search("evict the Kubernetes pods", 5).unwrap();
    assert_eq!(result.unknown_words, ["kubernetes", "pods"]);
    assert!(result.coverage > 0.0 && result.coverage < 0.5, "{}", result.coverage);
}

#[test]
fn questions_without_words_find_nothing() {
    let index = open(repository());
    for question in ["", "?!", "\u{0}", "(((", "🙂"] {
        assert_eq!(index.search(question, 5).unwrap(), SearchResult::default(), "{question}");
    }
    let empty = open([]);
    assert_eq!(empty.search("cache", 5).unwrap().hits, []);
    assert_eq!(index.search("cache", 0).unwrap().hits, []);
}

#[test]
fn questions_of_stop_words_mean_these_words() {
    let index = open([plain("a.txt", "to be or not to be"), plain("b.txt", "something")]);
    let result = index.search("to be", 5).unwrap();
    assert_eq!((result.hits.len(), first(&index, &result)), (1, "a.txt"));
}

#[test]
fn copies_come_after_the_original_and_others() {
    let body = "alpha beta gamma delta epsilon zeta eta theta\n";
    let copy = |path: &str| plain(path, body);
    let index = open([copy("a.txt"), copy("b.txt"), plain("c.txt", "alpha beta other words here")]);
    let result = index.search("alpha beta", 5).unwrap();
    let paths: Vec<&str> =
        result.hits.iter().map(|hit| index.entry(hit.file).unwrap().path).collect();
    assert_eq!(paths[2], "b.txt", "{paths:?}");
}

#[test]
fn chunks_are_symbols_and_what_is_between_them() {
    let mut method = symbol("method", SymbolKind::Method, 5, 8);
    method.parent = Some(0);
    let symbols = vec![
        symbol("Type", SymbolKind::Struct, 3, 10),
        method,
        symbol("inner", SymbolKind::Function, 6, 7),
        symbol("LIMIT", SymbolKind::Constant, 11, 11),
        symbol("OTHER", SymbolKind::Constant, 12, 12),
    ];
    let index = open([with_symbols("a.rs", 12, symbols)]);
    let file = index.find("a.rs").unwrap();
    let chunks: Vec<_> = index.chunks(file).collect();
    assert_eq!(chunks, [lines(1, 2), lines(3, 4), lines(5, 8), lines(9, 10), lines(11, 12)]);
}
