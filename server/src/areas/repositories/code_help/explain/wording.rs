//! The words for symbols.

use super::super::docs::{DocSections, doc_sections};
use super::super::excerpt::{code, prose};
use super::super::limits::{SENTENCE_CHARS_MAX, SUMMARY_SENTENCES_MAX};
use crate::areas::repositories::source::{Language, LineRange, Symbol, SymbolKind};

/// Returns what a kind of symbols is called.
pub(super) fn noun(kind: SymbolKind) -> &'static str {
    match kind {
        SymbolKind::Function => "function",
        SymbolKind::Method => "method",
        SymbolKind::Class => "class",
        SymbolKind::Struct => "struct",
        SymbolKind::Enum => "enum",
        SymbolKind::Variant => "variant",
        SymbolKind::Union => "union",
        SymbolKind::Interface => "interface",
        SymbolKind::Trait => "trait",
        SymbolKind::TypeAlias => "type",
        SymbolKind::Module => "module",
        SymbolKind::Macro => "macro",
        SymbolKind::Constant => "constant",
        SymbolKind::Variable => "variable",
        SymbolKind::Field => "field",
    }
}

/// Returns a noun with its article.
pub(super) fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    // "A union", "a usage".
    let article = if noun.starts_with("uni") { "a" } else { article };
    format!("{article} {noun}")
}

/// Returns whether a function makes objects of the class that contains it.
pub(super) fn is_constructor(symbol: &Symbol) -> bool {
    let name = symbol.name.as_str();
    symbol.kind == SymbolKind::Method
        && (matches!(name, "__init__" | "constructor" | "initialize")
            || symbol.container.as_deref() == Some(name))
}

/// Returns what a symbol is called: what it is for, or else its kind.
pub(super) fn role(symbol: &Symbol) -> &'static str {
    if is_constructor(symbol) { "constructor" } else { noun(symbol.kind) }
}

/// Returns what a symbol is and where it belongs: `the method `add` of `Counter``.
pub(super) fn full_name(symbol: &Symbol) -> String {
    let name = format!("the {} {}", role(symbol), code(&symbol.name));
    match symbol.container.as_deref() {
        Some(container) => format!("{name} of {}", code(container)),
        None => name,
    }
}

/// Returns lines in words.
pub(super) fn lines_in_words(lines: LineRange) -> String {
    match lines.count() {
        1 => format!("line {}", lines.start()),
        _ => format!("lines {} to {}", lines.start(), lines.end()),
    }
}

/// Returns the sections of a symbol's documentation.
pub(super) fn sections(language: Language, symbol: &Symbol) -> DocSections {
    symbol.doc.as_deref().map(|doc| doc_sections(language, doc)).unwrap_or_default()
}

/// Returns the first sentences of a documentation.
pub(super) fn beginning(sections: &DocSections) -> Option<String> {
    let sentences = super::super::docs::first_sentences(&sections.prose(), SUMMARY_SENTENCES_MAX);
    let text = prose(&sentences, SENTENCE_CHARS_MAX);
    (!text.is_empty()).then(|| super::super::excerpt::sentence(&text))
}

/// Returns prose of a documentation, with its paragraphs, of limited length.
pub(in super::super) fn doc_prose(text: &str, chars_max: usize) -> String {
    let mut paragraphs: Vec<String> = Vec::new();
    let mut left = chars_max;
    for paragraph in text.split("\n\n") {
        if left == 0 {
            break;
        }
        let lines: Vec<String> = paragraph.lines().map(|line| prose(line, left)).collect();
        let paragraph = lines.join("\n");
        left = left.saturating_sub(paragraph.chars().count());
        paragraphs.push(paragraph);
    }
    paragraphs.join("\n\n")
}
