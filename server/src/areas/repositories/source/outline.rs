//! From the text of a file to its outline.

use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, ParseState, Parser, Range, Tree};

use super::limits;
use super::macro_items::macro_items;
use super::model::{FileOutline, Language};
use super::walk;

/// Returns the outline of a file. A file without a grammar, or that is beyond the limits of the
/// parser, has an outline without symbols.
pub fn outline(path: &str, text: &str) -> FileOutline {
    let Some(language) = Language::of(path, text) else { return FileOutline::default() };
    let unparsed = FileOutline { language: Some(language), ..FileOutline::default() };
    let is_parsed = text.len() <= limits::PARSED_BYTES_MAX
        && text.split('\n').all(|line| line.len() <= limits::LINE_BYTES_MAX);
    match is_parsed.then(|| parse(language, text, None)).flatten() {
        Some(tree) => {
            let macros = macro_items(language, text, &tree);
            walk::outline(language, path, text, &tree, &macros)
        }
        None => unparsed,
    }
}

/// Parses a text, or a part of it; `None` if that takes too much work.
pub(super) fn parse(language: Language, text: &str, part: Option<Range>) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).ok()?;
    if let Some(part) = part {
        parser.set_included_ranges(&[part]).ok()?;
    }
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
