//! Sealed values as bytes and as strings.
//!
//! ```text
//! bytes    version 1 (1) | key id (8) | nonce (24) | ciphertext | tag (16)
//! string   sealed:v1:<all bytes after the version, in padded base64>
//! ```
//!
//! The version is authenticated with the context (see [`super::Sealer`]). The formats are part of
//! stored documents: a change needs a new version.

use std::str::FromStr;
use std::{fmt, io};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::secret_key::KeyId;

/// The version of the format.
pub(super) const VERSION: u8 = 1;
/// Bytes of a nonce: XChaCha20's, so that random ones never repeat.
pub(super) const NONCE_BYTES: usize = 24;
/// Bytes of a tag.
pub(super) const TAG_BYTES: usize = 16;
/// Bytes of a secret. The longest ones are tokens and URLs of a few KiB; the limit keeps documents
/// that contain sealed values small.
const PLAIN_BYTES_MAX: usize = 64 << 10;

/// What a string form begins with, before the version.
const TEXT_START: &str = "sealed:v";
/// Characters of the longest string form, so that longer ones are not decoded.
const TEXT_CHARS_MAX: usize = TEXT_START.len()
    + "1:".len()
    + (size_of::<KeyId>() + NONCE_BYTES + PLAIN_BYTES_MAX + TAG_BYTES).div_ceil(3) * 4;

/// A sealed value.
#[derive(Clone, PartialEq, Eq)]
pub struct Sealed {
    pub(super) key: KeyId,
    pub(super) nonce: [u8; NONCE_BYTES],
    /// The ciphertext and the tag.
    pub(super) ciphertext: Vec<u8>,
}

/// Why a secret cannot be sealed.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// The secret is too long.
    #[error("must have at most {PLAIN_BYTES_MAX} bytes, has {bytes}")]
    TooLong {
        /// Bytes of the secret.
        bytes: usize,
    },
    /// The system provides no randomness.
    #[error("the system provides no randomness")]
    NoRandomness(#[source] io::Error),
}

/// Why a sealed value cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsealError {
    /// The string is no sealed value at all.
    #[error("is not a sealed secret")]
    NotSealed,
    /// The value was sealed by a later version.
    #[error("is a secret sealed in format {0}, which this version cannot open")]
    UnknownVersion(u32),
    /// The value was sealed with another key.
    #[error("is a secret sealed with the key {need}, but the key of this server is {have}")]
    WrongKey {
        /// The key of the server.
        have: KeyId,
        /// The key that seals the value.
        need: KeyId,
    },
    /// The value was changed, or copied from another record or field.
    #[error("is a sealed secret that is damaged or was copied from elsewhere")]
    Damaged,
}

impl Sealed {
    /// Fails if a secret of so many bytes is too long to be sealed.
    pub(super) fn check_length(bytes: usize) -> Result<(), SealError> {
        if bytes > PLAIN_BYTES_MAX { Err(SealError::TooLong { bytes }) } else { Ok(()) }
    }

    /// Returns the id of the key that seals the value.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Returns whether a string claims to be a sealed value.
    pub fn is_sealed_text(text: &str) -> bool {
        text.starts_with(TEXT_START)
    }

    /// Returns the value as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        [[VERSION].as_slice(), &self.after_version()].concat()
    }

    /// Parses what [`to_bytes`](Self::to_bytes) returns.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, UnsealError> {
        match bytes.split_first() {
            None => Err(UnsealError::NotSealed),
            Some((&VERSION, rest)) => Self::from_after_version(rest).ok_or(UnsealError::Damaged),
            Some((version, _)) => Err(UnsealError::UnknownVersion(u32::from(*version))),
        }
    }

    fn after_version(&self) -> Vec<u8> {
        [self.key.0.as_slice(), &self.nonce, &self.ciphertext].concat()
    }

    fn from_after_version(bytes: &[u8]) -> Option<Self> {
        let (key, rest) = bytes.split_first_chunk()?;
        let (nonce, ciphertext) = rest.split_first_chunk()?;
        let lengths = TAG_BYTES..=TAG_BYTES + PLAIN_BYTES_MAX;
        let ciphertext = lengths.contains(&ciphertext.len()).then(|| ciphertext.to_vec())?;
        Some(Self { key: KeyId(*key), nonce: *nonce, ciphertext })
    }
}

impl fmt::Display for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{TEXT_START}{VERSION}:{}", STANDARD.encode(self.after_version()))
    }
}

impl FromStr for Sealed {
    type Err = UnsealError;

    fn from_str(text: &str) -> Result<Self, UnsealError> {
        let rest = text.strip_prefix(TEXT_START).ok_or(UnsealError::NotSealed)?;
        let (version, encoded) = rest.split_once(':').ok_or(UnsealError::Damaged)?;
        let is_number = version.bytes().all(|byte| byte.is_ascii_digit());
        let number = version.parse().ok().filter(|_| is_number && !version.starts_with('0'));
        match number.ok_or(UnsealError::Damaged)? {
            number if number == u32::from(VERSION) => {}
            later => return Err(UnsealError::UnknownVersion(later)),
        }
        if text.len() > TEXT_CHARS_MAX {
            return Err(UnsealError::Damaged);
        }
        let bytes = STANDARD.decode(encoded).map_err(|_| UnsealError::Damaged)?;
        Self::from_after_version(&bytes).ok_or(UnsealError::Damaged)
    }
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.ciphertext.len();
        f.debug_struct("Sealed").field("key", &self.key).field("bytes", &bytes).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_ciphertext(bytes: usize) -> Sealed {
        Sealed { key: KeyId([1; 8]), nonce: [2; 24], ciphertext: vec![3; bytes] }
    }

    #[test]
    fn both_forms_are_parsed_up_to_the_limit() {
        for bytes in [16, 17, 18, 19, TAG_BYTES + PLAIN_BYTES_MAX] {
            let sealed = with_ciphertext(bytes);
            assert_eq!(Sealed::from_bytes(&sealed.to_bytes()), Ok(sealed.clone()));
            let text = sealed.to_string();
            assert!(Sealed::is_sealed_text(&text) && text.len() <= TEXT_CHARS_MAX);
            assert_eq!(text.parse(), Ok(sealed));
        }
        for bytes in [0, 15, TAG_BYTES + PLAIN_BYTES_MAX + 1, 1 << 20] {
            let sealed = with_ciphertext(bytes);
            assert_eq!(Sealed::from_bytes(&sealed.to_bytes()), Err(UnsealError::Damaged));
            assert_eq!(sealed.to_string().parse::<Sealed>(), Err(UnsealError::Damaged), "{bytes}");
        }
    }

    #[test]
    fn other_strings_are_told_apart() {
        let valid = with_ciphertext(18).to_string();
        let encoded = valid.strip_prefix("sealed:v1:").unwrap();
        for (text, expected) in [
            (String::new(), UnsealError::NotSealed),
            ("hunter2".to_owned(), UnsealError::NotSealed),
            (format!(" {valid}"), UnsealError::NotSealed),
            (valid.to_uppercase(), UnsealError::NotSealed),
            ("sealed:v1".to_owned(), UnsealError::Damaged),
            ("sealed:v1:".to_owned(), UnsealError::Damaged),
            (format!("sealed:v:{encoded}"), UnsealError::Damaged),
            (format!("sealed:v01:{encoded}"), UnsealError::Damaged),
            (format!("sealed:v+1:{encoded}"), UnsealError::Damaged),
            (format!("sealed:v99999999999:{encoded}"), UnsealError::Damaged),
            (format!("sealed:v2:{encoded}"), UnsealError::UnknownVersion(2)),
            (format!("sealed:v300:{encoded}"), UnsealError::UnknownVersion(300)),
            (format!("{valid}\n"), UnsealError::Damaged),
            (format!("{valid}="), UnsealError::Damaged),
            (valid.replace('=', ""), UnsealError::Damaged),
        ] {
            assert_eq!(text.parse::<Sealed>(), Err(expected), "{text}");
        }
        assert!(valid.ends_with('='), "the padding is tested: {valid}");
        assert_eq!(Sealed::from_bytes(&[]), Err(UnsealError::NotSealed));
        assert_eq!(Sealed::from_bytes(&[1]), Err(UnsealError::Damaged));
        assert_eq!(Sealed::from_bytes(&[2, 3]), Err(UnsealError::UnknownVersion(2)));
    }

    #[test]
    fn a_sealed_value_is_not_printed() {
        let shown = format!("{:?}", with_ciphertext(17));
        assert_eq!(shown, "Sealed { key: 0101010101010101, bytes: 17 }");
    }
}
