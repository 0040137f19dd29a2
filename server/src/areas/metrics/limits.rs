//! The limits of the area, each with its unit and reason.

/// Groups that `top` may ask for: more than any chart can show.
pub(super) const TOP_GROUPS_MAX: usize = 10_000;
/// Characters of a search text: the longest tag value.
pub(super) const SEARCH_CHARS_MAX: usize = 500;
/// Words of a search text: each is looked for in every name.
pub(super) const SEARCH_WORDS_MAX: usize = 10;
