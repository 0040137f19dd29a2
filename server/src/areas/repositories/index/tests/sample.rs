//! A small repository with outlines made by hand.

use super::super::super::ObjectId;
use super::super::super::source::{
    FileOutline, Import, Language, LineRange, Parameter, Reference, ReferenceKind, Symbol,
    SymbolKind,
};
use super::super::{Index, IndexBuilder, SourceFile};

pub(super) fn blob(number: u8) -> ObjectId {
    ObjectId::from_bytes(&[number; 20]).unwrap()
}

pub(super) fn lines(start: u32, end: u32) -> LineRange {
    LineRange::new(start, end).unwrap()
}

pub(super) fn symbol(name: &str, kind: SymbolKind, start: u32, end: u32) -> Symbol {
    Symbol {
        name: name.into(),
        kind,
        parent: None,
        container: None,
        lines: lines(start, end),
        name_line: end.min(start + 1),
        signature: format!("fn {name}()"),
        doc: None,
        is_public: true,
        is_test: false,
        parameters: Vec::new(),
        returns: None,
    }
}

pub(super) fn plain(path: &str, text: &str) -> SourceFile {
    let outline = FileOutline { is_complete: true, ..FileOutline::default() };
    SourceFile { path: path.into(), blob: blob(7), text: text.into(), outline }
}

/// Returns a file of symbols without text of their own: line `n` is `line n`.
pub(super) fn with_symbols(path: &str, line_count: u32, symbols: Vec<Symbol>) -> SourceFile {
    let text = (1..=line_count).map(|line| format!("line {line}\n")).collect::<String>();
    let mut file = plain(path, &text);
    file.outline = FileOutline { language: Some(Language::Rust), symbols, ..file.outline };
    file
}

pub(super) fn build(files: impl IntoIterator<Item = SourceFile>) -> Vec<u8> {
    let mut builder = IndexBuilder::new();
    for file in files {
        builder.add(file).unwrap();
    }
    builder.finish().unwrap().bytes
}

pub(super) fn open(files: impl IntoIterator<Item = SourceFile>) -> Index {
    Index::open(build(files)).unwrap()
}

const PARSER: &str = "\
//! Parses requests.
use crate::cache::Cache;

/// A parser.
pub struct RequestParser {
    depth: usize,
}

impl RequestParser {
    /// Reads the headers of a request from bytes.
    pub fn parse_headers(&self, bytes: &[u8]) -> Headers {
        self.split(bytes)
    }
}
";

const CACHE: &str = "\
/// Keeps responses in memory until they expire.
pub struct Cache {
    entries: Vec<Entry>,
}

/// Removes entries whose time to live is over.
pub fn evict_expired(cache: &mut Cache, now: Instant) {
    cache.entries.retain(|entry| entry.expires > now);
}
";

const CACHE_TESTS: &str = "\
/// Removes entries whose time to live is over.
fn evict_expired_entries() {
    evict_expired(&mut Cache::new(), now());
}
";

/// Returns a repository of three source files and a document.
pub(super) fn repository() -> Vec<SourceFile> {
    let file = |path: &str, number, text: &str, outline| SourceFile {
        path: path.into(),
        blob: blob(number),
        text: text.into(),
        outline,
    };
    let mut readme = plain("README.md", "# Server\r\nAnswers requests quickly.\r\n");
    readme.blob = ObjectId::from_bytes(&[9; 32]).unwrap();
    vec![
        file("src/parser.rs", 1, PARSER, parser()),
        file("src/cache.rs", 2, CACHE, cache()),
        file("tests/cache.rs", 3, CACHE_TESTS, cache_tests()),
        readme,
    ]
}

fn parser() -> FileOutline {
    let inside = |symbol: Symbol| Symbol {
        parent: Some(0),
        container: Some("RequestParser".into()),
        ..symbol
    };
    let depth = symbol("depth", SymbolKind::Field, 6, 6);
    let method = symbol("parse_headers", SymbolKind::Method, 10, 13);
    FileOutline {
        language: Some(Language::Rust),
        doc: Some("Parses requests.".into()),
        symbols: vec![
            documented(symbol("RequestParser", SymbolKind::Struct, 4, 7), "A parser."),
            inside(Symbol { is_public: false, ..depth }),
            inside(Symbol {
                parameters: vec![Parameter {
                    name: "bytes".into(),
                    type_name: Some("&[u8]".into()),
                    default: None,
                }],
                returns: Some("Headers".into()),
                ..documented(method, "Reads the headers of a request from bytes.")
            }),
        ],
        imports: vec![Import { path: "crate::cache".into(), names: vec!["Cache".into()], line: 2 }],
        references: vec![
            reference("Cache", ReferenceKind::Type, 2, None),
            reference("Headers", ReferenceKind::Type, 11, Some(2)),
            reference("split", ReferenceKind::Call, 12, Some(2)),
        ],
        is_complete: true,
    }
}

fn cache() -> FileOutline {
    let evict = symbol("evict_expired", SymbolKind::Function, 6, 9);
    FileOutline {
        language: Some(Language::Rust),
        symbols: vec![
            documented(
                symbol("Cache", SymbolKind::Struct, 1, 4),
                "Keeps responses in memory until they expire.",
            ),
            documented(evict, "Removes entries whose time to live is over."),
        ],
        references: vec![reference("Cache", ReferenceKind::Type, 7, Some(1))],
        is_complete: true,
        ..FileOutline::default()
    }
}

fn cache_tests() -> FileOutline {
    let test = symbol("evict_expired_entries", SymbolKind::Function, 1, 4);
    FileOutline {
        language: Some(Language::Rust),
        symbols: vec![Symbol {
            is_test: true,
            is_public: false,
            ..documented(test, "Removes entries whose time to live is over.")
        }],
        references: vec![
            reference("evict_expired", ReferenceKind::Call, 3, Some(0)),
            reference("Cache", ReferenceKind::Type, 3, Some(0)),
            reference("evict_expired", ReferenceKind::Call, 3, Some(0)),
        ],
        ..FileOutline::default()
    }
}

fn documented(symbol: Symbol, doc: &str) -> Symbol {
    Symbol { doc: Some(doc.into()), ..symbol }
}

fn reference(name: &str, kind: ReferenceKind, line: u32, within: Option<u32>) -> Reference {
    Reference { name: name.into(), kind, line, within }
}
