//! How symbols, places and quotes are written in answers.

use super::draft::{Draft, Marker};
use super::examples::without_examples;
use super::files::{FoundSymbol, OpenFile};
use super::limits::{CODE_CHARS_MAX, REPEATED_CHARS_MAX, SNIPPET_LINES_MAX};
use crate::areas::repositories::quotes::{contains_secret, is_visible, locate, sentences};
use crate::areas::repositories::source::{Language, LineRange, SymbolKind};

/// Returns the name with what contains it, as code: `Store::open`.
pub(super) fn qualified_name(found: &FoundSymbol) -> String {
    let parent = found.symbol.parent.and_then(|parent| FoundSymbol::new(&found.file, parent));
    let container = match (&found.symbol.container, parent) {
        (Some(container), _) => Some(container.clone()),
        (None, Some(parent)) if parent.symbol.kind != SymbolKind::Function => {
            Some(parent.symbol.name)
        }
        _ => None,
    };
    let separator = match found.file.outline.language {
        Some(Language::Rust | Language::Cpp | Language::Ruby) => "::",
        _ => ".",
    };
    match container {
        Some(container) => name_as_code(&format!("{container}{separator}{}", found.symbol.name)),
        None => name_as_code(&found.symbol.name),
    }
}

/// Returns a name as code in a sentence.
pub(super) fn name_as_code(name: &str) -> String {
    code(&without_markers(name))
}

/// Returns a text as code in a sentence.
pub(super) fn code(text: &str) -> String {
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: String = text.chars().filter(|char| is_visible(*char)).collect();
    let short: String = text.chars().take(CODE_CHARS_MAX).collect();
    let cut = if short.len() < text.len() { " …" } else { "" };
    match short.contains('`') {
        true => format!("`` {short}{cut} ``"),
        false => format!("`{short}{cut}`"),
    }
}

/// Returns the beginning of what was asked for, as a quotation without markers of references.
pub(super) fn repeated(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let kept: String = words
        .chars()
        .filter(|char| is_visible(*char) && !"[]“”".contains(*char))
        .take(REPEATED_CHARS_MAX)
        .collect();
    format!("“{}”", kept.trim())
}

/// Returns where a symbol is defined, as `path:line`.
pub(super) fn place(found: &FoundSymbol) -> String {
    place_of(&found.file, found.symbol.name_line)
}

/// Returns a line of a file, as `path:line`.
pub(super) fn place_of(file: &OpenFile, line: u32) -> String {
    format!("{}:{line}", without_markers(&file.path))
}

/// Returns what a symbol is, with an article.
pub(super) fn noun(kind: SymbolKind) -> &'static str {
    match kind {
        SymbolKind::Function => "a function",
        SymbolKind::Method => "a method",
        SymbolKind::Class => "a class",
        SymbolKind::Struct => "a struct",
        SymbolKind::Enum => "an enum",
        SymbolKind::Variant => "an enum variant",
        SymbolKind::Union => "a union",
        SymbolKind::Interface => "an interface",
        SymbolKind::Trait => "a trait",
        SymbolKind::TypeAlias => "a type alias",
        SymbolKind::Module => "a module",
        SymbolKind::Macro => "a macro",
        SymbolKind::Constant => "a constant",
        SymbolKind::Variable => "a variable",
        SymbolKind::Field => "a field",
    }
}

/// Adds a reference to a symbol: its name, with as much of it as fits.
pub(super) fn cite_symbol(draft: &mut Draft, found: &FoundSymbol) -> Option<Marker> {
    let name = LineRange::new(found.symbol.name_line, found.symbol.name_line)?;
    // The documentation before the name comes first, unless it leaves no room for the name.
    let from_start = LineRange::new(found.symbol.lines.start(), found.symbol.name_line);
    let support = from_start
        .filter(|lines| lines.count() <= SNIPPET_LINES_MAX / 2)
        .filter(|lines| (lines.start()..=lines.end()).all(|line| !found.file.is_secret(line)))
        .unwrap_or(name);
    draft.cite(&found.file, support, found.symbol.lines)
}

/// Returns whether a file without a grammar is written in sentences.
pub(super) fn is_prose(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    match name.rsplit_once('.') {
        Some((_, ending)) => ["md", "markdown", "rst", "txt", "adoc"].contains(&ending),
        None => {
            ["readme", "license", "changelog", "contributing", "notes"].contains(&name.as_str())
        }
    }
}

/// A sentence of a documentation that was found again in its file.
#[derive(Clone, Debug)]
pub(super) struct DocQuote {
    pub(super) sentence: String,
    pub(super) lines: LineRange,
}

/// Returns the sentences of a symbol's documentation that are found in its lines.
pub(super) fn symbol_quotes(found: &FoundSymbol) -> Vec<DocQuote> {
    let Some(doc) = &found.symbol.doc else { return Vec::new() };
    let mut quotes = quotes(&found.file, doc, found.symbol.lines);
    // Some documentation begins with the name as a title.
    quotes.retain(|quote| {
        quote.sentence.trim_matches(|char: char| !char.is_alphanumeric() && char != '_')
            != found.symbol.name
    });
    quotes
}

/// Returns the sentences of a documentation that are found in some lines of a file.
pub(super) fn quotes(file: &OpenFile, doc: &str, within: LineRange) -> Vec<DocQuote> {
    let text = file.text_of(within);
    sentences(&without_examples(doc))
        .into_iter()
        .filter(|sentence| !has_marker(sentence))
        .filter_map(|sentence| {
            let lines = locate(text, within.start(), &sentence)?;
            Some(DocQuote { sentence, lines })
        })
        .collect()
}

/// Returns a sentence as a quotation that no text in it can end.
pub(super) fn quoted(sentence: &str) -> String {
    format!("“{}”", sentence.replace(['“', '”'], "\""))
}

/// Returns whether a text contains what looks like the marker of a reference: `[1]`.
pub(super) fn has_marker(text: &str) -> bool {
    text.split('[').skip(1).filter_map(|rest| rest.split_once(']')).any(|(inside, _)| {
        !inside.is_empty()
            && inside.chars().all(|char| char.is_ascii_digit() || ", ".contains(char))
    })
}

/// Returns a name or path in which nothing looks like the marker of a reference. The reference
/// itself has the exact path.
pub(super) fn without_markers(text: &str) -> String {
    if has_marker(text) { text.replace('[', "(").replace(']', ")") } else { text.to_owned() }
}

/// Returns the signature of a symbol as code; `None` if it says no more than the name, or seems to
/// hold a secret.
pub(super) fn signature(found: &FoundSymbol) -> Option<String> {
    let signature = found.symbol.signature.trim().trim_end_matches(['{', ':']).trim_end();
    let says_more = signature.len() > found.symbol.name.len() + 8;
    (says_more && !contains_secret(signature) && !has_marker(signature)).then(|| code(signature))
}

/// Returns how many things there are of which a list shows some; nothing if these are all.
/// `is_cut` says that others were not looked at.
pub(super) fn among(found: usize, shown: usize, is_cut: bool, things: &str) -> String {
    match (found > shown, is_cut) {
        (false, false) => String::new(),
        (true, false) => format!(", among {found}{things} that were found"),
        (_, true) => format!(", among at least {found}{things} that were found"),
    }
}

/// Returns a list of names: `a`, `b` and `c`.
pub(super) fn joined(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
