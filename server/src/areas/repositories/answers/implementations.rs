//! Answers what implements or extends a type, and what a type implements or extends.

use std::rc::Rc;

use super::comments::without_comment;
use super::draft::Draft;
use super::files::{Files, FoundSymbol, OpenFile};
use super::limits::{SYMBOLS_MAX, USE_CONTEXT_LINES, USES_MAX, USES_SHOWN_MAX};
use super::phrases::{
    among, cite_symbol, joined, name_as_code, noun, place, place_of, qualified_name,
};
use super::question::TYPE_KINDS;
use super::resolution::{Definition, Meanings, UsePlace};
use super::subjects::Subject;
use super::uses::foreign_name;
use crate::areas::repositories::index::{IndexError, ReferenceHit};
use crate::areas::repositories::source::{Language, LineRange, ReferenceKind, SymbolKind};
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
    let Some(first) = found.iter().find(|found| can_be_implemented(found.symbol.kind)) else {
        // An associated type such as `Future` has the name of what others implement.
        return foreign_name(draft, files, &any.symbol.name, Some(ReferenceKind::Implementation));
    };
    let shown_name = qualified_name(first);
    draft.about(&shown_name.replace('`', ""));
    let Implementing { certain, possible, is_cut } = implementing(files, first)?;
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
        let rest = among(certain.len(), shown.len(), is_cut, "");
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

/// Returns whether others can implement or extend a symbol of a kind.
fn can_be_implemented(kind: SymbolKind) -> bool {
    TYPE_KINDS.contains(&kind) && kind != SymbolKind::TypeAlias
}

/// Where a type is implemented or extended.
struct Implementing {
    /// Without doubt.
    certain: Vec<ReferenceHit>,
    /// Or where maybe another one of its name is.
    possible: Vec<ReferenceHit>,
    /// Whether there are more places, which were not looked at.
    is_cut: bool,
}

fn implementing(files: &mut Files<'_>, of: &FoundSymbol) -> Result<Implementing, IndexError> {
    let name = of.symbol.name.as_str();
    let mut same = files.index.symbols_of_name(name, SYMBOLS_MAX);
    same.retain(|hit| can_be_implemented(hit.kind));
    let definitions: Vec<Definition<'_>> =
        same.iter().filter_map(|hit| Definition::new(files.index, hit, same.len())).collect();
    let mut meanings = Meanings::new(definitions);
    let (mut certain, mut possible) = (Vec::new(), Vec::new());
    let found = files.references(name, Some(ReferenceKind::Implementation), USES_MAX)?;
    for hit in found.hits {
        files.index.check_stop()?;
        let file = files.open(hit.file)?;
        let place = UsePlace { file: &file, line: hit.line, within: None };
        match meanings.of(place) {
            Some(definition) if definition.is_of(of) => certain.push(hit),
            Some(_) => {}
            None => possible.push(hit),
        }
    }
    Ok(Implementing { certain, possible, is_cut: found.is_cut })
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
    let mut depth = HeadDepth::default();
    for (_, text) in file.numbered(lines) {
        let (text, is_last) = depth.before_body(without_comment(text, file.outline.language));
        head.push_str(text.trim());
        head.push(' ');
        if is_last {
            break;
        }
    }
    head
}

/// How deep a head is in type arguments, and in the braces of those that are values.
#[derive(Debug, Default)]
struct HeadDepth {
    angles: u32,
    braces: u32,
}

impl HeadDepth {
    /// Returns the part of a line before the body that the head is of, and whether that begins
    /// there. `Arr<{ 1 + 2 }>` has braces of its own.
    fn before_body<'line>(&mut self, line: &'line str) -> (&'line str, bool) {
        let mut before = ' ';
        for (at, char) in line.char_indices() {
            match char {
                '{' if self.angles == 0 => return (line.get(..at).unwrap_or(line), true),
                '{' => self.braces += 1,
                '}' => self.braces = self.braces.saturating_sub(1),
                '<' if self.braces == 0 => self.angles += 1,
                // The arrow of `Fn() -> T` ends no arguments.
                '>' if self.braces == 0 && before != '-' => {
                    self.angles = self.angles.saturating_sub(1);
                }
                _ => {}
            }
            before = char;
        }
        (line, false)
    }
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
    let types = found.iter().filter(|found| can_be_implemented(found.symbol.kind));
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
    for (line, name) in derived(of) {
        add(&of.file, line, &name);
    }
    let name = of.symbol.name.as_str();
    let mut same = files.index.symbols_of_name(name, SYMBOLS_MAX);
    same.retain(|hit| can_be_implemented(hit.kind));
    let is_only = same.len() == 1;
    // The type of an `impl` block is used as a type there.
    let is_head = |hit: &ReferenceHit| {
        let language = files.index.entry(hit.file).and_then(|entry| entry.language);
        (is_only || hit.file == of.file.id) && language == Some(Language::Rust)
    };
    let mut hits = files.references(name, Some(ReferenceKind::Type), USES_MAX)?.hits;
    hits.retain(is_head);
    hits.dedup_by_key(|hit| (hit.file, hit.line));
    for hit in hits {
        files.index.check_stop()?;
        let file = files.open(hit.file)?;
        if implementing_type(file.line(hit.line)) != Some(name) {
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

/// Returns the traits that attributes above a type of Rust derive, with their lines.
fn derived(of: &FoundSymbol) -> Vec<(u32, String)> {
    let above = LineRange::new(of.symbol.lines.start(), of.symbol.name_line);
    let is_rust = of.file.outline.language == Some(Language::Rust);
    let Some(above) = above.filter(|_| is_rust) else { return Vec::new() };
    let mut found = Vec::new();
    let mut is_open = false;
    for (number, line) in of.file.numbered(above) {
        let line = without_comment(line, Some(Language::Rust)).trim();
        let rest = match line.strip_prefix("#[derive(") {
            Some(rest) => {
                is_open = true;
                rest
            }
            None => line,
        };
        if !is_open {
            continue;
        }
        let (names, end) =
            rest.split_once(')').map_or((rest, None), |(names, end)| (names, Some(end)));
        is_open = end.is_none();
        let names = names.split(',').map(|name| name.rsplit("::").next().unwrap_or(name).trim());
        found.extend(names.filter(|name| !name.is_empty()).map(|name| (number, name.to_owned())));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_end_at_the_body() {
        for (text, expected) in [
            ("impl Shout for Bar {", "impl Shout for Bar"),
            ("impl Shout for Bar // kept for tests", "impl Shout for Bar"),
            ("impl Shout for Arr<{ 1 + 2 }> {}", "impl Shout for Arr<{ 1 + 2 }>"),
            ("impl Walk for fn(u8) -> u8 {}", "impl Walk for fn(u8) -> u8"),
            ("impl<F: Fn() -> u8> Call for F {", "impl<F: Fn() -> u8> Call for F"),
        ] {
            let mut depth = HeadDepth::default();
            let line = without_comment(text, Some(Language::Rust));
            assert_eq!(depth.before_body(line).0.trim(), expected, "{text}");
        }
    }
}
