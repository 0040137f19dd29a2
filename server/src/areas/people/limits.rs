//! Limits of preferences.

/// Bytes of the preferences of a user: a page of settings.
pub(in crate::areas::people) const PREFERENCES_BYTES_MAX: usize = 16 << 10;
/// Nesting depth of the preferences of a user.
pub(in crate::areas::people) const PREFERENCES_DEPTH_MAX: usize = 16;
/// Users with preferences: more than a server has keys.
pub(in crate::areas::people) const PREFERENCES_MAX: usize = 20_000;
/// Attempts to write preferences that others change at the same time.
pub(in crate::areas::people) const PREFERENCES_TRIES_MAX: usize = 100;
/// Characters of a search for users: the longest email address.
pub(in crate::areas::people) const USER_SEARCH_CHARS_MAX: usize = 254;
