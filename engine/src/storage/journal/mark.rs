//! The mark: how far the log was acknowledged.
//!
//! Behind every write that was synced, and before whoever asked for it is answered, the sequence number up to which
//! everything is on the disk goes to the file `guards/ACKNOWLEDGED`:
//!
//! ```text
//! two slots, 4 096 bytes apart, written in turn:
//! "TTACKED1" │ acknowledged: u64 │ base: u64 │ XXH3-64 of the 24 bytes before: u64
//! ```
//!
//! *base* is the mark of the last open: every log begun since has larger numbers only.
//!
//! The file is not synced: that would double the price of a write. It survives the end of the process, and after a power loss it may be
//! an older one. So each batch is stamped with the mark too (`batch.rs`), which then is in the log, and synced, a write
//! later. What counts is the largest of all.
//!
//! # Why it is a lower bound
//!
//! It must never be ahead of what is durable, or a power loss would be told as a loss. RocksDB gives a batch sequence numbers above all
//! that were published before it came, and publishes them when the batch is in log and memtable, synced if that was asked. A sync covers
//! everything before it. So a synced batch of `n` entries that began when `s` was published means that everything up to
//! `s + n` is durable, whoever else writes meanwhile. If none of them writes unsynced, everything that is published when it
//! returns is durable, which is more when writers share a sync. Unsynced writes count themselves for that: first as under way, then as begun; a
//! synced one looks in the other order.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use rocksdb::{DB, WriteBatch};
use xxhash_rust::xxh3::xxh3_64;

use super::super::batch::Sync;
use super::super::findings::Findings;
use super::super::guard::GUARDS_DIR;
use super::batch::stamp;
use crate::damage::Finding;
use crate::dir_sync::sync_dir;

/// The file in the folder of the guards.
const FILE: &str = "ACKNOWLEDGED";
const MAGIC: &[u8; 8] = b"TTACKED1";
const SLOT_BYTES: usize = 32;
/// Where the second slot begins: a sector that is lost takes one.
const SLOT_DISTANCE: u64 = 4 << 10;

/// How far the log was acknowledged, as it is on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    /// The largest sequence number that is known to have been durable.
    pub(super) acknowledged: u64,
    /// The mark of the last open.
    pub(super) base: u64,
}

/// The log of one database, and how far it is acknowledged.
#[derive(Debug)]
pub(in super::super) struct Journal {
    pub(super) db: PathBuf,
    kept: Mutex<Kept>,
    /// What batches are stamped with: never more than what the file says.
    stamp: AtomicU64,
    /// Unsynced writes under way, and those ever begun.
    unsynced: AtomicU64,
    unsynced_begun: AtomicU64,
    /// The largest sequence number that was published when the database was closed to be opened again, until its logs were cut there.
    published: Mutex<Option<u64>>,
}

/// The file of the mark, and what is in it.
#[derive(Debug, Default)]
struct Kept {
    file: Option<File>,
    mark: Mark,
    /// The slot to be written next.
    turn: bool,
    /// Whether it was warned of a write that failed.
    warned: bool,
    /// Whether it was told already that the end of the log is gone.
    end_told: bool,
}

/// A write that has begun.
#[derive(Debug)]
pub(in super::super) struct Begun<'j> {
    journal: &'j Journal,
    sync: Sync,
    published: u64,
    unsynced_begun: u64,
    alone: bool,
}

impl Journal {
    pub(in super::super) fn new(db: &Path) -> Self {
        Self {
            db: db.to_owned(),
            kept: Mutex::default(),
            stamp: AtomicU64::new(0),
            unsynced: AtomicU64::new(0),
            unsynced_begun: AtomicU64::new(0),
            published: Mutex::default(),
        }
    }

    /// The database is about to be closed and opened again, with nobody writing to it: what is in its logs above what it has
    /// published is of writes that failed.
    pub(in super::super) fn closing(&self, db: &DB) {
        *self.published.lock() = Some(db.latest_sequence_number());
    }

    /// Up to where batches were published, if the database was closed to be opened again.
    pub(super) fn published(&self) -> Option<u64> {
        *self.published.lock()
    }

    /// The logs were cut, or the database is open.
    pub(super) fn forget_published(&self) {
        *self.published.lock() = None;
    }

    /// Stamps a batch before anything is in it.
    pub(in super::super) fn stamp(&self, batch: &mut WriteBatch) {
        batch.put_log_data(stamp(self.stamp.load(Ordering::Acquire)));
    }

    /// A batch is about to be written.
    pub(in super::super) fn begin(&self, db: &DB, sync: Sync) -> Begun<'_> {
        if sync == Sync::No {
            self.unsynced.fetch_add(1, Ordering::SeqCst);
            self.unsynced_begun.fetch_add(1, Ordering::SeqCst);
        }
        let unsynced_begun = self.unsynced_begun.load(Ordering::SeqCst);
        let alone = self.unsynced.load(Ordering::SeqCst) == 0;
        let published = db.latest_sequence_number();
        Begun { journal: self, sync, published, unsynced_begun, alone }
    }

    /// What is marked on disk.
    pub(super) fn stored(&self) -> Option<Mark> {
        match fs::read(self.path()) {
            Ok(bytes) => read_mark(&bytes),
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    tracing::warn!(%error, "how far the database's log was acknowledged cannot be read");
                }
                None
            }
        }
    }

    /// The database is open: everything that is in it is durable. Tells what is not in it and was acknowledged, unless that was told
    /// already.
    pub(in super::super) fn opened(&self, db: &DB, findings: &Findings) {
        let now = db.latest_sequence_number();
        let stored = self.stored();
        self.forget_published();
        let mut kept = self.kept.lock();
        let told = std::mem::take(&mut kept.end_told);
        let lost = stored.map_or(0, |mark| mark.acknowledged.saturating_sub(now));
        if lost > 0 && !told {
            findings.report(Finding::Lost(format!(
                "{lost} entries at the end of the database's log (sequence numbers {} to {}): documents, records or blocks that \
                 were written last",
                now + 1,
                now + lost
            )));
        }
        self.stamp.store(now, Ordering::Release);
        kept.mark = Mark { acknowledged: now, base: now };
        if let Err(error) = kept.begin(&self.path()) {
            kept.warn(&error);
        }
    }

    /// The end of the log is gone, and that was told.
    pub(super) fn end_is_told(&self) {
        self.kept.lock().end_told = true;
    }

    /// What is marked means nothing any more: sequence numbers begin anew.
    pub(in super::super) fn forget(&self) -> io::Result<()> {
        self.kept.lock().file = None;
        match fs::remove_file(self.path()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn path(&self) -> PathBuf {
        self.db.join(GUARDS_DIR).join(FILE)
    }

    /// Everything up to here is durable.
    pub(super) fn note(&self, acknowledged: u64) {
        let mut kept = self.kept.lock();
        // Another writer may have come further.
        if acknowledged <= kept.mark.acknowledged {
            return;
        }
        kept.mark.acknowledged = acknowledged;
        if let Err(error) = kept.write_in_turn() {
            kept.warn(&error);
        }
        self.stamp.store(acknowledged, Ordering::Release);
    }
}

impl Begun<'_> {
    /// The write succeeded, with so many entries.
    pub(in super::super) fn done(self, db: &DB, entries: usize) {
        if self.sync == Sync::No {
            return;
        }
        let published = db.latest_sequence_number();
        let unsynced_begun = self.journal.unsynced_begun.load(Ordering::SeqCst);
        let all = self.alone && unsynced_begun == self.unsynced_begun;
        self.journal.note(if all { published } else { self.published + entries as u64 });
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if self.sync == Sync::No {
            self.journal.unsynced.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl Kept {
    /// Opens the file and writes both slots: what was in them may be larger.
    fn begin(&mut self, path: &Path) -> io::Result<()> {
        self.file = None;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut options = File::options();
        let file = options.write(true).create(true).truncate(false).open(path)?;
        for offset in [0, SLOT_DISTANCE] {
            file.write_all_at(&slot(self.mark), offset)?;
        }
        // A power loss may take what is written to the file later, but not the file, nor the base: logs that are begun from now on
        // are judged by it.
        file.sync_all()?;
        let mut folders = path.ancestors().skip(1).take(2);
        folders.try_for_each(sync_dir)?;
        self.file = Some(file);
        Ok(())
    }

    fn write_in_turn(&mut self) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let offset = if self.turn { SLOT_DISTANCE } else { 0 };
        self.turn = !self.turn;
        file.write_all_at(&slot(self.mark), offset)
    }

    fn warn(&mut self, error: &io::Error) {
        if !std::mem::replace(&mut self.warned, true) {
            tracing::warn!(%error, "how far the database's log is acknowledged cannot be written down");
        }
    }
}

fn slot(mark: Mark) -> [u8; SLOT_BYTES] {
    let mut slot = [0; SLOT_BYTES];
    let numbers = [u64::from_le_bytes(*MAGIC), mark.acknowledged, mark.base];
    let (eights, _) = slot.as_chunks_mut::<8>();
    eights.iter_mut().zip(numbers).for_each(|(bytes, number)| *bytes = number.to_le_bytes());
    let sum = slot.split_last_chunk::<8>().map_or(0, |(rest, _)| xxh3_64(rest));
    if let Some(bytes) = slot.last_chunk_mut::<8>() {
        *bytes = sum.to_le_bytes();
    }
    slot
}

fn read_slot(bytes: &[u8]) -> Option<Mark> {
    let (rest, sum) = bytes.first_chunk::<SLOT_BYTES>()?.split_last_chunk::<8>()?;
    if u64::from_le_bytes(*sum) != xxh3_64(rest) {
        return None;
    }
    let (acknowledged, base) = rest.strip_prefix(MAGIC)?.split_first_chunk::<8>()?;
    let base = base.first_chunk::<8>()?;
    Some(Mark { acknowledged: u64::from_le_bytes(*acknowledged), base: u64::from_le_bytes(*base) })
}

/// Of two slots the one that was written last: the mark only grows between opens.
fn read_mark(bytes: &[u8]) -> Option<Mark> {
    let slots = bytes.chunks(SLOT_DISTANCE as usize).take(2);
    slots.filter_map(read_slot).max_by_key(|mark| mark.acknowledged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_has_these_bytes() {
        let mark = Mark { acknowledged: 0x0102, base: 7 };
        let bytes = slot(mark);
        assert_eq!(bytes.get(..24).unwrap(), b"TTACKED1\x02\x01\0\0\0\0\0\0\x07\0\0\0\0\0\0\0");
        assert_eq!(read_slot(&bytes), Some(mark));
    }

    #[test]
    fn a_damaged_slot_leaves_the_other() {
        let mut file = vec![0; SLOT_DISTANCE as usize + SLOT_BYTES];
        file[..SLOT_BYTES].copy_from_slice(&slot(Mark { acknowledged: 8, base: 1 }));
        file[SLOT_DISTANCE as usize..].copy_from_slice(&slot(Mark { acknowledged: 9, base: 1 }));
        assert_eq!(read_mark(&file).unwrap().acknowledged, 9);
        for at in 0..SLOT_BYTES {
            let mut bad = file.clone();
            bad[SLOT_DISTANCE as usize + at] ^= 1;
            assert_eq!(read_mark(&bad).unwrap().acknowledged, 8);
            bad[at] ^= 1;
            assert_eq!(read_mark(&bad), None);
        }
        file.truncate(100);
        assert_eq!(read_mark(&file).unwrap().acknowledged, 8);
        assert_eq!(read_mark(&[]), None);
    }
}
