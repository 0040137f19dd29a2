//! Answers what implements or extends a type, and what a type implements or extends.

use std::rc::Rc;

use super::draft::Draft;
use super::files::{Files, FoundSymbol, OpenFile};
use super::limits::{SYMBOLS_MAX, USE_CONTEXT_LINES, USES_MAX, USES_SHOWN_MAX};
use super::phrases::{cite_symbol, joined, name_as_code, noun, place, place_of, qualified_name};
use super::question::TYPE_KINDS;
use super::resolution::{Definition, UsePlace, meant};
use super::subjects::Subject;
use super::uses::foreign_name;
use crate::areas::repositories::index::{IndexError, ReferenceHit};
use crate::areas::repositories::source::{LineRange, ReferenceKind, Symbol, SymbolKind};
use crate::areas::repositories::wiki::implementing_type;

/// Lines over which the head of an `impl` block goes.
const HEAD_LINES_MAX: u32 = 6;

/// Writes what implements or extends a subject.
pub(super) fn implementations(
    draft: &mut Draft,
    files: &mut Files<'_>,
    subject: &Subject,
) -> Result<(), IndexError> {
    let Subject::Symbols(found) = subject else { return Ok(()) };
    let Some(any) = found.first() else { return Ok(()) };
    let Some(first) = found.iter().find(|found| can_be_implemented(&found.symbol)) else {
        // An associated type such as `Future` has the name of what others implement.
        return foreign_name(draft, files, &any.symbol.name, Some(ReferenceKind::Implementation));
    };
    let shown_name = qualified_name(first);
    draft.about(&shown_name.replace('`', ""));
    let (certain, possible) = implementing(files, first)?;
    let shown = say_implementations(draft, files, &certain)?;
    if shown.is_empty() {
        if let Some(marker) = cite_symbol(draft, first) {
            let is_certain =
                if possible.is_empty() { "was found in the index" } else { "is certain" };
            draft.say(format!(
                "No implementation of {shown_name}, {} in {} {marker}, {is_certain}.",
                noun(first.symbol.kind),
                place(first)
            ));
        }
    } else {
        let rest = match certain.len() > shown.len() {
            true => format!(", among {} that were found", certain.len()),
            false => String::new(),
        };
        draft.say(format!("{shown_name} is implemented or extended by {}{rest}.", joined(&shown)));
        if let Some(marker) = cite_symbol(draft, first) {
            draft.say(format!(
                "{shown_name} is {} defined in {} {marker}.",
                noun(first.symbol.kind),
                place(first)
            ));
        }
    }
    let others = say_implementations(draft, files, &possible)?;
    if !others.is_empty() {
        let name = name_as_code(&first.symbol.name);
        draft.say(format!(
            "Another {name} may be meant where {} implement or extend it.",
            joined(&others)
        ));
    }
    draft.confidence = match (shown.is_empty(), possible.is_empty()) {
        (false, true) => 0.92,
        (false, false) => 0.8,
        (true, _) => 0.5,
    };
    Ok(())
}

/// Returns whether others can implement or extend a symbol.
fn can_be_implemented(symbol: &Symbol) -> bool {
    TYPE_KINDS.contains(&symbol.kind) && symbol.kind != SymbolKind::TypeAlias
}

/// Returns where a type is implemented or extended without doubt, and where maybe another one of
/// its name is.
fn implementing(
    files: &mut Files<'_>,
    of: &FoundSymbol,
) -> Result<(Vec<ReferenceHit>, Vec<ReferenceHit>), IndexError> {
    let name = of.symbol.name.as_str();
    let hits = files.index.symbols(name, SYMBOLS_MAX)?;
    let same: Vec<_> = hits
        .iter()
        .filter(|hit| {
            hit.name == name && TYPE_KINDS.contains(&hit.kind) && hit.kind != SymbolKind::TypeAlias
        })
        .collect();
    let definitions: Vec<Definition<'_>> =
        same.iter().filter_map(|hit| Definition::new(files.index, hit, same.len())).collect();
    let (mut certain, mut possible) = (Vec::new(), Vec::new());
    for hit in files.index.references(name, USES_MAX)? {
        if hit.kind != ReferenceKind::Implementation {
            continue;
        }
        let file = files.open(hit.file)?;
        let place = UsePlace { file: &file, line: hit.line, within: None };
        match meant(&definitions, place).and_then(|position| definitions.get(position)) {
            Some(definition) if definition.is_of(of) => certain.push(hit),
            Some(_) => {}
            None => possible.push(hit),
        }
    }
    Ok((certain, possible))
}

/// Adds references to what implements or extends, and returns how each is written.
fn say_implementations(
    draft: &mut Draft,
    files: &mut Files<'_>,
    hits: &[ReferenceHit],
) -> Result<Vec<String>, IndexError> {
    let mut shown = Vec::new();
    for hit in hits {
        if shown.len() >= USES_SHOWN_MAX {
            break;
        }
        let file = files.open(hit.file)?;
        let within = match hit.within {
            Some(symbol) => files.symbol(symbol)?,
            None => None,
        };
        let end = hit.line.saturating_add(USE_CONTEXT_LINES);
        let lines = LineRange::new(hit.line, hit.line).zip(LineRange::new(hit.line, end));
        let Some((support, around)) = lines else { continue };
        let Some(marker) = draft.cite(&file, support, around) else { continue };
        let place = place_of(&file, hit.line);
        // What contains an `impl` block does not implement.
        let is_type = |found: &&FoundSymbol| TYPE_KINDS.contains(&found.symbol.kind);
        let implementor = implementor(&file, hit.line)
            .or_else(|| within.as_ref().filter(is_type).map(qualified_name));
        shown.push(match implementor {
            Some(implementor) => format!("{implementor} ({place}) {marker}"),
            None => format!("{place} {marker}"),
        });
    }
    Ok(shown)
}

/// Returns the type of the `impl` block that a line begins, as code.
pub(super) fn implementor(file: &OpenFile, line: u32) -> Option<String> {
    implementing_type(file.line(line))?;
    let head = head(file, line);
    // The last one: `impl<F> Call for F where F: for<'a> Fn(&'a u8)` ends before.
    let (_, of) = head.split(" where ").next()?.rsplit_once(" for ")?;
    Some(name_as_code(of.trim()))
}

/// Returns the head of the block that a line begins, in one line.
fn head(file: &OpenFile, line: u32) -> String {
    let Some(lines) = LineRange::new(line, line.saturating_add(HEAD_LINES_MAX)) else {
        return String::new();
    };
    let mut head = String::new();
    for (_, text) in file.numbered(lines) {
        let (text, is_last) = match text.split_once('{') {
            Some((before, _)) => (before, true),
            None => (text, false),
        };
        head.push_str(text.trim());
        head.push(' ');
        if is_last {
            break;
        }
    }
    head
}

/// Types of one name whose bases are named.
const DEFINITIONS_MAX: usize = 3;

/// A type that another one implements or extends.
struct Base {
    file: Rc<OpenFile>,
    line: u32,
    name: String,
}

/// Writes what a subject implements or extends.
pub(super) fn bases(
    draft: &mut Draft,
    files: &mut Files<'_>,
    subject: &Subject,
) -> Result<(), IndexError> {
    let Subject::Symbols(found) = subject else { return Ok(()) };
    let types = found.iter().filter(|found| can_be_implemented(&found.symbol));
    let mut has_bases = false;
    for found in types.take(DEFINITIONS_MAX) {
        has_bases |= say_bases(draft, files, found)?;
    }
    draft.confidence = if has_bases { 0.9 } else { 0.5 };
    Ok(())
}

/// Writes what a type implements or extends. Returns whether that is anything.
fn say_bases(
    draft: &mut Draft,
    files: &mut Files<'_>,
    of: &FoundSymbol,
) -> Result<bool, IndexError> {
    let name = qualified_name(of);
    draft.about(&name.replace('`', ""));
    let bases = bases_of(files, of)?;
    let mut shown: Vec<String> = Vec::new();
    for base in bases.iter().take(USES_SHOWN_MAX) {
        let line = LineRange::new(base.line, base.line);
        let Some(marker) = line.and_then(|line| draft.cite(&base.file, line, line)) else {
            continue;
        };
        let place = place_of(&base.file, base.line);
        shown.push(format!("{} ({place}) {marker}", name_as_code(&base.name)));
    }
    let Some(marker) = cite_symbol(draft, of) else { return Ok(false) };
    let (kind, place) = (noun(of.symbol.kind), place(of));
    let rest = match bases.len() > shown.len() {
        true => format!(", among {} that were found", bases.len()),
        false => String::new(),
    };
    draft.say(match shown.is_empty() {
        true => format!(
            "No type that {name}, {kind} in {place} {marker}, implements or extends was found in \
             the index."
        ),
        false => format!(
            "{name}, {kind} in {place} {marker}, implements or extends {}{rest}.",
            joined(&shown)
        ),
    });
    Ok(!shown.is_empty())
}

/// Returns what the head of a type and its `impl` blocks name, each once.
fn bases_of(files: &mut Files<'_>, of: &FoundSymbol) -> Result<Vec<Base>, IndexError> {
    let mut found: Vec<Base> = Vec::new();
    let mut add = |file: &Rc<OpenFile>, line: u32, name: &str| {
        if !found.iter().any(|known| known.name == name) {
            let file = Rc::clone(file);
            found.push(Base { file, line, name: name.to_owned() });
        }
    };
    let is_base = |kind| kind == ReferenceKind::Implementation;
    for used in of.file.outline.references.iter().filter(|used| is_base(used.kind)) {
        if used.within == Some(of.position) {
            add(&of.file, used.line, &used.name);
        }
    }
    let name = of.symbol.name.as_str();
    let is_only = files
        .index
        .symbols(name, SYMBOLS_MAX)?
        .iter()
        .filter(|hit| hit.name == name && TYPE_KINDS.contains(&hit.kind))
        .count()
        == 1;
    for hit in files.index.references(name, USES_MAX)? {
        let file = files.open(hit.file)?;
        let is_own = is_only || file.id == of.file.id;
        if !is_own || implementing_type(file.line(hit.line)) != Some(name) {
            continue;
        }
        let bases = file
            .outline
            .references
            .iter()
            .filter(|used| is_base(used.kind) && used.line == hit.line && used.name != name);
        for used in bases {
            add(&file, used.line, &used.name);
        }
    }
    Ok(found)
}
