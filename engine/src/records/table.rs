//! Tables: the parts of the keyspace that belong to one owner each.

use std::fmt;

use crate::limits;
use crate::storage::{KeyOf, KeyRange, RangeOf, ValueOf, keyspaces};

/// A table of records. Its id and meaning are part of the disk format: `docs/FORMAT.md` lists all
/// tables.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Table {
    id: u8,
    name: &'static str,
}

impl Table {
    /// Returns the table `id`, called `name` in messages.
    ///
    /// # Panics If the id is 0 or 255, which are reserved for the keyspace itself: ids are
    /// constants in the code.
    pub const fn new(id: u8, name: &'static str) -> Self {
        assert!(id != 0 && id != u8::MAX, "0 and 255 are reserved");
        Self { id, name }
    }

    /// Returns the name of the table.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Returns the stored key of `key`.
    ///
    /// # Panics If the key is longer than [`limits::RECORD_KEY_BYTES_MAX`]: owners build their keys
    /// from ids and hashes, and check what clients send.
    pub(super) fn key(self, key: &[u8]) -> RecordKey {
        assert!(
            key.len() <= limits::RECORD_KEY_BYTES_MAX,
            "a key of {} bytes for the table {}",
            key.len(),
            self.name
        );
        RecordKey([&[self.id], key].concat())
    }

    /// Returns the stored keys of `range`. A range without an end ends with the table.
    pub(super) fn range(self, range: &KeyRange) -> RangeOf<keyspaces::Records> {
        let end = || RecordKey(vec![self.id + 1]);
        let to = range.to.as_deref().map_or_else(end, |to| self.key(to));
        RangeOf::between(keyspaces::Records, &self.key(&range.from), &to)
    }
}

/// The stored key of a record.
#[derive(Debug)]
pub(super) struct RecordKey(Vec<u8>);

impl AsRef<[u8]> for RecordKey {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl KeyOf<keyspaces::Records> for RecordKey {
    fn encoded(&self) -> impl AsRef<[u8]> {
        &self.0
    }
}

/// A value as its owner encoded it.
impl ValueOf<keyspaces::Records> for Vec<u8> {
    fn into_bytes(self) -> Vec<u8> {
        self
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({} {})", self.id, self.name)
    }
}
