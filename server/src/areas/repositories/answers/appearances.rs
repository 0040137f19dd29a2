//! Answers where a name appears that nothing defines, such as the key of a setting: the lines that
//! contain it literally.

use std::collections::HashSet;
use std::rc::Rc;

use memchr::memmem;

use super::comments::comment;
use super::draft::Draft;
use super::files::{Files, OpenFile};
use super::limits::CODE_CHARS_MAX;
use super::occurrences::occurrences;
use super::phrases::{code, has_marker, joined, name_as_code, place_of};
use super::topics::around;
use crate::areas::repositories::index::{FileId, IndexError};
use crate::areas::repositories::quotes::contains_secret;
use crate::areas::repositories::source::LineRange;
use crate::areas::repositories::wiki::is_test_path;

/// Parts of files that are searched for a name.
const HITS_READ_MAX: usize = 100;
/// Lines that an answer names, and of one file.
const LINES_SHOWN_MAX: usize = 4;
const LINES_OF_FILE_MAX: usize = 2;
/// Lines after the one with a name that its value goes on for.
const VALUE_LINES_MAX: u32 = 4;
/// How well such lines answer a question.
const CONFIDENCE: f64 = 0.45;

/// A line that contains a name.
struct Appearance {
    file: Rc<OpenFile>,
    line: u32,
    /// In a test, and not as a key or assigned to.
    order: (bool, bool),
}

/// Which lines are searched for a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    /// All of them.
    All,
    /// Those of code that do not define the name.
    OfCode,
}

/// Writes the lines in which a name appears that nothing defines, if there are any.
pub(super) fn appearances(
    draft: &mut Draft,
    files: &mut Files<'_>,
    name: &str,
) -> Result<(), IndexError> {
    let shown = say_lines_with(draft, files, name, Lines::All)?.shown;
    if !shown.is_empty() {
        draft.about(name);
        draft.say(format!(
            "{} is not defined in the index; it appears in {}.",
            name_as_code(name),
            joined(&shown)
        ));
        draft.confidence = CONFIDENCE;
    }
    Ok(())
}

/// Lines in which a name appears.
#[derive(Debug)]
pub(super) struct ShownLines {
    /// How each is written that is quoted.
    pub(super) shown: Vec<String>,
    /// Whether there are any, also such that are not quoted.
    pub(super) is_found: bool,
}

/// Adds references to lines in which a name appears, and returns how each is written.
pub(super) fn say_lines_with(
    draft: &mut Draft,
    files: &mut Files<'_>,
    name: &str,
    lines: Lines,
) -> Result<ShownLines, IndexError> {
    let mut spellings = vec![name.to_owned(), name.replace("::", "."), name.replace("::", "->")];
    spellings.dedup();
    let mut found = Vec::new();
    let mut seen: HashSet<FileId> = HashSet::new();
    for hit in files.index.search(name, HITS_READ_MAX)?.hits {
        if seen.insert(hit.file) {
            files.index.check_stop()?;
            let file = files.open(hit.file)?;
            found.extend(lines_with(&file, &spellings, lines));
        }
    }
    found.sort_by_key(|appearance| appearance.order);
    let is_found = !found.is_empty();
    let mut shown = Vec::new();
    for Appearance { file, line, .. } in found {
        if shown.len() >= LINES_SHOWN_MAX {
            break;
        }
        let written = whole_statement(&file, line);
        let Some(support) = LineRange::new(line, line + written.more_lines) else { continue };
        let within = file.all_lines().unwrap_or(support);
        let Some(marker) = draft.cite(&file, support, around(support, within)) else { continue };
        let text = written.text.as_str();
        let is_quotable = text.chars().count() <= CODE_CHARS_MAX
            && !text.contains('`')
            && !has_marker(text)
            && !contains_secret(text);
        let place = place_of(&file, line);
        shown.push(match is_quotable {
            true => format!("{place} as {} {marker}", code(text)),
            false => format!("{place} {marker}"),
        });
    }
    Ok(ShownLines { shown, is_found })
}

/// A line, with those after it that belong to the same value.
struct Written {
    text: String,
    more_lines: u32,
}

/// Returns a line, joined with those after it if the value of a name goes on there.
fn whole_statement(file: &OpenFile, line: u32) -> Written {
    let mut text = file.line(line).trim().to_owned();
    let is_open = |text: &str| {
        let is_unclosed = |open, close| text.matches(open).count() > text.matches(close).count();
        text.ends_with(['(', '[', '=', ',']) && (is_unclosed('(', ')') || is_unclosed('[', ']'))
            || text.ends_with('=')
    };
    let mut more_lines = 0;
    let is_last = |line: u32| file.all_lines().is_none_or(|all| all.end() <= line);
    while is_open(&text) && more_lines < VALUE_LINES_MAX && !is_last(line + more_lines) {
        more_lines += 1;
        let next = file.line(line + more_lines).trim();
        let is_first = text.ends_with(['(', '[']);
        text.push_str(if is_first { "" } else { " " });
        text.push_str(next);
    }
    Written { text, more_lines }
}

/// Returns the lines of a file that contain one of some names, as written or else in other case.
fn lines_with(file: &Rc<OpenFile>, names: &[String], which: Lines) -> Vec<Appearance> {
    let language = file.outline.language;
    if which == Lines::OfCode && language.is_none() {
        return Vec::new();
    }
    let symbols = file.outline.symbols.iter().filter(|own| names.contains(&own.name));
    let defining: HashSet<u32> = symbols.map(|own| own.name_line).collect();
    let is_searched = |number: u32, line: &str| {
        which == Lines::All || comment(language, line).is_none() && !defining.contains(&number)
    };
    let appearance = |line: u32, is_value: bool| Appearance {
        file: Rc::clone(file),
        line,
        order: (is_test_path(&file.path), !is_value || language.is_none()),
    };
    // Those with a value come first, and end the search if there are enough of them.
    let (mut values, mut others) = (Vec::new(), Vec::new());
    // Most files contain none of the names, which is known sooner of a whole text.
    let searched = if contains_any(&file.text, names) { file.text.as_str() } else { "" };
    for (number, line) in (1_u32..).zip(searched.lines()) {
        let Some(after) = names.iter().find_map(|name| after_name(line, name)) else { continue };
        if !is_searched(number, line) {
            continue;
        }
        let after = after.trim_start_matches(['"', '\'', ']', ' ']);
        let is_value = after.starts_with([':', '=']) && !line.trim_start().starts_with(['#', '/']);
        let found = if is_value { &mut values } else { &mut others };
        if found.len() < LINES_OF_FILE_MAX {
            found.push(appearance(number, is_value));
        }
        if values.len() == LINES_OF_FILE_MAX {
            break;
        }
    }
    let mut found: Vec<Appearance> = values.into_iter().chain(others).collect();
    if found.is_empty() && which == Lines::All {
        let names: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
        let is_in = |line: &str| {
            let lower = line.to_lowercase();
            names.iter().any(|name| after_name(&lower, name).is_some())
        };
        let is_searched = contains_any(&file.text.to_lowercase(), &names);
        let searched = if is_searched { file.text.as_str() } else { "" };
        let lines = (1_u32..).zip(searched.lines()).filter(|(_, line)| is_in(line));
        found.extend(lines.take(LINES_OF_FILE_MAX).map(|(number, _)| appearance(number, false)));
    }
    found.sort_by_key(|appearance| appearance.order);
    found.truncate(LINES_OF_FILE_MAX);
    found
}

fn contains_any(text: &str, names: &[String]) -> bool {
    names.iter().any(|name| memmem::find(text.as_bytes(), name.as_bytes()).is_some())
}

/// Returns what is after a whole name in a line, if the line contains it.
fn after_name<'line>(line: &'line str, name: &str) -> Option<&'line str> {
    occurrences(line, name).next().map(|(_, after)| after)
}
