//! What a question asks for.

use super::super::limits::QUESTION_WORDS_MAX;
use super::super::words::{
    is_stop_word, name_synonyms, parts, reliability, runs, stem, type_synonyms, whole,
};

/// Stems of words that ask for tests.
const TEST_WORDS: [&str; 7] = ["test", "bench", "benchmark", "exampl", "fixtur", "mock", "spec"];

/// Stop words that names contain on purpose, such as `from_str` and `is_empty`.
const NAME_WORDS: [&str; 18] = [
    "all", "and", "any", "as", "at", "by", "each", "for", "from", "has", "in", "into", "is", "of",
    "on", "or", "to", "with",
];

/// A question.
#[derive(Debug, Default)]
pub(super) struct Question {
    /// In the order of the question.
    pub(super) wishes: Vec<Wish>,
    pub(super) asks_for_tests: bool,
}

/// Something that a good chunk contains.
#[derive(Debug)]
pub(super) struct Wish {
    /// As written, in lower case.
    pub(super) word: String,
    /// What it can be found by, the word itself first.
    pub(super) terms: Vec<WishTerm>,
    pub(super) role: WishRole,
    /// The share of the code that contains it where its documentation does, if that is small.
    pub(super) reliability: Option<f32>,
}

/// A word of the index that fulfils a wish.
#[derive(Debug)]
pub(super) struct WishTerm {
    pub(super) term: String,
    pub(super) kind: TermKind,
}

/// How a word of the index belongs to a word of the question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TermKind {
    /// It is the same.
    Same,
    /// It is in the name with this probability.
    InName(f32),
    /// It is in the types with this probability.
    InType(f32),
}

/// What a wish is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WishRole {
    /// A word of the question.
    Word,
    /// A word that counts in names only, such as `from`.
    NameWord,
    /// Several words of the question as one identifier: nothing is missing without it.
    Identifier,
}

impl Question {
    pub(super) fn parse(text: &str) -> Self {
        let mut question = Self::default();
        let words: Vec<&str> = runs(text).take(QUESTION_WORDS_MAX).collect();
        let is_asked = |word: &str| !is_stop_word(&word.to_lowercase());
        // A question of nothing but words like `from` means these.
        let keeps_all = !words.iter().any(|word| is_asked(word));
        let mut before: Option<String> = None;
        for word in words {
            let lower = whole(word);
            let is_kept = keeps_all || is_asked(word);
            let is_in_names = NAME_WORDS.contains(&lower.as_str());
            if !is_kept && !is_in_names {
                before = None;
                continue;
            }
            if let Some(before) = before.replace(lower.clone()) {
                question.add_identifier(before + &lower);
            }
            if is_kept {
                question.add_words(word);
            } else {
                let terms =
                    vec![WishTerm { term: stem(&lower).into_owned(), kind: TermKind::Same }];
                let role = WishRole::NameWord;
                question.add(Wish { word: lower, terms, role, reliability: None });
            }
        }
        question
    }

    fn add_words(&mut self, word: &str) {
        let parts: Vec<&str> = parts(word).collect();
        if parts.len() > 1 {
            self.add_identifier(whole(word));
        }
        for part in parts {
            let lower = part.to_lowercase();
            let stemmed = stem(&lower).into_owned();
            self.asks_for_tests |= TEST_WORDS.contains(&stemmed.as_str());
            if lower.len() < 2 && !lower.starts_with(|c: char| c.is_ascii_digit()) {
                continue;
            }
            let mut terms = vec![WishTerm { term: stemmed.clone(), kind: TermKind::Same }];
            if stemmed != lower {
                terms.push(WishTerm { term: lower.clone(), kind: TermKind::Same });
            }
            let probability = |percent: u8| f32::from(percent) / 100.0;
            terms.extend(name_synonyms(&stemmed).iter().map(|(other, percent)| WishTerm {
                term: (*other).to_owned(),
                kind: TermKind::InName(probability(*percent)),
            }));
            terms.extend(type_synonyms(&stemmed).iter().map(|(other, percent)| WishTerm {
                term: (*other).to_owned(),
                kind: TermKind::InType(probability(*percent)),
            }));
            let reliability = reliability(&stemmed);
            self.add(Wish { word: lower, terms, role: WishRole::Word, reliability });
        }
    }

    fn add_identifier(&mut self, word: String) {
        let term = WishTerm { term: word.clone(), kind: TermKind::Same };
        let role = WishRole::Identifier;
        self.add(Wish { word, terms: vec![term], role, reliability: None });
    }

    fn add(&mut self, wish: Wish) {
        let term = |wish: &Wish| wish.terms.first().map(|term| term.term.clone());
        let is_new = self.wishes.iter().all(|other| term(other) != term(&wish));
        if is_new && self.wishes.len() < 2 * QUESTION_WORDS_MAX {
            self.wishes.push(wish);
        }
    }
}
