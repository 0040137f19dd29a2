//! Changes that happen together or not at all.

use super::keyspace::Keyspace;
use super::range::KeyRange;

/// Changes to any keyspaces, and to the copies of those that are kept twice, applied by [`super::Store::write`] in the order they were added. Plain data: it
/// may be filled on any thread and needs no open database.
#[derive(Debug, Default)]
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
    /// After the batch, and all before it, is on the disk. Concurrent writers share one `fdatasync`.
    Yes,
    /// After the operating system has the batch: it survives a kill of the process, not a power loss. Later
    /// batches never survive without it.
    No,
}

impl Batch {
    /// Bytes that RocksDB adds to a change: type, keyspace and two lengths, rounded up.
    const CHANGE_BYTES: usize = 16;
    /// Above every key of ours: RocksDB has no range delete without an end.
    const END: [u8; 64] = [0xff; 64];

    /// A batch that changes nothing yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Stores `value` under `key`, in place of what was there.
    pub(crate) fn put(&mut self, keyspace: Keyspace, key: &[u8], value: Vec<u8>) {
        if let Some(prefix) = keyspace.copied_as() {
            self.put(Keyspace::Copies, &copy_key(prefix, key), value.clone());
        }
        self.bytes += Self::CHANGE_BYTES + key.len() + value.len();
        self.changes.push(Change::Put { keyspace, key: key.into(), value });
    }

    /// Removes `key`, if it is there.
    pub(crate) fn delete(&mut self, keyspace: Keyspace, key: &[u8]) {
        if let Some(prefix) = keyspace.copied_as() {
            self.delete(Keyspace::Copies, &copy_key(prefix, key));
        }
        self.bytes += Self::CHANGE_BYTES + key.len();
        self.changes.push(Change::Delete { keyspace, key: key.into() });
    }

    /// Removes every key of a range that has an end; a range without one is cut at the largest key that
    /// the engine writes. Costs the same for one key and for a million.
    pub(crate) fn delete_range(&mut self, keyspace: Keyspace, range: KeyRange) {
        if range.is_empty() {
            return;
        }
        let KeyRange { from, to } = range;
        let to = to.unwrap_or_else(|| Self::END.to_vec());
        if let Some(prefix) = keyspace.copied_as() {
            let copies = KeyRange::between(&copy_key(prefix, &from), &copy_key(prefix, &to));
            self.delete_range(Keyspace::Copies, copies);
        }
        self.bytes += Self::CHANGE_BYTES + from.len() + to.len();
        self.changes.push(Change::DeleteRange { keyspace, from, to });
    }

    /// Changes so far.
    pub(crate) fn len(&self) -> usize {
        self.changes.len()
    }

    /// Bytes that the batch takes in the database's log, nearly.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The changes, in order.
    pub(super) fn changes(&self) -> &[Change] {
        &self.changes
    }
}

/// The key of the copy of an entry.
pub(super) fn copy_key(prefix: u8, key: &[u8]) -> Vec<u8> {
    let mut copy = Vec::with_capacity(key.len() + 1);
    copy.push(prefix);
    copy.extend_from_slice(key);
    copy
}
