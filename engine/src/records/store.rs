//! Reads and writes of records.

use std::sync::Arc;

use super::batch::RecordBatch;
use super::table::Table;
use crate::documents::Documents;
use crate::error::Result;
use crate::storage::{Caching, Direction, KeyRange, RangeOf, Store, Sync, keyspaces};

/// The records of one database. Can be used from any thread; calls block.
#[derive(Debug)]
pub struct Records {
    store: Arc<Store>,
    /// The owner of the receipts that are stored with records.
    documents: Arc<Documents>,
}

/// The result of [`Records::verify`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verified {
    pub(crate) records: u64,
    /// Total bytes of keys and values.
    pub(crate) bytes: u64,
    /// A description of the damage: RocksDB does not name single entries.
    pub(crate) damaged: Option<String>,
}

impl Records {
    pub(crate) fn new(store: Arc<Store>, documents: Arc<Documents>) -> Self {
        Self { store, documents }
    }

    /// Returns the value under `key`.
    pub fn get(&self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let found = self.store.get(keyspaces::Records, &table.key(key))?;
        Ok(found.map(|value| value.to_vec()))
    }

    /// Returns the values under `keys`, in the same order, each with its own result. Cheaper than
    /// single reads.
    pub fn get_many<K: AsRef<[u8]>>(
        &self,
        table: Table,
        keys: &[K],
    ) -> Vec<Result<Option<Vec<u8>>>> {
        let keys: Vec<_> = keys.iter().map(|key| table.key(key.as_ref())).collect();
        let found = self.store.multi_get(keyspaces::Records, &keys);
        found.into_iter().map(|value| Ok(value?.map(|value| value.to_vec()))).collect()
    }

    /// Returns the keys and values of the records of `range` as of the start of the scan: later
    /// writes are not visible. An error ends the scan.
    pub fn scan(
        &self,
        table: Table,
        range: &KeyRange,
        direction: Direction,
    ) -> impl Iterator<Item = Result<(Vec<u8>, Box<[u8]>)>> {
        let scan = self.store.scan(table.range(range), direction, Caching::Keep);
        scan.map(|entry| entry.map(|(key, value)| (into_own_key(key), value)))
    }

    /// Visits every readable record of `table` in ascending order, and returns what is wrong with
    /// the rest. For owners that read all records at start and prefer most of them to none.
    pub fn read_all(
        &self,
        table: Table,
        mut visit: impl FnMut(&[u8], &[u8]),
    ) -> Result<Option<String>> {
        let range = table.range(&KeyRange::all());
        let visit = |key: Box<[u8]>, value: Box<[u8]>| {
            visit(own_key(&key), &value);
        };
        let gap = self.store.read_skipping_damage(range, Caching::Bypass, visit)?;
        Ok(gap.map(|gap| format!("records of {}: {}", table.name(), gap.error)))
    }

    /// Applies all changes or none, and returns when they are on disk.
    ///
    /// Fails with [`crate::Error::Unavailable`] while the disk is full: nothing has changed then.
    /// After [`crate::Error::Storage`], and if the process dies while the disk is full, the next
    /// start may find the changes applied.
    pub fn write(&self, batch: RecordBatch) -> Result<()> {
        // Keeps the expiry of an old receipt with the same id from deleting the new one.
        let _claim = self.documents.claim_receipts(batch.receipts());
        let batch = batch.into_batch()?;
        if batch.len() == 0 {
            return Ok(());
        }
        self.store.write(batch, Sync::Yes)
    }

    /// Reads every record.
    pub(crate) fn verify(&self) -> Result<Verified> {
        let mut verified = Verified::default();
        let visit = |key: Box<[u8]>, value: Box<[u8]>| {
            verified.records += 1;
            verified.bytes += (key.len() + value.len()) as u64;
        };
        let all = RangeOf::all(keyspaces::Records);
        let gap = self.store.read_skipping_damage(all, Caching::Bypass, visit)?;
        verified.damaged = gap.map(|gap| format!("records: {}", gap.error));
        Ok(verified)
    }
}

/// Returns the owner's key in a stored key.
fn own_key(stored: &[u8]) -> &[u8] {
    let Some((_table, key)) = stored.split_first() else {
        unreachable!("every key of a table starts with its id")
    };
    key
}

/// Does the same as [`own_key`] without a copy.
fn into_own_key(stored: Box<[u8]>) -> Vec<u8> {
    let mut key = stored.into_vec();
    let _table = key.remove(0);
    key
}
