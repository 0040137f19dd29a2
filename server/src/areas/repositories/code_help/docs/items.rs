//! Items of lists of parameters and of errors.

use super::model::DocParameter;

/// Returns an item of a list of parameters; `None` if a line is none.
///
/// `name: text`, `name (type): text`, `name : type`, and in Markdown `` * `name` - text ``.
pub(super) fn item(line: &str) -> Option<DocParameter> {
    let line = line.trim();
    let bullet = ["* ", "- ", "+ "].iter().find_map(|bullet| line.strip_prefix(bullet));
    let text = bullet.unwrap_or(line);
    if let Some(code) = text.strip_prefix('`')
        && let Some((name, rest)) = code.split_once('`')
    {
        let (type_name, rest) = parenthesised(rest);
        let description = rest.trim_start_matches([' ', ':', '-', '–', '—']).trim();
        return Some(parameter(name, type_name, description));
    }
    if let Some((name, type_name)) = text.split_once(" : ")
        && are_names(name)
    {
        return Some(parameter(name, Some(type_name), ""));
    }
    let end = text.find([' ', ':', '(']).unwrap_or(text.len());
    let (name, rest) = text.split_at_checked(end)?;
    let (type_name, rest) = parenthesised(rest);
    let separators: &[&str] = if bullet.is_some() { &[":", "-", "–", "—"] } else { &[":"] };
    let after = separators.iter().find_map(|separator| rest.trim_start().strip_prefix(separator));
    match after {
        Some(description) if is_name(name) => Some(parameter(name, type_name, description)),
        _ => None,
    }
}

/// Returns a name alone on its line, as NumPy writes a parameter without a type.
pub(super) fn bare_name(line: &str) -> Option<DocParameter> {
    are_names(line.trim()).then(|| parameter(line, None, ""))
}

fn parameter(name: &str, type_name: Option<&str>, description: &str) -> DocParameter {
    let type_name = type_name.map(|of| of.trim().trim_end_matches(", optional").to_owned());
    DocParameter {
        name: name.trim().to_owned(),
        type_name: type_name.filter(|of| !of.is_empty() && of != "optional"),
        description: description.trim().to_owned(),
    }
}

/// Splits what is in parentheses off the beginning of a text.
pub(super) fn parenthesised(text: &str) -> (Option<&str>, &str) {
    let Some(inner) = text.trim_start().strip_prefix('(') else { return (None, text) };
    let mut depth = 1;
    for (at, char) in inner.char_indices() {
        match char {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (inner.get(..at), inner.get(at + 1..).unwrap_or_default());
        }
    }
    (None, text)
}

fn are_names(text: &str) -> bool {
    !text.is_empty() && text.split(',').all(|name| is_name(name.trim()))
}

/// Returns whether a text is a name, perhaps with what languages write before it.
pub(super) fn is_name(text: &str) -> bool {
    let name = text.trim_start_matches(['*', '&', '.', '$', '@', '\\']);
    let begins = name.chars().next().is_some_and(|char| char.is_alphabetic() || char == '_');
    begins && name.chars().all(|char| char.is_alphanumeric() || "_.:-$".contains(char))
}
