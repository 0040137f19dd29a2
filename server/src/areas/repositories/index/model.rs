//! What goes into an index and what comes out of it.

use super::super::ObjectId;
use super::super::source::{FileOutline, Language, LineRange, ReferenceKind, SymbolKind};

/// A file to be indexed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The path from the root of the repository, with slashes.
    pub path: String,
    /// The id of its content.
    pub blob: ObjectId,
    /// Its content, which [`super::Index::text`] returns unchanged.
    pub text: String,
    /// The outline of exactly this text.
    pub outline: FileOutline,
}

/// A built index.
#[derive(Clone, PartialEq, Eq)]
pub struct BuiltIndex {
    /// What [`super::Index::open`] opens.
    pub bytes: Vec<u8>,
    /// How much is in it.
    pub counts: IndexCounts,
}

/// How much is in an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexCounts {
    /// Files.
    pub files: u64,
    /// Pieces of files that searches find.
    pub chunks: u64,
    /// Symbols.
    pub symbols: u64,
    /// Lines of all files.
    pub lines: u64,
    /// Bytes of all files.
    pub text_bytes: u64,
}

/// A file of one index: its position in the order of the paths. Meaningless in other indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub(super) u32);

/// A file of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileEntry<'a> {
    /// Its id in this index.
    pub id: FileId,
    /// The path from the root of the repository.
    pub path: &'a str,
    /// The id of its content.
    pub blob: ObjectId,
    /// The language of its outline.
    pub language: Option<Language>,
    /// Whether its outline has all that it defines: of files beyond the limits of the parser it
    /// has only the beginning.
    pub is_complete: bool,
    /// Its lines; a line end at the end of the file begins no further line.
    pub lines: u32,
    /// Its bytes.
    pub bytes: u32,
}

/// A symbol of one index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolRef {
    /// The file that defines it.
    pub file: FileId,
    /// Its position in [`FileOutline::symbols`] of that file.
    pub position: u32,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchResult {
    /// The best first.
    pub hits: Vec<Hit>,
    /// The share of the question's words that the best hits contain, from 0 to 1; rare words count
    /// more. Below 0.35 the question is probably about something that is not in the repository.
    pub coverage: f64,
    /// Words of the question that the repository does not contain, in their order, in lower case.
    pub unknown_words: Vec<String>,
    /// Words of the question that the repository contains, in lower case, and how rare each is.
    pub rarities: Vec<(String, f64)>,
}

/// A part of a file that a search found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The file.
    pub file: FileId,
    /// The lines that fit best.
    pub lines: LineRange,
    /// The innermost symbol that contains these lines.
    pub symbol: Option<SymbolRef>,
    /// Greater is better; comparable within one search only.
    pub score: f64,
    /// The share of the question's words that it contains, like [`SearchResult::coverage`].
    pub coverage: f64,
}

/// A symbol as the index knows it without its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolEntry<'a> {
    /// The symbol.
    pub symbol: SymbolRef,
    /// Its name.
    pub name: &'a str,
    /// The name of what it belongs to.
    pub container: Option<&'a str>,
    /// What it is.
    pub kind: SymbolKind,
    /// Whether other files or modules may use it.
    pub is_public: bool,
    /// Whether it belongs to tests.
    pub is_test: bool,
    /// Whether it is a test itself.
    pub is_test_case: bool,
}

/// A symbol that was found by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolHit {
    /// The symbol.
    pub symbol: SymbolRef,
    /// Its name.
    pub name: String,
    /// The name of what it belongs to.
    pub container: Option<String>,
    /// What it is.
    pub kind: SymbolKind,
    /// The whole definition.
    pub lines: LineRange,
    /// Whether other files or modules may use it.
    pub is_public: bool,
    /// Whether it belongs to tests.
    pub is_test: bool,
    /// How its name fits.
    pub matched: SymbolMatch,
}

/// How a name fits the one that was looked for, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SymbolMatch {
    /// It is the same, with the same container if one was given.
    Exact,
    /// It is the same but for upper and lower case.
    IgnoringCase,
    /// It begins with what was looked for, but for upper and lower case.
    Prefix,
    /// It contains all words of what was looked for: `parse_args` is found for `argsParse`.
    Words,
}

/// A use of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceHit {
    /// The file that uses it.
    pub file: FileId,
    /// The line.
    pub line: u32,
    /// How it is used.
    pub kind: ReferenceKind,
    /// The innermost symbol that contains the use.
    pub within: Option<SymbolRef>,
}

/// Uses of a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundReferences {
    /// Those in the files that use it most come first.
    pub hits: Vec<ReferenceHit>,
    /// Whether there are more than were wanted.
    pub is_cut: bool,
}

/// A file uses another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dependency {
    /// The file that uses.
    pub from: FileId,
    /// The file that is used.
    pub to: FileId,
    /// How much, comparable within one index; above 0.
    pub weight: f64,
}

impl FileId {
    /// Returns the position in the order of the paths, from 0.
    pub fn number(self) -> u32 {
        self.0
    }
}

impl std::fmt::Debug for BuiltIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes = self.bytes.len();
        f.debug_struct("BuiltIndex").field("bytes", &bytes).field("counts", &self.counts).finish()
    }
}
