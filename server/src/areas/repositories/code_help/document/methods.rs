//! The documentation of functions.

use super::super::docs::{DocSections, doc_sections};
use super::super::excerpt::{ended, prose, sentence, signature};
use super::super::explain::{doc_prose, inputs};
use super::super::limits::{DESCRIPTION_CHARS_MAX, METHODS_MAX, OVERVIEW_CHARS_MAX};
use super::super::model::{MethodDocumentation, ParameterDocumentation, Usage};
use super::examples::of_method;
use crate::areas::repositories::source::{FileOutline, Language, Symbol, SymbolKind};

/// Documents the public functions of a file, in their order.
pub(super) fn methods(
    outline: &FileOutline,
    language: Language,
    text: &str,
    usages: &[Usage],
) -> Vec<MethodDocumentation> {
    let is_documented = |symbol: &Symbol| {
        let is_function =
            matches!(symbol.kind, SymbolKind::Function | SymbolKind::Method | SymbolKind::Macro);
        is_function && symbol.is_public && !symbol.is_test
    };
    let documented: Vec<(u32, &Symbol)> =
        (0_u32..).zip(&outline.symbols).filter(|(_, symbol)| is_documented(symbol)).collect();
    let is_repeated = |symbol: &Symbol| {
        // In C and C++, a function may be declared with its documentation, and defined without.
        let is_same = |(_, other): &&(u32, &Symbol)| {
            other.name == symbol.name
                && other.container == symbol.container
                && other.parameters.len() == symbol.parameters.len()
                && other.doc.is_some()
        };
        matches!(language, Language::C | Language::Cpp)
            && symbol.doc.is_none()
            && documented.iter().find(is_same).is_some()
    };
    let found = documented.iter().filter(|(_, symbol)| !is_repeated(symbol)).take(METHODS_MAX);
    found.map(|(position, symbol)| method(symbol, *position, language, text, usages)).collect()
}

fn method(
    symbol: &Symbol,
    position: u32,
    language: Language,
    text: &str,
    usages: &[Usage],
) -> MethodDocumentation {
    let sections = symbol.doc.as_deref().map(|doc| doc_sections(language, doc)).unwrap_or_default();
    let parameters = inputs(symbol, &sections).into_iter().map(|input| ParameterDocumentation {
        name: input.name,
        type_name: input.type_name,
        description: input.description,
    });
    MethodDocumentation {
        name: qualified_name(symbol, language),
        description: description(symbol, text, &sections),
        parameters: parameters.collect(),
        examples: of_method(symbol, position, &sections, usages),
    }
}

/// Returns a name as the language's own documentation writes it.
fn qualified_name(symbol: &Symbol, language: Language) -> String {
    let Some(container) = symbol.container.as_deref() else { return symbol.name.clone() };
    let is_of_class = symbol.signature.contains("def self.");
    let separator = match language {
        Language::Rust | Language::Cpp => "::",
        Language::Ruby if !is_of_class => "#",
        _ => ".",
    };
    format!("{container}{separator}{}", symbol.name)
}

fn description(symbol: &Symbol, text: &str, sections: &DocSections) -> String {
    let mut paragraphs = vec![doc_prose(&sections.prose(), OVERVIEW_CHARS_MAX)];
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    if paragraphs.is_empty() {
        let signature = signature(symbol, text).map(|written| format!(" {written}."));
        paragraphs.push(format!("No documentation.{}", signature.unwrap_or_default()));
    }
    if let Some(returns) = &sections.returns {
        let type_name = returns.type_name.as_deref().filter(|_| symbol.returns.is_none());
        let parts = [type_name.unwrap_or_default(), returns.description.as_str()];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let text = prose(&parts.join(": "), DESCRIPTION_CHARS_MAX);
        if !text.is_empty() {
            paragraphs.push(sentence(&format!("Returns: {text}")));
        }
    }
    for error in &sections.errors {
        let description = prose(&error.description, DESCRIPTION_CHARS_MAX);
        paragraphs.push(match error.name.as_deref() {
            None => sentence(&description),
            Some(name) if description.is_empty() => ended(&format!("Fails: {name}")),
            Some(name) => ended(&format!("Fails: {name}: {description}")),
        });
    }
    paragraphs.join("\n\n")
}
