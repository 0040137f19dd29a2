//! The JSON of search and files.

use schemars::JsonSchema;
use serde::Serialize;

use super::ops::{FileList, FileText, Found, FoundPassage, ListedFile};
use crate::areas::repositories::source::{Language, Symbol};

/// What was found, best first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CodeSearchResults")]
pub(super) struct FoundView {
    /// The commit that was searched.
    commit: String,
    results: Vec<PassageView>,
}

/// Lines that were found.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CodeSearchResult")]
struct PassageView {
    file_path: String,
    line_start: u32,
    line_end: u32,
    /// These lines, 40 at most, exactly as in the commit unless `truncated`.
    snippet: String,
    /// Whether lines are cut: those over 8 KiB, and all once the snippets have 512 KiB together.
    /// What is left of a line ends with `…`.
    truncated: bool,
    /// With `q`: larger is better; comparable within one response only.
    score: Option<f64>,
    /// The definition that the lines are, or are part of.
    symbol: Option<SymbolView>,
}

/// A definition.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CodeSymbol")]
struct SymbolView {
    name: String,
    /// Such as `function`, `method`, `class`, `struct`, `enum` or `constant`.
    kind: &'static str,
    /// The type or namespace that it belongs to.
    container: Option<String>,
    signature: String,
    doc: Option<String>,
    line_start: u32,
    line_end: u32,
}

/// Indexed files, by path.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CodeFileList")]
pub(super) struct FileListView {
    commit: String,
    /// The number of all that match.
    total: usize,
    files: Vec<FileView>,
}

/// An indexed file.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CodeFile")]
struct FileView {
    file_path: String,
    language: Option<&'static str>,
    lines: u32,
    bytes: u64,
}

/// Lines of a file.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CodeFileText")]
pub(super) struct FileTextView {
    commit: String,
    file_path: String,
    language: Option<&'static str>,
    /// The number of lines of the file.
    lines: u32,
    bytes: u64,
    /// Null if the file is empty.
    line_start: Option<u32>,
    line_end: Option<u32>,
    /// These lines, exactly as in the commit.
    content: String,
}

impl FoundView {
    pub(super) fn new(found: Found) -> Self {
        let results = found.results.into_iter().map(PassageView::new).collect();
        Self { commit: found.commit, results }
    }
}

impl PassageView {
    fn new(passage: FoundPassage) -> Self {
        Self {
            file_path: passage.path,
            line_start: passage.lines.start(),
            line_end: passage.lines.end(),
            truncated: passage.snippet.is_cut,
            snippet: passage.snippet.text,
            score: passage.score,
            symbol: passage.symbol.map(SymbolView::new),
        }
    }
}

impl SymbolView {
    fn new(symbol: Symbol) -> Self {
        Self {
            kind: symbol.kind.name(),
            container: symbol.container,
            signature: symbol.signature,
            doc: symbol.doc,
            line_start: symbol.lines.start(),
            line_end: symbol.lines.end(),
            name: symbol.name,
        }
    }
}

impl FileListView {
    pub(super) fn new(list: FileList) -> Self {
        let files = list.files.into_iter().map(FileView::new).collect();
        Self { commit: list.commit, total: list.total, files }
    }
}

impl FileView {
    fn new(file: ListedFile) -> Self {
        Self {
            file_path: file.path,
            language: file.language.map(Language::name),
            lines: file.lines,
            bytes: file.bytes,
        }
    }
}

impl FileTextView {
    pub(super) fn new(text: FileText) -> Self {
        Self {
            commit: text.commit,
            file_path: text.file.path,
            language: text.file.language.map(Language::name),
            lines: text.file.lines,
            bytes: text.file.bytes,
            line_start: text.lines.map(|lines| lines.start()),
            line_end: text.lines.map(|lines| lines.end()),
            content: text.content,
        }
    }
}
