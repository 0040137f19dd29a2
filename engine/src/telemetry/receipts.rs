//! Receipts that are in the log and not on disk yet. They count towards the memory of new data and
//! are written to disk by the next seal.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::documents::Receipt;

/// Approximate bytes of a receipt besides its response, including its entry in the map.
const RECEIPT_BYTES: usize = 2 * size_of::<(u128, Receipt)>();

/// Receipts by their ids.
pub(crate) type ReceiptMap = HashMap<u128, Receipt>;

/// The active receipts and those being sealed.
#[derive(Debug, Default)]
pub(super) struct Receipts {
    active: ReceiptMap,
    active_bytes: usize,
    sealing: Arc<ReceiptMap>,
}

impl Receipts {
    pub(super) fn insert(&mut self, receipt: Receipt) {
        self.active_bytes += RECEIPT_BYTES + receipt.answer.len();
        // An id may be reused after its receipt has expired.
        if let Some(earlier) = self.active.insert(receipt.id, receipt) {
            self.active_bytes -= RECEIPT_BYTES + earlier.answer.len();
        }
    }

    pub(super) fn get(&self, id: u128) -> Option<&Receipt> {
        self.active.get(&id).or_else(|| self.sealing.get(&id))
    }

    /// Returns the bytes of the active receipts.
    pub(super) fn active_bytes(&self) -> usize {
        self.active_bytes
    }

    /// Freezes the active receipts, to be sealed. The previously frozen ones must have been sealed.
    pub(super) fn freeze(&mut self) -> Arc<ReceiptMap> {
        self.active_bytes = 0;
        self.sealing = Arc::new(std::mem::take(&mut self.active));
        Arc::clone(&self.sealing)
    }

    /// Drops the frozen receipts, which are on disk.
    pub(super) fn sealed(&mut self) {
        self.sealing = Arc::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TimestampMs;

    fn receipt(id: u128, answer: &[u8]) -> Receipt {
        Receipt { id, fingerprint: 1, answer: answer.to_vec(), expires_at: TimestampMs(0) }
    }

    #[test]
    fn a_receipt_is_found_until_it_is_on_disk_and_counts_until_it_is_frozen() {
        let mut receipts = Receipts::default();
        receipts.insert(receipt(1, &[0; 100]));
        receipts.insert(receipt(1, &[0; 40]));
        assert_eq!(receipts.active_bytes(), RECEIPT_BYTES + 40);
        assert_eq!(receipts.freeze().len(), 1);
        receipts.insert(receipt(2, &[]));
        assert_eq!((receipts.active_bytes(), receipts.get(1).is_some()), (RECEIPT_BYTES, true));
        receipts.insert(receipt(1, b"later"));
        assert_eq!(receipts.get(1).unwrap().answer, b"later");
        receipts.sealed();
        assert!(receipts.get(1).is_some() && receipts.get(2).is_some());
        assert_eq!((receipts.freeze().len(), receipts.active_bytes()), (2, 0));
    }
}
