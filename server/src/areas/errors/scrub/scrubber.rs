//! The scrubber: decides which keys are secret, and redacts strings.
//!
//! A key is secret if it contains one of the configured words, ignoring case. A word of up to four
//! letters must be a whole word of the key, so that `auth` matches `X-Auth` and `authHeader`, but
//! not `author`.
//!
//! Slices are taken at positions that were found in the same string, between characters, so they
//! always exist.

use std::borrow::Cow;
use std::ops::Range;

use aho_corasick::AhoCorasick;

use super::{cards, credentials, pairs};

/// The replacement for what was redacted.
pub(in crate::areas::errors) const FILTERED: &str = "[Filtered]";
/// The length up to which a configured word must be a whole word of the key.
const SHORT_WORD_BYTES: usize = 4;

/// Redacts what must not be stored.
#[derive(Debug)]
pub(in crate::areas::errors) struct Scrubber {
    /// Finds the longer words anywhere in a key; `None` if there are none.
    words: Option<AhoCorasick>,
    /// Words that must be whole words of a key.
    short_words: Vec<String>,
}

impl Scrubber {
    /// Returns a scrubber for keys that contain any of these words.
    pub(in crate::areas::errors) fn new(words: &[String]) -> Self {
        let words = words.iter().map(String::as_str).filter(|word| !word.is_empty());
        let (short, long): (Vec<&str>, Vec<&str>) =
            words.partition(|word| word.len() <= SHORT_WORD_BYTES);
        let finder = match AhoCorasick::builder().ascii_case_insensitive(true).build(&long) {
            Ok(finder) => finder,
            // Nothing may be stored unredacted.
            Err(error) => unreachable!("the words of a configuration are few enough: {error}"),
        };
        Self {
            words: (!long.is_empty()).then_some(finder),
            short_words: short.into_iter().map(str::to_owned).collect(),
        }
    }

    /// Returns whether the value of this key is secret.
    pub(in crate::areas::errors) fn is_secret(&self, key: &str) -> bool {
        self.words.as_ref().is_some_and(|words| words.is_match(key))
            || (!self.short_words.is_empty() && words_of(key).any(|word| self.is_short(word)))
    }

    fn is_short(&self, word: &str) -> bool {
        self.short_words.iter().any(|short| short.eq_ignore_ascii_case(word))
    }

    /// Redacts the values of secret keys, credentials and card numbers in a string.
    pub(in crate::areas::errors) fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut found = self.secrets(text);
        cards::find(text, &mut found);
        redact(text, found)
    }

    /// Redacts a user's identifier like [`Self::scrub`], except for card numbers: long numeric ids
    /// look like some, and all users with such ids would become one.
    pub(in crate::areas::errors) fn scrub_user<'t>(&self, text: &'t str) -> Cow<'t, str> {
        redact(text, self.secrets(text))
    }

    fn secrets(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        pairs::find(text, |key| self.is_secret(key), &mut found);
        credentials::find(text, &mut found);
        found
    }

    /// Redacts a query string, or a URL with one. Besides what [`Self::scrub`] redacts, the value
    /// of a secret parameter extends to the next delimiter of the query string.
    pub(in crate::areas::errors) fn scrub_query<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let secret = |pair: &str| {
            pair.split_once('=')
                .is_some_and(|(key, value)| !value.is_empty() && self.is_secret(key))
        };
        let has_pairs = memchr::memchr(b'=', text.as_bytes()).is_some();
        if !has_pairs || !text.split(['?', '&', ';']).any(secret) {
            return self.scrub(text);
        }
        let mut out = String::with_capacity(text.len());
        for piece in text.split_inclusive(['?', '&', ';']) {
            let end = piece.trim_end_matches(['?', '&', ';']);
            match end.split_once('=') {
                Some((key, value)) if secret(end) && !value.contains(char::is_whitespace) => {
                    out.push_str(key);
                    out.push('=');
                    out.push_str(FILTERED);
                    out.push_str(piece.get(end.len()..).unwrap_or_default());
                }
                _ => out.push_str(piece),
            }
        }
        Cow::Owned(self.scrub(&out).into_owned())
    }
}

/// Returns the words of a key, which is split at non-alphanumeric characters and before a capital
/// letter that follows another character.
fn words_of(key: &str) -> impl Iterator<Item = &str> {
    key.split(|c: char| !c.is_ascii_alphanumeric()).flat_map(|part| {
        let mut rest = part;
        std::iter::from_fn(move || {
            let bytes = rest.as_bytes();
            let is_case_boundary = |pair: &[u8]| matches!(pair, [a, b] if !a.is_ascii_uppercase() && b.is_ascii_uppercase());
            let end = bytes.windows(2).position(is_case_boundary).map_or(rest.len(), |at| at + 1);
            let (word, others) = rest.split_at_checked(end)?;
            rest = others;
            (!word.is_empty()).then_some(word)
        })
    })
}

/// Replaces these ranges of a string, which may overlap, by [`FILTERED`].
fn redact(text: &str, mut found: Vec<Range<usize>>) -> Cow<'_, str> {
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    found.sort_unstable_by_key(|range| (range.start, range.end));
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for range in found {
        if range.start < done {
            done = done.max(range.end);
            continue;
        }
        out.push_str(text.get(done..range.start).unwrap_or_default());
        out.push_str(FILTERED);
        done = range.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(out)
}
