//! Search of things by name, over all areas: what somebody looks for, and the best matches of one
//! kind of things. Each area offers its things; no area knows the others.

use std::cmp::Ordering;

use telltale_engine::{Cancellation, fold_case};

/// What somebody looks for: words, all of which must occur in a name, ignoring case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchWords {
    whole: String,
    words: Vec<String>,
}

/// How well a name matches, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchRank {
    /// The name is the text.
    Equal,
    /// The name begins with the text.
    Prefix,
    /// All words begin words of the name.
    WordStarts,
    /// All words occur in the name.
    Contained,
}

/// A thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedThing {
    /// The id, or the name of things without ids.
    pub id: String,
    /// The name that matches.
    pub name: String,
    /// What tells it apart from others of the same name: a type, a state, an address.
    pub detail: Option<String>,
}

/// The best matches among the things that were offered.
#[derive(Debug)]
pub struct NameMatches<'w> {
    words: &'w SearchWords,
    limit: usize,
    best: Vec<(MatchRank, NamedThing)>,
    total: usize,
    offered: usize,
    /// Whether nobody waits for the result any more: further things are ignored.
    is_abandoned: bool,
}

/// The number of things that are offered before it is checked whether anybody waits.
const OFFERS_PER_CHECK: usize = 1_024;

impl SearchWords {
    /// Parses a text; `None` if it has no words.
    pub fn parse(text: &str) -> Option<Self> {
        let whole = fold_case(text.trim());
        let words: Vec<String> = whole.split_whitespace().map(str::to_owned).collect();
        (!words.is_empty()).then_some(Self { whole, words })
    }

    /// Returns the longest word, for indexes that find names by one word.
    pub fn longest(&self) -> &str {
        self.words.iter().max_by_key(|word| word.len()).map_or("", String::as_str)
    }

    /// Returns how well a name matches; `None` if a word does not occur in it.
    pub fn rank(&self, name: &str) -> Option<MatchRank> {
        let name = fold_case(name);
        if !self.words.iter().all(|word| name.contains(word)) {
            return None;
        }
        Some(if name == self.whole {
            MatchRank::Equal
        } else if name.starts_with(&self.whole) {
            MatchRank::Prefix
        } else if self.words.iter().all(|word| begins_a_word(&name, word)) {
            MatchRank::WordStarts
        } else {
            MatchRank::Contained
        })
    }
}

/// Returns whether a word of the name begins with this text.
fn begins_a_word(name: &str, start: &str) -> bool {
    name.match_indices(start).any(|(at, _)| {
        let before = name.get(..at).and_then(|before| before.chars().next_back());
        before.is_none_or(|before| !before.is_alphanumeric())
    })
}

impl<'w> NameMatches<'w> {
    /// Keeps up to `limit` matches.
    pub fn new(words: &'w SearchWords, limit: usize) -> Self {
        Self { words, limit, best: Vec::new(), total: 0, offered: 0, is_abandoned: false }
    }

    /// Returns what is looked for.
    pub fn words(&self) -> &SearchWords {
        self.words
    }

    /// Offers a thing by its name; `describe` is called if it is among the best so far. If the
    /// client for which this thread works no longer waits, things are ignored.
    pub fn offer(&mut self, name: &str, describe: impl FnOnce() -> (String, Option<String>)) {
        if self.offered.is_multiple_of(OFFERS_PER_CHECK) {
            self.is_abandoned = Cancellation::check_current().is_err();
        }
        self.offered += 1;
        if self.is_abandoned {
            return;
        }
        let Some(rank) = self.words.rank(name) else { return };
        self.total += 1;
        let is_better = |other: &(MatchRank, NamedThing)| {
            order((rank, name), (other.0, &other.1.name)) == Ordering::Less
        };
        let at = self.best.iter().position(is_better).unwrap_or(self.best.len());
        if at < self.limit {
            let (id, detail) = describe();
            self.best.insert(at, (rank, NamedThing { id, name: name.to_owned(), detail }));
            self.best.truncate(self.limit);
        }
    }

    /// Returns the best matches, the best first, and the number of all.
    pub fn finish(self) -> (Vec<NamedThing>, usize) {
        (self.best.into_iter().map(|(_, thing)| thing).collect(), self.total)
    }
}

/// Orders matches: by rank, then the shorter name, then by name.
fn order(a: (MatchRank, &str), b: (MatchRank, &str)) -> Ordering {
    let key = |(rank, name): (MatchRank, &str)| (rank, name.chars().count());
    key(a).cmp(&key(b)).then_with(|| a.1.cmp(b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(text: &str, name: &str) -> Option<MatchRank> {
        SearchWords::parse(text).unwrap().rank(name)
    }

    #[test]
    fn a_name_matches_if_it_has_all_words() {
        for (text, name, expected) in [
            ("shop", "Shop", Some(MatchRank::Equal)),
            (" SHOP ", "shop orders", Some(MatchRank::Prefix)),
            ("ord", "shop orders", Some(MatchRank::WordStarts)),
            ("orders shop", "shop orders", Some(MatchRank::WordStarts)),
            ("usage", "cpu.usage", Some(MatchRank::WordStarts)),
            ("sage", "cpu.usage", Some(MatchRank::Contained)),
            ("cpu mem", "cpu.usage", None),
            ("gr\u{d6}\u{df}e", "Gr\u{f6}\u{df}e", Some(MatchRank::Equal)),
            ("/%2f,\u{202e}", "a/%2F,\u{202e}b", Some(MatchRank::Contained)),
        ] {
            assert_eq!(rank(text, name), expected, "{text:?} in {name:?}");
        }
        assert_eq!(SearchWords::parse(" \n"), None);
        assert_eq!(SearchWords::parse("a ccc bb").unwrap().longest(), "ccc");
    }

    #[test]
    fn the_best_matches_are_kept_whatever_their_order() {
        let mut names = ["xcpu", "cpu load", "a cpu", "cpu", "cpu.usage", "cpu", "none"];
        for _ in 0..names.len() {
            names.rotate_left(1);
            let words = SearchWords::parse("cpu").unwrap();
            let mut matches = NameMatches::new(&words, 4);
            for name in names {
                matches.offer(name, || (format!("id of {name}"), None));
            }
            let (best, total) = matches.finish();
            let best: Vec<&str> = best.iter().map(|thing| thing.name.as_str()).collect();
            assert_eq!((best, total), (vec!["cpu", "cpu", "cpu load", "cpu.usage"], 6));
        }
    }
}
