//! The secrets of sessions and codes: 256 random bits, as 43 characters of base64url.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::platform::random;

const BYTES: usize = 32;
/// Characters of a token: checked before anything is decoded.
const CHARS: usize = 43;

/// The SHA-256 of a token, which is what is stored and looked up. A fast hash suffices for 256
/// random bits; and since nobody can choose the hash of a guess, the time that a look-up takes
/// reveals nothing about the tokens that exist.
pub(super) type TokenHash = [u8; 32];

/// The secret of a session or a code. Never stored or logged: its debug form hides it.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Token([u8; BYTES]);

impl Token {
    /// Generates an unpredictable token.
    pub(super) fn generate() -> std::io::Result<Self> {
        Ok(Self(random::bytes()?))
    }

    /// Parses what [`Self::reveal`] returns.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text.len() != CHARS {
            return None;
        }
        URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok().map(Self)
    }

    /// Returns the token as text.
    pub(super) fn reveal(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// Returns the hash to store.
    pub(super) fn hash(&self) -> TokenHash {
        Sha256::digest(self.0).into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_as_it_was_written_and_never_shown() {
        let token = Token::generate().unwrap();
        let text = token.reveal();
        assert_eq!(Token::parse(&text), Some(token.clone()));
        assert_ne!(Token::generate().unwrap(), token);
        assert!(!format!("{token:?}").contains(&text));
        let altered = text.replace(text.chars().next().unwrap(), "!");
        for wrong in
            ["", "a", text.get(1..).unwrap(), &format!("{text}a"), &altered, &"é".repeat(43)]
        {
            assert_eq!(Token::parse(wrong), None, "{wrong}");
        }
    }
}
