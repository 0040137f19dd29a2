//! Divides text into identifiers, and identifiers into words.
//!
//! `parse_HTTPRequest2` has the words `parse`, `http` and `request2`, and is found as a whole as
//! `parsehttprequest2`, however it is written. Digits belong to the word before them, so that
//! `utf8` and `sha256` are words.

use super::super::limits::TERM_BYTES_MAX;
use super::stem::stem;

/// What a character is, as far as the borders of words depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Underscore,
    Other,
}

/// Returns the runs of letters, digits and underscores.
pub(in super::super) fn runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| class(character) == Class::Other).filter(|run| !run.is_empty())
}

/// Returns the words of an identifier, as written.
pub(in super::super) fn parts(identifier: &str) -> impl Iterator<Item = &str> {
    let mut rest = identifier;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches('_');
        let end = part_end(rest)?;
        let (part, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(part)
    })
}

/// Returns the whole identifier as it is looked up, without regard to how its words are joined.
pub(in super::super) fn whole(identifier: &str) -> String {
    let mut whole = String::with_capacity(identifier.len());
    whole.extend(identifier.chars().filter(|c| *c != '_').flat_map(char::to_lowercase));
    whole
}

/// Calls `add` with what an identifier is found by: its words, stemmed, and if they are several
/// the whole.
pub(in super::super) fn terms(identifier: &str, mut add: impl FnMut(&str)) {
    let mut words = 0;
    for part in parts(identifier) {
        words += 1;
        if is_indexed(part) {
            add(&stem(&part.to_lowercase()));
        }
    }
    if words > 1 && identifier.len() <= TERM_BYTES_MAX {
        add(&whole(identifier));
    }
}

/// Returns whether a word can be looked up. Single letters are names without a meaning.
fn is_indexed(part: &str) -> bool {
    let is_letter = part.len() == 1 && !part.starts_with(|c: char| c.is_ascii_digit());
    !is_letter && part.len() <= TERM_BYTES_MAX
}

/// Returns where the first word of an identifier ends; `None` if it has none.
fn part_end(identifier: &str) -> Option<usize> {
    let mut characters = identifier.char_indices().map(|(at, c)| (at, class(c))).peekable();
    let (_, mut before) = characters.next()?;
    while let Some((at, here)) = characters.next() {
        let next = characters.peek().map(|(_, class)| *class);
        let ends = match (before, here) {
            (_, Class::Underscore | Class::Other) => true,
            (Class::Lower | Class::Digit, Class::Upper) => true,
            // The last capital of several begins the next word: `HTTPRequest`.
            (Class::Upper, Class::Upper) => next == Some(Class::Lower),
            _ => false,
        };
        if ends {
            return Some(at);
        }
        before = here;
    }
    Some(identifier.len())
}

fn class(character: char) -> Class {
    match character {
        'a'..='z' => Class::Lower,
        'A'..='Z' => Class::Upper,
        '0'..='9' => Class::Digit,
        '_' => Class::Underscore,
        '\0'..='\x7f' => Class::Other,
        _ if character.is_uppercase() => Class::Upper,
        _ if character.is_alphabetic() => Class::Lower,
        _ if character.is_alphanumeric() => Class::Digit,
        _ => Class::Other,
    }
}
