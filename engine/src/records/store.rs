//! Reading and writing records.

use std::sync::Arc;

use super::batch::RecordBatch;
use super::table::Table;
use crate::documents::Documents;
use crate::error::Result;
use crate::storage::{Caching, Direction, KeyRange, Keyspace, Store, Sync};

/// The records of one database. May be used from any thread; calls block.
#[derive(Debug)]
pub struct Records {
    store: Arc<Store>,
    /// Whose receipts are stored with records.
    documents: Arc<Documents>,
}

/// What [`Records::verify`] saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verified {
    pub(crate) records: u64,
    /// Bytes of keys and values.
    pub(crate) bytes: u64,
    /// What is damaged: RocksDB does not name single entries.
    pub(crate) damaged: Option<String>,
}

impl Records {
    pub(crate) fn new(store: Arc<Store>, documents: Arc<Documents>) -> Self {
        Self { store, documents }
    }

    /// The value under `key`.
    pub fn get(&self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let found = self.store.get(Keyspace::Records, &table.key(key))?;
        Ok(found.map(|value| value.to_vec()))
    }

    /// The values under `keys`, in their order, each with its own outcome: cheaper than asking for one after the other.
    pub fn get_many<K: AsRef<[u8]>>(
        &self,
        table: Table,
        keys: &[K],
    ) -> Vec<Result<Option<Vec<u8>>>> {
        let keys: Vec<_> = keys.iter().map(|key| table.key(key.as_ref())).collect();
        let found = self.store.multi_get(Keyspace::Records, &keys);
        found.into_iter().map(|value| Ok(value?.map(|value| value.to_vec()))).collect()
    }

    /// The records of `range`, key and value, as they are when the scan begins: later writes do not show. After an error
    /// the scan is over.
    pub fn scan(
        &self,
        table: Table,
        range: &KeyRange,
        direction: Direction,
    ) -> impl Iterator<Item = Result<(Vec<u8>, Box<[u8]>)>> {
        let range = table.range(range);
        let scan = self.store.scan(Keyspace::Records, &range, direction, Caching::Keep);
        scan.map(|entry| entry.map(|(key, value)| (own_key(key), value)))
    }

    /// Visits every record of `table` that can be read, ascending, and tells what is wrong with the rest: for owners that
    /// read all at their start, to whom most of the records are worth more than none.
    pub fn read_all(
        &self,
        table: Table,
        mut visit: impl FnMut(&[u8], &[u8]),
    ) -> Result<Option<String>> {
        let range = table.range(&KeyRange::all());
        let visit = |key: Box<[u8]>, value: Box<[u8]>| {
            visit(key.split_first().map_or(&[], |(_, key)| key), &value);
        };
        let gap =
            self.store.read_around_damage(Keyspace::Records, &range, Caching::Bypass, visit)?;
        Ok(gap.map(|gap| format!("records of {}: {}", table.name(), gap.error)))
    }

    /// Applies all changes, or none, and returns when they are on the disk.
    ///
    /// Fails with [`crate::Error::Unavailable`] while the disk is full: then nothing has changed. After
    /// [`crate::Error::Storage`], and should the process die while the disk is full, the next start may find the changes
    /// made.
    pub fn write(&self, batch: RecordBatch) -> Result<()> {
        // So that the expiry of an old receipt with the same id does not take the new one away.
        let _claim = self.documents.claim_receipts(batch.receipts());
        let batch = batch.into_batch()?;
        if batch.len() == 0 {
            return Ok(());
        }
        self.store.write(batch, Sync::Yes)
    }

    /// Reads every record.
    pub(crate) fn verify(&self) -> Result<Verified> {
        let mut seen = Verified::default();
        let visit = |key: Box<[u8]>, value: Box<[u8]>| {
            seen.records += 1;
            seen.bytes += (key.len() + value.len()) as u64;
        };
        let all = KeyRange::all();
        let gap = self.store.read_around_damage(Keyspace::Records, &all, Caching::Bypass, visit)?;
        seen.damaged = gap.map(|gap| format!("records: {}", gap.error));
        Ok(seen)
    }
}

/// The owner's key in a stored one.
fn own_key(stored: Box<[u8]>) -> Vec<u8> {
    let mut key = stored.into_vec();
    key.drain(..1.min(key.len()));
    key
}
