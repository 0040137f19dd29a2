//! Limits of the search by name.

/// Characters of a search by name: the longest name.
pub(in crate::areas) const SEARCH_CHARS_MAX: usize = 200;
/// Matches of each kind of a search by name, if the request has no `limit`.
pub(in crate::areas::search) const SEARCH_LIMIT_DEFAULT: usize = 5;
/// Matches of each kind of a search by name.
pub(in crate::areas::search) const SEARCH_LIMIT_MAX: usize = 50;
