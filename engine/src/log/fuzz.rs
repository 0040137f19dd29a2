//! What the fuzz target of segments calls. Compiled with `--cfg fuzzing` only.

use std::path::Path;

use super::scan::{Behind, scan_bytes};
use super::segment::{Salt, header, put_frame};
use crate::model::Lsn;

/// Bytes of the payloads of a segment: those of a sector and more, of noise and of zeros.
const PAYLOADS: [usize; 8] = [0, 1, 40, 90, 473, 512, 700, 1_600];

const SALT: Salt = Salt(0x5a17);

/// Reads a segment with damage. The first byte says how many records it has, the next ones what they are, the rest is what is
/// written over it: places and bytes. Checksums would keep the fuzzer out otherwise.
pub(crate) fn read_damaged(bytes: &[u8]) {
    let Some((records, rest)) = bytes.split_first() else { return };
    let (kinds, edits) = rest.split_at(usize::from(records % 16).min(rest.len()));
    let mut file = header(Lsn(1), Lsn(0), SALT).to_vec();
    let mut payloads = Vec::new();
    let mut answered = Lsn(0);
    for (kind, lsn) in kinds.iter().zip(1..) {
        let length = PAYLOADS.get(usize::from(kind % 8)).copied().unwrap_or_default();
        let payload = vec![kind & 0x18; length];
        // Some records are written with the one before.
        answered = if kind & 0x80 == 0 { Lsn(lsn - 1) } else { answered };
        put_frame(&mut file, 0, SALT, (Lsn(lsn), answered), &payload);
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
    let scanned = scan_bytes(path, &file, Behind::default(), |lsn, payload| {
        assert!(lsn > last, "records come in order");
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
    // Any bytes are a file, too.
    let behind = Behind { first: Some(Lsn(10)), answered: Some(Lsn(9)) };
    drop(scan_bytes(path, bytes, behind, |_, _| Ok(())));
}
