//! The words of a topic, and how many of them a text has.

use std::collections::HashSet;

use super::limits::TOPIC_WORDS_MAX;
use super::question::Question;
use super::values::AskedValue;
use super::words::{each_word, is_verb, stem, stems};

/// The weight of a verb in a question: code often does a thing under another name.
const VERB_WEIGHT: f64 = 0.5;
/// The weight of a word in capitals, such as an acronym: it names exactly one thing.
const NAME_WEIGHT: f64 = 1.5;

/// The words of a topic.
#[derive(Clone, Debug)]
pub(super) struct Topic {
    words: Vec<TopicWord>,
    /// The weight of all.
    weight: f64,
    /// What is asked for the value of.
    pub(super) value: Option<AskedValue>,
}

#[derive(Clone, Debug)]
struct TopicWord {
    /// The stems under which it can occur.
    stems: Vec<String>,
    weight: f64,
}

impl Topic {
    /// Returns the topic of a question.
    pub(super) fn of(question: &Question) -> Self {
        let weight = |word: &str| match question.names_exactly(word) {
            true => NAME_WEIGHT,
            false if is_verb(word) => VERB_WEIGHT,
            false => 1.0,
        };
        Self { value: AskedValue::of(question), ..Self::weighted(&question.topic, weight) }
    }

    /// Returns the topic of some words of the same weight.
    pub(super) fn new(words: &[String]) -> Self {
        Self::weighted(words, |_| 1.0)
    }

    fn weighted(words: &[String], weight: impl Fn(&str) -> f64) -> Self {
        let words: Vec<TopicWord> = words
            .iter()
            .take(TOPIC_WORDS_MAX)
            .map(|word| TopicWord { stems: stems(word), weight: weight(word) })
            .collect();
        let weight = words.iter().map(|word| word.weight).sum();
        Self { words, weight, value: None }
    }

    /// Returns the share of the words that a text contains, by their weights.
    pub(super) fn coverage(&self, text: &str) -> f64 {
        if self.words.is_empty() {
            return 0.0;
        }
        let contained = stems_in(text);
        let covered: f64 = self
            .words
            .iter()
            .filter(|word| word.stems.iter().any(|stem| contained.contains(stem)))
            .map(|word| word.weight)
            .sum();
        covered / self.weight
    }

    /// Returns how well a name names the topic: the share of the topic's words in it, less if it
    /// has other words too.
    pub(super) fn named_by(&self, name: &str) -> f64 {
        let words = stems_in(&name.replace(|char: char| !char.is_alphanumeric(), " "));
        let count = |words: usize| f64::from(u32::try_from(words).unwrap_or(u32::MAX));
        let own = words
            .iter()
            .filter(|stem| self.words.iter().any(|word| word.stems.contains(stem)))
            .count();
        self.coverage(name) * (0.5 + 0.5 * count(own) / count(words.len().max(1)))
    }
}

/// Returns the stems of the words of a text. Addresses of web pages are about something else.
fn stems_in(text: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    for written in text.split_whitespace().filter(|written| !written.contains("://")) {
        each_word(written, |word| {
            found.insert(stem(word));
        });
    }
    found
}
