//! Checks a language model's text against the passages that it was given.
//!
//! A sentence is kept only if it cites passages, all of them known; if every path and line in it is
//! one of its passages; and if all code in it occurs in the passages. The rest is dropped, so what
//! is left refers to lines that exist.

use super::limits::{CITATION_DIGITS_MAX, MODEL_TEXT_CHARS_MAX};
use super::model::{AnswerReference, CheckedAnswer, Passage};
use super::statements::{Statement, statements};
use crate::areas::repositories::quotes::contains_secret;

/// Returns what is left of a model's text; `None` if nothing is. Kept citations are numbered anew,
/// in the order of their first use.
pub fn check_citations(text: &str, passages: &[Passage]) -> Option<CheckedAnswer> {
    let text: String = text.chars().take(MODEL_TEXT_CHARS_MAX).collect();
    let mut checked = CheckedAnswer { text: String::new(), references: Vec::new(), dropped: 0 };
    let mut used: Vec<usize> = Vec::new();
    for statement in statements(&text) {
        let Some(cited) = supporting(&statement, passages) else {
            checked.dropped += usize::from(statement.has_words());
            continue;
        };
        for passage in &cited {
            if !used.contains(&passage.number) {
                used.push(passage.number);
                checked.references.push(AnswerReference {
                    path: passage.path.clone(),
                    lines: passage.lines,
                    snippet: passage.snippet.clone(),
                });
            }
        }
        append(&mut checked.text, &statement, &used);
    }
    (!checked.references.is_empty()).then_some(checked)
}

/// Returns the passages that a sentence cites; `None` if it is to be dropped.
fn supporting<'passages>(
    statement: &Statement,
    passages: &'passages [Passage],
) -> Option<Vec<&'passages Passage>> {
    let cited: Option<Vec<&Passage>> = statement
        .citations
        .iter()
        .map(|number| passages.iter().find(|passage| passage.number == *number))
        .collect();
    let cited = cited.filter(|cited| !cited.is_empty() && statement.has_words())?;
    let code_occurs = statement.code.iter().all(|code| occurs(code, passages));
    let places_exist = places(&statement.prose).all(|place| place.is_in(&cited));
    (code_occurs && places_exist && !contains_secret(&statement.text)).then_some(cited)
}

/// Returns whether code is a part of a passage, up to white space, or names its place.
fn occurs(code: &str, passages: &[Passage]) -> bool {
    let wanted: String = code.split_whitespace().collect();
    let is_place =
        Place::parse(code).is_some_and(|place| place.is_in(&passages.iter().collect::<Vec<_>>()));
    let name = wanted.trim_end_matches("()");
    is_place
        || wanted.is_empty()
        || passages.iter().any(|passage| {
            let text: String = passage.snippet.split_whitespace().collect();
            text.contains(wanted.as_str()) || !name.is_empty() && text.contains(name)
        })
}

/// A path in a sentence, maybe with lines.
struct Place<'text> {
    path: &'text str,
    lines: Option<(u32, u32)>,
}

/// Returns the paths in a text outside of code.
fn places(text: &str) -> impl Iterator<Item = Place<'_>> {
    text.split(|char: char| char.is_whitespace() || "()[]{}<>\"'“”,;".contains(char))
        .filter_map(Place::parse)
}

impl<'text> Place<'text> {
    /// Parses a word such as `src/store.rs`, `store.rs:10` or `store.rs:10-20`; `None` if it is
    /// none.
    fn parse(word: &'text str) -> Option<Self> {
        let word = word.trim_matches(['`', '*', '_']).trim_end_matches(['.', ':', '!', '?']);
        let (path, lines) = match word.split_once(':') {
            Some((path, lines)) => (path, lines),
            None => (word, ""),
        };
        let (stem, ending) = path.rsplit_once('.')?;
        let is_path = !stem.is_empty()
            && !path.contains(char::is_whitespace)
            && !stem.ends_with('/')
            && (1..=5).contains(&ending.len())
            && ending.chars().all(|char| char.is_ascii_alphanumeric())
            && ending.chars().any(|char| char.is_ascii_alphabetic())
            && (stem.contains('/')
                || !lines.is_empty()
                || ending.chars().all(|char| char.is_ascii_lowercase()))
            && stem.chars().any(char::is_alphabetic)
            && !is_abbreviation(path);
        let (start, end) = lines.split_once(['-', '–']).unwrap_or((lines, lines));
        let lines = start
            .trim_start_matches('L')
            .parse()
            .ok()
            .zip(end.trim_start_matches('L').parse().ok());
        is_path.then_some(Self { path, lines })
    }

    fn is_in(&self, passages: &[&Passage]) -> bool {
        passages.iter().any(|passage| {
            let is_path = passage.path == self.path
                || passage.path.strip_suffix(self.path).is_some_and(|before| before.ends_with('/'));
            let is_member = !self.path.contains('/')
                && self.lines.is_none()
                && passage.snippet.contains(self.path);
            let has_lines = self.lines.is_none_or(|(start, end)| {
                start <= end && passage.lines.contains(start) && passage.lines.contains(end)
            });
            is_path && has_lines || is_member
        })
    }
}

fn is_abbreviation(word: &str) -> bool {
    matches!(word.to_lowercase().as_str(), "e.g" | "i.e" | "a.k.a" | "etc")
}

/// Appends a sentence with the new numbers of its citations.
fn append(text: &mut String, statement: &Statement, used: &[usize]) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(&statement.text);
    for number in &statement.citations {
        if let Some(position) = used.iter().position(|used| used == number) {
            text.push_str(&format!(" [{}]", position + 1));
        }
    }
    if let Some(mark) = statement.mark {
        text.push(mark);
    }
}

/// The number of a citation that has too many digits: no passage has it.
const NO_PASSAGE: usize = 0;

/// Returns the numbers in a citation such as `[12]` or `[1, 2]`, if a text begins with one, and
/// what follows.
pub(super) fn citation(text: &str) -> Option<(Vec<usize>, &str)> {
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
