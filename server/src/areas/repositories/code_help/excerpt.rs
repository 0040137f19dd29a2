//! Code and prose within sentences.
//!
//! Code is verbatim but for white space, in one line and of limited length; that something was cut
//! off is shown outside of its backticks.

use super::limits::{EXCERPT_CHARS_MAX, SECRET_BYTES_READ};
use crate::areas::repositories::quotes::{REDACTED, contains_secret};
use crate::areas::repositories::source::Symbol;

/// Returns code between backticks: as many as it takes to contain those in the code.
pub(super) fn code(text: &str) -> String {
    let uncommented = without_comments(text);
    let whole = joined_lines(uncommented);
    let (shown, is_cut) = cut(&whole, EXCERPT_CHARS_MAX);
    // A secret can be on several lines, and longer than what is shown.
    let read = whole.get(..whole.floor_char_boundary(SECRET_BYTES_READ)).unwrap_or(&whole);
    let shown = if contains_secret(read) { REDACTED } else { shown };
    let is_cut = is_cut || uncommented.len() < text.len();
    // What is missing in code that cannot be parsed has no text.
    if shown.is_empty() {
        return "…".to_owned();
    }
    let fence = "`".repeat(longest_run(shown) + 1);
    let pad = if shown.starts_with('`') || shown.ends_with('`') { " " } else { "" };
    let more = if is_cut { " …" } else { "" };
    format!("{fence}{pad}{shown}{pad}{fence}{more}")
}

/// Returns whether code is shown whole.
pub(super) fn fits(text: &str) -> bool {
    // A line break and the indentation after it are at most one space when shown.
    let lines = text.lines().map(|line| line.trim().chars().count());
    lines.sum::<usize>() <= EXCERPT_CHARS_MAX && without_comments(text).len() == text.len()
}

/// Returns the signature of a symbol between backticks; `None` if it is only its name, or if it is
/// not in the file as it is: comments within it are not part of a signature.
pub(super) fn signature(symbol: &Symbol, text: &str) -> Option<String> {
    let whole = symbol.signature.trim();
    // Decorators are before a function of Python, and values are behind the name of a constant.
    let from = whole.find(" def ").filter(|_| whole.starts_with('@'));
    let own = whole.get(from.map_or(0, |at| at + 1)..).unwrap_or(whole);
    let own = own.trim_end_matches("=>").trim_end_matches([' ', '=']);
    let skipped = usize::try_from(symbol.lines.start().saturating_sub(1)).unwrap_or(usize::MAX);
    let count = usize::try_from(symbol.lines.count()).unwrap_or(usize::MAX);
    let written: String =
        text.lines().skip(skipped).take(count).flat_map(str::split_whitespace).collect();
    let declared = own.split('=').next().unwrap_or(own).trim();
    let mut choices = [own, declared].into_iter();
    let shown = choices.find(|own| {
        let squeezed: String = own.split_whitespace().collect();
        *own != symbol.name && !squeezed.is_empty() && written.contains(&squeezed)
    });
    shown.map(code)
}

/// Returns prose in one line, of at most so many characters. Backticks that enclose nothing are
/// replaced, so that none is taken for the beginning of code.
pub(super) fn prose(text: &str, chars_max: usize) -> String {
    let whole = one_line(text);
    let (shown, is_cut) = cut(&whole, chars_max);
    let shown = if is_balanced(shown) { shown.to_owned() } else { shown.replace('`', "'") };
    if is_cut { format!("{shown} …") } else { shown }
}

/// Returns code in one line: line breaks are spaces, but for those that only wrap long lines.
fn joined_lines(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for line in text.lines().map(one_line).filter(|line| !line.is_empty()) {
        let is_wrapped = joined.is_empty()
            || joined.ends_with(['(', '[', '.'])
            || line.starts_with([')', ']', '.'])
            || line.starts_with("?.");
        if !is_wrapped {
            joined.push(' ');
        }
        joined.push_str(&line);
    }
    joined
}

/// Returns a text with single spaces in place of white space.
pub(super) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Returns a sentence: with a capital letter at its beginning and a full stop at its end.
pub(super) fn sentence(text: &str) -> String {
    ended(&capitalised(text.trim()))
}

/// Returns a text with a full stop at its end, if it is not empty.
pub(super) fn ended(text: &str) -> String {
    let ends = text.is_empty() || text.ends_with(['.', '!', '?', ':']);
    if ends { text.to_owned() } else { format!("{text}.") }
}

/// Returns a text that begins with a capital letter.
pub(super) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// Returns names as an enumeration, `a, b and c`, and how many more there are than are to be
/// listed.
pub(super) fn listed(names: &[String], names_max: usize, conjunction: &str) -> String {
    let shown = names.get(..names_max).unwrap_or(names);
    let rest = names.len() - shown.len();
    if rest > 0 {
        return format!("{} {conjunction} {rest} more", shown.join(", "));
    }
    match shown {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} {conjunction} {last}", first.join(", ")),
    }
}

/// Returns the code before the first line that begins with a comment.
fn without_comments(text: &str) -> &str {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let is_comment = ["//", "/*", "# "].iter().any(|marker| trimmed.starts_with(marker));
        if is_comment && end > 0 {
            return text.get(..end).unwrap_or(text);
        }
        end += line.len();
    }
    text
}

/// Returns the beginning of a text, up to a place where code and prose can be broken, and whether
/// something is left out.
fn cut(text: &str, chars_max: usize) -> (&str, bool) {
    let Some((end, _)) = text.char_indices().nth(chars_max) else { return (text, false) };
    let beginning = text.get(..end).unwrap_or(text);
    let breaks = beginning.char_indices().rev().take(chars_max / 2);
    let at = breaks.filter(|(_, char)| " ,(.;".contains(*char)).map(|(at, _)| at).next();
    let kept = beginning.get(..at.unwrap_or(end)).unwrap_or(beginning);
    (kept.trim_end_matches([' ', ',', '(', '.', ';']), true)
}

/// Returns whether each run of backticks that begins code has one that ends it.
fn is_balanced(text: &str) -> bool {
    let mut open = 0;
    for run in runs(text) {
        match open {
            0 => open = run,
            length if length == run => open = 0,
            _ => {}
        }
    }
    open == 0
}

fn longest_run(text: &str) -> usize {
    runs(text).max().unwrap_or(0)
}

fn runs(text: &str) -> impl Iterator<Item = usize> {
    text.split(|char| char != '`').map(str::len).filter(|length| *length > 0)
}
