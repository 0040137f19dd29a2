//! What the fuzz target of RocksDB's log calls. Compiled with `--cfg fuzzing` only.

use super::format::{Item, Records, put_record};
use super::survey::Survey;

/// Bytes of records: within a block, over its end, and over several.
const RECORDS: [usize; 8] = [12, 40, 300, 5_000, 32_700, 32_761, 40_000, 90_000];

/// Reads any bytes as a log; then a log with damage. The first byte says how many records it has, the next ones what they are, the
/// rest is what is written over it: places and bytes. What is read of it is what was written, in order.
pub(crate) fn read_damaged(bytes: &[u8]) {
    Records::of(bytes).take_while(Result::is_ok).for_each(drop);
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
    for item in Records::of(&log) {
        let Ok(Item::Record { bytes, .. }) = item else { continue };
        assert!(left.any(|record| **record == *bytes), "a record that was not written is read");
    }
}
