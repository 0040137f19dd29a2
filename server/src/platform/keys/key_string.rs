//! The string form of keys: `tt_<id>_<secret>`, both parts base62.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use crate::limits;
use crate::platform::random;

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Characters of generated ids: 88 random bits.
const ID_CHARS: usize = 15;
/// Characters of a secret: 256 random bits.
const SECRET_CHARS: usize = 43;

/// The SHA-256 of a secret.
pub(super) type SecretHash = [u8; 32];

/// A whole key. Never stored or logged: its debug form hides the secret.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyString {
    id: String,
    secret: String,
}

/// The error for a string that is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a key must be tt_<id>_<secret>, with an id of {} to {} and a secret of {SECRET_CHARS} characters from 0-9, A-Z and a-z",
    limits::KEY_ID_CHARS_MIN,
    limits::KEY_ID_CHARS_MAX
)]
pub struct MalformedKey;

impl KeyString {
    /// Generates an unpredictable key.
    pub(super) fn generate() -> std::io::Result<Self> {
        Ok(Self {
            id: base62::<11, ID_CHARS>(random::bytes()?),
            secret: base62::<32, SECRET_CHARS>(random::bytes()?),
        })
    }

    /// Returns the public part.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the whole key, to be shown once.
    pub fn reveal(&self) -> String {
        format!("tt_{}_{}", self.id, self.secret)
    }

    /// Returns the hash to store. A fast hash suffices, because the secret has 256 random bits.
    pub(super) fn secret_hash(&self) -> SecretHash {
        hash_of(&self.secret)
    }
}

/// Returns the hash of a secret.
pub(super) fn hash_of(secret: &str) -> SecretHash {
    Sha256::digest(secret.as_bytes()).into()
}

impl FromStr for KeyString {
    type Err = MalformedKey;

    fn from_str(text: &str) -> Result<Self, MalformedKey> {
        let (id, secret) =
            text.strip_prefix("tt_").and_then(|rest| rest.split_once('_')).ok_or(MalformedKey)?;
        let id_fits = (limits::KEY_ID_CHARS_MIN..=limits::KEY_ID_CHARS_MAX).contains(&id.len());
        let is_base62 = |part: &str| part.bytes().all(|b| b.is_ascii_alphanumeric());
        if !id_fits || secret.len() != SECRET_CHARS || !is_base62(id) || !is_base62(secret) {
            return Err(MalformedKey);
        }
        Ok(Self { id: id.to_owned(), secret: secret.to_owned() })
    }
}

impl fmt::Debug for KeyString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tt_{}_…", self.id)
    }
}

/// Encodes a big-endian number of `BYTES` bytes in `CHARS` digits, which must suffice.
fn base62<const BYTES: usize, const CHARS: usize>(mut number: [u8; BYTES]) -> String {
    let mut digits = [0_u8; CHARS];
    for digit in digits.iter_mut().rev() {
        let mut rest = 0_u16;
        for byte in &mut number {
            let value = rest << 8 | u16::from(*byte);
            // The value is below 62 × 256, so the quotient fits into a byte and the remainder is an
            // index.
            *byte = (value / 62) as u8;
            rest = value % 62;
        }
        *digit = DIGITS[usize::from(rest)];
    }
    digits.iter().copied().map(char::from).collect()
}
