//! Seals and opens secrets with one key.
//!
//! The context is authenticated, but not stored: the version of the format as one byte, then
//! collection, id and field, each as its length in bytes (8, little-endian) and its UTF-8.

use std::fmt;

use chacha20poly1305::aead::AeadInOut as _;
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305};
use zeroize::Zeroizing;

use super::sealed::{NONCE_BYTES, SealError, Sealed, TAG_BYTES, UnsealError, VERSION};
use super::secret::Secret;
use super::secret_key::{KeyId, SecretKey};
use crate::platform::random;

/// The place that a sealed value is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealContext<'a> {
    /// The collection of the record, such as `channels`.
    pub collection: &'a str,
    /// The id of the record.
    pub id: &'a str,
    /// The path of the field in the record.
    pub field: &'a str,
}

/// Seals and opens secrets.
pub struct Sealer {
    cipher: XChaCha20Poly1305,
    key: KeyId,
}

impl SealContext<'_> {
    fn authenticated(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        for part in [self.collection, self.id, self.field] {
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
        bytes
    }
}

impl Sealer {
    /// Returns the sealer of this key.
    pub fn new(key: &SecretKey) -> Self {
        Self { cipher: XChaCha20Poly1305::new(key.bytes().into()), key: key.id() }
    }

    /// Returns the id of the key.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Seals a secret of at most 64 KiB for its place.
    pub fn seal(&self, plain: &[u8], context: &SealContext<'_>) -> Result<Sealed, SealError> {
        let nonce = random::bytes().map_err(|error| SealError::NoRandomness(error.into()))?;
        self.seal_with(nonce, plain, context)
    }

    /// Opens a value that was sealed for this place.
    pub fn open(
        &self,
        sealed: &Sealed,
        context: &SealContext<'_>,
    ) -> Result<Zeroizing<Vec<u8>>, UnsealError> {
        if sealed.key != self.key {
            return Err(UnsealError::WrongKey { have: self.key, need: sealed.key });
        }
        let mut buffer = Zeroizing::new(sealed.ciphertext.clone());
        self.cipher
            .decrypt_in_place(&sealed.nonce.into(), &context.authenticated(), &mut *buffer)
            .map_err(|_| UnsealError::Damaged)?;
        Ok(buffer)
    }

    /// Opens a value that was sealed from a string.
    pub fn open_secret(
        &self,
        sealed: &Sealed,
        context: &SealContext<'_>,
    ) -> Result<Secret, UnsealError> {
        let plain = self.open(sealed, context)?;
        let text = str::from_utf8(&plain).map_err(|_| UnsealError::Damaged)?;
        Ok(text.to_owned().into())
    }

    fn seal_with(
        &self,
        nonce: [u8; NONCE_BYTES],
        plain: &[u8],
        context: &SealContext<'_>,
    ) -> Result<Sealed, SealError> {
        let bytes = plain.len();
        Sealed::check_length(bytes)?;
        // Has space for the tag, so that the secret is not moved and left behind.
        let mut ciphertext = Vec::with_capacity(bytes + TAG_BYTES);
        ciphertext.extend_from_slice(plain);
        let context = context.authenticated();
        match self.cipher.encrypt_in_place(&nonce.into(), &context, &mut ciphertext) {
            Ok(()) => Ok(Sealed { key: self.key, nonce, ciphertext }),
            Err(error) => panic!("the cipher takes up to 256 GiB, not {bytes} bytes: {error}"),
        }
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer").field("key", &self.key).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CONTEXT: SealContext<'static> =
        SealContext { collection: "channels", id: "chan_1", field: "config.routing_key" };

    fn sealer(byte: &str) -> Sealer {
        Sealer::new(&SecretKey::parse(&byte.repeat(32)).unwrap())
    }

    #[test]
    fn the_formats_are_stable() {
        let sealed = sealer("42").seal_with([7; 24], b"hunter2", &CONTEXT).unwrap();
        let text = "sealed:v1:U0OtyYXRCEgHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwefeescBjOsAUxdlA3MqIVteW1oruA9Ww==";
        let bytes = "015343adc985d108480707070707070707070707070707070707070707070707079f79eb1c0633ac014c5d940dcca8856d796d68aee03d5b";
        assert_eq!(sealed.to_string(), text);
        let hex: String = sealed.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, bytes);
        let opened = sealer("42").open_secret(&text.parse().unwrap(), &CONTEXT).unwrap();
        assert_eq!(opened.expose(), "hunter2");
    }

    #[test]
    fn the_context_is_encoded_unambiguously() {
        let encoded = SealContext { collection: "a", id: "bc", field: "" }.authenticated();
        assert_eq!(encoded, b"\x01\x01\0\0\0\0\0\0\0a\x02\0\0\0\0\0\0\0bc\0\0\0\0\0\0\0\0");
    }

    #[test]
    fn a_value_opens_at_its_place_only() {
        let sealer = sealer("42");
        let sealed = sealer.seal(b"hunter2", &CONTEXT).unwrap();
        assert_eq!(sealer.open(&sealed, &CONTEXT).unwrap().as_slice(), b"hunter2");
        for context in [
            SealContext { collection: "repositories", ..CONTEXT },
            SealContext { id: "chan_2", ..CONTEXT },
            SealContext { field: "config.webhook_url", ..CONTEXT },
            SealContext { collection: "channelschan_1", id: "", ..CONTEXT },
            SealContext { collection: "", id: "channelschan_1", ..CONTEXT },
        ] {
            assert_eq!(sealer.open(&sealed, &context), Err(UnsealError::Damaged), "{context:?}");
        }
    }

    #[test]
    fn a_wrong_key_is_told_apart_from_damage() {
        let (one, other) = (sealer("42"), sealer("43"));
        let mut sealed = one.seal(b"hunter2", &CONTEXT).unwrap();
        let wrong = UnsealError::WrongKey { have: other.key(), need: one.key() };
        assert_eq!(other.open(&sealed, &CONTEXT), Err(wrong));
        sealed.key = other.key();
        assert_eq!(other.open(&sealed, &CONTEXT), Err(UnsealError::Damaged));
    }

    #[test]
    fn the_length_is_limited_and_may_be_zero() {
        let sealer = sealer("42");
        for bytes in [0, 1, 65_536] {
            let plain = vec![b'x'; bytes];
            let sealed = sealer.seal(&plain, &CONTEXT).unwrap();
            assert_eq!(*sealer.open(&sealed, &CONTEXT).unwrap(), plain);
        }
        let refused = sealer.seal(&[0; 65_537], &CONTEXT).unwrap_err();
        assert_eq!(refused.to_string(), "must have at most 65536 bytes, has 65537");
    }

    #[test]
    fn equal_secrets_are_sealed_differently_and_only_strings_are_secrets() {
        let sealer = sealer("42");
        let seal = |plain: &[u8]| sealer.seal(plain, &CONTEXT).unwrap();
        assert_ne!(seal(b"hunter2"), seal(b"hunter2"));
        assert_eq!(sealer.open_secret(&seal(b"\xff"), &CONTEXT), Err(UnsealError::Damaged));
    }

    proptest! {
        #[test]
        fn what_was_sealed_is_opened(plain: Vec<u8>, collection: String, id: String, field: String) {
            let context = SealContext { collection: &collection, id: &id, field: &field };
            let sealer = sealer("42");
            let sealed = sealer.seal(&plain, &context).unwrap();
            prop_assert_eq!(&*sealer.open(&sealed, &context).unwrap(), &plain);
            let read: Sealed = sealed.to_string().parse().unwrap();
            prop_assert_eq!(&read, &sealed);
            prop_assert_eq!(&Sealed::from_bytes(&sealed.to_bytes()).unwrap(), &sealed);
        }

        #[test]
        fn every_changed_byte_is_refused(plain in prop::collection::vec(any::<u8>(), 0..40), flip in 1..=255_u8) {
            let sealer = sealer("42");
            let sealed = sealer.seal(&plain, &CONTEXT).unwrap();
            let (bytes, text) = (sealed.to_bytes(), sealed.to_string());
            for at in 0..bytes.len() {
                let mut changed = bytes.clone();
                changed[at] ^= flip;
                let opened = Sealed::from_bytes(&changed).and_then(|s| sealer.open(&s, &CONTEXT));
                prop_assert!(opened.is_err(), "byte {at}");
            }
            for at in 0..text.len() {
                let mut changed = text.clone().into_bytes();
                changed[at] ^= flip;
                let Ok(changed) = String::from_utf8(changed) else { continue };
                let opened = changed.parse().and_then(|s: Sealed| sealer.open(&s, &CONTEXT));
                prop_assert!(opened.is_err(), "character {at}");
            }
            for cut in 0..bytes.len() {
                let opened =
                    Sealed::from_bytes(&bytes[..cut]).and_then(|s| sealer.open(&s, &CONTEXT));
                prop_assert!(opened.is_err(), "cut at {cut}");
            }
        }

        #[test]
        fn no_string_panics(text in "(sealed:v[0-9]{0,3}:?)?\\PC{0,200}") {
            prop_assert!(text.parse().and_then(|s: Sealed| sealer("42").open(&s, &CONTEXT)).is_err());
        }
    }
}
