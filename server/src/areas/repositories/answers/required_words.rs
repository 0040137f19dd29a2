//! The words of a question without which nothing answers it: rare ones say what it is about.

use std::collections::HashSet;

use super::question::Question;
use super::words::{Word, each_word, is_verb, other_spelling};
use crate::areas::repositories::index::SearchResult;

/// Words of a question from which not all have to be in an answer.
const FEW_WORDS_MAX: usize = 2;

/// The words that an answer has to contain.
#[derive(Clone, Debug, Default)]
pub(super) struct RequiredWords {
    words: Vec<Word>,
    /// The question is about something that the index does not contain.
    is_about_unknown: bool,
}

impl RequiredWords {
    /// Returns what an answer to a question has to contain, by what a search for its words found.
    pub(super) fn of(question: &Question, found: &SearchResult) -> Self {
        // The parts of a name in camel case are not asked for by themselves.
        let asked = spellings(&question.words);
        let topic = spellings(&question.topic);
        let is_asked = |word: &str| asked.contains(word) && topic.contains(word);
        let unknown: Vec<&String> =
            found.unknown_words.iter().filter(|word| is_asked(word)).collect();
        let mut known: Vec<(&str, f64)> = found
            .rarities
            .iter()
            .filter(|(word, _)| is_asked(word))
            .map(|(word, rarity)| (word.as_str(), *rarity))
            .collect();
        known.sort_by(|left, right| right.1.total_cmp(&left.1));
        let is_about_unknown = unknown
            .iter()
            .any(|word| !is_action(word) && !Word::new(word).has_synonyms())
            || !unknown.is_empty() && known.len() < FEW_WORDS_MAX && question.mentions.is_empty();
        let is_short = known.len() <= FEW_WORDS_MAX && question.mentions.is_empty();
        let rarest = known.iter().find(|(word, _)| !is_action(word)).or(known.first());
        let words = match is_short {
            true => known.iter().map(|(word, _)| Word::new(word)).collect(),
            false => rarest.iter().map(|(word, _)| Word::new(word)).collect(),
        };
        Self { words, is_about_unknown }
    }

    /// Returns whether a text contains these words, each as a whole word or in another form.
    pub(super) fn are_in(&self, text: &str) -> bool {
        if self.is_about_unknown {
            return false;
        }
        let mut missing: Vec<&Word> = self.words.iter().collect();
        for written in text.split_whitespace() {
            if missing.is_empty() {
                break;
            }
            let written = without_preposition(written);
            each_word(written, |found| missing.retain(|word| !word.means(found)));
        }
        missing.is_empty()
    }
}

/// Returns words in all their spellings.
fn spellings(words: &[String]) -> HashSet<String> {
    words.iter().cloned().chain(words.iter().filter_map(|word| other_spelling(word))).collect()
}

/// Returns a word without what follows a preposition: `in-flight` is no flight.
fn without_preposition(written: &str) -> &str {
    let inner = written.trim_matches(|char: char| !char.is_alphanumeric());
    match inner.split_once('-') {
        Some((before, _)) if PREPOSITIONS.contains(&before.to_lowercase().as_str()) => before,
        _ => written,
    }
}

/// Words that make one with what follows: `in-flight`, `off-thread`, `by-value` are about how
/// something is, not about flights, threads or values.
const PREPOSITIONS: &[&str] = &["in", "on", "off", "out", "over", "up", "down", "by"];

/// Returns whether a word says what is done: code often does a thing under another name.
fn is_action(word: &str) -> bool {
    is_verb(word) || ACTIONS.contains(&word) || COUNTING.contains(&word)
}

/// Verbs that are asked with about anything, in lower case.
const ACTIONS: &[&str] = &[
    "achieve",
    "affect",
    "allow",
    "apply",
    "avoid",
    "become",
    "behave",
    "begin",
    "cause",
    "change",
    "check",
    "choose",
    "compute",
    "contain",
    "control",
    "convert",
    "create",
    "decide",
    "define",
    "detect",
    "determine",
    "differ",
    "difference",
    "enable",
    "end",
    "enforce",
    "ensure",
    "fail",
    "fails",
    "finish",
    "generate",
    "guarantee",
    "happen",
    "keep",
    "limit",
    "manage",
    "occur",
    "perform",
    "prevent",
    "process",
    "protect",
    "provide",
    "represent",
    "respond",
    "run",
    "set",
    "start",
    "store",
    "wait",
    "want",
    "write",
    "read",
];

/// Words after `how` that ask for a number, which code gives without them.
const COUNTING: &[&str] = &["many", "often", "long"];
