//! Answers what something calls, imports or depends on, and which files use which.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::draft::Draft;
use super::files::{Files, FoundSymbol, OpenFile};
use super::limits::{LISTED_NAMES_MAX, SYMBOLS_MAX, USES_MAX};
use super::phrases::{
    cite_symbol, code, joined, name_as_code, noun, place, qualified_name, without_markers,
};
use super::question::TYPE_KINDS;
use super::resolution::{Definition, UsePlace, meant};
use super::subjects::Subject;
use crate::areas::repositories::index::{FileId, IndexError, SymbolHit};
use crate::areas::repositories::source::{LineRange, ReferenceKind, SymbolKind};
use crate::areas::repositories::wiki::{certain_dependencies, is_distinctive};

/// Files that an answer names.
const RELATED_FILES_MAX: usize = 6;

/// A call of a symbol that is defined in the repository.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) line: u32,
    pub(super) target: FoundSymbol,
}

/// A use of a name that has definitions in the repository, none of which is meant without doubt.
#[derive(Debug)]
struct Unresolved {
    line: u32,
    name: String,
    /// How many definitions the name has.
    definitions: usize,
}

/// Returns the calls in a symbol whose target is one definition of the repository without doubt, in
/// the order of the lines, each target once.
pub(super) fn called_symbols(
    files: &mut Files<'_>,
    found: &FoundSymbol,
) -> Result<Vec<Call>, IndexError> {
    Ok(used_symbols(files, found, Dependence::Calls)?.0)
}

/// Returns the uses of a kind in a symbol, as [`called_symbols`], and those that are in doubt.
fn used_symbols(
    files: &mut Files<'_>,
    found: &FoundSymbol,
    how: Dependence,
) -> Result<(Vec<Call>, Vec<Unresolved>), IndexError> {
    let index = files.index;
    let file = Rc::clone(&found.file);
    let mut calls: Vec<Call> = Vec::new();
    let mut unresolved: Vec<Unresolved> = Vec::new();
    let mut known: HashMap<&str, Vec<SymbolHit>> = HashMap::new();
    let mut seen = HashSet::new();
    let references = file
        .outline
        .references
        .iter()
        .filter(|used| how.includes(used.kind) && found.symbol.lines.contains(used.line))
        .filter(|used| seen.insert((used.name.as_str(), used.line)));
    for reference in references.take(USES_MAX) {
        index.check_stop()?;
        let name = reference.name.as_str();
        let hits = &*known.entry(name).or_insert_with(|| index.symbols_of_name(name, SYMBOLS_MAX));
        let same = || hits.iter();
        let targets: Vec<&SymbolHit> = same()
            .filter(|hit| (!hit.is_test || found.symbol.is_test) && is_target(hit.kind, how))
            .collect();
        let definitions: Vec<Definition<'_>> =
            targets.iter().filter_map(|hit| Definition::new(index, hit, targets.len())).collect();
        let place = UsePlace { file: &file, line: reference.line, within: Some(found) };
        match meant(&definitions, place).and_then(|position| targets.get(position)) {
            Some(target) => {
                if let Some(target) = files.symbol(target.symbol)?
                    && !target.is_same(found)
                    && !calls.iter().any(|call| call.target.is_same(&target))
                {
                    calls.push(Call { line: reference.line, target });
                }
            }
            None => {
                let definitions = same().count();
                let is_known = unresolved.iter().any(|known| known.name == reference.name);
                // `Ok(…)` makes a value of a variant, whatever function has that name.
                let is_variant =
                    targets.is_empty() && reference.name.starts_with(char::is_uppercase);
                if definitions > 0 && !is_known && !is_variant {
                    let (line, name) = (reference.line, reference.name.clone());
                    unresolved.push(Unresolved { line, name, definitions });
                }
            }
        }
    }
    calls.sort_by_key(|call| call.line);
    Ok((calls, unresolved))
}

fn is_target(kind: SymbolKind, how: Dependence) -> bool {
    match kind {
        SymbolKind::Function | SymbolKind::Method | SymbolKind::Macro => how == Dependence::Calls,
        SymbolKind::Class | SymbolKind::Struct => true,
        kind => how == Dependence::Types && TYPE_KINDS.contains(&kind),
    }
}

/// Writes what a subject calls or depends on.
pub(super) fn dependencies(
    draft: &mut Draft,
    files: &mut Files<'_>,
    subject: &Subject,
) -> Result<(), IndexError> {
    match subject {
        Subject::Symbols(found) => match found.first() {
            Some(first) => symbol_dependencies(draft, files, first),
            None => Ok(()),
        },
        Subject::File(file, _) => {
            draft.about(&file.path);
            say_imports(draft, file);
            related_files(draft, files, &[file.id], Direction::Used, &file.path)
        }
        Subject::Folder(path, inside) => {
            draft.about(path);
            related_files(draft, files, inside, Direction::Used, path)
        }
        Subject::Unknown(_) => Ok(()),
    }
}

/// How a symbol depends on others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dependence {
    /// It calls them.
    Calls,
    /// It names them as types, or extends them.
    Types,
}

impl Dependence {
    fn includes(self, used: ReferenceKind) -> bool {
        (used == ReferenceKind::Call) == (self == Self::Calls)
    }

    fn verb(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Types => "refers to",
        }
    }
}

fn symbol_dependencies(
    draft: &mut Draft,
    files: &mut Files<'_>,
    found: &FoundSymbol,
) -> Result<(), IndexError> {
    let name = qualified_name(found);
    draft.about(&name.replace('`', ""));
    let mut is_certain = true;
    let (mut has_named, mut has_uses) = (false, false);
    let is_type = TYPE_KINDS.contains(&found.symbol.kind);
    let types = is_type.then_some(Dependence::Types);
    for how in types.into_iter().chain([Dependence::Calls]) {
        let said = say_used(draft, files, found, how)?;
        has_named |= said.has_named;
        has_uses |= said.has_uses;
        is_certain &= said.is_certain;
    }
    if draft.is_empty()
        && let Some(marker) = cite_symbol(draft, found)
    {
        let shown_kind = noun(found.symbol.kind);
        let place = place(found);
        let of = format!("{name}, {shown_kind} in {place} {marker},");
        draft.say(match (has_uses, is_type) {
            (true, _) => format!(
                "{of} uses other names only on lines that are too long to quote or seem to hold \
                 a secret."
            ),
            (false, true) => format!("{of} names no other type of the index, and calls nothing."),
            (false, false) if has_references(found) => {
                format!("{of} calls nothing else by name.")
            }
            (false, false) => format!("No calls were recognised in {}.", of.trim_end_matches(',')),
        });
    }
    draft.confidence = match (has_named, is_certain) {
        (false, _) => 0.6,
        (true, true) => 0.9,
        (true, false) => 0.8,
    };
    Ok(())
}

/// Returns whether a symbol uses any name.
fn has_references(found: &FoundSymbol) -> bool {
    let mut references = found.file.outline.references.iter();
    references.any(|used| found.symbol.lines.contains(used.line))
}

/// What was said about the names that a symbol uses.
struct SaidUsed {
    has_named: bool,
    /// Whether it uses something, also on lines that are not quoted.
    has_uses: bool,
    is_certain: bool,
}

/// Writes the names that a symbol uses in a way.
fn say_used(
    draft: &mut Draft,
    files: &mut Files<'_>,
    found: &FoundSymbol,
    how: Dependence,
) -> Result<SaidUsed, IndexError> {
    let name = qualified_name(found);
    let verb = how.verb();
    let mut called = Vec::new();
    let (calls, unresolved) = used_symbols(files, found, how)?;
    let has_calls = !calls.is_empty();
    for call in calls.into_iter().take(LISTED_NAMES_MAX) {
        let Some(line) = LineRange::new(call.line, call.line) else { continue };
        if let Some(marker) = draft.cite(&found.file, line, found.symbol.lines) {
            called.push(format!(
                "{} ({}) {marker}",
                qualified_name(&call.target),
                place(&call.target)
            ));
        }
    }
    if !called.is_empty() {
        draft.say(format!("{name} {verb} {}.", joined(&called)));
    }
    let lead = |draft: &Draft| match draft.is_empty() {
        true => format!("{name} {verb}"),
        false => format!("It also {verb}"),
    };
    let lead_of_unresolved = lead(draft);
    say_unresolved(draft, found, &lead_of_unresolved, &unresolved);
    let lead_of_others = lead(draft);
    let is_foreign = say_foreign(draft, files, found, how, &lead_of_others)?;
    Ok(SaidUsed {
        has_named: !called.is_empty(),
        has_uses: has_calls || is_foreign || !unresolved.is_empty(),
        is_certain: unresolved.is_empty(),
    })
}

/// Writes which used names have definitions, without saying that one of them is meant.
fn say_unresolved(draft: &mut Draft, found: &FoundSymbol, verb: &str, unresolved: &[Unresolved]) {
    let mut names: Vec<String> = Vec::new();
    let mut markers: Vec<String> = Vec::new();
    for used in unresolved.iter().take(LISTED_NAMES_MAX) {
        let Some(line) = LineRange::new(used.line, used.line) else { continue };
        let Some(marker) = draft.cite(&found.file, line, found.symbol.lines) else { continue };
        let of = match used.definitions {
            1 => "1 definition".to_owned(),
            many if many >= SYMBOLS_MAX => format!("at least {many} definitions"),
            many => format!("{many} definitions"),
        };
        names.push(format!("{} ({of})", name_as_code(&used.name)));
        let marker = marker.to_string();
        if !markers.contains(&marker) {
            markers.push(marker);
        }
    }
    if !names.is_empty() {
        draft.say(format!(
            "{verb} {}; whether these mean a definition in the index, and which, is not certain \
             {}.",
            joined(&names),
            markers.join(" ")
        ));
    }
}

/// Writes which used names nothing in the repository defines. Returns whether there are any.
fn say_foreign(
    draft: &mut Draft,
    files: &Files<'_>,
    found: &FoundSymbol,
    how: Dependence,
    verb: &str,
) -> Result<bool, IndexError> {
    let file = Rc::clone(&found.file);
    let mut names: Vec<String> = Vec::new();
    let mut markers: Vec<String> = Vec::new();
    let mut is_found = false;
    // Each name is looked up once, however often it is used.
    let mut looked_up: HashSet<&str> = HashSet::new();
    for used in &file.outline.references {
        let is_used = how.includes(used.kind) && found.symbol.lines.contains(used.line);
        if names.len() >= LISTED_NAMES_MAX || looked_up.len() >= USES_MAX {
            break;
        }
        if !is_used || !looked_up.insert(&used.name) {
            continue;
        }
        files.index.check_stop()?;
        if !files.index.symbols_of_name(&used.name, 1).is_empty() {
            continue;
        }
        is_found = true;
        let name = name_as_code(&used.name);
        let Some(line) = LineRange::new(used.line, used.line) else { continue };
        if let Some(marker) = draft.cite(&file, line, found.symbol.lines) {
            names.push(name);
            let marker = marker.to_string();
            if !markers.contains(&marker) {
                markers.push(marker);
            }
        }
    }
    if !names.is_empty() {
        draft.say(format!(
            "{verb} {}, for which no definition was found in the index {}.",
            joined(&names),
            markers.join(" ")
        ));
    }
    Ok(is_found)
}

fn say_imports(draft: &mut Draft, file: &OpenFile) {
    let mut paths: Vec<String> = Vec::new();
    let mut markers: Vec<String> = Vec::new();
    let (first, last) = (file.outline.imports.first(), file.outline.imports.last());
    let Some((first, last)) = first.zip(last) else { return };
    let Some(all) = LineRange::new(first.line, last.line) else { return };
    for import in &file.outline.imports {
        let path = name_as_code(&import.path);
        if paths.len() >= LISTED_NAMES_MAX || paths.contains(&path) {
            continue;
        }
        let Some(line) = LineRange::new(import.line, import.line) else { continue };
        if let Some(marker) = draft.cite(file, line, all) {
            paths.push(path);
            let marker = marker.to_string();
            if !markers.contains(&marker) {
                markers.push(marker);
            }
        }
    }
    if !paths.is_empty() {
        let name = code(&without_markers(&file.path));
        draft.say(format!("{name} imports {} {}.", joined(&paths), markers.join(" ")));
        draft.confidence = 0.9;
    }
}

/// Which end of a dependency is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// The files that use.
    Users,
    /// The files that are used.
    Used,
}

/// Writes which files outside use some files, or are used by them, the strongest first.
pub(super) fn related_files(
    draft: &mut Draft,
    files: &mut Files<'_>,
    inside: &[FileId],
    direction: Direction,
    what: &str,
) -> Result<(), IndexError> {
    let inside: HashSet<FileId> = inside.iter().copied().collect();
    let mut edges: Vec<(FileId, FileId, f64)> = certain_dependencies(files.index)?
        .iter()
        .filter(|edge| match direction {
            Direction::Users => inside.contains(&edge.to) && !inside.contains(&edge.from),
            Direction::Used => inside.contains(&edge.from) && !inside.contains(&edge.to),
        })
        .map(|edge| (edge.from, edge.to, edge.weight))
        .collect();
    edges.sort_by(|left, right| right.2.total_cmp(&left.2));
    let mut shown: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    for (from, to, _) in edges {
        let other = if direction == Direction::Users { from } else { to };
        if shown.len() >= RELATED_FILES_MAX || seen.contains(&other) {
            continue;
        }
        let (user, used) = (files.open(from)?, files.open(to)?);
        let Some((line, name)) = line_of_use(&user, &used) else { continue };
        let Some(support) = LineRange::new(line, line) else { continue };
        if let Some(marker) = draft.cite(&user, support, support) {
            seen.insert(other);
            let other = without_markers(if direction == Direction::Users {
                &user.path
            } else {
                &used.path
            });
            shown.push(format!(
                "{} ({} on line {line} of {}) {marker}",
                code(&other),
                name_as_code(&name),
                without_markers(user.name())
            ));
        }
    }
    if !shown.is_empty() {
        let name = code(&without_markers(what));
        draft.say(match direction {
            Direction::Users => format!("{name} is used by {}.", joined(&shown)),
            Direction::Used => format!("{name} uses {}.", joined(&shown)),
        });
        draft.confidence = 0.8;
    }
    Ok(())
}

/// Returns a line on which a file names a symbol that another one defines, and the name.
fn line_of_use(user: &OpenFile, used: &OpenFile) -> Option<(u32, String)> {
    let public = || used.outline.symbols.iter().filter(|symbol| symbol.is_public);
    let defined: HashSet<&str> = public().map(|symbol| symbol.name.as_str()).collect();
    let telling: HashSet<&str> = public()
        .filter(|symbol| TYPE_KINDS.contains(&symbol.kind) || is_distinctive(&symbol.name))
        .map(|symbol| symbol.name.as_str())
        .collect();
    let imported = user.outline.imports.iter().find_map(|import| {
        let name = import.names.iter().find(|name| defined.contains(name.as_str()))?;
        Some((import.line, name.clone()))
    });
    let stem = used.name().split('.').next().unwrap_or_default();
    let imports_file = || {
        let import = user
            .outline
            .imports
            .iter()
            .find(|import| import.path.split(['/', '.', ':', '\\']).any(|part| part == stem))?;
        Some((import.line, import.path.clone()))
    };
    let uses_name = || {
        let references = &user.outline.references;
        let found = references.iter().find(|found| telling.contains(found.name.as_str()))?;
        Some((found.line, found.name.clone()))
    };
    imported.or_else(imports_file).or_else(uses_name)
}
