//! Removes the endings of English words, so that `parsing`, `parsed`, `parser` and `parses` are
//! found for `parse`.
//!
//! It is lighter than Porter's algorithm: names in code are short, and different names that become
//! equal cost more than equal ones that stay different.

use std::borrow::Cow;

/// Letters that a word has at least without its ending.
const STEM_CHARS_MIN: usize = 3;

/// Endings and what replaces them, the longest first: at most two are replaced. The plural is
/// removed before.
const ENDINGS: [(&str, &str); 14] = [
    ("ization", "iz"),
    ("ations", "at"),
    ("ation", "at"),
    ("izing", "iz"),
    ("ility", "l"),
    ("ment", ""),
    ("ness", ""),
    ("ions", ""),
    ("ion", ""),
    ("ing", ""),
    ("ied", "y"),
    ("ers", ""),
    ("ed", ""),
    ("er", ""),
];

/// Returns the stem of a word in lower case.
pub(in super::super) fn stem(word: &str) -> Cow<'_, str> {
    if !word.is_ascii()
        || word.len() <= STEM_CHARS_MIN
        || word.ends_with(|c: char| !c.is_ascii_lowercase())
    {
        return Cow::Borrowed(word);
    }
    let singular = singular(word);
    let stem = match without_ending(&singular) {
        // `ordering` is `order`, which has an ending itself.
        Some(stem) => Some(without_ending(&stem).unwrap_or(stem)),
        None => {
            let short = singular.strip_suffix('e');
            short.filter(|short| short.len() >= STEM_CHARS_MIN).map(str::to_owned)
        }
    };
    match stem {
        Some(stem) => Cow::Owned(stem),
        None => singular,
    }
}

fn singular(word: &str) -> Cow<'_, str> {
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() >= STEM_CHARS_MIN - 1) {
        return Cow::Owned(format!("{stem}y"));
    }
    for ending in ["sses", "shes", "ches", "xes"] {
        if word.ends_with(ending) {
            return word.strip_suffix("es").map_or(Cow::Borrowed(word), Cow::Borrowed);
        }
    }
    let is_plural =
        word.ends_with('s') && !["ss", "us", "is"].iter().any(|ending| word.ends_with(ending));
    let stem = word.strip_suffix('s').filter(|_| is_plural);
    Cow::Borrowed(stem.filter(|stem| stem.len() >= STEM_CHARS_MIN).unwrap_or(word))
}

fn without_ending(word: &str) -> Option<String> {
    let (stem, replacement) = ENDINGS
        .iter()
        .find_map(|(ending, replacement)| Some((word.strip_suffix(ending)?, replacement)))?;
    if stem.len() < STEM_CHARS_MIN || !stem.contains(['a', 'e', 'i', 'o', 'u', 'y']) {
        return None;
    }
    let mut stem = format!("{stem}{replacement}");
    // `mapping` and `mapped` are `map`; `filling` is `fill`.
    let mut last = stem.chars().rev();
    if let (Some(a), Some(b)) = (last.next(), last.next())
        && a == b
        && stem.len() > STEM_CHARS_MIN
        && !matches!(a, 'l' | 's' | 'e' | 'o')
    {
        stem.pop();
    }
    Some(stem)
}
