//! The documentation of a whole file.

use super::super::docs::{doc_sections, is_licence};
use super::super::excerpt::{one_line, prose};
use super::super::explain::{defined_names, doc_prose};
use super::super::limits::OVERVIEW_CHARS_MAX;
use super::super::model::{Documentation, Usage};
use super::super::publishable;
use super::examples::of_file;
use super::methods::methods;
use crate::areas::repositories::source::{FileOutline, Language};

/// Documents a file from its syntax and comments, and from code that uses it. `outline` is the
/// outline of `text`.
pub fn document(path: &str, text: &str, outline: &FileOutline, usages: &[Usage]) -> Documentation {
    let (text, outline) = publishable::without_any_secret(text, outline);
    let methods = outline.language.map(|language| methods(&outline, language, &text, usages));
    publishable::documentation(Documentation {
        overview: overview(path, &text, &outline),
        methods: methods.unwrap_or_default(),
        usage_examples: of_file(&outline, usages),
    })
}

fn overview(path: &str, text: &str, outline: &FileOutline) -> String {
    let Some(language) = outline.language else { return text_overview(path, text) };
    let doc = outline.doc.as_deref().filter(|doc| !is_licence(doc));
    let doc = doc.map(|doc| doc_sections(language, doc).prose());
    let doc = doc.map(|doc| doc_prose(&doc, OVERVIEW_CHARS_MAX)).filter(|doc| !doc.is_empty());
    doc.unwrap_or_else(|| contents(path, outline, language))
}

fn contents(path: &str, outline: &FileOutline, language: Language) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let documented = match language {
        Language::Python => "no docstring",
        _ => "no comment at its beginning",
    };
    match defined_names(outline, None).as_str() {
        "" => format!("{name} has {documented} and defines nothing."),
        defined => format!("{name} has {documented}. It defines {defined}."),
    }
}

/// Returns the first paragraphs of a text, with its heading.
fn text_overview(path: &str, text: &str) -> String {
    let mut paragraphs: Vec<String> = Vec::new();
    for paragraph in text.split("\n\n").map(one_line).filter(|text| !text.is_empty()) {
        let is_next_heading = paragraph.starts_with('#') && !paragraphs.is_empty();
        if is_next_heading || paragraphs.len() >= TEXT_PARAGRAPHS_MAX {
            break;
        }
        let paragraph = paragraph.trim_start_matches('#').trim();
        paragraphs.push(prose(paragraph, OVERVIEW_CHARS_MAX / TEXT_PARAGRAPHS_MAX));
    }
    if paragraphs.is_empty() {
        return format!("{} is empty.", path.rsplit('/').next().unwrap_or(path));
    }
    paragraphs.join("\n\n")
}

/// Paragraphs of a text that no grammar is known for: its beginning says what it is.
const TEXT_PARAGRAPHS_MAX: usize = 3;
