//! The syntax tree of a text.

use std::ops::ControlFlow;

use tree_sitter::{Language as Grammar, ParseOptions, ParseState, Parser, Tree};

use super::super::limits;
use crate::areas::repositories::source::Language;

/// Parses a text; `None` if it is beyond the limits.
pub(in super::super) fn parse(language: Language, text: &str) -> Option<Tree> {
    let is_within = text.len() <= limits::PARSED_BYTES_MAX
        && text.split('\n').all(|line| line.len() <= limits::LINE_BYTES_MAX);
    if !is_within {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&grammar(language)).ok()?;
    let (mut furthest, mut stalled) = (0, 0);
    let mut progress = |state: &ParseState| {
        let at = state.current_byte_offset();
        stalled = if at > furthest { 0 } else { stalled + 1 };
        furthest = furthest.max(at);
        match stalled > limits::STALLED_REPORTS_MAX {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let bytes = text.as_bytes();
    let mut read = |at: usize, _| bytes.get(at..).unwrap_or_default();
    parser.parse_with_options(&mut read, None, Some(options))
}

fn grammar(language: Language) -> Grammar {
    match language {
        Language::Rust => tree_sitter_rust::LANGUAGE,
        Language::Python => tree_sitter_python::LANGUAGE,
        Language::JavaScript => tree_sitter_javascript::LANGUAGE,
        Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        Language::Tsx => tree_sitter_typescript::LANGUAGE_TSX,
        Language::Go => tree_sitter_go::LANGUAGE,
        Language::Ruby => tree_sitter_ruby::LANGUAGE,
        Language::Java => tree_sitter_java::LANGUAGE,
        Language::C => tree_sitter_c::LANGUAGE,
        Language::Cpp => tree_sitter_cpp::LANGUAGE,
    }
    .into()
}
