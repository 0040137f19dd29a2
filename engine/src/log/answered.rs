//! The mark of what was answered: the number of the last record whose writer has its answer, beside the segments.
//!
//! ```text
//! DIR/log/ANSWERED: two slots, 4 KB apart, each: magic "TTANSWER" │ lsn: u64 │ xxh3-64 of all before
//! ```
//!
//! Frames tell it only of the records before them. A segment whose end was cut or zeroed after a crash ends like one that was
//! being written, and without the mark the records that were answered last would be gone without a word.
//!
//! It is written after each group and never synced: a killed process leaves the newest, a power loss one that is older, and what
//! is marked was on the disk before. Where [`crate::Durability`] asks for no sync, what a power loss takes is told as lost, as it
//! should be: it was answered.

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
}

impl AnsweredMark {
    /// Opens the mark in the folder of segments, or makes it.
    pub(super) fn open(dir: &Path) -> Self {
        let path = dir.join(NAME);
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        if let Err(error) = &file {
            tracing::warn!(%error, "{} cannot be written: an end of the log that is lost may not be noticed", path.display());
        }
        Self { file: file.ok() }
    }

    /// Writes down that the records through `answered` are answered, or are about to be.
    pub(super) fn set(&mut self, answered: Lsn) {
        let slot = slot(answered);
        let write = |file: &File| SLOTS.iter().try_for_each(|at| file.write_all_at(&slot, *at));
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
}
