//! Answers what uses something.
//!
//! Uses are found by name; those that can mean another definition are only counted.

use std::collections::HashSet;
use std::rc::Rc;

use super::appearances::{Lines, say_lines_with};
use super::dependencies::{Direction, related_files};
use super::draft::Draft;
use super::files::{Files, FoundSymbol, OpenFile};
use super::implementations::implementor;
use super::limits::{SYMBOLS_MAX, USE_CONTEXT_LINES, USES_MAX, USES_SHOWN_MAX};
use super::phrases::{among, cite_symbol, joined, name_as_code, place, place_of, qualified_name};
use super::resolution::{Definition, Meanings, UsePlace};
use super::subjects::Subject;
use crate::areas::repositories::index::{FileId, IndexError, ReferenceHit};
use crate::areas::repositories::source::{LineRange, ReferenceKind};
use crate::areas::repositories::wiki::implementing_type;

/// Uses that may mean another definition, and that an answer names.
const POSSIBLE_USES_SHOWN_MAX: usize = 2;
/// Uses on lines that cannot be quoted, and that an answer names.
const UNQUOTED_USES_MAX: usize = 3;
/// Definitions of the same name whose uses an answer names.
const USED_DEFINITIONS_MAX: usize = 3;

/// Writes what calls or uses a subject.
pub(super) fn callers(
    draft: &mut Draft,
    files: &mut Files<'_>,
    subject: &Subject,
) -> Result<(), IndexError> {
    match subject {
        Subject::Symbols(found) => symbol_callers(draft, files, found),
        Subject::File(file, _) => {
            draft.about(&file.path);
            related_files(draft, files, &[file.id], Direction::Users, &file.path)
        }
        Subject::Folder(path, inside) => {
            draft.about(path);
            related_files(draft, files, inside, Direction::Users, path)
        }
        Subject::Unknown(_) => Ok(()),
    }
}

/// A use with the file that contains it.
struct Use {
    hit: ReferenceHit,
    file: Rc<OpenFile>,
    within: Option<FoundSymbol>,
}

impl Use {
    /// Returns what uses: a symbol, or a file outside of its symbols.
    fn user(&self) -> (FileId, Option<u32>) {
        (self.file.id, self.within.as_ref().map(|within| within.position))
    }
}

/// The uses of a name: those of each definition that is asked about, and those that may mean any.
struct Uses {
    /// For each definition that is asked about, the uses that mean it without doubt.
    certain: Vec<Vec<Use>>,
    possible: Vec<Use>,
    /// How many definitions the name has.
    definitions: usize,
    /// Whether there are more uses, which were not looked at.
    is_cut: bool,
}

fn symbol_callers(
    draft: &mut Draft,
    files: &mut Files<'_>,
    found: &[FoundSymbol],
) -> Result<(), IndexError> {
    let Some(first) = found.first() else { return Ok(()) };
    let name = first.symbol.name.as_str();
    draft.about(&qualified_name(first).replace('`', ""));
    let Uses { mut certain, mut possible, definitions, is_cut } = divided(files, found)?;
    let mut order: Vec<usize> = (0..found.len()).collect();
    // Definitions that are used come first.
    order.sort_by_key(|position| certain.get(*position).is_none_or(Vec::is_empty));
    let is_used = certain.iter().any(|uses| !uses.is_empty());
    for position in order.iter().copied().take(USED_DEFINITIONS_MAX) {
        let (Some(definition), Some(uses)) = (found.get(position), certain.get_mut(position))
        else {
            continue;
        };
        sort(uses, definition);
        if !uses.is_empty() || found.len() == 1 || !is_used && position == 0 {
            say_users(draft, definition, uses, is_cut, found.len());
        }
    }
    if found.len() > 1 && !draft.is_empty() {
        let is_cut = found.len() >= SYMBOLS_MAX;
        let at_least = if is_cut { "at least " } else { "" };
        // The question may name what contains them.
        let of = match definitions > found.len() {
            true => qualified_name(first),
            false => name_as_code(name),
        };
        let count = found.len();
        draft.say(format!("There are {at_least}{count} definitions of {of} in the index."));
    }
    sort(&mut possible, first);
    let owner = first.symbol.container.as_deref().unwrap_or_default();
    possible.sort_by_cached_key(|found| !found.file.line(found.hit.line).contains(owner));
    let others = say_uses(draft, &possible, POSSIBLE_USES_SHOWN_MAX);
    if !others.is_empty() {
        let (rest, name) = (rest(&possible, others.len(), is_cut), name_as_code(name));
        let (others, also) = (joined(&others), if is_used { "also " } else { "" });
        let which = match found.len() {
            1 => "that may mean another definition",
            _ => "which definition that means is not certain",
        };
        draft.say(format!("The name {name} is {also}used by {others}{rest}; {which}."));
    }
    if others.is_empty() && !possible.is_empty() && !is_used {
        draft.say(format!(
            "The name {} is used in {}, on lines that are too long to quote or seem to hold a \
             secret; which definition that means is not certain.",
            name_as_code(name),
            joined(&unquoted(&possible))
        ));
    } else if !is_used && others.is_empty() {
        say_mentions(draft, files, name)?;
    }
    draft.confidence = match (is_used, possible.is_empty() && found.len() == 1) {
        (true, true) => 0.92,
        (true, false) => 0.8,
        (false, _) => 0.5,
    };
    Ok(())
}

/// Writes what uses a definition, one of `count`, without doubt.
fn say_users(
    draft: &mut Draft,
    definition: &FoundSymbol,
    uses: &[Use],
    is_cut: bool,
    count: usize,
) {
    let name = qualified_name(definition);
    let shown = say_uses(draft, uses, USES_SHOWN_MAX);
    let Some(marker) = cite_symbol(draft, definition) else { return };
    let place = place(definition);
    if shown.is_empty() {
        let unquoted = unquoted(uses);
        draft.say(match unquoted.is_empty() {
            true => format!("No use of {name}, defined in {place} {marker}, is certain."),
            false => format!(
                "{name}, defined in {place} {marker}, is used in {}, on lines that are too long \
                 to quote or seem to hold a secret.",
                joined(&unquoted)
            ),
        });
        return;
    }
    let rest = rest(uses, shown.len(), is_cut);
    let users = joined(&shown);
    if count > 1 {
        draft.say(format!("{name}, defined in {place} {marker}, is used by {users}{rest}."));
    } else {
        draft.say(format!("{name} is used by {users}{rest}."));
        draft.say(format!("It is defined in {place} {marker}."));
    }
}

/// Returns the first places of uses.
fn unquoted(uses: &[Use]) -> Vec<String> {
    let mut places: Vec<String> = Vec::new();
    for found in uses {
        let place = place_of(&found.file, found.hit.line);
        if places.len() < UNQUOTED_USES_MAX && !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// Writes where a name is in the code that no use was recognised of: it can be a value, or in the
/// tokens of a macro.
fn say_mentions(draft: &mut Draft, files: &mut Files<'_>, name: &str) -> Result<(), IndexError> {
    let mentions = say_lines_with(draft, files, name, Lines::OfCode)?;
    let name = name_as_code(name);
    draft.say(match (mentions.shown.as_slice(), mentions.is_found) {
        ([], false) => format!(
            "No other code with the name {name} was found in the files whose language is \
             recognised."
        ),
        ([], true) => format!("The name {name} also appears on lines that are not quoted."),
        (shown, _) => format!("The name {name} also appears in {}.", joined(shown)),
    });
    Ok(())
}

/// Puts the uses in tests, and then those in the file of the definition, last.
fn sort(uses: &mut [Use], definition: &FoundSymbol) {
    uses.sort_by_key(|found| {
        let in_tests = found.within.as_ref().is_some_and(|within| within.symbol.is_test);
        (in_tests, found.file.id == definition.file.id, found.hit.kind)
    });
}

/// Divides the uses of a name by the definition that each means. Those that mean a definition
/// which is not asked about are left out.
fn divided(files: &mut Files<'_>, asked: &[FoundSymbol]) -> Result<Uses, IndexError> {
    let certain = asked.iter().map(|_| Vec::new()).collect();
    let mut uses = Uses { certain, possible: Vec::new(), definitions: 0, is_cut: false };
    let Some(first) = asked.first() else { return Ok(uses) };
    let name = first.symbol.name.as_str();
    let same = files.index.symbols_of_name(name, USES_MAX);
    let definitions: Vec<Definition<'_>> =
        same.iter().filter_map(|hit| Definition::new(files.index, hit, same.len())).collect();
    let mut meanings = Meanings::new(definitions);
    uses.definitions = meanings.count();
    let references = files.references(name, None, USES_MAX)?;
    uses.is_cut = references.is_cut;
    for found in opened(files, name, references.hits)? {
        files.index.check_stop()?;
        let within = found.within.as_ref();
        let place = UsePlace { file: &found.file, line: found.hit.line, within };
        let Some(definition) = meanings.of(place) else {
            uses.possible.push(found);
            continue;
        };
        // A function that calls itself is no user of it.
        if within.is_some_and(|within| definition.is_of(within)) {
            continue;
        }
        let of = asked.iter().position(|asked| definition.is_of(asked));
        if let Some(own) = of.and_then(|position| uses.certain.get_mut(position)) {
            own.push(found);
        }
    }
    Ok(uses)
}

/// Returns how many places there are, if not all are shown.
fn rest(uses: &[Use], shown: usize, is_cut: bool) -> String {
    let users: HashSet<_> = uses.iter().map(Use::user).collect();
    among(users.len(), shown, is_cut, " places")
}

/// Returns the calls that mean a symbol without doubt, and whether each is in a test.
pub(super) fn certain_calls(
    files: &mut Files<'_>,
    symbol: &FoundSymbol,
) -> Result<Vec<(ReferenceHit, bool)>, IndexError> {
    let uses = divided(files, std::slice::from_ref(symbol))?.certain.into_iter().flatten();
    let calls = uses.filter(|found| found.hit.kind == ReferenceKind::Call);
    let is_test = |found: &Use| found.within.as_ref().is_some_and(|of| of.symbol.is_test);
    Ok(calls.map(|found| (found.hit.clone(), is_test(&found))).collect())
}

/// Writes what uses, or implements, a name that the repository does not define.
pub(super) fn foreign_name(
    draft: &mut Draft,
    files: &mut Files<'_>,
    name: &str,
    wanted: Option<ReferenceKind>,
) -> Result<(), IndexError> {
    let own_name = name.rsplit("::").next().unwrap_or(name);
    let references = files.references(own_name, wanted, USES_MAX)?;
    let uses = opened(files, own_name, references.hits)?;
    let shown = say_uses(draft, &uses, USES_SHOWN_MAX);
    if shown.is_empty() {
        return Ok(());
    }
    let name = name_as_code(own_name);
    draft.about(own_name);
    let verb = match wanted {
        Some(ReferenceKind::Implementation) => "implemented or extended",
        _ => "used",
    };
    let rest = rest(&uses, shown.len(), references.is_cut);
    let shown = joined(&shown);
    draft.say(format!("{name} is not defined in the index; it is {verb} by {shown}{rest}."));
    draft.confidence = 0.75;
    Ok(())
}

/// Opens the files of uses of a name, and leaves out those that are its own definition.
fn opened(
    files: &mut Files<'_>,
    name: &str,
    hits: Vec<ReferenceHit>,
) -> Result<Vec<Use>, IndexError> {
    let mut uses = Vec::new();
    for hit in hits {
        let file = files.open(hit.file)?;
        let within = match hit.within {
            Some(symbol) => files.symbol(symbol)?,
            None => None,
        };
        if implementing_type(file.line(hit.line)) != Some(name) {
            uses.push(Use { hit, file, within });
        }
    }
    Ok(uses)
}

/// Adds references to uses, one for each symbol that contains some, and returns how each is
/// written.
fn say_uses(draft: &mut Draft, uses: &[Use], uses_max: usize) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut shown = Vec::new();
    for found in uses {
        if shown.len() >= uses_max || !seen.insert(found.user()) {
            continue;
        }
        let Some((support, around)) = around(found) else { continue };
        let Some(marker) = draft.cite(&found.file, support, around) else { continue };
        let place = place_of(&found.file, found.hit.line);
        // An implementation is written outside of the type that implements.
        let implementor = match found.hit.kind {
            ReferenceKind::Implementation => implementor(&found.file, found.hit.line),
            _ => None,
        };
        shown.push(match (&found.within, implementor) {
            (_, Some(implementor)) => format!("{implementor} ({place}) {marker}"),
            (Some(within), None) => format!("{} ({place}) {marker}", qualified_name(within)),
            (None, None) => format!("{place} {marker}"),
        });
    }
    shown
}

/// Returns the line of a use, and lines around it within what contains it.
fn around(found: &Use) -> Option<(LineRange, LineRange)> {
    let line = found.hit.line;
    let support = LineRange::new(line, line)?;
    let bounds =
        found.within.as_ref().map(|within| within.symbol.lines).or(found.file.all_lines())?;
    let start = line.saturating_sub(USE_CONTEXT_LINES).max(bounds.start()).min(line);
    let end = line.saturating_add(USE_CONTEXT_LINES).min(bounds.end()).max(line);
    Some((support, LineRange::new(start, end)?))
}
