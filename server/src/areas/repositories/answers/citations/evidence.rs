//! What a passage contains, prepared for the sentences that cite it.

use std::collections::HashSet;

use super::super::model::Passage;
use super::super::words::{each_word, stem};

/// A passage with its words.
#[derive(Debug)]
pub(super) struct Evidence<'passage> {
    pub(super) passage: &'passage Passage,
    /// Identifiers, numbers and single marks, in their order.
    tokens: Vec<&'passage str>,
    /// The stems of the words of its path and text.
    stems: HashSet<String>,
}

impl<'passage> Evidence<'passage> {
    pub(super) fn new(passage: &'passage Passage) -> Self {
        let mut stems = HashSet::new();
        for text in [&passage.path, &passage.snippet] {
            each_word(text, |word| {
                stems.insert(stem(word));
            });
        }
        Self { passage, tokens: tokens(&passage.snippet), stems }
    }

    /// Returns whether code is a part of the text, up to white space and with whole identifiers.
    /// The parentheses of a call may be missing.
    pub(super) fn has_code(&self, code: &str) -> bool {
        let wanted = tokens(code);
        let name = wanted.strip_suffix(&["(", ")"]).filter(|name| !name.is_empty());
        wanted.is_empty() || self.has_tokens(&wanted) || name.is_some_and(|it| self.has_tokens(it))
    }

    fn has_tokens(&self, wanted: &[&str]) -> bool {
        self.tokens.windows(wanted.len()).any(|window| window == wanted)
    }

    /// Returns whether the stem of a word is one of those of the text.
    pub(super) fn has_stem(&self, stem: &str) -> bool {
        self.stems.contains(stem)
    }

    /// Returns whether the text contains a number, however its digits are grouped.
    pub(super) fn has_number(&self, digits: &str) -> bool {
        self.tokens.iter().any(|token| {
            let token = token.chars().filter(|char| *char != '_');
            token.take_while(char::is_ascii_digit).eq(digits.chars())
        })
    }

    /// Returns whether the passage has lines, the first to the last.
    pub(super) fn has_lines(&self, (start, end): (u32, u32)) -> bool {
        let lines = self.passage.lines;
        start <= end && lines.contains(start) && lines.contains(end)
    }

    /// Returns whether the text contains a link, tag or address that does not go on after it.
    pub(super) fn has_markup(&self, part: &str) -> bool {
        self.has_part(part, |after| {
            let mut after = after.chars();
            match after.next() {
                Some('.') => !after.next().is_some_and(char::is_alphanumeric),
                Some(char) => !char.is_alphanumeric() && !"-_@:%".contains(char),
                None => true,
            }
        })
    }

    /// Returns whether the text contains a word that is not a part of a longer one.
    pub(super) fn has_whole(&self, word: &str) -> bool {
        self.has_part(word, |after| !after.starts_with(is_of_identifier))
    }

    fn has_part(&self, part: &str, ends: impl Fn(&str) -> bool) -> bool {
        let text = self.passage.snippet.as_str();
        let is_word = part.starts_with(is_of_identifier);
        text.match_indices(part).any(|(at, _)| {
            let (before, rest) = text.split_at_checked(at).unwrap_or_default();
            let begins = !is_word || !before.ends_with(is_of_identifier);
            begins && ends(rest.strip_prefix(part).unwrap_or_default())
        })
    }
}

fn is_of_identifier(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// Returns the identifiers, numbers and single marks of a text.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = match is_of_identifier(first) {
            true => rest.find(|char| !is_of_identifier(char)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (token, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}
