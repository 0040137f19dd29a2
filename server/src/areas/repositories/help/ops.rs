//! Explaining and documenting the files of an index. All of it blocks.

use crate::app::App;
use crate::areas::repositories::answers::calls_from_elsewhere;
use crate::areas::repositories::code_help::{self, Documentation, Explanation, Usage};
use crate::areas::repositories::error::RepositoryError;
use crate::areas::repositories::ids::RepositoryId;
use crate::areas::repositories::index::{FileId, Index};
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
    let indexed = reading::open_for_many_files(app, wanted.repository)?;
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
    let is_callable = |symbol: &Symbol| {
        let is_function = matches!(symbol.kind, SymbolKind::Function | SymbolKind::Method);
        is_function && symbol.is_public && !symbol.is_test
    };
    let functions: Vec<u32> = (0_u32..)
        .zip(&outline.symbols)
        .filter(|(_, symbol)| is_callable(symbol))
        .map(|(position, _)| position)
        .take(limits::DOCUMENTED_FUNCTIONS_MAX)
        .collect();
    let mut usages: Vec<Usage> = Vec::new();
    for call in calls_from_elsewhere(index, file, &functions, limits::USAGES_FOUND_MAX)? {
        let shown = usages.iter().rev().take_while(|usage| usage.symbol == call.function).count();
        if shown >= limits::USAGES_SHOWN_MAX {
            continue;
        }
        let Some(entry) = index.entry(call.file) else { continue };
        let Some(line) = LineRange::new(call.line, call.line) else { continue };
        let Some(snippet) = index.snippet(call.file, line)? else { continue };
        if snippet.len() > limits::USAGE_BYTES_MAX {
            continue;
        }
        usages.push(Usage {
            symbol: call.function,
            path: entry.path.to_owned(),
            line: call.line,
            snippet: snippet.trim().to_owned(),
            is_test: call.is_test,
        });
    }
    usages.sort_by_key(|usage| !usage.is_test);
    Ok(usages)
}
