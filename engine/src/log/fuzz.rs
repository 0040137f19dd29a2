//! Entry point of the fuzz target of log segments. Compiled with `--cfg fuzzing` only.

use std::path::Path;

use super::scan::{SegmentBounds, scan};
use super::segment::{Salt, header, put_frame};
use crate::model::Lsn;

/// Bytes of the payloads: from empty to several sectors.
const PAYLOADS: [usize; 8] = [0, 1, 40, 90, 473, 512, 700, 1_600];

const SALT: Salt = Salt(0x5a17);

/// Reads a segment with damage. The first byte of `bytes` is the number of records, the next ones
/// describe the records, and the rest is a cut and edits: offsets and bytes. The fuzzer could not
/// produce valid checksums itself.
pub(crate) fn read_damaged(bytes: &[u8]) {
    let Some((records, rest)) = bytes.split_first() else { return };
    let (kinds, edits) = rest.split_at(usize::from(records % 16).min(rest.len()));
    let mut file = header(Lsn(1), Lsn(0), SALT).to_vec();
    let mut payloads = Vec::new();
    let mut acknowledged = Lsn(0);
    for (kind, lsn) in kinds.iter().zip(1..) {
        let length = PAYLOADS.get(usize::from(kind % 8)).copied().unwrap_or_default();
        let payload = vec![kind & 0x18; length];
        // Some records are written together with the previous one.
        acknowledged = if kind & 0x80 == 0 { Lsn(lsn - 1) } else { acknowledged };
        put_frame(&mut file, 0, SALT, (Lsn(lsn), acknowledged), &payload);
        payloads.push(payload);
    }
    let (cut, edits) = edits.split_first_chunk::<2>().unwrap_or((&[0, 0], &[]));
    for edit in edits.as_chunks::<3>().0 {
        let [low, high, byte] = *edit;
        let at = usize::from(u16::from_le_bytes([low, high]));
        if let Some(found) = file.get_mut(at) {
            *found ^= byte;
        }
    }
    file.truncate(file.len().saturating_sub(u16::from_le_bytes(*cut).into()));
    let mut last = Lsn(0);
    let path = Path::new("00000000000000000001.log");
    let scanned = scan(path, &file, SegmentBounds::default(), |lsn, payload| {
        assert!(lsn > last, "records are read in order");
        last = lsn;
        let written = payloads.get(lsn.0 as usize - 1).map(Vec::as_slice);
        assert_eq!(written, Some(payload), "a record is read as it was written");
        Ok(())
    });
    let Ok(scanned) = scanned else { unreachable!("nothing refuses a record") };
    assert!(scanned.next > last);
    assert!(scanned.damage.iter().all(|damage| damage.bytes.end <= file.len()));
    if edits.is_empty() && cut == &[0, 0] {
        assert_eq!((scanned.records, scanned.damage.len()), (payloads.len() as u64, 0));
    }
    // Arbitrary bytes can be a file, too.
    let bounds = SegmentBounds { next_first: Some(Lsn(10)), acknowledged: Some(Lsn(9)) };
    drop(scan(path, bytes, bounds, |_, _| Ok(())));
}
