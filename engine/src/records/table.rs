//! Tables: the owners' parts of the keyspace.

use std::fmt;

use crate::limits;
use crate::storage::KeyRange;

/// A table of records. Its id and its meaning are part of the disk format: `docs/FORMAT.md` lists them all.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Table {
    id: u8,
    name: &'static str,
}

impl Table {
    /// The table `id`, called `name` in messages.
    ///
    /// # Panics
    /// When the id is 0 or 255, which stay free for the keyspace itself: ids stand in the code.
    pub const fn new(id: u8, name: &'static str) -> Self {
        assert!(id != 0 && id != u8::MAX, "0 and 255 are no tables");
        Self { id, name }
    }

    /// How the table is called.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The stored key of `key`.
    ///
    /// # Panics
    /// When the key is too long: owners make their keys of ids and hashes, and check what is sent to them.
    pub(super) fn key(self, key: &[u8]) -> Vec<u8> {
        assert!(
            key.len() <= limits::RECORD_KEY_BYTES_MAX,
            "a key of {} bytes for the table {}",
            key.len(),
            self.name
        );
        [&[self.id], key].concat()
    }

    /// The stored keys of `range`: those of this table when it has no end.
    pub(super) fn range(self, range: &KeyRange) -> KeyRange {
        let to = range.to.as_deref().map_or_else(|| vec![self.id + 1], |to| self.key(to));
        KeyRange { from: self.key(&range.from), to: Some(to) }
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({} {})", self.id, self.name)
    }
}
