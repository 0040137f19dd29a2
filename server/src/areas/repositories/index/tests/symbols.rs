//! What is found by the name of a symbol.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::super::super::source::SymbolKind;
use super::super::words::{parts, stem};
use super::super::{SymbolMatch, SymbolRef};
use super::generated::{files, word};
use super::sample::{open, repository, symbol, with_symbols};

fn names(query: &str) -> Vec<(String, SymbolMatch)> {
    let index = open(repository());
    let hits = index.symbols(query, 9).unwrap();
    hits.into_iter().map(|hit| (hit.name, hit.matched)).collect()
}

#[test]
fn symbols_of_exactly_a_name_are_those_that_a_search_finds_first() {
    let index = open(repository());
    let names: BTreeSet<String> = (index.files())
        .flat_map(|entry| index.outline(entry.id).unwrap().symbols)
        .map(|symbol| symbol.name)
        .collect();
    for name in names.iter().map(String::as_str).chain(["nothing", ""]) {
        let mut found = index.symbols(name, 200).unwrap();
        found.retain(|hit| hit.name == *name);
        assert_eq!(index.symbols_of_name(name, 200), found, "{name}");
        assert_eq!(index.symbols_of_name(name, 1), found.get(..1).unwrap_or_default(), "{name}");
    }
}

#[test]
fn symbols_are_found_by_their_names() {
    use SymbolMatch::{Exact, IgnoringCase, Prefix, Words};
    let cases: [(&str, &[(&str, SymbolMatch)]); 10] = [
        ("Cache", &[("Cache", Exact)]),
        ("cache", &[("Cache", IgnoringCase)]),
        ("evict_expired", &[("evict_expired", Exact), ("evict_expired_entries", Prefix)]),
        ("EVICT", &[("evict_expired", Prefix), ("evict_expired_entries", Prefix)]),
        ("expiredEntry", &[("evict_expired_entries", Words)]),
        ("RequestParser::parse_headers", &[("parse_headers", Exact)]),
        ("requestparser.parse_headers()", &[("parse_headers", Exact)]),
        ("crate::parser::RequestParser", &[("RequestParser", Exact)]),
        ("Cache::parse_headers", &[("parse_headers", Exact)]),
        ("nothing", &[]),
    ];
    for (query, expected) in cases {
        let expected: Vec<_> = expected.iter().map(|(n, m)| ((*n).to_owned(), *m)).collect();
        if query == "Cache::parse_headers" {
            assert_eq!(names(query), [], "{query}");
        } else {
            assert_eq!(names(query), expected, "{query}");
        }
    }
    assert_eq!((names(""), names("::")), (vec![], vec![]));
}

#[test]
fn hits_say_what_the_outline_says() {
    let index = open(repository());
    let [hit] = index.symbols("depth", 9).unwrap().try_into().unwrap();
    let outline = index.outline(hit.symbol.file).unwrap();
    let symbol = &outline.symbols[hit.symbol.position as usize];
    assert_eq!(hit.name, symbol.name);
    assert_eq!((hit.container, hit.kind), (symbol.container.clone(), symbol.kind));
    assert_eq!((hit.lines, hit.is_public, hit.is_test), (symbol.lines, false, false));
}

#[test]
fn of_equal_names_types_come_first_and_tests_last() {
    let mut test = symbol("same", SymbolKind::Struct, 1, 1);
    test.is_test = true;
    let mut private = symbol("same", SymbolKind::Function, 2, 2);
    private.is_public = false;
    let symbols = vec![
        test,
        private,
        symbol("same", SymbolKind::Field, 3, 3),
        symbol("same", SymbolKind::Function, 4, 4),
        symbol("same", SymbolKind::Enum, 5, 5),
    ];
    let index = open([with_symbols("a.rs", 5, symbols)]);
    let hits = index.symbols("same", 9).unwrap();
    let order: Vec<u32> = hits.iter().map(|hit| hit.lines.start()).collect();
    assert_eq!(order, [5, 4, 2, 3, 1]);
}

proptest! {
    #[test]
    fn exactly_the_symbols_that_fit_are_found(files in files(), query in word()) {
        let index = open(files.clone());
        let words = |name: &str| -> BTreeSet<String> {
            parts(name).map(|part| stem(&part.to_lowercase()).into_owned()).collect()
        };
        let lower = query.to_lowercase();
        let matches = |name: &str| {
            let wanted = words(&query);
            if name == query {
                Some(SymbolMatch::Exact)
            } else if name.to_lowercase() == lower {
                Some(SymbolMatch::IgnoringCase)
            } else if name.to_lowercase().starts_with(&lower) {
                Some(SymbolMatch::Prefix)
            } else {
                let contains = !wanted.is_empty() && words(name).is_superset(&wanted);
                contains.then_some(SymbolMatch::Words)
            }
        };
        let mut expected = BTreeSet::new();
        for file in &files {
            let id = index.find(&file.path).unwrap();
            for (symbol, position) in file.outline.symbols.iter().zip(0..) {
                let found = matches(&symbol.name);
                expected.extend(found.map(|found| (found, SymbolRef { file: id, position })));
            }
        }
        let hits = index.symbols(&query, 200).unwrap();
        prop_assert!(hits.is_sorted_by_key(|hit| (hit.matched, hit.is_test)));
        let found: BTreeSet<_> = hits.iter().map(|hit| (hit.matched, hit.symbol)).collect();
        prop_assert_eq!(found.len(), hits.len());
        prop_assert_eq!(found, expected);
    }
}
