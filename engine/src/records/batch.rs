//! Changes of records that are applied atomically.

use super::table::Table;
use crate::documents::Receipt;
use crate::error::{Error, Result};
use crate::limits;
use crate::storage::{Batch, KeyRange, keyspaces};

/// Changes to any tables, applied by [`super::Records::write`] in the order they were added. Plain
/// data: it can be filled on any thread. Dropping it without a write has no effect.
#[derive(Debug, Default)]
#[must_use = "the changes of a batch are lost unless it is written"]
pub struct RecordBatch {
    batch: Batch,
    /// The ids of receipts that are stored with the changes.
    receipts: Vec<u128>,
    /// The table and length of the first value that is too large to be stored.
    too_large: Option<(Table, usize)>,
}

impl RecordBatch {
    /// Returns an empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stores `value` under `key`, replacing any earlier value. A value over
    /// [`limits::RECORD_VALUE_BYTES_MAX`] makes the write of the batch fail.
    pub fn put(&mut self, table: Table, key: &[u8], value: Vec<u8>) {
        if value.len() > limits::RECORD_VALUE_BYTES_MAX {
            self.too_large.get_or_insert((table, value.len()));
        }
        self.batch.put(keyspaces::Records, &table.key(key), value);
    }

    /// Deletes `key`, if it exists.
    pub fn delete(&mut self, table: Table, key: &[u8]) {
        self.batch.delete(keyspaces::Records, &table.key(key));
    }

    /// Deletes every key of `range`. The cost does not depend on the number of keys.
    pub fn delete_range(&mut self, table: Table, range: &KeyRange) {
        self.batch.delete_range(table.range(range));
    }

    /// Stores `receipt` with the changes, so that a repeated request is not applied twice. A
    /// response over [`limits::RECEIPT_RESPONSE_BYTES_MAX`] is not worth keeping, and its receipt
    /// is left out.
    pub fn receipt(&mut self, receipt: &Receipt) {
        if receipt.answer.len() <= limits::RECEIPT_RESPONSE_BYTES_MAX {
            receipt.stage(&mut self.batch);
            self.receipts.push(receipt.id);
        }
    }

    /// Returns the number of changes.
    pub fn len(&self) -> usize {
        self.batch.len()
    }

    /// Returns whether the batch contains no changes.
    pub fn is_empty(&self) -> bool {
        self.batch.len() == 0
    }

    /// Returns the approximate size of the batch in the log, in bytes.
    pub fn bytes(&self) -> usize {
        self.batch.bytes()
    }

    pub(super) fn receipts(&self) -> &[u128] {
        &self.receipts
    }

    pub(super) fn into_batch(self) -> Result<Batch> {
        match self.too_large {
            None => Ok(self.batch),
            Some((table, bytes)) => {
                let message =
                    format!("a record of {bytes} bytes is too large for {}", table.name());
                Err(Error::Storage(message))
            }
        }
    }
}
