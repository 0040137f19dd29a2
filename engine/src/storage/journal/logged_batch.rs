//! A log record: a batch of changes in RocksDB's format, and the stamp that Telltale adds to each.
//!
//! ```text
//! batch    sequence number of the first entry: u64 │ entries: u32 │
//!          entries, and log data between them
//! stamp    3, log data │ its length: varint = 9 │ 0xac │
//!          sequence number up to which the log was acknowledged: u64
//! ```
//!
//! Concurrent writers share a record, which then starts with the stamp of the first of them.
//! RocksDB ignores log data.

/// Bytes before the entries.
const HEADER_BYTES: usize = 12;
const LOG_DATA: u8 = 3;
const STAMP_BYTES: usize = 9;
const STAMP_MAGIC: u8 = 0xac;
/// The largest sequence number of RocksDB, which uses one byte of it for the type of an entry.
const SEQUENCE_MAX: u64 = (1 << 56) - 1;

/// The header of a batch, read without its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LoggedBatch {
    /// The sequence number of its first entry.
    pub(super) sequence: u64,
    /// The sequence number of the next batch.
    pub(super) next: u64,
    /// The sequence number up to which the log was acknowledged when the batch was written, if it
    /// is stamped.
    pub(super) acknowledged: Option<u64>,
}

impl LoggedBatch {
    pub(super) fn read(record: &[u8]) -> Option<Self> {
        let (sequence, rest) = record.split_first_chunk()?;
        let sequence = u64::from_le_bytes(*sequence);
        let (entries, rest) = rest.split_first_chunk()?;
        if sequence > SEQUENCE_MAX {
            return None;
        }
        let next = sequence + u64::from(u32::from_le_bytes(*entries));
        Some(Self { sequence, next, acknowledged: read_stamp(rest) })
    }
}

/// Returns the first and the next sequence number of a record whose start can be read but may be
/// wrong, or `None` if they are zero.
pub(super) fn hint(fragment: &[u8]) -> Option<(u64, u64)> {
    let batch = LoggedBatch::read(fragment.get(..HEADER_BYTES)?)?;
    (0 < batch.sequence && batch.sequence < batch.next).then_some((batch.sequence, batch.next))
}

/// Returns the log data of a stamp.
pub(super) fn stamp(acknowledged: u64) -> [u8; STAMP_BYTES] {
    let [a, b, c, d, e, f, g, h] = acknowledged.to_le_bytes();
    [STAMP_MAGIC, a, b, c, d, e, f, g, h]
}

fn read_stamp(entries: &[u8]) -> Option<u64> {
    let number = entries.strip_prefix(&[LOG_DATA, STAMP_BYTES as u8, STAMP_MAGIC])?;
    number.first_chunk().map(|number| u64::from_le_bytes(*number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_number_is_read_up_to_the_greatest_and_not_beyond() {
        let read = |sequence: u64, entries: u32| {
            let record = [&sequence.to_le_bytes()[..], &entries.to_le_bytes()].concat();
            assert_eq!(LoggedBatch::read(&record[..HEADER_BYTES - 1]), None, "a byte is missing");
            LoggedBatch::read(&record).map(|batch| (batch.sequence, batch.next))
        };
        let most = u64::from(u32::MAX);
        assert_eq!(read(SEQUENCE_MAX, u32::MAX), Some((SEQUENCE_MAX, SEQUENCE_MAX + most)));
        assert_eq!(read(SEQUENCE_MAX + 1, 1), None);
        assert_eq!(read(u64::MAX, u32::MAX), None);
    }
}
