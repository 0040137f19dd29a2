//! The sentences of a documentation: prose only, without headings, badges, code blocks, tables,
//! licences and tags, each in one line and otherwise verbatim.

use super::contains_secret;
use super::limits::{DOC_BYTES_MAX, SENTENCE_CHARS_MAX, SENTENCES_MAX};
use super::visible::is_visible;

/// Abbreviations whose full stop ends no sentence.
const ABBREVIATIONS: &[&str] =
    &["e.g", "i.e", "etc", "vs", "cf", "approx", "resp", "incl", "no", "fig", "mr", "dr", "st"];

/// Beginnings of lines that are no prose, in lower case.
const NO_PROSE: &[&str] = &[
    "#",
    "[![",
    "[<",
    "![",
    "&nbsp",
    "<",
    "|",
    "@",
    ":param",
    ":return",
    ":raises",
    ":type",
    ":rtype",
    "copyright",
    "spdx-",
    "(c) ",
    "licensed under",
    "-*-",
    "eslint",
    "ts-",
    "prettier",
    "clippy",
    "noqa",
    "pylint",
    "type:",
    "vim:",
    "$",
    "use strict",
    "permission is hereby",
    "all rights reserved",
    "the software is provided",
    "redistribution and use",
    "<reference",
    "+build",
    "go:",
    "nolint",
    ">>>",
    "...",
    "!/",
];

/// Returns the first sentence of a documentation; `None` if it contains no prose.
pub fn first_sentence(doc: &str) -> Option<String> {
    sentences(doc).into_iter().next()
}

/// Returns the first sentences of a documentation, in their order, without those that contain a
/// secret.
pub fn sentences(doc: &str) -> Vec<String> {
    let mut found = Vec::new();
    for paragraph in paragraphs(beginning(doc, DOC_BYTES_MAX)) {
        split(&paragraph, &mut found);
        if found.len() >= SENTENCES_MAX {
            break;
        }
    }
    found.truncate(SENTENCES_MAX);
    found
}

/// Returns at most the first bytes of a text, whole characters.
fn beginning(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or(text)
}

/// Returns the paragraphs of prose, each in one line. An item of a list is a paragraph.
fn paragraphs(doc: &str) -> Vec<String> {
    let mut paragraphs = Vec::new();
    let mut current = String::new();
    let mut fence: Option<&str> = None;
    for line in doc.lines() {
        let is_indented_code = line.starts_with("    ") && current.is_empty();
        let line = line.trim();
        let marker = ["```", "~~~"].into_iter().find(|marker| line.starts_with(marker));
        if fence.is_some() || marker.is_some() {
            if fence.is_none() || fence == marker {
                fence = if fence.is_none() { marker } else { None };
            }
            paragraphs.push(std::mem::take(&mut current));
        } else if line.is_empty() || is_indented_code || is_no_prose(line) {
            paragraphs.push(std::mem::take(&mut current));
        } else if is_underline(line) {
            // The line before was a heading.
            current.clear();
        } else {
            let item = list_item(line);
            if item.is_some() {
                paragraphs.push(std::mem::take(&mut current));
            }
            append_words(&mut current, item.unwrap_or(line));
        }
    }
    paragraphs.push(current);
    paragraphs.retain(|paragraph| paragraph.chars().any(char::is_alphabetic));
    paragraphs
}

fn is_no_prose(line: &str) -> bool {
    let lower = beginning(line, 32).to_lowercase();
    // The target of a link that is named elsewhere.
    let is_link_target = line.starts_with('[') && line.contains("]: ");
    is_link_target || NO_PROSE.iter().any(|start| lower.starts_with(start))
}

fn is_underline(line: &str) -> bool {
    let mut chars = line.chars();
    chars.next().is_some_and(|first| "=-*_~+".contains(first) && chars.all(|char| char == first))
        && line.len() >= 3
}

/// Returns the text of an item of a list.
fn list_item(line: &str) -> Option<&str> {
    let text = line
        .strip_prefix("- ")
        .or_else(|| line.strip_prefix("* "))
        .or_else(|| line.strip_prefix("+ "))
        .or_else(|| {
            let rest = line.trim_start_matches(|char: char| char.is_ascii_digit());
            (rest.len() < line.len()).then(|| rest.strip_prefix(". ")).flatten()
        })?;
    Some(text.trim_start())
}

/// Appends the words of a line, separated by one space each. Characters that cannot be seen, or
/// that turn the direction of the text after them, are left out.
fn append_words(paragraph: &mut String, line: &str) {
    for word in line.split_whitespace() {
        if !paragraph.is_empty() {
            paragraph.push(' ');
        }
        paragraph.extend(word.chars().filter(|char| is_visible(*char)));
    }
}

/// Appends the sentences of a paragraph.
fn split(paragraph: &str, found: &mut Vec<String>) {
    let mut sentence = String::new();
    let mut is_code = false;
    let mut chars = paragraph.chars().peekable();
    while let Some(char) = chars.next() {
        sentence.push(char);
        is_code ^= char == '`';
        let is_last = chars.peek().is_none_or(|next| next.is_whitespace());
        let ends = match char {
            '.' => is_last && !is_code && !is_abbreviation(&sentence),
            '!' | '?' => is_last && !is_code,
            '。' => true,
            _ => false,
        };
        if ends {
            push_sentence(&mut sentence, found);
        }
    }
    push_sentence(&mut sentence, found);
}

fn is_abbreviation(sentence: &str) -> bool {
    let word = sentence.trim_end_matches('.').rsplit([' ', '(']).next().unwrap_or_default();
    let word = word.to_lowercase();
    ABBREVIATIONS.contains(&word.as_str())
        || word.chars().count() == 1 && word.chars().all(char::is_alphabetic)
}

/// Appends a sentence, cut after a word if it is too long.
fn push_sentence(sentence: &mut String, found: &mut Vec<String>) {
    let whole = std::mem::take(sentence);
    let whole = whole.trim();
    if !whole.chars().any(char::is_alphabetic) || contains_secret(whole) {
        return;
    }
    let Some((end, _)) = whole.char_indices().nth(SENTENCE_CHARS_MAX) else {
        return found.push(whole.to_owned());
    };
    let beginning = beginning(whole, end);
    let words = beginning.rsplit_once(' ').map_or(beginning, |(words, _)| words);
    found.push(format!("{words} …"));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_sentence_is_prose() {
        for (doc, expected) in [
            ("Opens the store.", Some("Opens the store.")),
            ("Opens the store\nin a folder. Then more.", Some("Opens the store in a folder.")),
            ("# Title\n\n[![badge](x)](y)\n\nDoes it.", Some("Does it.")),
            ("Title\n=====\n\nDoes it.", Some("Does it.")),
            ("```\nlet x = 1;\n```\nReturns e.g. one. Two.", Some("Returns e.g. one.")),
            ("Copyright 2020 X.\n\nParses `a. b` well. Y", Some("Parses `a. b` well.")),
            ("Version 1.2 of it. Next", Some("Version 1.2 of it.")),
            ("- First item\n- Second", Some("First item")),
            ("Hides \u{202e}nothing\u{200b}.", Some("Hides nothing.")),
            ("token = \"ghp_0123456789abcdefghijklmnopqrstuvwxyz\"\n\nSigns.", Some("Signs.")),
            ("[<img src=\"x\">](y)\n[docs]: https://x.example\n\nReads it.", Some("Reads it.")),
            ("```\nonly code", None),
            ("", None),
        ] {
            assert_eq!(first_sentence(doc).as_deref(), expected, "{doc}");
        }
    }

    #[test]
    fn a_long_sentence_is_cut_after_a_word() {
        let sentence = first_sentence(&"wörd ".repeat(1_000)).unwrap();
        assert!(sentence.ends_with("wörd …"));
        assert!(sentence.chars().count() <= SENTENCE_CHARS_MAX + 2);
    }

    proptest! {
        #[test]
        fn sentences_are_words_of_the_documentation(doc in "[a-zé`.!?#\\-\n >0-9]{0,200}") {
            for sentence in sentences(&doc) {
                prop_assert!(!sentence.contains('\n'));
                for word in sentence.split(' ') {
                    prop_assert!(doc.contains(word), "{word}");
                }
            }
        }
    }
}
