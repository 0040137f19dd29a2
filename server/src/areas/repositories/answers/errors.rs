//! Answers which errors a function names: the types that it returns, makes or raises.

use std::rc::Rc;

use super::draft::Draft;
use super::files::{Files, FoundSymbol};
use super::occurrences::occurrences;
use super::phrases::{cite_symbol, joined, name_as_code, noun, place, place_of, qualified_name};
use super::subjects::symbols_named;
use crate::areas::repositories::index::IndexError;
use crate::areas::repositories::source::{LineRange, Reference};

/// Definitions of one name that are read, and those whose errors are named.
const DEFINITIONS_READ_MAX: usize = 24;
const DEFINITIONS_MAX: usize = 3;

/// Writes the types of errors that functions of one name use.
pub(super) fn errors_of(
    draft: &mut Draft,
    files: &mut Files<'_>,
    found: &[FoundSymbol],
) -> Result<(), IndexError> {
    let mut named: Vec<String> = Vec::new();
    let mut said = 0;
    for function in found.iter().filter(|found| !found.symbol.is_test).take(DEFINITIONS_READ_MAX) {
        let errors = errors_of_one(draft, function, found.len());
        said += usize::from(!errors.is_empty());
        named.extend(errors);
        if said == DEFINITIONS_MAX {
            break;
        }
    }
    named.sort();
    named.dedup();
    if draft.is_empty() {
        return Ok(());
    }
    for error in named {
        if let [definition] = symbols_named(files, &[error])?.as_slice()
            && let Some(marker) = cite_symbol(draft, definition)
        {
            draft.say(format!(
                "{} is {} in {} {marker}.",
                qualified_name(definition),
                noun(definition.symbol.kind),
                place_of(&definition.file, definition.symbol.name_line)
            ));
        }
    }
    draft.confidence = if found.len() == 1 { 0.85 } else { 0.7 };
    Ok(())
}

/// Writes the errors that one of `count` functions names, and returns their names.
fn errors_of_one(draft: &mut Draft, function: &FoundSymbol, count: usize) -> Vec<String> {
    let file = Rc::clone(&function.file);
    let name = qualified_name(function);
    let lines = function.symbol.lines;
    let mut named: Vec<String> = Vec::new();
    let mut shown = Vec::new();
    for used in file.outline.references.iter().filter(|used| lines.contains(used.line)) {
        if !is_error(used, file.line(used.line)) || named.contains(&used.name) {
            continue;
        }
        let Some(line) = LineRange::new(used.line, used.line) else { continue };
        if let Some(marker) = draft.cite(&file, line, lines) {
            named.push(used.name.clone());
            shown.push(format!("{} (line {}) {marker}", name_as_code(&used.name), used.line));
        }
    }
    if !shown.is_empty() {
        draft.about(&name.replace('`', ""));
        let of = match count {
            1 => name,
            _ => format!("{name}, defined in {},", place(function)),
        };
        draft.say(format!("{of} names these errors: {}.", joined(&shown)));
    }
    named
}

/// Returns whether a use is one of an error: by its name, or since it is raised.
fn is_error(used: &Reference, line: &str) -> bool {
    let is_raised = occurrences(line, &used.name).any(|(before, _)| {
        let before = before.trim_end().trim_end_matches("new").trim_end();
        before.ends_with("raise") || before.ends_with("throw")
    });
    is_raised || used.name.ends_with("Error") || used.name.ends_with("Exception")
}
