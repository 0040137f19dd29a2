//! The tokens in the links of mails: who has one may confirm or end one subscription.
//!
//! `<26 characters of the subscriber's id><43 characters of a random secret in base64url>`

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq as _;

use crate::areas::status::ids::SubscriberId;
use crate::http::{PathParam, Resource};
use crate::platform::{ids, random};

/// Characters of the id.
const ID_CHARS: usize = 26;

/// A random secret of 256 bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct TokenSecret([u8; 32]);

/// A token that was sent.
#[derive(Clone, Copy, Debug)]
pub(in crate::areas::status) struct SubscriberToken {
    pub(super) id: SubscriberId,
    secret: TokenSecret,
}

impl std::fmt::Debug for TokenSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenSecret(…)")
    }
}

impl TokenSecret {
    /// Returns a new secret.
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(Self(random::bytes()?))
    }

    /// Returns the secret as it is stored.
    pub(super) fn text(self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// Parses what [`Self::text`] returns.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(Self(URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?))
    }
}

impl SubscriberToken {
    /// Returns the text of the token of a subscriber with one of its secrets.
    pub(super) fn text(id: SubscriberId, secret: TokenSecret) -> String {
        ids::prefixed("", id.0) + &secret.text()
    }

    /// Returns whether it contains this secret. Takes the same time whatever differs.
    pub(super) fn has(&self, secret: &TokenSecret) -> bool {
        self.secret.0.ct_eq(&secret.0).into()
    }
}

impl PathParam for SubscriberToken {
    const RESOURCE: &'static Resource = SubscriberId::RESOURCE;

    fn from_path(text: &str) -> Option<Self> {
        let (id, secret) = text.split_at_checked(ID_CHARS)?;
        let id = SubscriberId(ids::parse_ulid(id)?);
        Some(Self { id, secret: TokenSecret::parse(secret)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_its_subscriber_and_has_one_secret() {
        let id = SubscriberId(7 << 80 | 5);
        let (one, other) = (TokenSecret::new().unwrap(), TokenSecret::new().unwrap());
        let text = SubscriberToken::text(id, one);
        assert_eq!(text.len(), 26 + 43);
        let token = SubscriberToken::from_path(&text).unwrap();
        assert_eq!(token.id, id);
        assert!(token.has(&one) && !token.has(&other));
        let (short, late) = (text.get(..68).unwrap(), text.get(1..).unwrap());
        for text in ["", late, short, "é".repeat(40).as_str(), &format!("{text}A")] {
            assert!(SubscriberToken::from_path(text).is_none(), "{text}");
        }
    }
}
