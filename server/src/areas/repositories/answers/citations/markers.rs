//! Citations in a model's text: what they look like, and where they may be.
//!
//! The check moves the citations of a sentence to its end. One in the middle supports only what is
//! before it, so such a sentence is dropped rather than changed in its meaning.

use super::super::limits::CITATION_DIGITS_MAX;
use super::super::statements::statements;

/// The number of a citation that has too many digits: no passage has it.
const NO_PASSAGE: usize = 0;

/// Characters after a clause in which the end of its sentence is looked for.
const SENTENCE_CHARS_MAX: usize = 600;

/// Ends of a text that are no ends of a sentence.
const ABBREVIATIONS: [&str; 5] = ["e.g.", "i.e.", "etc.", " vs.", "cf."];

/// Returns the numbers in a citation such as `[12]` or `[1, 2]`, if a text begins with one, and
/// what follows.
pub(in super::super) fn citation(text: &str) -> Option<(Vec<usize>, &str)> {
    let (inside, rest) = text.strip_prefix('[')?.split_once(']')?;
    let numbers: Option<Vec<usize>> = inside
        .split(',')
        .map(|number| {
            let number = number.trim();
            let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            let is_short = number.len() <= CITATION_DIGITS_MAX;
            is_number.then(|| number.parse().ok().filter(|_| is_short).unwrap_or(NO_PASSAGE))
        })
        .collect();
    Some((numbers?, rest))
}

/// Returns a text in which citations at other places than the end of a sentence, or of a clause of
/// a sentence that has citations at its end too, are ones of no passage.
pub(super) fn with_citations_at_ends(text: &str) -> String {
    let blocks = text.split("```").enumerate().map(|(position, block)| match position % 2 {
        0 => block.lines().map(checked_line).collect::<Vec<_>>().join("\n"),
        _ => block.to_owned(),
    });
    blocks.collect::<Vec<_>>().join("```")
}

fn checked_line(line: &str) -> String {
    let mut checked = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(char) = rest.chars().next() {
        if let Some(after) = after_citations(rest) {
            let markers = rest.strip_suffix(after).unwrap_or_default();
            match is_at_end(&checked, after) {
                true => checked.push_str(markers),
                false => checked.push_str(&format!("[{NO_PASSAGE}]")),
            }
            rest = after;
            continue;
        }
        let after = rest.get(char.len_utf8()..).unwrap_or_default();
        let after = match char {
            '`' => after.split_once('`').map_or("", |(_, after)| after),
            _ => after,
        };
        checked.push_str(rest.strip_suffix(after).unwrap_or_default());
        rest = after;
    }
    checked
}

/// Returns what follows the citations that a text begins with; `None` if there are none.
fn after_citations(text: &str) -> Option<&str> {
    let (_, mut after) = citation(text)?;
    while let Some((_, next)) = citation(after.trim_start()) {
        after = next;
    }
    Some(after)
}

/// Returns whether a citation with these texts before and after it is at the end of a sentence or
/// clause.
fn is_at_end(before: &str, after: &str) -> bool {
    let before = before.trim_end();
    if before.ends_with(['.', '!', '?']) {
        return !ABBREVIATIONS.iter().any(|abbreviation| before.ends_with(abbreviation));
    }
    let after = after.trim_start_matches(|char| " )\"'”*_".contains(char));
    match after.chars().next() {
        None | Some('.' | '!' | '?') => true,
        Some(',' | ';' | ':') => {
            let after: String = after.chars().take(SENTENCE_CHARS_MAX).collect();
            statements(&after).first().is_some_and(|sentence| !sentence.citations.is_empty())
        }
        Some(_) => false,
    }
}
