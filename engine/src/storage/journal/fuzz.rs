//! Entry point of the fuzz target of RocksDB's log. Compiled with `--cfg fuzzing` only.

use super::format::{LogItem, LogReader, put_record};
use super::survey::Survey;

/// Bytes of records: within a block, over its end, and over several blocks.
const RECORDS: [usize; 8] = [12, 40, 300, 5_000, 32_700, 32_761, 40_000, 90_000];

/// Reads `bytes` as a log, then reads a log with damage. The first byte is the number of records,
/// the next ones are their sizes, and the rest are edits of the log: offsets and bytes. Checks that
/// only records that were written are read, in order.
pub(crate) fn read_damaged(bytes: &[u8]) {
    LogReader::of(bytes).take_while(Result::is_ok).for_each(drop);
    let _read = Survey::default().read(0, bytes);
    let Some((records, rest)) = bytes.split_first() else { return };
    let (kinds, edits) = rest.split_at(usize::from(records % 16).min(rest.len()));
    let mut log = Vec::new();
    let mut written = Vec::new();
    for (kind, n) in kinds.iter().zip(1_u8..) {
        let length = RECORDS.get(usize::from(kind % 8)).copied().unwrap_or_default();
        let record = vec![n; length];
        put_record(&mut log, &record);
        written.push(record);
    }
    for edit in edits.as_chunks::<4>().0 {
        let [a, b, c, byte] = *edit;
        if let Some(found) = log.get_mut(u32::from_le_bytes([a, b, c, 0]) as usize) {
            *found ^= byte;
        }
    }
    let mut left = written.iter();
    for item in LogReader::of(&log) {
        let Ok(LogItem::Record { bytes, .. }) = item else { continue };
        assert!(left.any(|record| **record == *bytes), "a record was read that was not written");
    }
}
