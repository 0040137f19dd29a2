//! Uses of names, and the graph of files.

use proptest::prelude::*;

use super::super::super::source::ReferenceKind;
use super::super::{ReferenceHit, SymbolRef};
use super::generated::{files, word};
use super::sample::{open, repository};

#[test]
fn uses_are_found_with_what_contains_them() {
    let index = open(repository());
    let [cache, tests] = ["src/cache.rs", "tests/cache.rs"].map(|path| index.find(path).unwrap());
    let within = Some(SymbolRef { file: tests, position: 0 });
    let hit = ReferenceHit { file: tests, line: 3, kind: ReferenceKind::Call, within };
    assert_eq!(index.references("evict_expired", 9), Ok(vec![hit.clone(), hit]));
    let uses = index.references("Cache", 9).unwrap();
    assert_eq!(uses.len(), 3);
    assert!(uses.iter().any(|hit| hit.file == cache && hit.line == 7));
    assert_eq!(index.references("crate::cache::Cache", 9), Ok(uses));
    assert_eq!(index.references("cache", 9), Ok(vec![]), "names are exact");
    assert_eq!(index.references("", 9), Ok(vec![]));
}

#[test]
fn files_depend_on_what_they_use_and_import() {
    let index = open(repository());
    let edges: Vec<(&str, &str)> = index
        .dependencies()
        .iter()
        .map(|edge| {
            assert!(edge.weight > 0.0);
            (index.entry(edge.from).unwrap().path, index.entry(edge.to).unwrap().path)
        })
        .collect();
    assert_eq!(edges, [("src/parser.rs", "src/cache.rs"), ("tests/cache.rs", "src/cache.rs")]);
    let rank = |path: &str| index.rank(index.find(path).unwrap());
    assert!(rank("src/cache.rs") > 1.5);
    assert!(rank("README.md") < 1.0);
    let sum: f64 = index.files().map(|file| index.rank(file.id)).sum();
    assert!((sum - 4.0).abs() < 1e-3, "the average is 1");
}

proptest! {
    #[test]
    fn all_uses_are_found(files in files(), name in word()) {
        let index = open(files.clone());
        let mut found = index.references(&name, 200).unwrap();
        let mut expected = Vec::new();
        for file in files {
            let id = index.find(&file.path).unwrap();
            let uses = file.outline.references.iter().filter(|reference| reference.name == name);
            expected.extend(uses.map(|reference| ReferenceHit {
                file: id,
                line: reference.line,
                kind: reference.kind,
                within: reference.within.map(|position| SymbolRef { file: id, position }),
            }));
        }
        let per_file = |hits: &[ReferenceHit]| -> Vec<usize> {
            hits.chunk_by(|left, right| left.file == right.file).map(<[_]>::len).collect()
        };
        prop_assert!(per_file(&found).is_sorted_by(|left, right| left >= right));
        found.sort_by_key(|hit| hit.file);
        expected.sort_by_key(|hit| hit.file);
        prop_assert_eq!(&found, &expected);
        for kind in [ReferenceKind::Call, ReferenceKind::Type, ReferenceKind::Implementation] {
            let mut found = index.references_of_kind(&name, kind, 200).unwrap();
            found.sort_by_key(|hit| hit.file);
            let expected: Vec<_> = expected.iter().filter(|hit| hit.kind == kind).cloned().collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn dependencies_are_sorted_and_ranks_average_to_one(files in files()) {
        let index = open(files.clone());
        let edges = index.dependencies();
        let pairs = |at: usize| (edges[at].from, edges[at].to);
        prop_assert!((1..edges.len()).all(|at| pairs(at - 1) < pairs(at)));
        prop_assert!(edges.iter().all(|edge| edge.from != edge.to && edge.weight > 0.0));
        let sum: f64 = index.files().map(|file| index.rank(file.id)).sum();
        prop_assert!((sum - files.len() as f64).abs() < 1e-3 * files.len() as f64 + 1e-9);
    }
}
