//! Collections, and the bytes of a document.
//!
//! ```text
//! key     length of the name (1 byte), name, id
//! value   frame (see frame.rs) around: revision (8 bytes, little-endian), JSON
//! ```
//!
//! The length in front keeps collections apart whatever ids they hold: `a` is not a prefix of `ab`.

use serde::de::DeserializeOwned;

use super::frame::{self, Damage};
use crate::error::Error;

/// The name of a collection: 1 to 32 of `a-z` and `_`. Part of the disk format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Collection(pub &'static str);

/// A document as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versioned<T> {
    /// The document.
    pub value: T,
    /// Changes with every write of the document and never comes again. Larger means written later.
    pub revision: u64,
}

impl Collection {
    const NAME_BYTES_MAX: usize = 32;

    /// The key of the document `id`, also the common beginning of the keys of all ids that begin with `id`.
    ///
    /// # Panics
    /// When the name breaks its rules: names stand in the code, and a wrong one would be on disk for ever.
    pub(super) fn key(self, id: &str) -> Vec<u8> {
        let name = self.0.as_bytes();
        assert!(
            (1..=Self::NAME_BYTES_MAX).contains(&name.len())
                && name.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'_')),
            "the collection name {name:?} is not 1 to 32 of a-z and _",
            name = self.0
        );
        let mut key = Vec::with_capacity(1 + name.len() + id.len());
        key.extend(u8::try_from(name.len()));
        key.extend_from_slice(name);
        key.extend_from_slice(id.as_bytes());
        key
    }
}

/// The collection's name and the id in a stored key.
pub(super) fn parse_key(key: &[u8]) -> Option<(&str, &str)> {
    let (&name_bytes, rest) = key.split_first()?;
    let (name, id) = rest.split_at_checked(usize::from(name_bytes))?;
    Some((str::from_utf8(name).ok()?, str::from_utf8(id).ok()?))
}

/// The stored bytes of a document.
pub(super) fn encode(key: &[u8], revision: u64, json: &[u8]) -> Vec<u8> {
    frame::seal(key, &[&revision.to_le_bytes(), json])
}

/// The revision and the JSON in the stored bytes of a document.
pub(super) fn decode<'a>(key: &[u8], stored: &'a [u8]) -> Result<(u64, &'a [u8]), Damage> {
    frame::split_u64(frame::open(key, stored)?)
}

/// The document in stored bytes.
pub(super) fn parse<T: DeserializeOwned>(
    key: &[u8],
    stored: &[u8],
) -> Result<Versioned<T>, Damage> {
    let (revision, json) = decode(key, stored)?;
    let value = serde_json::from_slice(json).map_err(|error| Damage::Content(error.to_string()))?;
    Ok(Versioned { value, revision })
}

/// How a document is called in messages.
pub(super) fn display_name(key: &[u8]) -> String {
    match parse_key(key) {
        Some((collection, id)) => format!("{collection}/{id}"),
        None => format!("key {key:02x?}"),
    }
}

/// The error for a document that cannot be read.
pub(super) fn corrupt(key: &[u8], damage: &Damage) -> Error {
    Error::Corrupt(format!("document {}: {damage}", display_name(key)))
}
