//! Explaining and documenting the files of an index. All of it blocks.

use crate::app::App;
use crate::areas::repositories::code_help::{self, Documentation, Explanation, Usage};
use crate::areas::repositories::error::RepositoryError;
use crate::areas::repositories::ids::RepositoryId;
use crate::areas::repositories::index::{FileId, Index, SymbolRef};
use crate::areas::repositories::limits;
use crate::areas::repositories::reading;
use crate::areas::repositories::source::{FileOutline, LineRange, Symbol, SymbolKind};
use crate::platform::fields::Invalid;

/// A file, or lines of it, that is to be explained.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) repository: RepositoryId,
    pub(super) path: String,
    pub(super) lines: Option<(u32, u32)>,
}

/// Explains a file, or lines of it.
pub(super) fn explain(app: &App, wanted: &Wanted) -> Result<Explanation, RepositoryError> {
    let indexed = reading::open(app, wanted.repository)?;
    let entry = indexed.file(&wanted.path)?;
    let (file, total) = (entry.id, entry.lines);
    let checked = |(start, end)| reading::lines(start, end, total, "lines");
    let lines = wanted.lines.map(checked).transpose()?;
    let text = indexed.index().text(file)?;
    let outline = indexed.index().outline(file)?;
    code_help::explain(&wanted.path, &text, &outline, lines)
        .map_err(|error| Invalid::field("lines", error.to_string()).into())
}

/// Documents a file.
pub(super) fn document(app: &App, wanted: &Wanted) -> Result<Documentation, RepositoryError> {
    let indexed = reading::open(app, wanted.repository)?;
    let file = indexed.file(&wanted.path)?.id;
    let index = indexed.index();
    let (text, outline) = (index.text(file)?, index.outline(file)?);
    let usages = usages(index, file, &outline)?;
    Ok(code_help::document(&wanted.path, &text, &outline, &usages))
}

/// Returns calls of the public functions of a file from other files, tests first.
fn usages(
    index: &Index,
    file: FileId,
    outline: &FileOutline,
) -> Result<Vec<Usage>, RepositoryError> {
    let is_callable = |symbol: &&Symbol| {
        let is_function = matches!(symbol.kind, SymbolKind::Function | SymbolKind::Method);
        is_function && symbol.is_public && !symbol.is_test
    };
    let mut usages = Vec::new();
    let functions = outline.symbols.iter().filter(is_callable);
    for function in functions.take(limits::DOCUMENTED_FUNCTIONS_MAX) {
        let found = index.references(&function.name, limits::USAGES_FOUND_MAX)?;
        let elsewhere = found.into_iter().filter(|reference| reference.file != file);
        for reference in elsewhere.take(limits::USAGES_SHOWN_MAX) {
            let Some(entry) = index.entry(reference.file) else { continue };
            let Some(line) = LineRange::new(reference.line, reference.line) else { continue };
            let Some(snippet) = index.snippet(reference.file, line)? else { continue };
            usages.push(Usage {
                path: entry.path.to_owned(),
                line: reference.line,
                snippet: snippet.trim().to_owned(),
                is_test: is_in_test(index, reference.within)?,
            });
        }
    }
    usages.sort_by_key(|usage| !usage.is_test);
    Ok(usages)
}

/// Returns whether a use of a name is in a test.
fn is_in_test(index: &Index, within: Option<SymbolRef>) -> Result<bool, RepositoryError> {
    let Some(within) = within else { return Ok(false) };
    Ok(reading::symbol(index, within)?.is_some_and(|symbol| symbol.is_test))
}
