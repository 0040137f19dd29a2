//! Answers where a name appears that nothing defines, such as the key of a setting: the lines that
//! contain it literally.

use std::collections::HashSet;
use std::rc::Rc;

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
    let shown = say_lines_with(draft, files, name, Lines::All)?;
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

/// Adds references to lines in which a name appears, and returns how each is written.
pub(super) fn say_lines_with(
    draft: &mut Draft,
    files: &mut Files<'_>,
    name: &str,
    lines: Lines,
) -> Result<Vec<String>, IndexError> {
    let spellings = [name.to_owned(), name.replace("::", "."), name.replace("::", "->")];
    let mut found = Vec::new();
    let mut seen: HashSet<FileId> = HashSet::new();
    for hit in files.index.search(name, HITS_READ_MAX)?.hits {
        if seen.insert(hit.file) {
            let file = files.open(hit.file)?;
            found.extend(lines_with(&file, &spellings, lines));
        }
    }
    found.sort_by_key(|appearance| appearance.order);
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
    Ok(shown)
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
    while is_open(&text) && more_lines < VALUE_LINES_MAX {
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
    let defines = |number: u32| {
        let symbols = &file.outline.symbols;
        symbols.iter().any(|own| own.name_line == number && names.contains(&own.name))
    };
    let is_searched = |(number, line): &(u32, &str)| {
        which == Lines::All || comment(language, line).is_none() && !defines(*number)
    };
    let lines = || (1_u32..).zip(file.text.lines());
    let exact: Vec<(u32, &str, &str)> = lines()
        .filter_map(|(number, line)| {
            let after = names.iter().find_map(|name| after_name(line, name))?;
            is_searched(&(number, line)).then_some((number, line, after))
        })
        .collect();
    let appearance = |(line, text, after): (u32, &str, &str)| {
        let after = after.trim_start_matches(['"', '\'', ']', ' ']);
        let is_value = after.starts_with([':', '=']) && !text.trim_start().starts_with(['#', '/']);
        Appearance {
            file: Rc::clone(file),
            line,
            order: (is_test_path(&file.path), !is_value || file.outline.language.is_none()),
        }
    };
    let mut found: Vec<Appearance> = exact.into_iter().map(appearance).collect();
    if found.is_empty() && which == Lines::All {
        let names: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
        found = lines()
            .filter(|(_, line)| {
                let lower = line.to_lowercase();
                names.iter().any(|name| after_name(&lower, name).is_some())
            })
            .map(|(number, line)| appearance((number, line, "")))
            .collect();
    }
    found.sort_by_key(|appearance| appearance.order);
    found.truncate(LINES_OF_FILE_MAX);
    found
}

/// Returns what is after a whole name in a line, if the line contains it.
fn after_name<'line>(line: &'line str, name: &str) -> Option<&'line str> {
    occurrences(line, name).next().map(|(_, after)| after)
}
