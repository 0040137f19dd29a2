//! Changes of records that happen together or not at all.

use super::table::Table;
use crate::error::{Error, Result};
use crate::limits;
use crate::storage::{Batch, KeyRange, Keyspace};

/// Changes of any tables, applied by [`super::Records::write`] in the order they were added. Plain data: it may be filled on
/// any thread. Dropped without a write, it is forgotten.
#[derive(Debug, Default)]
pub struct RecordBatch {
    batch: Batch,
    /// The first value that is too large to be stored.
    unfit: Option<(Table, usize)>,
}

impl RecordBatch {
    /// A batch that changes nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stores `value` under `key`, in place of what was there. A value over [`limits::RECORD_VALUE_BYTES_MAX`] makes the
    /// write of the batch fail.
    pub fn put(&mut self, table: Table, key: &[u8], value: Vec<u8>) {
        if value.len() > limits::RECORD_VALUE_BYTES_MAX {
            self.unfit.get_or_insert((table, value.len()));
        }
        self.batch.put(Keyspace::Records, &table.key(key), value);
    }

    /// Removes `key`, if it is there.
    pub fn delete(&mut self, table: Table, key: &[u8]) {
        self.batch.delete(Keyspace::Records, &table.key(key));
    }

    /// Removes every key of `range`. Costs the same for one key and for a million.
    pub fn delete_range(&mut self, table: Table, range: &KeyRange) {
        self.batch.delete_range(Keyspace::Records, table.range(range));
    }

    /// Changes so far.
    pub fn len(&self) -> usize {
        self.batch.len()
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.batch.len() == 0
    }

    /// Bytes that the batch takes in the log, nearly.
    pub fn bytes(&self) -> usize {
        self.batch.bytes()
    }

    pub(super) fn into_batch(self) -> Result<Batch> {
        match self.unfit {
            None => Ok(self.batch),
            Some((table, bytes)) => {
                let message =
                    format!("a record of {bytes} bytes is too large for {}", table.name());
                Err(Error::Storage(message))
            }
        }
    }
}
