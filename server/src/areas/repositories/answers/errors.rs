//! Answers which errors a function names: the types that it returns, makes or raises.

use std::rc::Rc;

use super::comments::without_comment;
use super::draft::Draft;
use super::files::{Files, FoundSymbol};
use super::limits::USES_MAX;
use super::occurrences::occurrences;
use super::phrases::{cite_symbol, joined, name_as_code, noun, place, qualified_name};
use super::subjects::symbols_named;
use crate::areas::repositories::index::IndexError;
use crate::areas::repositories::source::{Language, LineRange, Reference};

/// Definitions of one name that are read, and those whose errors are named.
const DEFINITIONS_READ_MAX: usize = 24;
const DEFINITIONS_MAX: usize = 3;
/// Errors that one line raises.
const RAISED_IN_LINE_MAX: usize = 8;

/// Writes the types of errors that functions of one name use.
pub(super) fn errors_of(
    draft: &mut Draft,
    files: &mut Files<'_>,
    found: &[FoundSymbol],
) -> Result<(), IndexError> {
    let mut named: Vec<String> = Vec::new();
    let mut said = 0;
    for function in found.iter().filter(|found| !found.symbol.is_test).take(DEFINITIONS_READ_MAX) {
        files.index.check_stop()?;
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
                place(definition)
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
    let mut raised = RaisedNames::default();
    let mut read = 0;
    for used in file.outline.references.iter().filter(|used| lines.contains(used.line)) {
        let is_error = is_name_of_error(&used.name)
            || raised.contains(used, file.line(used.line), file.outline.language);
        if !is_error || named.contains(&used.name) {
            continue;
        }
        if read == USES_MAX {
            break;
        }
        read += 1;
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

fn is_name_of_error(name: &str) -> bool {
    name.ends_with("Error") || name.ends_with("Exception")
}

/// The names that one line raises: they are the same for all uses in it.
#[derive(Debug, Default)]
struct RaisedNames {
    line: u32,
    names: Vec<String>,
}

impl RaisedNames {
    /// Returns whether the line of a use raises its name.
    fn contains(&mut self, used: &Reference, line: &str, language: Option<Language>) -> bool {
        if self.line != used.line {
            (self.line, self.names) = (used.line, raised_names(line, language));
        }
        self.names.contains(&used.name)
    }
}

/// Returns the last parts of the names that a line raises, before its comment: `Empty` for
/// `raise queue.Empty()  # or Full`.
fn raised_names(line: &str, language: Option<Language>) -> Vec<String> {
    let code = without_comment(line, language);
    let mut names = Vec::new();
    for keyword in ["raise", "throw"] {
        for (_, after) in occurrences(code, keyword).take(RAISED_IN_LINE_MAX) {
            let after = after.trim_start();
            let after = after.strip_prefix("new ").unwrap_or(after).trim_start();
            let is_part = |char: char| char.is_alphanumeric() || "_.:".contains(char);
            let end = after.find(|char| !is_part(char)).unwrap_or(after.len());
            let path = after.get(..end).unwrap_or_default();
            let name = path.rsplit(['.', ':']).next().unwrap_or_default();
            if !name.is_empty() {
                names.push(name.to_owned());
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raised_names_are_those_after_the_keyword() {
        for (line, expected) in [
            ("    raise queue.Empty()  # raise Full", &["Empty"] as &[&str]),
            ("    raise Empty(reason(x)) from cause", &["Empty"]),
            ("    # raise Old", &[]),
            ("y = helper(x)  # could raise helper", &[]),
            ("log(\"#\") or raise_it(praise(x))", &[]),
            ("log(\"#\"); raise Late", &["Late"]),
        ] {
            assert_eq!(raised_names(line, Some(Language::Python)), expected, "{line}");
        }
        let script = "if (a) throw new Http.Gone('//'); // throw Other";
        assert_eq!(raised_names(script, Some(Language::JavaScript)), ["Gone"]);
    }
}
