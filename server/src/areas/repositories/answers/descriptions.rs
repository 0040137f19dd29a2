//! Answers where something is defined, and what it is or does.

use std::rc::Rc;

use super::dependencies::called_symbols;
use super::draft::{Draft, Marker};
use super::files::{Files, FoundSymbol, OpenFile};
use super::limits::{LISTED_NAMES_MAX, SNIPPET_LINES_MAX, SYMBOLS_MAX};
use super::phrases::{
    cite_symbol, code, is_prose, joined, name_as_code, noun, place, place_of, qualified_name,
    quoted, quotes, signature, symbol_quotes, without_markers,
};
use super::question::TYPE_KINDS;
use super::subjects::Subject;
use super::values::{say_other_values, value_sentence};
use crate::areas::repositories::index::{FileId, IndexError};
use crate::areas::repositories::source::{LineRange, SymbolKind};

/// Definitions of the same name that are named beside the likeliest one.
const OTHER_DEFINITIONS_MAX: usize = 3;
/// Sentences of a documentation that describe a symbol.
const DOC_SENTENCES_MAX: usize = 2;
/// Things that are compared with each other.
const COMPARED_MAX: usize = 3;
/// Members of a type that are named.
const MEMBERS_MAX: usize = 8;

/// Writes where a subject is defined.
pub(super) fn define(
    draft: &mut Draft,
    files: &mut Files<'_>,
    subject: &Subject,
) -> Result<(), IndexError> {
    let Subject::Symbols(found) = subject else { return describe(draft, files, subject) };
    for (position, symbol) in found.iter().take(1 + OTHER_DEFINITIONS_MAX).enumerate() {
        let Some(marker) = cite_symbol(draft, symbol) else { continue };
        let name = qualified_name(symbol);
        draft.about(&name.replace('`', ""));
        let (kind, place) = (noun(symbol.symbol.kind), place(symbol));
        draft.say(match position {
            0 => format!("{name} is {kind} defined in {place} {marker}."),
            _ => format!("{name}, {kind}, is defined in {place} {marker}."),
        });
        if position == 0 {
            say_doc(draft, symbol, 1);
        }
    }
    if let Some(more) = found.len().checked_sub(1 + OTHER_DEFINITIONS_MAX).filter(|more| *more > 0)
        && !draft.is_empty()
        && let Some(first) = found.first()
    {
        let name = name_as_code(&first.symbol.name);
        draft.say(format!("The index has at least {more} more definitions named {name}."));
    }
    draft.confidence = if found.len() == 1 { 0.97 } else { 0.85 };
    Ok(())
}

/// Writes what a subject is or does.
pub(super) fn describe(
    draft: &mut Draft,
    files: &mut Files<'_>,
    subject: &Subject,
) -> Result<(), IndexError> {
    match subject {
        Subject::Symbols(found) => {
            if let Some(first) = found.first() {
                describe_symbol(draft, files, first)?;
                say_other_values(draft, found);
            }
            say_others(draft, found);
            draft.confidence = if found.len() == 1 { 0.95 } else { 0.8 };
            Ok(())
        }
        Subject::File(file, None) => {
            describe_file(draft, file);
            Ok(())
        }
        Subject::File(file, Some(lines)) => describe_lines(draft, files, file, *lines),
        Subject::Folder(path, inside) => describe_folder(draft, files, path, inside),
        Subject::Unknown(_) => Ok(()),
    }
}

fn describe_symbol(
    draft: &mut Draft,
    files: &mut Files<'_>,
    found: &FoundSymbol,
) -> Result<(), IndexError> {
    let Some(marker) = cite_symbol(draft, found) else { return Ok(()) };
    let name = qualified_name(found);
    draft.about(&name.replace('`', ""));
    draft.say(format!("{name} is {} in {} {marker}.", noun(found.symbol.kind), place(found)));
    say_doc(draft, found, DOC_SENTENCES_MAX);
    if let Some(sentence) = value_sentence(found, marker) {
        draft.say(sentence);
        return Ok(());
    }
    if TYPE_KINDS.contains(&found.symbol.kind) {
        say_members(draft, found, marker);
    } else {
        if let Some(signature) = signature(found) {
            draft.say(format!("Its signature is {signature} {marker}."));
        }
        let called = called_symbols(files, found)?;
        let shown: Vec<String> = called
            .iter()
            .filter(|call| draft.shows(&found.file, call.line))
            .map(|call| {
                let target = qualified_name(&call.target);
                // What has the same name is distinguished by its place.
                let is_same_name = call.target.symbol.name == found.symbol.name;
                let place = is_same_name.then(|| format!(" ({})", place(&call.target)));
                format!("{target}{}", place.unwrap_or_default())
            })
            .take(MEMBERS_MAX)
            .collect();
        if !shown.is_empty() {
            draft.say(format!("It calls {} {marker}.", joined(&shown)));
        }
    }
    Ok(())
}

/// Writes what each of several subjects is.
pub(super) fn compare(draft: &mut Draft, subjects: &[&FoundSymbol]) {
    for found in subjects.iter().take(COMPARED_MAX) {
        let Some(marker) = cite_symbol(draft, found) else { continue };
        let name = qualified_name(found);
        draft.about(&name.replace('`', ""));
        draft.say(format!("{name} is {} in {} {marker}.", noun(found.symbol.kind), place(found)));
        say_doc(draft, found, DOC_SENTENCES_MAX);
    }
    draft.confidence = 0.75;
}

/// Writes the first sentences of a symbol's documentation.
pub(super) fn say_doc(draft: &mut Draft, found: &FoundSymbol, sentences_max: usize) {
    for quote in symbol_quotes(found).into_iter().take(sentences_max) {
        if let Some(marker) = draft.cite(&found.file, quote.lines, found.symbol.lines) {
            draft.say(format!("{} {marker}", quoted(&quote.sentence)));
        }
    }
}

fn say_others(draft: &mut Draft, found: &[FoundSymbol]) {
    let mut others = Vec::new();
    for other in found.iter().skip(1).take(OTHER_DEFINITIONS_MAX) {
        if let Some(marker) = cite_symbol(draft, other) {
            others.push(format!("{} in {} {marker}", noun(other.symbol.kind), place(other)));
        }
    }
    if others.is_empty() {
        return;
    }
    let more = match found.len().saturating_sub(1 + others.len()) {
        0 => String::new(),
        _ if found.len() >= SYMBOLS_MAX => {
            format!("; the index has at least {} definitions of it", found.len())
        }
        _ => format!("; the index has {} definitions of it", found.len()),
    };
    draft.say(format!("The same name is also {}{more}.", joined(&others)));
}

/// Writes the members of a type that its lines show.
fn say_members(draft: &mut Draft, found: &FoundSymbol, marker: Marker) {
    let members = || {
        found
            .file
            .outline
            .symbols
            .iter()
            .filter(|member| member.parent == Some(found.position) && !member.is_test)
    };
    let shown: Vec<String> = members()
        .filter(|member| matches!(member.kind, SymbolKind::Variant | SymbolKind::Field))
        .filter(|member| draft.shows(&found.file, member.name_line))
        .map(|member| name_as_code(&member.name))
        .take(MEMBERS_MAX)
        .collect();
    if !shown.is_empty() {
        let what = if found.symbol.kind == SymbolKind::Enum {
            "Its variants include"
        } else {
            "Its fields include"
        };
        draft.say(format!("{what} {} {marker}.", joined(&shown)));
    }
    let methods: Vec<_> = members()
        .filter(|member| member.kind == SymbolKind::Method && member.is_public)
        .take(MEMBERS_MAX)
        .collect();
    let Some((first, last)) = methods.first().zip(methods.last()) else { return };
    let name = |line| LineRange::new(line, line);
    let span =
        LineRange::new(first.name_line.min(last.name_line), first.name_line.max(last.name_line));
    let Some((support, shown)) = name(first.name_line).zip(span) else { return };
    let Some(marker) = draft.cite(&found.file, support, shown) else { return };
    let names: Vec<String> = methods
        .iter()
        .filter(|method| draft.shows(&found.file, method.name_line))
        .map(|method| name_as_code(&method.name))
        .collect();
    draft.say(format!("Its public methods include {} {marker}.", joined(&names)));
}

/// Writes what a file says of itself and defines.
pub(super) fn describe_file(draft: &mut Draft, file: &Rc<OpenFile>) {
    let path = code(&without_markers(&file.path));
    let all = file.all_lines();
    let doc = file.outline.doc.as_deref().or_else(|| {
        // What has no grammar is prose, such as a README.
        let is_written = file.outline.language.is_none() && is_prose(&file.path);
        is_written.then_some(file.text.as_str())
    });
    let mut is_described = false;
    for quote in all
        .zip(doc)
        .map(|(all, doc)| quotes(file, doc, all))
        .unwrap_or_default()
        .into_iter()
        .take(3)
    {
        if let Some((marker, _)) = draft.cite(file, quote.lines, quote.lines).zip(all) {
            let sentence = quoted(&quote.sentence);
            draft.say(match is_described {
                false => format!("{path} says of itself: {sentence} {marker}"),
                true => format!("{sentence} {marker}"),
            });
            is_described = true;
        }
    }
    say_contents(draft, file, &path);
    draft.about(&file.path);
    draft.confidence = if is_described { 0.9 } else { 0.75 };
}

/// Writes which symbols a file defines, with a reference to those that fit.
fn say_contents(draft: &mut Draft, file: &Rc<OpenFile>, path: &str) {
    let top = || {
        file.outline.symbols.iter().filter(|symbol| {
            symbol.parent.is_none() && !symbol.is_test && symbol.kind != SymbolKind::Module
        })
    };
    let has_public = top().any(|symbol| symbol.is_public);
    let mut names = Vec::new();
    let mut markers: Vec<String> = Vec::new();
    for symbol in top().filter(|symbol| symbol.is_public == has_public).take(LISTED_NAMES_MAX) {
        let Some(support) = LineRange::new(symbol.name_line, symbol.name_line) else { continue };
        let end = support.start().saturating_add(SNIPPET_LINES_MAX / 2);
        let shown = LineRange::new(support.start(), end).unwrap_or(support);
        if let Some(marker) = draft.cite(file, support, shown) {
            names.push(name_as_code(&symbol.name));
            let marker = marker.to_string();
            if !markers.contains(&marker) {
                markers.push(marker);
            }
        }
    }
    if !names.is_empty() {
        let rest = if top().count() > names.len() { " and others" } else { "" };
        let names = if rest.is_empty() { joined(&names) } else { names.join(", ") };
        draft.say(format!("{path} defines {names}{rest} {}.", markers.join(" ")));
    } else if draft.is_empty()
        && let Some(all) = file.all_lines()
        && let Some(first) = LineRange::new(1, 1)
        && let Some(marker) = draft.cite(file, first, all)
    {
        draft.say(format!("{path} begins as shown {marker}."));
    }
}

/// Writes what some lines of a file are a part of, and what they call.
fn describe_lines(
    draft: &mut Draft,
    files: &mut Files<'_>,
    file: &Rc<OpenFile>,
    lines: LineRange,
) -> Result<(), IndexError> {
    let Some(all) = file.all_lines() else { return Ok(()) };
    let end = lines.end().min(all.end()).min(lines.start().saturating_add(SNIPPET_LINES_MAX - 1));
    let Some(asked) = LineRange::new(lines.start(), end) else { return Ok(()) };
    let Some(marker) = draft.cite(file, asked, asked) else { return Ok(()) };
    draft.confidence = 0.9;
    let Some(symbol) = file.innermost(asked.start()) else {
        draft.say(format!(
            "{} is outside of any definition {marker}.",
            place_of(file, asked.start())
        ));
        return Ok(());
    };
    let name = qualified_name(&symbol);
    draft.about(&name.replace('`', ""));
    let kind = noun(symbol.symbol.kind);
    let place = place_of(file, asked.start());
    if let Some(of_symbol) = cite_symbol(draft, &symbol) {
        draft.say(format!("{place} {marker} is in {name}, {kind} {of_symbol}."));
        say_doc(draft, &symbol, 1);
    }
    let called: Vec<String> = called_symbols(files, &symbol)?
        .iter()
        .filter(|call| asked.contains(call.line))
        .map(|call| format!("{} ({})", qualified_name(&call.target), self::place(&call.target)))
        .collect();
    if !called.is_empty() {
        draft.say(format!("These lines call {} {marker}.", joined(&called)));
    }
    Ok(())
}

/// Writes what a folder contains: what its main file says, and the most important files.
fn describe_folder(
    draft: &mut Draft,
    files: &mut Files<'_>,
    path: &str,
    inside: &[FileId],
) -> Result<(), IndexError> {
    let mut ranked: Vec<FileId> = inside.to_vec();
    ranked.sort_by(|left, right| files.index.rank(*right).total_cmp(&files.index.rank(*left)));
    let main = ranked.iter().find(|id| {
        let own = files.index.entry(**id).and_then(|entry| entry.path.strip_prefix(path));
        own.is_some_and(|own| MAIN_FILES.contains(&own.trim_start_matches('/')))
    });
    let folder = code(&without_markers(path));
    let mut described = 0;
    for id in main.into_iter().chain(ranked.iter().filter(|id| Some(*id) != main)).take(12) {
        let file = files.open(*id)?;
        let quote = file
            .all_lines()
            .zip(file.outline.doc.as_deref())
            .and_then(|(all, doc)| quotes(&file, doc, all).into_iter().next());
        let Some(quote) = quote else { continue };
        let Some(marker) = draft.cite(&file, quote.lines, quote.lines) else { continue };
        let name = code(&without_markers(&file.path));
        draft.say(format!("{name}: {} {marker}", quoted(&quote.sentence)));
        described += 1;
        if described == 5 {
            break;
        }
    }
    if draft.is_empty()
        && let Some(first) = ranked.first()
    {
        describe_file(draft, &files.open(*first)?);
    }
    if !draft.is_empty() {
        let count = inside.len();
        let plural = if count == 1 { "file" } else { "files" };
        draft.say(format!("The folder {folder} has {count} indexed {plural}."));
        draft.about(path);
        draft.confidence = if described > 0 { 0.85 } else { 0.6 };
    }
    Ok(())
}

/// The files that say what a folder is, without the folder.
const MAIN_FILES: &[&str] = &[
    "mod.rs",
    "lib.rs",
    "main.rs",
    "src/lib.rs",
    "src/main.rs",
    "__init__.py",
    "index.js",
    "index.ts",
    "index.tsx",
    "doc.go",
    "README.md",
    "package-info.java",
];
