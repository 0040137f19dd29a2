//! Search, and reading of files. All of it blocks.

use crate::app::App;
use crate::areas::repositories::error::RepositoryError;
use crate::areas::repositories::ids::RepositoryId;
use crate::areas::repositories::index::{FileId, Hit, Index, SymbolHit};
use crate::areas::repositories::limits;
use crate::areas::repositories::reading::{self, IndexedRepository};
use crate::areas::repositories::shown_lines::{ShownBytes, ShownLines};
use crate::areas::repositories::source::{Language, LineRange, Symbol};

/// What is searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Passages about something.
    Text(String),
    /// Definitions of a name.
    Symbol(String),
}

/// What was found.
#[derive(Debug)]
pub(super) struct Found {
    /// The commit that was searched.
    pub(super) commit: String,
    pub(super) results: Vec<FoundPassage>,
}

/// Lines that were found.
#[derive(Debug)]
pub(super) struct FoundPassage {
    pub(super) path: String,
    pub(super) lines: LineRange,
    pub(super) snippet: ShownLines,
    pub(super) symbol: Option<Symbol>,
    /// Only of what was searched for by words.
    pub(super) score: Option<f64>,
}

/// Indexed files.
#[derive(Debug)]
pub(super) struct FileList {
    pub(super) commit: String,
    pub(super) files: Vec<ListedFile>,
    /// The number of all files, also those that are not listed.
    pub(super) total: usize,
}

/// An indexed file.
#[derive(Debug)]
pub(super) struct ListedFile {
    pub(super) path: String,
    pub(super) language: Option<Language>,
    pub(super) lines: u32,
    pub(super) bytes: u64,
}

/// Lines of a file.
#[derive(Debug)]
pub(super) struct FileText {
    pub(super) commit: String,
    pub(super) file: ListedFile,
    /// `None` is the whole file, which has no lines if it is empty.
    pub(super) lines: Option<LineRange>,
    pub(super) content: String,
}

/// Searches.
pub(super) fn search(
    app: &App,
    id: RepositoryId,
    wanted: &Wanted,
    limit: usize,
) -> Result<Found, RepositoryError> {
    let indexed = reading::open(app, id)?;
    let index = indexed.index();
    let mut bytes = ShownBytes::of_response();
    let results = match wanted {
        Wanted::Text(text) => {
            let found = index.search(text, limit)?;
            let hits = found.hits.into_iter().filter(|hit| hit.coverage >= limits::COVERAGE_MIN);
            hits.map(|hit| passage(index, &mut bytes, hit)).collect::<Result<Vec<_>, _>>()?
        }
        Wanted::Symbol(name) => {
            let found = index.symbols(name, limit)?;
            let found = found.into_iter().map(|hit| definition(index, &mut bytes, hit));
            found.collect::<Result<Vec<_>, _>>()?
        }
    };
    let results = results.into_iter().flatten().collect();
    Ok(Found { commit: indexed.commit.short_commit(), results })
}

/// Returns the files whose paths begin with a prefix, by path.
pub(super) fn files(
    app: &App,
    id: RepositoryId,
    prefix: &str,
    offset: usize,
    limit: usize,
) -> Result<FileList, RepositoryError> {
    let indexed = reading::open(app, id)?;
    let mut total = 0;
    let mut files = Vec::new();
    for file in indexed.index().files().filter(|file| file.path.starts_with(prefix)) {
        if (offset..offset.saturating_add(limit)).contains(&total) {
            files.push(ListedFile {
                path: file.path.to_owned(),
                language: file.language,
                lines: file.lines,
                bytes: file.bytes.into(),
            });
        }
        total += 1;
    }
    Ok(FileList { commit: indexed.commit.short_commit(), files, total })
}

/// Returns lines of a file.
pub(super) fn file(
    app: &App,
    id: RepositoryId,
    path: &str,
    wanted: Option<(u32, u32)>,
) -> Result<FileText, RepositoryError> {
    let indexed = reading::open(app, id)?;
    let entry = indexed.file(path)?;
    let (file, total) = (entry.id, entry.lines);
    let listed = ListedFile {
        path: entry.path.to_owned(),
        language: entry.language,
        lines: total,
        bytes: entry.bytes.into(),
    };
    let (lines, content) = match wanted {
        None => (LineRange::new(1, total), indexed.index().text(file)?),
        Some((start, end)) => {
            let lines = reading::lines(start, end, total, "lines")?;
            (Some(lines), snippet(&indexed, file, lines)?)
        }
    };
    Ok(FileText { commit: indexed.commit.short_commit(), file: listed, lines, content })
}

fn snippet(
    indexed: &IndexedRepository,
    file: FileId,
    lines: LineRange,
) -> Result<String, RepositoryError> {
    Ok(indexed.index().snippet(file, lines)?.unwrap_or_default())
}

fn passage(
    index: &Index,
    bytes: &mut ShownBytes,
    hit: Hit,
) -> Result<Option<FoundPassage>, RepositoryError> {
    let symbol = match hit.symbol {
        None => None,
        Some(symbol) => reading::symbol(index, symbol)?,
    };
    let Some((path, lines, snippet)) = of_lines(index, bytes, hit.file, hit.lines)? else {
        return Ok(None);
    };
    Ok(Some(FoundPassage { path, lines, snippet, symbol, score: Some(hit.score) }))
}

fn definition(
    index: &Index,
    bytes: &mut ShownBytes,
    hit: SymbolHit,
) -> Result<Option<FoundPassage>, RepositoryError> {
    let Some(symbol) = reading::symbol(index, hit.symbol)? else { return Ok(None) };
    let found = of_lines(index, bytes, hit.symbol.file, symbol.lines)?;
    Ok(found.map(|(path, lines, snippet)| FoundPassage {
        path,
        lines,
        snippet,
        symbol: Some(symbol),
        score: None,
    }))
}

/// Returns the path of a file, and the first of its lines as a response shows them.
fn of_lines(
    index: &Index,
    bytes: &mut ShownBytes,
    file: FileId,
    lines: LineRange,
) -> Result<Option<(String, LineRange, ShownLines)>, RepositoryError> {
    let Some(entry) = index.entry(file) else { return Ok(None) };
    let last = lines.end().min(lines.start().saturating_add(limits::SNIPPET_LINES_MAX - 1));
    let Some(lines) = LineRange::new(lines.start(), last) else { return Ok(None) };
    let Some(snippet) = index.snippet(file, lines)? else { return Ok(None) };
    Ok(Some((entry.path.to_owned(), lines, bytes.show(&snippet))))
}
