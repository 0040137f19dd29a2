//! What is too much is refused, and what is just not too much is not.

use super::super::super::source::{Reference, ReferenceKind, SymbolKind};
use super::super::limits::{
    FILE_BYTES_MAX, HITS_MAX, OUTLINE_BYTES_MAX, OUTLINE_ENTRIES_MAX, PATH_BYTES_MAX,
    QUESTION_WORDS_MAX,
};
use super::super::{Index, IndexBuilder, IndexError, SourceFile};
use super::sample::{lines, open, plain, repository, symbol, with_symbols};

/// Adds a file to the sample. After an error the rest must be built as without it.
fn add(file: SourceFile) -> Result<(), IndexError> {
    let mut builder = IndexBuilder::new();
    for file in repository() {
        builder.add(file).unwrap();
    }
    let result = builder.add(file);
    let index = Index::open(builder.finish().unwrap().bytes).unwrap();
    let files = repository().len() as u64 + u64::from(result.is_ok());
    assert_eq!(index.counts().files, files);
    result
}

#[test]
fn large_files_and_long_paths_are_refused() {
    let limit = |what, max: usize| Err(IndexError::LimitReached { what, max: max as u64 });
    let path = "p".repeat(PATH_BYTES_MAX);
    assert_eq!(add(plain(&path, "")), Ok(()));
    assert_eq!(add(plain(&format!("{path}p"), "")), limit("bytes in a path", PATH_BYTES_MAX));
    let text = "t".repeat(FILE_BYTES_MAX);
    assert_eq!(add(plain("t", &text)), Ok(()));
    assert_eq!(add(plain("t", &format!("{text}t"))), limit("bytes in a file", FILE_BYTES_MAX));
}

#[test]
fn large_outlines_are_refused() {
    let limit = |what, max: usize| Err(IndexError::LimitReached { what, max: max as u64 });
    let mut file = with_symbols("a.rs", 3, vec![]);
    let kind = ReferenceKind::Call;
    let use_of_it = Reference { name: "x".into(), kind, line: 1, within: None };
    file.outline.references = vec![use_of_it.clone(); OUTLINE_ENTRIES_MAX];
    assert_eq!(add(file.clone()), Ok(()));
    file.outline.references.push(use_of_it);
    assert_eq!(add(file.clone()), limit("entries in an outline", OUTLINE_ENTRIES_MAX));
    file.outline.references.clear();
    file.outline.doc = Some("d".repeat(OUTLINE_BYTES_MAX));
    assert_eq!(add(file.clone()), Ok(()));
    file.outline.imports.push(crate::areas::repositories::source::Import {
        path: "p".into(),
        names: vec![],
        line: 1,
    });
    assert_eq!(add(file), limit("bytes in an outline", OUTLINE_BYTES_MAX));
}

#[test]
fn a_path_can_be_added_once() {
    let path = "src/cache.rs".to_owned();
    assert_eq!(add(plain(&path, "other")), Err(IndexError::DuplicatePath { path }));
}

#[test]
fn an_outline_of_another_text_is_refused() {
    let invalid = Err(IndexError::InvalidOutline { path: "a.rs".into() });
    let function = |start, end| symbol("f", SymbolKind::Function, start, end);
    assert_eq!(add(with_symbols("a.rs", 3, vec![function(1, 3)])), Ok(()));
    assert_eq!(add(with_symbols("a.rs", 3, vec![function(1, 4)])), invalid);
    assert_eq!(add(with_symbols("a.rs", 3, vec![function(2, 2), function(1, 1)])), invalid);
    let mut own_parent = with_symbols("a.rs", 3, vec![function(1, 3)]);
    own_parent.outline.symbols[0].parent = Some(0);
    assert_eq!(add(own_parent), invalid);
    let mut nowhere = with_symbols("a.rs", 3, vec![function(1, 3)]);
    let kind = ReferenceKind::Call;
    nowhere.outline.references =
        vec![Reference { name: "x".into(), kind, line: 1, within: Some(1) }];
    assert_eq!(add(nowhere.clone()), invalid);
    nowhere.outline.references[0] = Reference { name: "x".into(), kind, line: 4, within: None };
    assert_eq!(add(nowhere), invalid);
}

#[test]
fn there_are_at_most_so_many_hits() {
    let count = HITS_MAX as u32 + 5;
    let functions = (1..=count).map(|line| symbol("same", SymbolKind::Function, line, line));
    let mut file = with_symbols("a.rs", count, functions.collect());
    let kind = ReferenceKind::Call;
    file.outline.references = (1..=count)
        .map(|line| Reference { name: "same".into(), kind, line, within: None })
        .collect();
    let index = open([file]);
    assert_eq!(index.search("same", usize::MAX).unwrap().hits.len(), HITS_MAX);
    assert_eq!(index.symbols("same", usize::MAX).unwrap().len(), HITS_MAX);
    assert_eq!(index.references("same", usize::MAX).unwrap().len(), HITS_MAX);
    assert_eq!(index.search("same", 2).unwrap().hits.len(), 2);
    assert_eq!(index.symbols("same", 2).unwrap().len(), 2);
    assert_eq!(index.references("same", 2).unwrap().len(), 2);
}

#[test]
fn a_question_has_at_most_so_many_words() {
    let index = open([plain("a.txt", "needle")]);
    let question = |words: usize| format!("{} needle", "hay ".repeat(words));
    assert_eq!(index.search(&question(QUESTION_WORDS_MAX - 1), 9).unwrap().hits.len(), 1);
    assert_eq!(index.search(&question(QUESTION_WORDS_MAX), 9).unwrap().hits.len(), 0);
}

#[test]
fn long_chunks_are_divided() {
    let function = symbol("long", SymbolKind::Function, 1, 200);
    let index = open([with_symbols("a.rs", 200, vec![function])]);
    let file = index.find("a.rs").unwrap();
    let expected = [lines(1, 60), lines(51, 110), lines(101, 160), lines(151, 200)];
    assert_eq!(index.chunks(file).collect::<Vec<_>>(), expected);
    assert_eq!(index.search("long", 9).unwrap().hits.len(), 1, "one hit for each symbol");
}
