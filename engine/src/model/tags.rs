//! The tags of a series: string values with unique, sorted keys.

use std::fmt;

use super::metric::has_control;
use crate::limits;

/// A tag set in canonical form: sorted by key, without duplicate keys. Series of a metric are equal
/// if their tag sets are equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tags(Box<[(Box<str>, Box<str>)]>);

/// Why a list of pairs is not a valid tag set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTags {
    /// More than [`limits::TAGS_MAX`] pairs.
    #[error("tags must have at most {} keys", limits::TAGS_MAX)]
    TooMany,
    /// A key is empty, longer than [`limits::TAG_KEY_CHARS_MAX`] characters or contains a control
    /// character.
    #[error(
        "tag key {0:?} must have 1 to {max} characters and no control characters",
        max = limits::TAG_KEY_CHARS_MAX
    )]
    Key(String),
    /// A value is longer than [`limits::TAG_VALUE_CHARS_MAX`] characters.
    #[error("the value of tag {0:?} must have at most {max} characters", max = limits::TAG_VALUE_CHARS_MAX)]
    Value(String),
    /// A duplicate key.
    #[error("tag key {0:?} must be given only once")]
    Duplicate(String),
}

impl Tags {
    /// Checks `pairs` and converts them to the canonical form.
    pub fn new<K: AsRef<str>, V: AsRef<str>>(pairs: &[(K, V)]) -> Result<Self, InvalidTags> {
        check_pairs(pairs)?;
        let mut sorted: Vec<(Box<str>, Box<str>)> =
            pairs.iter().map(|(k, v)| (Box::from(k.as_ref()), Box::from(v.as_ref()))).collect();
        sorted.sort_unstable();
        let duplicate = sorted.windows(2).find_map(|w| match w {
            [a, b] if a.0 == b.0 => Some(a.0.to_string()),
            _ => None,
        });
        match duplicate {
            Some(key) => Err(InvalidTags::Duplicate(key)),
            None => Ok(Self(sorted.into_boxed_slice())),
        }
    }

    /// Checks `pairs` without keeping them.
    pub fn check(pairs: &[(&str, &str)]) -> Result<(), InvalidTags> {
        check_pairs(pairs)?;
        // Quadratic, but there are at most 32 keys, and most differ in their first bytes.
        for (at, (key, _)) in pairs.iter().enumerate() {
            if pairs.iter().take(at).any(|(before, _)| before == key) {
                return Err(InvalidTags::Duplicate((*key).to_owned()));
            }
        }
        Ok(())
    }

    /// Iterates over the pairs, sorted by key.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.0.iter().map(|(k, v)| (&**k, &**v))
    }

    /// Returns the value of `key`, if the series has the tag.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter().find_map(|(k, v)| (k == key).then_some(v))
    }

    /// Returns the number of tags.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no tags.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn check_pairs<K: AsRef<str>, V: AsRef<str>>(pairs: &[(K, V)]) -> Result<(), InvalidTags> {
    if pairs.len() > limits::TAGS_MAX {
        return Err(InvalidTags::TooMany);
    }
    pairs.iter().try_for_each(|(key, value)| check_pair(key.as_ref(), value.as_ref()))
}

fn check_pair(key: &str, value: &str) -> Result<(), InvalidTags> {
    if !is_key(key) {
        return Err(InvalidTags::Key(key.to_owned()));
    }
    if !is_value(value) {
        return Err(InvalidTags::Value(key.to_owned()));
    }
    Ok(())
}

/// Returns whether a string can be a tag key.
pub(crate) fn is_key(string: &str) -> bool {
    let has_length = !string.is_empty()
        && (string.len() <= limits::TAG_KEY_CHARS_MAX
            || string.chars().count() <= limits::TAG_KEY_CHARS_MAX);
    has_length && !has_control(string)
}

/// Returns whether a string can be the value of a tag.
pub(crate) fn is_value(string: &str) -> bool {
    string.len() <= limits::TAG_VALUE_CHARS_MAX
        || string.chars().count() <= limits::TAG_VALUE_CHARS_MAX
}

impl fmt::Display for Tags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (key, value)) in self.iter().enumerate() {
            let separator = if i == 0 { "" } else { "," };
            write!(f, "{separator}{key}={value}")?;
        }
        Ok(())
    }
}
