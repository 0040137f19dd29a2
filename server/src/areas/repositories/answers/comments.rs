//! The sentences of comments within lines of a file.

use super::examples::without_examples;
use super::files::OpenFile;
use super::phrases::DocQuote;
use crate::areas::repositories::quotes::{locate, sentences};
use crate::areas::repositories::source::{Language, LineRange};

/// Lines in which comments are looked for, and sentences of them that are read: more are not of a
/// function that a person has written.
const COMMENT_LINES_MAX: usize = 4_000;
const COMMENT_SENTENCES_MAX: usize = 400;

/// Returns the sentences of the comments that take whole lines, in their order.
pub(super) fn comment_quotes(file: &OpenFile, lines: LineRange) -> Vec<DocQuote> {
    let mut found = Vec::new();
    let mut block: Option<(u32, u32, String)> = None;
    for (number, line) in file.numbered(lines).take(COMMENT_LINES_MAX) {
        if found.len() >= COMMENT_SENTENCES_MAX {
            return found;
        }
        match (comment(file.outline.language, line), block.as_mut()) {
            (Some(text), Some((_, end, comment))) => {
                *end = number;
                comment.push('\n');
                comment.push_str(text);
            }
            (Some(text), None) => block = Some((number, number, text.to_owned())),
            (None, _) => flush(file, block.take(), &mut found),
        }
    }
    flush(file, block, &mut found);
    found
}

fn flush(file: &OpenFile, block: Option<(u32, u32, String)>, found: &mut Vec<DocQuote>) {
    let Some((start, end, comment)) = block else { return };
    let Some(lines) = LineRange::new(start, end) else { return };
    for sentence in sentences(&without_examples(&comment)) {
        if !super::phrases::has_marker(&sentence)
            && let Some(lines) = locate(file.text_of(lines), start, &sentence)
        {
            found.push(DocQuote { sentence, lines });
        }
    }
}

/// Returns the text of a line that is a comment.
pub(super) fn comment(language: Option<Language>, line: &str) -> Option<&str> {
    let line = line.trim();
    let text = match language? {
        Language::Python | Language::Ruby => line.strip_prefix('#')?.trim_start_matches('#'),
        _ => line
            .strip_prefix("//")
            .map(|text| text.trim_start_matches(['/', '!']))
            .or_else(|| line.strip_prefix("/*").map(|text| text.trim_start_matches('*')))
            .or_else(|| line.strip_prefix("* "))
            .or_else(|| (line == "*").then_some(""))?
            .trim_end_matches("*/"),
    };
    Some(text.trim())
}

/// Returns a line of code without the comment at its end. What is between quotes is none.
pub(super) fn without_comment(line: &str, language: Option<Language>) -> &str {
    let mark = match language {
        Some(Language::Python | Language::Ruby) => "#",
        _ => "//",
    };
    let mut quote: Option<char> = None;
    let mut is_escaped = false;
    for (at, char) in line.char_indices() {
        match quote {
            None if line.get(at..).is_some_and(|rest| rest.starts_with(mark)) => {
                return line.get(..at).unwrap_or(line);
            }
            // In Rust a single one begins a lifetime.
            None if char == '\'' && language == Some(Language::Rust) => {}
            None if char == '"' || char == '\'' || char == '`' => quote = Some(char),
            Some(open) if char == open && !is_escaped => quote = None,
            _ => {}
        }
        is_escaped = char == '\\' && !is_escaped;
    }
    line
}
