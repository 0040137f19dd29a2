//! The definitions of a file or type, a sentence each.

use super::super::excerpt::{capitalised, code, listed, signature};
use super::super::limits::{STEPS_MAX, SUMMARY_NAMES_MAX};
use super::subject::{is_function, is_type};
use super::wording::{beginning, noun, role, sections};
use crate::areas::repositories::source::{FileOutline, Language, LineRange, Symbol, SymbolKind};

/// Describes the members of a symbol: its fields, variants and methods, but not what is in these.
pub(super) fn of_type(
    outline: &FileOutline,
    language: Language,
    text: &str,
    of: &Symbol,
) -> Vec<String> {
    let position = position(outline, of);
    let members = outline.symbols.iter().filter(|symbol| symbol.parent == position);
    bounded(members.map(|symbol| (symbol, 0)).collect(), language, text)
}

/// Describes the outermost definitions of a file, or of lines of it, and the methods of types.
pub(super) fn of_lines(
    outline: &FileOutline,
    language: Language,
    text: &str,
    lines: Option<LineRange>,
) -> Vec<String> {
    let found = outermost(outline, lines).into_iter();
    // Fields and variants are of interest where their type is explained.
    let found = found.filter(|(symbol, depth)| *depth == 0 || is_function(symbol));
    bounded(found.collect(), language, text)
}

/// Returns the names of the outermost definitions, by kind: `the struct `A`, the functions `b` and
/// `c``. Empty if there is none.
pub(in super::super) fn defined_names(outline: &FileOutline, lines: Option<LineRange>) -> String {
    let found: Vec<&Symbol> = outermost(outline, lines)
        .into_iter()
        .filter(|(symbol, depth)| *depth == 0 && !is_test_module(symbol))
        .map(|(symbol, _)| symbol)
        .collect();
    let mut kinds: Vec<SymbolKind> = Vec::new();
    for symbol in &found {
        if !kinds.contains(&symbol.kind) {
            kinds.push(symbol.kind);
        }
    }
    let groups = kinds.into_iter().map(|kind| {
        let names: Vec<String> = found
            .iter()
            .filter(|symbol| symbol.kind == kind)
            .map(|symbol| code(&symbol.name))
            .collect();
        let noun = noun(kind);
        let plural = match (names.len(), noun) {
            (1, noun) => noun.to_owned(),
            (_, "class") => "classes".to_owned(),
            (_, noun) => format!(
                "{}s",
                noun.strip_suffix('y').map_or(noun.to_owned(), |of| format!("{of}ie"))
            ),
        };
        format!("the {plural} {}", listed(&names, SUMMARY_NAMES_MAX, "and"))
    });
    groups.collect::<Vec<_>>().join("; ")
}

fn is_test_module(symbol: &Symbol) -> bool {
    symbol.is_test && symbol.kind == SymbolKind::Module
}

/// Returns the symbols that no other one of the lines contains, at depth 0, and the members of
/// types, at depth 1.
fn outermost(outline: &FileOutline, lines: Option<LineRange>) -> Vec<(&Symbol, usize)> {
    // A variable may be a module.
    let is_import = |symbol: &Symbol| {
        matches!(symbol.kind, SymbolKind::Variable | SymbolKind::Constant)
            && outline.imports.iter().any(|import| import.line == symbol.name_line)
    };
    let is_within = |symbol: &Symbol| {
        lines.is_none_or(|lines| lines.contains(symbol.name_line)) && !is_import(symbol)
    };
    let parent = |symbol: &Symbol| {
        let position = usize::try_from(symbol.parent?).ok()?;
        outline.symbols.get(position)
    };
    let mut found: Vec<(u32, &Symbol, usize)> = Vec::new();
    for symbol in outline.symbols.iter().filter(|symbol| is_within(symbol)) {
        match parent(symbol).filter(|parent| is_within(parent)) {
            None => found.push((symbol.lines.start(), symbol, 0)),
            Some(outer) => {
                let is_outermost = parent(outer).is_none_or(|of| !is_within(of));
                if is_type(outer) && is_outermost && !is_test_module(outer) {
                    found.push((outer.lines.start(), symbol, 1));
                }
            }
        }
    }
    // A method may be far from its type, in a block of its own.
    found.sort_by_key(|(place, _, depth)| (*place, *depth));
    found.into_iter().map(|(_, symbol, depth)| (symbol, depth)).collect()
}

/// Returns the position of a symbol in its outline.
pub(super) fn position(outline: &FileOutline, of: &Symbol) -> Option<u32> {
    let position = outline.symbols.iter().position(|symbol| std::ptr::eq(symbol, of))?;
    u32::try_from(position).ok()
}

/// Describes a definition: by the beginning of its documentation, or else its signature.
pub(super) fn sentence(language: Language, text: &str, symbol: &Symbol) -> String {
    let name = capitalised(&format!("{} {}", role(symbol), code(&symbol.name)));
    let described = beginning(&sections(language, symbol));
    match described.or_else(|| signature(symbol, text)).unwrap_or_default() {
        text if text.is_empty() => format!("{name}."),
        text if text.ends_with(['`', '…']) => format!("{name}: {text}."),
        text => format!("{name}: {text}"),
    }
}

/// Returns as many steps as there may be, and how many are left out.
fn bounded(found: Vec<(&Symbol, usize)>, language: Language, text: &str) -> Vec<String> {
    let left_out = found.len().saturating_sub(STEPS_MAX);
    let shown = found.into_iter().take(STEPS_MAX).map(|(symbol, depth)| match depth {
        0 => sentence(language, text, symbol),
        _ => format!("- {}", sentence(language, text, symbol)),
    });
    let mut shown: Vec<String> = shown.collect();
    if left_out > 0 {
        shown.push(format!("{left_out} more definitions are left out."));
    }
    shown
}
