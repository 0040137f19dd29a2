//! The key that seals secrets, and the id by which sealed values name it.

use std::{fmt, io};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::platform::random;

/// Bytes of a key.
const KEY_BYTES: usize = 32;
/// Separates the hash that gives the id from other hashes of the key.
const ID_DOMAIN: &[u8] = b"telltale secret key id 1";

/// A key of 32 bytes.
pub struct SecretKey(Zeroizing<[u8; KEY_BYTES]>);

/// The id of a key: the beginning of a hash of it, from which the key cannot be computed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyId(pub(super) [u8; 8]);

/// The error for a string that is not a key. Does not contain the string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be {KEY_BYTES} bytes in base64 (44 characters) or in hexadecimal (64 characters)")]
pub struct InvalidSecretKey;

impl SecretKey {
    /// Generates a key. Fails if the system provides no randomness.
    pub fn generate() -> io::Result<Self> {
        Ok(Self(Zeroizing::new(random::bytes()?)))
    }

    /// Parses a key in hexadecimal, or in base64 of either alphabet, padded or not.
    pub fn parse(text: &str) -> Result<Self, InvalidSecretKey> {
        let text = text.trim();
        let bytes = if text.len() == 2 * KEY_BYTES { from_hex(text) } else { from_base64(text) };
        let bytes = bytes.and_then(|bytes| <[u8; KEY_BYTES]>::try_from(bytes.as_slice()).ok());
        bytes.map(|bytes| Self(Zeroizing::new(bytes))).ok_or(InvalidSecretKey)
    }

    /// Returns the id of the key.
    pub fn id(&self) -> KeyId {
        let hash = Sha256::new().chain_update(ID_DOMAIN).chain_update(self.0.as_slice()).finalize();
        let mut id = [0; 8];
        id.iter_mut().zip(hash).for_each(|(to, byte)| *to = byte);
        KeyId(id)
    }

    pub(super) fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    /// Returns the key in base64.
    pub(super) fn to_base64(&self) -> Zeroizing<String> {
        Zeroizing::new(STANDARD.encode(self.0.as_slice()))
    }
}

fn from_hex(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(KEY_BYTES));
    let (pairs, _) = text.as_bytes().as_chunks::<2>();
    for [high, low] in pairs {
        let digit = |byte: u8| char::from(byte).to_digit(16);
        bytes.push(u8::try_from(digit(*high)? << 4 | digit(*low)?).ok()?);
    }
    Some(bytes)
}

fn from_base64(text: &str) -> Option<Zeroizing<Vec<u8>>> {
    let standard = text.trim_end_matches('=').replace('-', "+").replace('_', "/");
    STANDARD_NO_PAD.decode(Zeroizing::new(standard).as_str()).ok().map(Zeroizing::new)
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SecretKey").field(&self.id()).finish()
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_in_all_forms() {
        let hex = "fb".repeat(32);
        for text in [
            hex.as_str(),
            &hex.to_uppercase(),
            "+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/s=",
            "+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/s",
            " -_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_s=\n",
        ] {
            assert_eq!(SecretKey::parse(text).unwrap().bytes(), &[0xfb; 32], "{text}");
        }
    }

    #[test]
    fn other_strings_are_refused_and_not_repeated() {
        let hex = "fb".repeat(32);
        for text in [
            "",
            "hunter2",
            hex.get(..63).unwrap(),
            &format!("{hex}0"),
            &hex.replace("fb", "fg"),
            &"é".repeat(32),
            "+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+w==",
            "+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7",
            "+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/t=",
        ] {
            assert_eq!(SecretKey::parse(text).unwrap_err(), InvalidSecretKey, "{text}");
        }
        let message = InvalidSecretKey.to_string();
        assert_eq!(
            message,
            "must be 32 bytes in base64 (44 characters) or in hexadecimal (64 characters)"
        );
    }

    #[test]
    fn ids_are_stable_and_all_that_is_printed() {
        let key = SecretKey::parse(&"01".repeat(32)).unwrap();
        assert_eq!(key.id().to_string(), "bfeac72f8da45b37");
        assert_eq!(format!("{key:?}"), "SecretKey(bfeac72f8da45b37)");
        let (one, other) = (SecretKey::generate().unwrap(), SecretKey::generate().unwrap());
        assert_ne!(one.id(), other.id());
        assert_eq!(SecretKey::parse(&one.to_base64()).unwrap().bytes(), one.bytes());
    }
}
