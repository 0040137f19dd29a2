//! The mark of what was answered: the number of the last record whose writer has its answer, beside the segments.
//!
//! ```text
//! DIR/log/ANSWERED: two slots, 4 KB apart, each: magic "TTANSWER" │ lsn: u64 │ xxh3-64 of all before
//! ```
//!
//! Frames tell it only of the records before them. A segment whose end was cut or zeroed after a crash ends like one that was
//! being written, and without the mark the records that were answered last would be gone without a word.
//!
//! It is written after each group, to one slot and then the other, and never synced: a killed process leaves the newest, a power loss
//! one that is older, and what is marked was on the disk before. Whoever loses the newest slot has the one before it. Where
//! [`crate::Durability`] asks for no sync, what a power loss takes is told as lost, as it should be: it was answered.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use crate::codec::bytes::Reader;
use crate::model::Lsn;

/// The name of the file.
const NAME: &str = "ANSWERED";
const MAGIC: [u8; 8] = *b"TTANSWER";
const SLOT_BYTES: usize = 24;
/// Two slots, in different pages of the system and sectors of any disk: one damage does not take both.
const SLOTS: [u64; 2] = [0, 4096];

/// The mark, as the writer of the log keeps it.
#[derive(Debug)]
pub(super) struct AnsweredMark {
    /// None after a failure: without the mark the log is what it is by itself.
    file: Option<File>,
    /// How often it was set: the slots take turns.
    sets: usize,
}

impl AnsweredMark {
    /// Opens the mark in the folder of segments, or makes it.
    pub(super) fn open(dir: &Path) -> Self {
        let path = dir.join(NAME);
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        if let Err(error) = &file {
            tracing::warn!(%error, "{} cannot be written: an end of the log that is lost may not be noticed", path.display());
        }
        Self { file: file.ok(), sets: 0 }
    }

    /// Writes down that the records through `answered` are answered, or are about to be.
    pub(super) fn set(&mut self, answered: Lsn) {
        let slot = slot(answered);
        // A process that begins writes both: what others left may be damaged.
        let (both, turn) = (self.sets == 0, self.sets % SLOTS.len());
        self.sets += 1;
        let mut slots = SLOTS.iter().enumerate().filter(|(n, _)| both || *n == turn);
        let write = |file: &File| slots.try_for_each(|(_, at)| file.write_all_at(&slot, *at));
        let Some(Err(error)) = self.file.as_ref().map(write) else { return };
        // What is there is older, and true.
        tracing::warn!(%error, "the mark of answered records cannot be written: an end of the log that is lost may not be noticed");
        self.file = None;
    }
}

fn slot(answered: Lsn) -> [u8; SLOT_BYTES] {
    let mut out = [0; SLOT_BYTES];
    let (body, sum) = out.split_at_mut(SLOT_BYTES - 8);
    let (magic, lsn) = body.split_at_mut(MAGIC.len());
    magic.copy_from_slice(&MAGIC);
    lsn.copy_from_slice(&answered.0.to_le_bytes());
    sum.copy_from_slice(&xxh3_64(body).to_le_bytes());
    out
}

/// What the mark in a folder of segments says; the number before all records where there is none, or none that is whole.
pub(super) fn read(dir: &Path) -> Lsn {
    let Ok(bytes) = fs::read(dir.join(NAME)) else { return Lsn::default() };
    let slots = SLOTS.iter().filter_map(|at| read_slot(bytes.get(*at as usize..)?));
    slots.max().unwrap_or_default()
}

fn read_slot(bytes: &[u8]) -> Option<Lsn> {
    let mut reader = Reader::new(bytes);
    let magic = reader.take(MAGIC.len()).ok()?;
    let lsn = reader.u64().ok()?;
    let sum = reader.u64().ok()?;
    let whole = magic == MAGIC && xxh3_64(bytes.get(..SLOT_BYTES - 8)?) == sum;
    whole.then_some(Lsn(lsn))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_survives_damage_of_either_slot() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(dir.path()), Lsn(0), "there is none");
        let mut mark = AnsweredMark::open(dir.path());
        assert_eq!(read(dir.path()), Lsn(0), "nothing is marked");
        mark.set(Lsn(7));
        AnsweredMark::open(dir.path()).set(Lsn(300));
        let path = dir.path().join(NAME);
        let whole = fs::read(&path).unwrap();
        assert_eq!(read(dir.path()), Lsn(300));
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            fs::write(&path, &damaged).unwrap();
            assert_eq!(read(dir.path()), Lsn(300), "flipped at {at}");
            fs::write(&path, &whole[..at]).unwrap();
            let expected = if at < SLOT_BYTES { Lsn(0) } else { Lsn(300) };
            assert_eq!(read(dir.path()), expected, "cut at {at}");
        }
        fs::write(&path, vec![0; whole.len()]).unwrap();
        assert_eq!(read(dir.path()), Lsn(0));
    }

    #[test]
    fn the_slots_take_turns_and_hold_the_last_two_marks() {
        let dir = tempfile::tempdir().unwrap();
        let mut mark = AnsweredMark::open(dir.path());
        let path = dir.path().join(NAME);
        let without = |at: u64| {
            let mut bytes = fs::read(&path).unwrap();
            bytes[at as usize] ^= 1;
            fs::write(&path, bytes).unwrap();
            let left = read(dir.path());
            let mut bytes = fs::read(&path).unwrap();
            bytes[at as usize] ^= 1;
            fs::write(&path, bytes).unwrap();
            left
        };
        for lsn in 1..=9 {
            mark.set(Lsn(lsn));
            assert_eq!(read(dir.path()), Lsn(lsn));
            let mut left = SLOTS.map(without);
            left.sort();
            assert_eq!(left, [Lsn(lsn.saturating_sub(1).max(1)), Lsn(lsn)]);
        }
    }
}
