//! Collections, and the stored form of a document.
//!
//! ```text
//! key     length of the name (1 byte), name, id
//! value   frame (see frame.rs) around: revision (8 bytes, little-endian), JSON
//! ```
//!
//! The length prefix keeps the keys of collections apart: no key of `a` is a prefix of a key of
//! `ab`.

use std::ops::Deref;

use serde::de::DeserializeOwned;

use super::frame::{self, FrameDamage};
use crate::error::Error;
use crate::storage::{KeyOf, PrefixOf, ValueOf, keyspaces};

/// The name of a collection: 1 to 32 of `a-z` and `_`. Part of the disk format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Collection(pub &'static str);

/// A document with its revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versioned<T> {
    /// The document.
    pub value: T,
    /// Changes with every write of the document and is never reused. A larger revision was assigned
    /// later.
    pub revision: u64,
}

impl Collection {
    const NAME_BYTES_MAX: usize = 32;

    /// Returns the key of the document `id`, which is also the common prefix of the keys of all ids
    /// that start with `id`.
    ///
    /// # Panics
    /// Panics if the name is invalid: names are constants, and an invalid one would be stored on
    /// disk permanently.
    pub(super) fn key(self, id: &str) -> DocumentKey {
        let name = self.0.as_bytes();
        assert!(
            (1..=Self::NAME_BYTES_MAX).contains(&name.len())
                && name.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'_')),
            "the collection name {name:?} is not 1 to 32 of a-z and _",
            name = self.0
        );
        let mut key = Vec::with_capacity(1 + name.len() + id.len());
        key.push(name.len() as u8);
        key.extend_from_slice(name);
        key.extend_from_slice(id.as_bytes());
        DocumentKey(key)
    }
}

/// The key of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DocumentKey(Vec<u8>);

impl Deref for DocumentKey {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl KeyOf<keyspaces::Documents> for DocumentKey {
    fn encoded(&self) -> impl AsRef<[u8]> {
        &self.0
    }
}

/// The keys of all ids that start with the id of this key.
impl PrefixOf<keyspaces::Documents> for DocumentKey {
    fn encoded(&self) -> impl AsRef<[u8]> {
        &self.0
    }
}

/// An encoded document.
impl ValueOf<keyspaces::Documents> for Vec<u8> {
    fn into_bytes(self) -> Vec<u8> {
        self
    }
}

/// Returns the collection name and the id in a stored key.
pub(super) fn parse_key(key: &[u8]) -> Option<(&str, &str)> {
    let (&name_bytes, rest) = key.split_first()?;
    let (name, id) = rest.split_at_checked(usize::from(name_bytes))?;
    Some((str::from_utf8(name).ok()?, str::from_utf8(id).ok()?))
}

/// Encodes a document for storage.
pub(super) fn encode(key: &[u8], revision: u64, json: &[u8]) -> Vec<u8> {
    frame::seal(key, &[&revision.to_le_bytes(), json])
}

/// Decodes the revision and the JSON of a stored document.
pub(super) fn decode<'a>(key: &[u8], stored: &'a [u8]) -> Result<(u64, &'a [u8]), FrameDamage> {
    frame::split_u64(frame::open(key, stored)?)
}

/// Decodes a stored document.
pub(super) fn parse<T: DeserializeOwned>(
    key: &[u8],
    stored: &[u8],
) -> Result<Versioned<T>, FrameDamage> {
    let (revision, json) = decode(key, stored)?;
    let value =
        serde_json::from_slice(json).map_err(|error| FrameDamage::Content(error.to_string()))?;
    Ok(Versioned { value, revision })
}

/// Returns the name of a document for messages.
pub(super) fn display_name(key: &[u8]) -> String {
    match parse_key(key) {
        Some((collection, id)) => format!("{collection}/{id}"),
        None => format!("key {key:02x?}"),
    }
}

/// Returns the error for a document that cannot be decoded.
pub(super) fn corrupt(key: &[u8], damage: &FrameDamage) -> Error {
    Error::Corrupt(format!("document {}: {damage}", display_name(key)))
}
