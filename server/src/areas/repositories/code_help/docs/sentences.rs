//! Sentences of prose.

/// Abbreviations whose full stop ends no sentence.
const ABBREVIATIONS: [&str; 9] = ["e.g", "i.e", "etc", "vs", "cf", "approx", "resp", "incl", "no"];

/// Splits a paragraph after its first sentence.
pub(super) fn split_first(paragraph: &str) -> (&str, &str) {
    let mut chars = paragraph.char_indices().peekable();
    let mut in_code = false;
    while let Some((at, char)) = chars.next() {
        in_code ^= char == '`';
        let next = chars.peek().map(|(_, next)| *next);
        if in_code || !".!?".contains(char) || !next.is_none_or(char::is_whitespace) {
            continue;
        }
        let (sentence, rest) = paragraph.split_at_checked(at + 1).unwrap_or((paragraph, ""));
        let last_word = sentence.trim_end_matches('.').rsplit([' ', '(']).next().unwrap_or("");
        let is_abbreviation =
            ABBREVIATIONS.iter().any(|known| last_word.eq_ignore_ascii_case(known));
        // What begins with a small letter goes on.
        let goes_on = rest.trim_start().chars().next().is_some_and(char::is_lowercase);
        if !(is_abbreviation || goes_on) {
            return (sentence.trim(), rest.trim());
        }
    }
    (paragraph.trim(), "")
}

/// Returns the first sentences of prose, of its first two paragraphs.
pub(in super::super) fn first_sentences(prose: &str, sentences_max: usize) -> String {
    let mut found: Vec<&str> = Vec::new();
    for paragraph in prose.split("\n\n").take(2) {
        // The items of a list are no sentences.
        let mut rest = paragraph.split("\n").next().unwrap_or(paragraph);
        while found.len() < sentences_max && !rest.is_empty() {
            let (sentence, after) = split_first(rest);
            found.push(sentence);
            rest = after;
        }
    }
    found.join(" ")
}

/// Words of the licences that files begin with.
const LICENCE_WORDS: [&str; 6] = [
    "in compliance with the license",
    "without warranties or conditions",
    "permission is hereby granted",
    "redistribution and use in source",
    "gnu general public license",
    "all rights reserved",
];

/// Returns whether a comment is about rights, not about code.
pub(in super::super) fn is_licence(doc: &str) -> bool {
    let words = doc.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase();
    LICENCE_WORDS.iter().any(|licence| words.contains(licence))
}
