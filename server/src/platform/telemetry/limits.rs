//! Limits of what requests about metrics and events have in common.

/// Characters of a search text: the longest tag value.
pub const SEARCH_CHARS_MAX: usize = 500;
/// Words of a search text: each is looked for in every name.
pub(super) const SEARCH_WORDS_MAX: usize = 10;
