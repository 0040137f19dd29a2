//! The scrubber: which keys are secret, and texts without what must not be stored.
//!
//! A key is secret when it contains one of the words, in any case; a word of up to four letters must be a whole word of the key,
//! so that `auth` is one of `X-Auth` and `authHeader`, and not of `author`.

use std::borrow::Cow;
use std::ops::Range;

use aho_corasick::AhoCorasick;

use super::{cards, credentials, pairs};

/// What stands in the place of what was removed.
pub(in crate::areas::errors) const FILTERED: &str = "[Filtered]";
/// Letters of a word up to which it must be a whole word of a key.
const SHORT_WORD_BYTES: usize = 4;

/// Removes what must not be stored.
#[derive(Debug)]
pub(in crate::areas::errors) struct Scrubber {
    /// Finds words anywhere in a key; `None` where there are none.
    words: Option<AhoCorasick>,
    /// Those that must be whole words.
    short_words: Vec<String>,
}

impl Scrubber {
    /// A scrubber of keys that contain any of these words.
    pub(in crate::areas::errors) fn new(words: &[String]) -> Self {
        let words = words.iter().map(String::as_str).filter(|word| !word.is_empty());
        let (short, long): (Vec<&str>, Vec<&str>) =
            words.partition(|word| word.len() <= SHORT_WORD_BYTES);
        let finder = AhoCorasick::builder().ascii_case_insensitive(true).build(&long);
        Self {
            words: finder.ok().filter(|_| !long.is_empty()),
            short_words: short.into_iter().map(str::to_owned).collect(),
        }
    }

    /// Whether what stands under this key is secret.
    pub(in crate::areas::errors) fn is_secret(&self, key: &str) -> bool {
        self.words.as_ref().is_some_and(|words| words.is_match(key))
            || (!self.short_words.is_empty() && words_of(key).any(|word| self.is_short(word)))
    }

    fn is_short(&self, word: &str) -> bool {
        self.short_words.iter().any(|short| short.eq_ignore_ascii_case(word))
    }

    /// A text without values of secret keys, credentials and numbers of cards.
    pub(in crate::areas::errors) fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut found = self.secrets(text);
        cards::find(text, &mut found);
        without(text, found)
    }

    /// What tells one user from others, without the same but for cards: long numbers of users look like some, and all of these
    /// would be one user.
    pub(in crate::areas::errors) fn scrub_user<'t>(&self, text: &'t str) -> Cow<'t, str> {
        without(text, self.secrets(text))
    }

    fn secrets(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        pairs::find(text, |key| self.is_secret(key), &mut found);
        credentials::find(text, &mut found);
        found
    }

    /// A query string, or an address with one: as a text, and the values of secret keys end only where a query says.
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

/// The words of a key: between signs, and where a capital follows a small letter.
fn words_of(key: &str) -> impl Iterator<Item = &str> {
    key.split(|c: char| !c.is_ascii_alphanumeric()).flat_map(|part| {
        let mut rest = part;
        std::iter::from_fn(move || {
            let bytes = rest.as_bytes();
            let hump = |pair: &[u8]| matches!(pair, [a, b] if !a.is_ascii_uppercase() && b.is_ascii_uppercase());
            let end = bytes.windows(2).position(hump).map_or(rest.len(), |at| at + 1);
            let (word, others) = rest.split_at_checked(end)?;
            rest = others;
            (!word.is_empty()).then_some(word)
        })
    })
}

/// A text with something else in these places, which may overlap.
fn without(text: &str, mut found: Vec<Range<usize>>) -> Cow<'_, str> {
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
