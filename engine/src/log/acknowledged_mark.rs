//! The mark of acknowledgement: the number of the last record whose writer got its response, in a
//! file beside the segments.
//!
//! ```text
//! DIR/log/ANSWERED: two slots, 512 bytes apart, each:
//! magic "TTANSWER" │ lsn: u64 │ xxh3-64 of all before
//! ```
//!
//! Earlier versions had the second slot at 4 096, in a second block of the file system. It counts
//! until the mark is set for the first time.
//!
//! A frame only says which records before it were acknowledged. A segment whose end was cut or
//! zeroed after a crash looks like one that was being written, and without the mark the records
//! acknowledged last would be lost silently.
//!
//! The mark is written after each group, to the two slots in turn, and never synced. A killed
//! process leaves the newest mark, a power loss an older one; in both cases the marked records were
//! on disk before. If the newest slot is lost, the other one has the previous mark. If both are,
//! with a range of 4 096 bytes, the log is read without the mark. Where
//! [`crate::Durability`] requires no sync, records lost in a power loss are reported as lost, since
//! they were acknowledged.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use crate::codec::bytes::Reader;
use crate::model::Lsn;

/// The name of the file.
const NAME: &str = "ANSWERED";
const MAGIC: [u8; 8] = *b"TTANSWER";
const SLOT_BYTES: usize = 24;
/// Offsets of the two slots, in different sectors of 512 bytes, which a torn write leaves old or
/// new, and in one block of the file system.
const SLOTS: [u64; 2] = [0, 512];
/// Offset of the second slot in files of earlier versions.
const EARLIER_SLOT: u64 = 4096;
/// The length of the file.
const FILE_BYTES: u64 = SLOTS[1] + SLOT_BYTES as u64;

/// The mark, as kept by the writer of the log.
#[derive(Debug)]
pub(super) struct AcknowledgedMark {
    /// `None` after a failure: the log is then read without the mark.
    file: Option<File>,
    /// How often the mark was set: the slots are written in turn.
    sets: usize,
}

impl AcknowledgedMark {
    /// Opens the mark in the directory of segments, creating it if it does not exist.
    pub(super) fn open(dir: &Path) -> Self {
        let path = dir.join(NAME);
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        if let Err(error) = &file {
            tracing::warn!(%error, "{} cannot be written: the loss of the end of the log may go unnoticed", path.display());
        }
        Self { file: file.ok(), sets: 0 }
    }

    /// Stores that the records through `acknowledged` are acknowledged, or are about to be.
    pub(super) fn set(&mut self, acknowledged: Lsn) {
        let slot = slot(acknowledged);
        // The first call of a process writes both: the earlier contents may be damaged.
        let (both, turn) = (self.sets == 0, self.sets % SLOTS.len());
        self.sets += 1;
        let mut slots = SLOTS.iter().enumerate().filter(|(n, _)| both || *n == turn);
        let write = |file: &File| -> io::Result<()> {
            slots.try_for_each(|(_, at)| file.write_all_at(&slot, *at))?;
            if both && let Err(error) = cut_earlier_slot(file) {
                tracing::warn!(%error, "cannot cut off a mark of an earlier version, which is harmless");
            }
            Ok(())
        };
        let Some(Err(error)) = self.file.as_ref().map(write) else { return };
        // The stored mark is older, but still true.
        tracing::warn!(%error, "the mark of acknowledged records cannot be written: the loss of the end of the log may go unnoticed");
        self.file = None;
    }
}

/// Cuts off the second slot of earlier versions, once the slots that replace it are on disk.
fn cut_earlier_slot(file: &File) -> io::Result<()> {
    if file.metadata()?.len() <= EARLIER_SLOT {
        return Ok(());
    }
    file.sync_data()?;
    file.set_len(FILE_BYTES)
}

fn slot(acknowledged: Lsn) -> [u8; SLOT_BYTES] {
    let mut out = [0; SLOT_BYTES];
    let (body, sum) = out.split_at_mut(SLOT_BYTES - 8);
    let (magic, lsn) = body.split_at_mut(MAGIC.len());
    magic.copy_from_slice(&MAGIC);
    lsn.copy_from_slice(&acknowledged.0.to_le_bytes());
    sum.copy_from_slice(&xxh3_64(body).to_le_bytes());
    out
}

/// The mark as read from disk.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct StoredMark {
    /// The number before all records if there is no intact slot.
    pub(super) acknowledged: Lsn,
    /// Why the mark is unknown although it was written, in one line.
    pub(super) damaged: Option<String>,
}

/// Returns the mark in a directory of segments.
pub(super) fn read(dir: &Path) -> StoredMark {
    let path = dir.join(NAME);
    let lost = |why: &str| StoredMark {
        acknowledged: Lsn::default(),
        damaged: Some(format!(
            "{}: {why}; records lost at the end of the log may go unnoticed",
            path.display()
        )),
    };
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        // Written by an older version, or a log without records.
        Err(error) if error.kind() == ErrorKind::NotFound => return StoredMark::default(),
        Err(error) => return lost(&error.to_string()),
    };
    let [first, second] = SLOTS;
    let slots = [first, second, EARLIER_SLOT]
        .map(|at| Slot::read(bytes.get(at as usize..).unwrap_or_default()));
    let intact = slots.iter().filter_map(|slot| match slot {
        Slot::Intact(lsn) => Some(*lsn),
        Slot::Unwritten | Slot::Damaged => None,
    });
    let is_damaged = slots.contains(&Slot::Damaged);
    match intact.max() {
        Some(acknowledged) => {
            if is_damaged {
                tracing::warn!(path = %path.display(), "one of the marks of acknowledged records is damaged");
            }
            StoredMark { acknowledged, damaged: None }
        }
        None if is_damaged => lost("the mark of acknowledged records is damaged"),
        None => StoredMark::default(),
    }
}

/// One place of the mark in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    /// Zeros, or beyond the end of the file. The file is never synced, so that is all that a power
    /// loss may leave of a new one.
    Unwritten,
    Intact(Lsn),
    Damaged,
}

impl Slot {
    fn read(bytes: &[u8]) -> Self {
        let bytes = bytes.get(..SLOT_BYTES).unwrap_or(bytes);
        if bytes.iter().all(|byte| *byte == 0) {
            return Self::Unwritten;
        }
        read_slot(bytes).map_or(Self::Damaged, Self::Intact)
    }
}

fn read_slot(bytes: &[u8]) -> Option<Lsn> {
    let mut reader = Reader::new(bytes);
    let magic = reader.take(MAGIC.len()).ok()?;
    let lsn = reader.u64().ok()?;
    let sum = reader.u64().ok()?;
    let intact = magic == MAGIC && xxh3_64(bytes.get(..SLOT_BYTES - 8)?) == sum;
    intact.then_some(Lsn(lsn))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_survives_damage_of_either_slot() {
        let dir = tempfile::tempdir().unwrap();
        let acknowledged = || read(dir.path()).acknowledged;
        assert_eq!(read(dir.path()), StoredMark::default(), "there is no mark");
        let mut mark = AcknowledgedMark::open(dir.path());
        assert_eq!(read(dir.path()), StoredMark::default(), "no mark was set");
        mark.set(Lsn(7));
        AcknowledgedMark::open(dir.path()).set(Lsn(300));
        let path = dir.path().join(NAME);
        let intact = fs::read(&path).unwrap();
        assert_eq!(acknowledged(), Lsn(300));
        for at in 0..intact.len() {
            let mut damaged = intact.clone();
            damaged[at] ^= 0x10;
            fs::write(&path, &damaged).unwrap();
            assert_eq!(acknowledged(), Lsn(300), "flipped at {at}");
            fs::write(&path, &intact[..at]).unwrap();
            let expected = if at < SLOT_BYTES { Lsn(0) } else { Lsn(300) };
            assert_eq!(acknowledged(), expected, "cut at {at}");
        }
    }

    #[test]
    fn a_lost_mark_is_damage_and_one_never_written_is_not() {
        let dir = tempfile::tempdir().unwrap();
        AcknowledgedMark::open(dir.path()).set(Lsn(7));
        let path = dir.path().join(NAME);
        let intact = fs::read(&path).unwrap();
        let is_damaged = || read(dir.path()).damaged.is_some();
        assert!(!is_damaged());
        for unwritten in [vec![], vec![0; intact.len()]] {
            fs::write(&path, unwritten).unwrap();
            assert_eq!(read(dir.path()), StoredMark::default());
        }
        let mut both = intact.clone();
        SLOTS.iter().for_each(|at| both[*at as usize + 9] ^= 1);
        for damaged in [both, intact[..SLOT_BYTES - 1].to_vec(), b"other".to_vec()] {
            fs::write(&path, damaged).unwrap();
            assert!(is_damaged());
        }
        // A directory cannot be read as a file.
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(is_damaged());
    }

    #[test]
    fn the_second_slot_of_earlier_versions_counts_until_the_mark_is_set() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(NAME);
        for (first, second) in [(7, 8), (8, 7)] {
            let mut earlier = vec![0; EARLIER_SLOT as usize];
            earlier[..SLOT_BYTES].copy_from_slice(&slot(Lsn(first)));
            earlier.extend(slot(Lsn(second)));
            fs::write(&path, &earlier).unwrap();
            let expected = StoredMark { acknowledged: Lsn(8), damaged: None };
            assert_eq!(read(dir.path()), expected);
            let mut mark = AcknowledgedMark::open(dir.path());
            assert_eq!(read(dir.path()), expected, "opening it changes nothing");
            mark.set(Lsn(9));
            let left = fs::read(&path).unwrap();
            assert_eq!(left.len() as u64, FILE_BYTES);
            assert_eq!(read(dir.path()).acknowledged, Lsn(9));
            // As a kill before the cut leaves it.
            earlier[..left.len()].copy_from_slice(&left);
            fs::write(&path, &earlier).unwrap();
            assert_eq!(read(dir.path()).acknowledged, Lsn(9));
        }
    }

    #[test]
    fn a_torn_write_of_one_sector_leaves_the_previous_mark() {
        let dir = tempfile::tempdir().unwrap();
        let mut mark = AcknowledgedMark::open(dir.path());
        [Lsn(1), Lsn(2)].into_iter().for_each(|lsn| mark.set(lsn));
        let path = dir.path().join(NAME);
        let mut bytes = fs::read(&path).unwrap();
        bytes[512..].fill(0);
        fs::write(&path, &bytes).unwrap();
        let previous = StoredMark { acknowledged: Lsn(1), damaged: None };
        assert_eq!(read(dir.path()), previous);
        // A larger range takes the mark as a whole, and is not taken for damage.
        bytes.fill(0);
        fs::write(&path, &bytes).unwrap();
        assert_eq!(read(dir.path()), StoredMark::default());
    }

    #[test]
    fn the_slots_are_written_in_turn_and_contain_the_last_two_marks() {
        let dir = tempfile::tempdir().unwrap();
        let mut mark = AcknowledgedMark::open(dir.path());
        let path = dir.path().join(NAME);
        let without = |at: u64| {
            let mut bytes = fs::read(&path).unwrap();
            bytes[at as usize] ^= 1;
            fs::write(&path, bytes).unwrap();
            let left = read(dir.path()).acknowledged;
            let mut bytes = fs::read(&path).unwrap();
            bytes[at as usize] ^= 1;
            fs::write(&path, bytes).unwrap();
            left
        };
        for lsn in 1..=9 {
            mark.set(Lsn(lsn));
            assert_eq!(read(dir.path()).acknowledged, Lsn(lsn));
            let mut left = SLOTS.map(without);
            left.sort();
            assert_eq!(left, [Lsn(lsn.saturating_sub(1).max(1)), Lsn(lsn)]);
        }
    }
}
