//! The link to the calendar of a schedule, for programs that cannot send an API key.
//!
//! Whoever knows the link may read the shifts, and nothing else. The link has a random token, of
//! which only the hash is stored; a new link replaces the old one.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// Bytes of a token.
const TOKEN_BYTES: usize = 24;

/// The token of a link, shown once. Its debug form is empty.
pub(super) struct CalendarToken(String);

/// The hash of a token.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct CalendarTokenHash([u8; 32]);

impl CalendarToken {
    /// Makes a token of unpredictable bytes.
    pub(super) fn from_random(bytes: [u8; TOKEN_BYTES]) -> Self {
        Self(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Returns the text in the link.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn hash(&self) -> CalendarTokenHash {
        CalendarTokenHash::of(&self.0)
    }
}

impl CalendarTokenHash {
    /// Returns the hash of what a client sent.
    pub(super) fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }

    /// Returns the hash as it is stored.
    pub(super) fn text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// Parses what [`Self::text`] returns.
    pub(super) fn parse(text: &str) -> Option<Self> {
        URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok().map(Self)
    }
}

impl fmt::Debug for CalendarToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl fmt::Debug for CalendarTokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_by_its_hash() {
        let token = CalendarToken::from_random([7; TOKEN_BYTES]);
        assert_eq!(token.as_str(), "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH");
        let stored = CalendarTokenHash::parse(&token.hash().text()).unwrap();
        assert_eq!(stored, CalendarTokenHash::of(token.as_str()));
        assert_ne!(stored, CalendarTokenHash::of(""));
        assert_eq!(CalendarTokenHash::parse("x"), None);
        assert_eq!(format!("{token:?} {stored:?}"), "… …");
    }
}
