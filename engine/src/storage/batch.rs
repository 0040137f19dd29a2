//! Changes that are applied atomically.

use super::keyspace::Keyspace;
use super::range::KeyRange;
use super::schema::{KeyOf, Schema, ValueOf};
use super::typed_range::RangeOf;

/// Changes to any keyspaces, applied by [`super::Store::write`] in the order they were added. A
/// change to a keyspace with a second copy is added for the copy too. Plain data: a batch can be
/// filled on any thread without an open database.
#[derive(Debug, Default)]
#[must_use = "the changes of a batch are lost unless it is written"]
pub(crate) struct Batch {
    changes: Vec<Change>,
    bytes: usize,
}

/// One change of a [`Batch`].
#[derive(Debug)]
pub(super) enum Change {
    Put { keyspace: Keyspace, key: Box<[u8]>, value: Vec<u8> },
    Delete { keyspace: Keyspace, key: Box<[u8]> },
    DeleteRange { keyspace: Keyspace, from: Vec<u8>, to: Vec<u8> },
}

/// When [`super::Store::write`] returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sync {
    /// After the batch and all earlier batches are on disk. Concurrent writers share one
    /// `fdatasync`.
    Yes,
    /// After the operating system has received the batch: it survives a kill of the process but not
    /// a power loss. No later batch survives without it.
    No,
}

impl Batch {
    /// Bytes that RocksDB adds per change: type, keyspace and two lengths, rounded up.
    const CHANGE_BYTES: usize = 16;
    /// Greater than every key the engine writes: RocksDB has no range delete without an end.
    const END: [u8; 64] = [0xff; 64];

    /// Returns an empty batch.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Stores `value` under `key`, replacing any earlier value.
    pub(crate) fn put<S: Schema>(
        &mut self,
        keyspace: S,
        key: &(impl KeyOf<S> + ?Sized),
        value: impl ValueOf<S>,
    ) {
        self.put_bytes(keyspace.keyspace(), key.encoded().as_ref(), value.into_bytes());
    }

    /// Does the same as [`Self::put`] for the bytes of an entry that is moved.
    pub(super) fn put_bytes(&mut self, keyspace: Keyspace, key: &[u8], value: Vec<u8>) {
        if let Some(prefix) = keyspace.copied_as() {
            self.put_bytes(Keyspace::Copies, &copy_key(prefix, key), value.clone());
        }
        self.bytes += Self::CHANGE_BYTES + key.len() + value.len();
        self.changes.push(Change::Put { keyspace, key: key.into(), value });
    }

    /// Deletes `key`, if it exists.
    pub(crate) fn delete<S: Schema>(&mut self, keyspace: S, key: &(impl KeyOf<S> + ?Sized)) {
        self.delete_bytes(keyspace.keyspace(), key.encoded().as_ref());
    }

    fn delete_bytes(&mut self, keyspace: Keyspace, key: &[u8]) {
        if let Some(prefix) = keyspace.copied_as() {
            self.delete_bytes(Keyspace::Copies, &copy_key(prefix, key));
        }
        self.bytes += Self::CHANGE_BYTES + key.len();
        self.changes.push(Change::Delete { keyspace, key: key.into() });
    }

    /// Deletes every key of `range`. A range without an end is cut after the largest key that the
    /// engine writes. The cost does not depend on the number of keys.
    pub(crate) fn delete_range<S: Schema>(&mut self, range: RangeOf<S>) {
        self.delete_range_bytes(range.keyspace.keyspace(), range.keys);
    }

    /// Does the same as [`Self::delete_range`] for the keys of any keyspace.
    pub(super) fn delete_range_bytes(&mut self, keyspace: Keyspace, range: KeyRange) {
        if range.is_empty() {
            return;
        }
        let KeyRange { from, to } = range;
        let to = to.unwrap_or_else(|| Self::END.to_vec());
        if let Some(prefix) = keyspace.copied_as() {
            let copies = KeyRange::between(&copy_key(prefix, &from), &copy_key(prefix, &to));
            self.delete_range_bytes(Keyspace::Copies, copies);
        }
        self.bytes += Self::CHANGE_BYTES + from.len() + to.len();
        self.changes.push(Change::DeleteRange { keyspace, from, to });
    }

    /// Returns the number of changes.
    pub(crate) fn len(&self) -> usize {
        self.changes.len()
    }

    /// Returns the approximate size of the batch in RocksDB's log, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the changes in the order they were added.
    pub(super) fn changes(&self) -> &[Change] {
        &self.changes
    }
}

/// Returns the key of the second copy of an entry.
pub(super) fn copy_key(prefix: u8, key: &[u8]) -> Vec<u8> {
    let mut copy = Vec::with_capacity(key.len() + 1);
    copy.push(prefix);
    copy.extend_from_slice(key);
    copy
}
