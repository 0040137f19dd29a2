//! Whether a sentence is about the passages that it cites: they contain most of its words. A model
//! that invents uses words of its own.

use super::super::words::{each_word, is_stop_word, stem, stems};
use super::evidence::Evidence;

/// Characters of a word from which it has a meaning of its own.
const CONTENT_CHARS_MIN: usize = 4;
/// Digits of a number from which it has to be in a passage: smaller ones also count things.
const NUMBER_DIGITS_MIN: usize = 2;
/// Words that sentences about any code contain, in any form.
const GENERIC_WORDS: [&str; 2] = ["call", "return"];

/// Returns whether at least half of the content words of a text, all its numbers and all its names
/// with underscores occur in the cited passages.
pub(super) fn is_about(prose: &str, cited: &[&Evidence<'_>]) -> bool {
    let (mut found, mut missing) = (0_usize, 0_usize);
    each_word(prose, |word| {
        if is_content(word) {
            let has = |stem: &str| cited.iter().any(|one| one.has_stem(stem));
            let is_found = has(&stem(word)) || stems(word).iter().any(|stem| has(stem));
            found += usize::from(is_found);
            missing += usize::from(!is_found);
        }
    });
    found >= missing
        && numbers(prose).all(|digits| cited.iter().any(|one| has_number(one, &digits)))
        && names(prose).all(|name| cited.iter().any(|one| one.has_code(name)))
}

/// Returns whether a word says something that can be missing. A bare yes or no says all.
fn is_content(word: &str) -> bool {
    let is_word =
        word.chars().count() >= CONTENT_CHARS_MIN && word.chars().all(char::is_alphabetic);
    word == "yes"
        || word == "no"
        || is_word
            && !is_stop_word(word)
            && !GENERIC_WORDS.iter().any(|generic| stem(generic) == stem(word))
}

/// Returns the words of a text without the marks around them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| char.is_whitespace() || "()[]{}<>\"'“”;/:=-–".contains(char))
        .map(|word| word.trim_matches(|char: char| !char.is_alphanumeric() && char != '_'))
}

/// Returns the digits of the numbers in a text.
fn numbers(text: &str) -> impl Iterator<Item = String> + '_ {
    words(text).filter_map(|word| {
        let is_number = word.chars().all(|char| char.is_ascii_digit() || "_,".contains(char));
        let digits: String = word.chars().filter(char::is_ascii_digit).collect();
        (is_number && digits.len() >= NUMBER_DIGITS_MIN).then_some(digits)
    })
}

/// A number is in a passage, or is one of its lines.
fn has_number(one: &Evidence<'_>, digits: &str) -> bool {
    let is_line = digits.parse().is_ok_and(|line| one.has_lines((line, line)));
    is_line || one.has_number(digits)
}

/// Returns the names in a text that can only be those of code.
fn names(text: &str) -> impl Iterator<Item = &str> {
    words(text).filter(|word| word.trim_matches('_').contains('_'))
}
