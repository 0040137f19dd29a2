//! Answers which functions, types, errors, routes, settings, tests or files there are.

use std::rc::Rc;

use super::draft::Draft;
use super::errors::errors_of;
use super::files::{Files, FoundSymbol, OpenFile};
use super::limits::{LISTED_NAMES_MAX, SNIPPET_LINES_MAX};
use super::listed_symbols::{Scope, Total, listed_symbols};
use super::phrases::{
    code, has_marker, joined, name_as_code, noun, place, place_of, qualified_name, without_markers,
};
use super::question::{Listed, Question, TYPE_KINDS};
use super::routes::route;
use super::subjects::Subject;
use crate::areas::repositories::index::IndexError;
use crate::areas::repositories::source::{LineRange, SymbolKind};

/// Writes a list. `subject` is what the listed things belong to.
pub(super) fn list(
    draft: &mut Draft,
    files: &mut Files<'_>,
    question: &Question,
    listed: Listed,
    subject: Option<&Subject>,
) -> Result<(), IndexError> {
    let scope = Scope::new(files, question, listed, subject);
    if let (Listed::Errors, Some(Subject::Symbols(found))) = (listed, subject) {
        return errors_of(draft, files, found);
    }
    match listed {
        Listed::Routes => routes(draft, files, &scope),
        Listed::Files => listed_files(draft, files, &scope),
        _ => symbols(draft, files, &scope, listed),
    }
}

fn symbols(
    draft: &mut Draft,
    files: &mut Files<'_>,
    scope: &Scope,
    listed: Listed,
) -> Result<(), IndexError> {
    let (found, total) = listed_symbols(files, scope, listed)?;
    let mut names: Vec<String> = Vec::new();
    for symbol in &found {
        if names.len() == LISTED_NAMES_MAX {
            break;
        }
        let Some((support, shown)) = lines_to_show(symbol, &found) else { continue };
        let Some(marker) = draft.cite(&symbol.file, support, shown) else { continue };
        names.push(format!("{} ({}) {marker}", qualified_name(symbol), place(symbol)));
    }
    match &scope.within {
        Some(within) => say_list_within(draft, listed, within, scope, &names, total),
        None => say_list(draft, listed, &names, total),
    }
    if let (Some(within), Listed::Settings) = (found.first(), listed) {
        say_fields(draft, within);
    }
    Ok(())
}

/// Writes what a symbol contains: another one can have its name.
fn say_list_within(
    draft: &mut Draft,
    listed: Listed,
    within: &FoundSymbol,
    scope: &Scope,
    names: &[String],
    total: Total,
) {
    let name = qualified_name(within);
    draft.about(&name.replace('`', ""));
    let of = format!("{name}, {} in {}", noun(within.symbol.kind), place(within));
    if names.is_empty() {
        return;
    }
    let (what, count) = (plural(listed), counted(total.count, listed));
    let at_least = if total.is_partial { "at least " } else { "" };
    draft.say(match (names.len() < total.count, total.is_partial) {
        (true, _) => format!("{of}, has {at_least}{count}, among them {}.", joined(names)),
        (false, true) => format!("{of}, has {at_least}{count}: {}.", joined(names)),
        (false, false) if total.count == 1 => format!("{of}, has {count}: {}.", joined(names)),
        (false, false) => format!("{of}, has these {what}: {}.", joined(names)),
    });
    let others = scope.others;
    if others > 0 {
        let name = name_as_code(&within.symbol.name);
        let at_least = if scope.are_others_cut { "at least " } else { "" };
        draft.say(format!("The index has {at_least}{others} more with the name {name}."));
    }
    draft.confidence = if others == 0 { 0.9 } else { 0.7 };
}

/// Returns the line of a symbol's name, and lines after it that show it and the next ones.
fn lines_to_show(of: &FoundSymbol, found: &[FoundSymbol]) -> Option<(LineRange, LineRange)> {
    let line = of.symbol.name_line;
    let last = line.saturating_add(SNIPPET_LINES_MAX - 1);
    let next = found
        .iter()
        .filter(|other| other.file.id == of.file.id)
        .map(|other| other.symbol.name_line)
        .filter(|other| (line..=last).contains(other))
        .max();
    let end = next.unwrap_or(line).max(of.symbol.lines.end().min(last));
    Some((LineRange::new(line, line)?, LineRange::new(line, end)?))
}

/// Writes the fields of a type of settings.
fn say_fields(draft: &mut Draft, found: &FoundSymbol) {
    let fields: Vec<String> = found
        .file
        .outline
        .symbols
        .iter()
        .filter(|field| field.parent == Some(found.position) && field.kind == SymbolKind::Field)
        .filter(|field| draft.shows(&found.file, field.name_line))
        .map(|field| name_as_code(&field.name))
        .take(LISTED_NAMES_MAX)
        .collect();
    let line = LineRange::new(found.symbol.name_line, found.symbol.name_line);
    if !fields.is_empty()
        && let Some(marker) = line.and_then(|line| draft.cite(&found.file, line, line))
    {
        draft.say(format!(
            "{} has the fields {} {marker}.",
            qualified_name(found),
            joined(&fields)
        ));
    }
}

fn say_list(draft: &mut Draft, listed: Listed, names: &[String], total: Total) {
    if names.is_empty() {
        return;
    }
    let names_listed = joined(names);
    draft.say(match (total.is_more_than(names), total.is_partial) {
        (false, _) => match total.count {
            1 => format!("This {} was found: {names_listed}.", singular(listed)),
            _ => format!("These {} were found: {names_listed}.", plural(listed)),
        },
        (true, true) => {
            let (count, were) = (counted(total.count, listed), was_or_were(total.count));
            let among = if names.len() < total.count { ", among them " } else { ": " };
            format!("At least {count} {were} found{among}{names_listed}.")
        }
        (true, false) => {
            format!("{} were found, among them {names_listed}.", counted(total.count, listed))
        }
    });
    draft.confidence = 0.85;
}

fn was_or_were(count: usize) -> &'static str {
    if count == 1 { "was" } else { "were" }
}

/// Returns how much of what is listed there is: `1 class`, `3 classes`.
fn counted(count: usize, listed: Listed) -> String {
    let nouns = if count == 1 { singular(listed) } else { plural(listed) };
    format!("{count} {nouns}")
}

/// Returns what is listed, in the plural.
pub(super) fn plural(listed: Listed) -> &'static str {
    nouns(listed).1
}

/// Returns what is listed, in the singular.
fn singular(listed: Listed) -> &'static str {
    nouns(listed).0
}

/// Returns what is listed, in the singular and the plural.
fn nouns(listed: Listed) -> (&'static str, &'static str) {
    match listed {
        Listed::Errors => ("type of errors", "types of errors"),
        Listed::Routes => ("route", "routes"),
        Listed::Settings => ("type of settings", "types of settings"),
        Listed::Tests => ("test", "tests"),
        Listed::Files => ("file", "files"),
        Listed::Symbols(kinds) => match kinds {
            [SymbolKind::Function, SymbolKind::Method] => ("function", "functions"),
            [SymbolKind::Class] => ("class", "classes"),
            [SymbolKind::Struct] => ("struct", "structs"),
            [SymbolKind::Enum] => ("enum", "enums"),
            [SymbolKind::Variant] => ("enum variant", "enum variants"),
            [SymbolKind::Trait, SymbolKind::Interface] => {
                ("trait or interface", "traits and interfaces")
            }
            [SymbolKind::Macro] => ("macro", "macros"),
            [SymbolKind::Constant] => ("constant", "constants"),
            [SymbolKind::Variable] => ("variable", "variables"),
            [SymbolKind::Field] => ("field", "fields"),
            kinds if kinds == TYPE_KINDS => ("type", "types"),
            _ => ("symbol", "symbols"),
        },
    }
}

fn routes(draft: &mut Draft, files: &mut Files<'_>, scope: &Scope) -> Result<(), IndexError> {
    let mut names = Vec::new();
    let mut total = 0;
    files.open_all(&scope.files)?;
    for id in &scope.files {
        let file = files.open(*id)?;
        if file.outline.language.is_none() {
            continue;
        }
        let is_test = |line| file.innermost(line).is_some_and(|symbol| symbol.symbol.is_test);
        let mut before = "";
        for (number, line) in (1_u32..).zip(file.text.lines()) {
            // A long declaration has its path on the line after its beginning.
            let is_continued = before.ends_with('(');
            let joined =
                if is_continued { format!("{before}{}", line.trim()) } else { String::new() };
            before = line.trim();
            let Some(route) = route(if is_continued { &joined } else { line })
                .filter(|route| !has_marker(&route.path))
            else {
                continue;
            };
            if !scope.has_topic(&format!("{} {line}", file.path))
                || is_test(number)
                || file.is_secret(number)
            {
                continue;
            }
            total += 1;
            if names.len() == LISTED_NAMES_MAX {
                continue;
            }
            let end = number.saturating_add(SNIPPET_LINES_MAX - 1);
            let Some((support, shown)) =
                LineRange::new(number, number).zip(LineRange::new(number, end))
            else {
                continue;
            };
            if let Some(marker) = draft.cite(&file, support, shown) {
                let method = route.method.map(|method| format!("{method} ")).unwrap_or_default();
                names.push(format!(
                    "{} ({}) {marker}",
                    code(&format!("{method}{}", route.path)),
                    place_of(&file, number)
                ));
            }
        }
    }
    let total = Total { count: total, is_partial: scope.is_cut };
    say_list(draft, Listed::Routes, &names, total);
    Ok(())
}

fn listed_files(draft: &mut Draft, files: &mut Files<'_>, scope: &Scope) -> Result<(), IndexError> {
    let mut names = Vec::new();
    let mut total = 0;
    for id in &scope.files {
        let Some(path) = files.index.entry(*id).map(|entry| entry.path) else { continue };
        if !scope.has_topic(path) {
            continue;
        }
        total += 1;
        if !draft.has_room() {
            continue;
        }
        let file: Rc<OpenFile> = files.open(*id)?;
        let Some((first, shown)) = LineRange::new(1, 1).zip(LineRange::new(1, 6)) else { continue };
        if let Some(marker) = draft.cite(&file, first, shown) {
            names.push(format!("{} {marker}", code(&without_markers(path))));
        }
    }
    let total = Total { count: total, is_partial: false };
    say_list(draft, Listed::Files, &names, total);
    Ok(())
}
