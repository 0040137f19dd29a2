//! Checks that an outline belongs to its text, so that all that is derived from it is right.

use super::super::super::source::FileOutline;
use super::super::error::IndexError;
use super::super::limits::{OUTLINE_BYTES_MAX, OUTLINE_ENTRIES_MAX};

/// Checks an outline of a file of so many lines.
pub(super) fn check_outline(
    path: &str,
    outline: &FileOutline,
    lines: u32,
) -> Result<(), IndexError> {
    let FileOutline { symbols, imports, references, .. } = outline;
    let names: usize = imports.iter().map(|import| import.names.len()).sum();
    let parameters: usize = symbols.iter().map(|symbol| symbol.parameters.len()).sum();
    let entries = symbols.len() + imports.len() + references.len() + names + parameters;
    if entries > OUTLINE_ENTRIES_MAX {
        let max = OUTLINE_ENTRIES_MAX as u64;
        return Err(IndexError::LimitReached { what: "entries in an outline", max });
    }
    if outline_bytes(outline) > OUTLINE_BYTES_MAX {
        let max = OUTLINE_BYTES_MAX as u64;
        return Err(IndexError::LimitReached { what: "bytes in an outline", max });
    }
    let symbols_are_right = (0..).zip(symbols).all(|(position, symbol)| {
        symbol.lines.end() <= lines && symbol.parent.is_none_or(|parent| parent < position)
    });
    let order_is_right = symbols.is_sorted_by_key(|symbol| symbol.lines.start());
    let references_are_right = references.iter().all(|reference| {
        reference.line <= lines
            && reference.within.is_none_or(|within| (within as usize) < symbols.len())
    });
    if !symbols_are_right || !order_is_right || !references_are_right {
        return Err(IndexError::InvalidOutline { path: path.to_owned() });
    }
    Ok(())
}

fn outline_bytes(outline: &FileOutline) -> usize {
    let optional = |string: &Option<String>| string.as_ref().map_or(0, String::len);
    let symbols = outline.symbols.iter().map(|symbol| {
        let parameters = symbol.parameters.iter().map(|parameter| {
            parameter.name.len() + optional(&parameter.type_name) + optional(&parameter.default)
        });
        symbol.name.len()
            + symbol.signature.len()
            + optional(&symbol.container)
            + optional(&symbol.doc)
            + optional(&symbol.returns)
            + parameters.sum::<usize>()
    });
    let imports = outline
        .imports
        .iter()
        .map(|import| import.path.len() + import.names.iter().map(String::len).sum::<usize>());
    let references = outline.references.iter().map(|reference| reference.name.len());
    optional(&outline.doc)
        + symbols.sum::<usize>()
        + imports.sum::<usize>()
        + references.sum::<usize>()
}
