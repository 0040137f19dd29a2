//! Tags at the beginnings of lines: `@param`, `\param`, `:param n:`.

use super::items::is_name;
use super::model::{DocError, DocParameter};
use crate::areas::repositories::source::Language;

/// What a line with a tag begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    Parameter(DocParameter),
    /// The type of a parameter that is described elsewhere.
    ParameterType(DocParameter),
    Returns(DocParameter),
    ReturnType(String),
    Error(DocError),
    Example(String),
    /// Prose.
    Brief(String),
    /// Something that is of no use here.
    Other,
}

/// Returns the tag that a line begins with.
pub(super) fn tag(line: &str) -> Option<Tag> {
    let line = line.trim();
    match line.chars().next()? {
        '@' | '\\' => marked(line.get(1..)?),
        ':' => sphinx(line.get(1..)?),
        _ => None,
    }
}

/// Returns a line up to the first tag within it, and the rest: comments of one line have their tags
/// behind the prose.
pub(super) fn inner_tag(language: Language, line: &str) -> Option<(&str, &str)> {
    let has_tags = !matches!(language, Language::Rust | Language::Python | Language::Go);
    // The tags of an example are a part of it.
    let is_example = line.trim_start().starts_with("@example");
    if !has_tags || is_example || line.trim_start().starts_with("@code") {
        return None;
    }
    let at = line.match_indices(['@', '\\']).map(|(at, _)| at).find(|at| {
        let before = line.get(..*at).unwrap_or_default();
        let name = line.get(at + 1..).unwrap_or_default();
        let end = name.find(|char: char| !char.is_alphabetic()).unwrap_or(name.len());
        let is_tag = INNER_TAGS.contains(&name.get(..end).unwrap_or_default());
        let is_apart = name
            .get(end..)
            .is_some_and(|after| after.is_empty() || after.starts_with([' ', '\t', '{', '[']));
        let is_code = before.matches('`').count() % 2 == 1;
        is_tag && is_apart && !is_code && !before.trim().is_empty() && before.ends_with([' ', '\t'])
    })?;
    line.split_at_checked(at)
}

/// Tags that may follow others in a line.
const INNER_TAGS: [&str; 7] =
    ["param", "return", "returns", "throws", "throw", "exception", "example"];

fn marked(text: &str) -> Option<Tag> {
    let end = text.find(|char: char| !char.is_alphanumeric()).unwrap_or(text.len());
    let (name, rest) = text.split_at_checked(end)?;
    // `\param[in] n`
    let rest = match rest.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        Some((direction, after)) if direction.starts_with("in") || direction == "out" => after,
        _ => rest,
    };
    let rest = rest.trim();
    Some(match name {
        "param" | "arg" | "argument" | "tparam" | "option" | "prop" | "property" | "keyword" => {
            Tag::Parameter(parameter(rest))
        }
        "return" | "returns" | "result" | "retval" | "yield" | "yields" | "yieldreturn" => {
            let (type_name, description) = typed(rest);
            Tag::Returns(DocParameter {
                name: String::new(),
                type_name,
                description: without_dash(description),
            })
        }
        "throws" | "throw" | "exception" | "raise" | "raises" => Tag::Error(error(rest)),
        "example" | "code" => Tag::Example(rest.to_owned()),
        "brief" | "summary" | "description" | "desc" | "details" | "note" | "remarks" => {
            Tag::Brief(rest.to_owned())
        }
        // An e-mail address or a decorator in prose is no tag.
        _ if name.is_empty() || !text.starts_with(|char: char| char.is_lowercase()) => return None,
        _ => Tag::Other,
    })
}

/// Returns a type in braces or brackets, and what follows.
fn typed(text: &str) -> (Option<String>, &str) {
    for (open, close) in [('{', '}'), ('[', ']')] {
        let Some(inner) = text.strip_prefix(open) else { continue };
        let mut depth = 1;
        for (at, char) in inner.char_indices() {
            depth += i32::from(char == open);
            depth -= i32::from(char == close);
            if depth == 0 {
                let type_name = inner.get(..at).unwrap_or_default().trim().to_owned();
                let rest = inner.get(at + 1..).unwrap_or_default().trim();
                return (Some(type_name).filter(|of| !of.is_empty()), rest);
            }
        }
    }
    (None, text)
}

fn parameter(text: &str) -> DocParameter {
    let (before, rest) = typed(text);
    // JSDoc writes an optional parameter with its default value in brackets: `[n=1]`.
    let (name, rest) = match rest.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        Some((inner, after)) => (inner.split('=').next().unwrap_or(inner), after),
        None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
    };
    // YARD allows the type behind the name.
    let (after, description) = typed(rest.trim());
    let name = name.trim_end_matches([':', ',']).trim().to_owned();
    DocParameter { name, type_name: before.or(after), description: without_dash(description) }
}

fn error(text: &str) -> DocError {
    let (type_name, rest) = typed(text);
    if type_name.is_some() {
        return DocError { name: type_name, description: without_dash(rest) };
    }
    let (first, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let first = first.trim_end_matches(':');
    let is_type = is_name(first) && first.chars().any(char::is_uppercase);
    match is_type {
        true => DocError { name: Some(first.to_owned()), description: without_dash(after) },
        false => DocError { name: None, description: without_dash(rest) },
    }
}

fn without_dash(text: &str) -> String {
    let text = text.trim();
    let dash = ["- ", "– ", "— ", ": "].iter().find_map(|dash| text.strip_prefix(dash));
    dash.unwrap_or(text).trim().to_owned()
}

/// `param type name: text`, without the first colon.
fn sphinx(text: &str) -> Option<Tag> {
    let (field, description) = text.split_once(':')?;
    let description = description.trim().to_owned();
    let mut words = field.split_whitespace();
    let kind = words.next()?;
    let words: Vec<&str> = words.collect();
    let name = words.last().copied().unwrap_or_default().to_owned();
    let type_name = words.get(..words.len().saturating_sub(1)).unwrap_or_default().join(" ");
    let type_name = Some(type_name).filter(|of| !of.is_empty());
    Some(match kind {
        "param" | "parameter" | "arg" | "argument" | "key" | "keyword" => {
            Tag::Parameter(DocParameter { name, type_name, description })
        }
        "type" => {
            let type_name = Some(description);
            Tag::ParameterType(DocParameter { name, type_name, description: String::new() })
        }
        "return" | "returns" | "yield" | "yields" => {
            Tag::Returns(DocParameter { name: String::new(), type_name: None, description })
        }
        "rtype" => Tag::ReturnType(description),
        "raise" | "raises" | "except" | "exception" => {
            Tag::Error(DocError { name: Some(name).filter(|of| !of.is_empty()), description })
        }
        "var" | "ivar" | "cvar" | "vartype" | "meta" => Tag::Other,
        _ => return None,
    })
}
