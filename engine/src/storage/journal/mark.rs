//! The mark: how far the log was acknowledged.
//!
//! After every synced write, and before it is acknowledged, the sequence number up to which
//! everything is durable is written to the file `guards/ACKNOWLEDGED`:
//!
//! ```text
//! two slots, 512 bytes apart, written in turn:
//! "TTACKED1" │ acknowledged: u64 │ base: u64 │ XXH3-64 of the 24 bytes before: u64
//! ```
//!
//! *base* is the mark of the last open: every log started since contains larger numbers only.
//! Earlier versions had the second slot at 4 096, in a second block of the file system; it counts
//! until the next open.
//!
//! The file is not synced, since that would double the cost of a write. It survives the end of the
//! process, but after a power loss it may be an older version. So each batch is also stamped with
//! the mark (`logged_batch.rs`): the stamp is part of the log and is synced with the next write.
//! The largest of all stored and stamped marks counts.
//!
//! # Why it is a lower bound
//!
//! The mark must never exceed what is durable, or a power loss would be reported as a loss. RocksDB
//! assigns a batch sequence numbers above all that were published when it started, and publishes
//! them when the batch is in log and memtable, and synced if requested. A sync covers everything
//! before it. So after a synced batch of `n` entries that started when `s` was published,
//! everything up to `s + n` is durable, whatever else is written meanwhile. If no unsynced write
//! ran meanwhile, everything published by its return is durable, which is more when writers share a
//! sync. Unsynced writes therefore count themselves, first as running, then as started; a synced
//! write reads the two counters in the opposite order.

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
use super::logged_batch::stamp;
use crate::damage::Finding;
use crate::dir_sync::sync_dir;

/// The file in the directory of the guards.
const FILE: &str = "ACKNOWLEDGED";
const MAGIC: &[u8; 8] = b"TTACKED1";
const SLOT_BYTES: usize = 32;
/// Offsets of the two slots, in different sectors of 512 bytes, which a torn write leaves old or
/// new, and in one block of the file system.
const SLOTS: [u64; 2] = [0, 512];
/// Offset of the second slot in files of earlier versions.
const EARLIER_SLOT: u64 = 4 << 10;
/// The length of the file.
const FILE_BYTES: u64 = SLOTS[1] + SLOT_BYTES as u64;

/// How far the log was acknowledged, as stored on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    /// The largest sequence number that is known to have been durable.
    pub(super) acknowledged: u64,
    /// The mark of the last open.
    pub(super) base: u64,
}

/// The file of the mark, as read.
#[derive(Debug)]
pub(super) enum StoredMark {
    /// There is none, or nothing was written to it: a copy of a database has none.
    Unwritten,
    Intact(Mark),
    /// Why it cannot be read.
    Damaged(String),
}

impl StoredMark {
    pub(super) fn intact(&self) -> Option<Mark> {
        match self {
            Self::Intact(mark) => Some(*mark),
            Self::Unwritten | Self::Damaged(_) => None,
        }
    }

    /// Returns what the damage to the mark means, if it is damaged.
    pub(super) fn damage(&self) -> Option<String> {
        let Self::Damaged(why) = self else { return None };
        Some(format!(
            "how far the database's log was acknowledged, {GUARDS_DIR}/{FILE}: {why}; entries lost at the end of the log may go \
             unnoticed"
        ))
    }
}

/// The log of one database, and how far it is acknowledged.
#[derive(Debug)]
pub(in super::super) struct Journal {
    pub(super) db: PathBuf,
    mark_file: Mutex<MarkFile>,
    /// The mark that batches are stamped with: never more than the file contains.
    stamp: AtomicU64,
    /// Number of unsynced writes running. The number of those ever started follows.
    unsynced: AtomicU64,
    unsynced_started: AtomicU64,
    /// The largest sequence number that was published when the database was closed to be reopened.
    /// Kept until its logs were cut there.
    published: Mutex<Option<u64>>,
}

/// The file of the mark and its contents.
#[derive(Debug, Default)]
struct MarkFile {
    file: Option<File>,
    mark: Mark,
    /// The slot to write next.
    second_is_next: bool,
    /// Whether a failed write was logged.
    warned: bool,
    /// Whether the loss of the end of the log was already reported.
    end_loss_reported: bool,
}

/// A write in progress.
#[derive(Debug)]
pub(in super::super) struct PendingWrite<'j> {
    journal: &'j Journal,
    sync: Sync,
    published: u64,
    unsynced_started: u64,
    alone: bool,
}

impl Journal {
    pub(in super::super) fn new(db: &Path) -> Self {
        Self {
            db: db.to_owned(),
            mark_file: Mutex::default(),
            stamp: AtomicU64::new(0),
            unsynced: AtomicU64::new(0),
            unsynced_started: AtomicU64::new(0),
            published: Mutex::default(),
        }
    }

    /// Records that the database is about to be closed and reopened while nobody writes to it:
    /// batches in its logs above its last published number are of failed writes.
    pub(in super::super) fn closing(&self, db: &DB) {
        *self.published.lock() = Some(db.latest_sequence_number());
    }

    /// Returns the last published sequence number, if the database was closed to be reopened.
    pub(super) fn published(&self) -> Option<u64> {
        *self.published.lock()
    }

    /// Forgets the last published number: the logs were cut there, or the database is open.
    pub(super) fn forget_published(&self) {
        *self.published.lock() = None;
    }

    /// Adds the stamp to a batch that is still empty.
    pub(in super::super) fn stamp(&self, batch: &mut WriteBatch) {
        batch.put_log_data(stamp(self.stamp.load(Ordering::Acquire)));
    }

    /// Registers a batch that is about to be written.
    pub(in super::super) fn start(&self, db: &DB, sync: Sync) -> PendingWrite<'_> {
        if sync == Sync::No {
            self.unsynced.fetch_add(1, Ordering::SeqCst);
            self.unsynced_started.fetch_add(1, Ordering::SeqCst);
        }
        let unsynced_started = self.unsynced_started.load(Ordering::SeqCst);
        let alone = self.unsynced.load(Ordering::SeqCst) == 0;
        let published = db.latest_sequence_number();
        PendingWrite { journal: self, sync, published, unsynced_started, alone }
    }

    /// Returns the mark on disk, if it can be read. Damage to it is reported by [`Self::opened`].
    pub(super) fn stored(&self) -> Option<Mark> {
        self.read_mark().intact()
    }

    /// Reads the mark on disk.
    pub(super) fn read_mark(&self) -> StoredMark {
        match fs::read(self.path()) {
            Ok(bytes) => match read_mark(&bytes) {
                Some(mark) => StoredMark::Intact(mark),
                // What a power loss may leave of a file that was created and not yet synced.
                None if bytes.iter().all(|byte| *byte == 0) => StoredMark::Unwritten,
                None => StoredMark::Damaged("both of its slots are damaged".to_owned()),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => StoredMark::Unwritten,
            Err(error) => StoredMark::Damaged(error.to_string()),
        }
    }

    /// Starts a new mark for the opened database, all of whose contents are durable. Reports
    /// acknowledged entries that it lacks, unless they were reported already.
    pub(in super::super) fn opened(&self, db: &DB, findings: &Findings) {
        let now = db.latest_sequence_number();
        let stored = self.read_mark();
        if let Some(damage) = stored.damage() {
            findings.report(Finding::Lost(damage));
        }
        self.forget_published();
        let mut mark_file = self.mark_file.lock();
        let reported = std::mem::take(&mut mark_file.end_loss_reported);
        let lost = stored.intact().map_or(0, |mark| mark.acknowledged.saturating_sub(now));
        if lost > 0 && !reported {
            findings.report(Finding::Lost(format!(
                "{lost} entries at the end of the database's log (sequence numbers {} to {}): recently written documents, records \
                 or blocks",
                now + 1,
                now + lost
            )));
        }
        self.stamp.store(now, Ordering::Release);
        mark_file.mark = Mark { acknowledged: now, base: now };
        if let Err(error) = mark_file.reset(&self.path()) {
            mark_file.warn(&error);
        }
    }

    /// Records that the loss of the end of the log was reported.
    pub(super) fn set_end_loss_reported(&self) {
        self.mark_file.lock().end_loss_reported = true;
    }

    /// Removes the mark, which is meaningless when sequence numbers start over.
    pub(in super::super) fn forget(&self) -> io::Result<()> {
        self.mark_file.lock().file = None;
        match fs::remove_file(self.path()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn path(&self) -> PathBuf {
        self.db.join(GUARDS_DIR).join(FILE)
    }

    /// Records that everything up to `acknowledged` is durable.
    pub(super) fn note(&self, acknowledged: u64) {
        let mut mark_file = self.mark_file.lock();
        // Another writer may have stored a larger number.
        if acknowledged <= mark_file.mark.acknowledged {
            return;
        }
        mark_file.mark.acknowledged = acknowledged;
        if let Err(error) = mark_file.write_in_turn() {
            mark_file.warn(&error);
        }
        self.stamp.store(acknowledged, Ordering::Release);
    }
}

impl PendingWrite<'_> {
    /// Records that the write of this many entries succeeded.
    pub(in super::super) fn done(self, db: &DB, entries: usize) {
        if self.sync == Sync::No {
            return;
        }
        let published = db.latest_sequence_number();
        let unsynced_started = self.journal.unsynced_started.load(Ordering::SeqCst);
        let all = self.alone && unsynced_started == self.unsynced_started;
        self.journal.note(if all { published } else { self.published + entries as u64 });
    }
}

impl Drop for PendingWrite<'_> {
    fn drop(&mut self) {
        if self.sync == Sync::No {
            self.journal.unsynced.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl MarkFile {
    /// Opens the file and writes both slots: their old contents may be larger.
    fn reset(&mut self, path: &Path) -> io::Result<()> {
        self.file = None;
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir)?;
        }
        let mut options = File::options();
        let file = options.write(true).create(true).truncate(false).open(path)?;
        // Until it is cut off, the slot of earlier versions counts too.
        let has_earlier = file.metadata()?.len() > EARLIER_SLOT;
        for offset in SLOTS.into_iter().chain(has_earlier.then_some(EARLIER_SLOT)) {
            file.write_all_at(&slot(self.mark), offset)?;
        }
        // A power loss may revert later writes to the file, but must not remove the file or the
        // base, by which logs started from now on are judged.
        file.sync_all()?;
        if has_earlier && let Err(error) = file.set_len(FILE_BYTES) {
            tracing::warn!(%error, "cannot cut off a mark of an earlier version, which is harmless");
        }
        let mut dirs = path.ancestors().skip(1).take(2);
        dirs.try_for_each(sync_dir)?;
        self.file = Some(file);
        Ok(())
    }

    fn write_in_turn(&mut self) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let [first, second] = SLOTS;
        let offset = if self.second_is_next { second } else { first };
        self.second_is_next = !self.second_is_next;
        file.write_all_at(&slot(self.mark), offset)
    }

    fn warn(&mut self, error: &io::Error) {
        if !std::mem::replace(&mut self.warned, true) {
            tracing::warn!(%error, "cannot store how far the database's log is acknowledged");
        }
    }
}

fn slot(mark: Mark) -> [u8; SLOT_BYTES] {
    let mut slot = [0; SLOT_BYTES];
    let (body, sum) = slot.split_at_mut(SLOT_BYTES - 8);
    let numbers = [u64::from_le_bytes(*MAGIC), mark.acknowledged, mark.base];
    let (words, _) = body.as_chunks_mut::<8>();
    words.iter_mut().zip(numbers).for_each(|(bytes, number)| *bytes = number.to_le_bytes());
    sum.copy_from_slice(&xxh3_64(body).to_le_bytes());
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

/// Returns the latest of the slots: the mark only grows between opens.
fn read_mark(bytes: &[u8]) -> Option<Mark> {
    let slots = SLOTS.into_iter().chain([EARLIER_SLOT]);
    let marks = slots.filter_map(|at| read_slot(bytes.get(at as usize..)?));
    marks.max_by_key(|mark| mark.acknowledged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_has_golden_bytes() {
        let mark = Mark { acknowledged: 0x0102, base: 7 };
        let bytes = slot(mark);
        assert_eq!(bytes.get(..24).unwrap(), b"TTACKED1\x02\x01\0\0\0\0\0\0\x07\0\0\0\0\0\0\0");
        assert_eq!(read_slot(&bytes), Some(mark));
    }

    /// Returns a file with the first slot and one more.
    fn file(first: Mark, second: Mark, second_at: u64) -> Vec<u8> {
        let mut file = vec![0; second_at as usize];
        file[..SLOT_BYTES].copy_from_slice(&slot(first));
        file.extend(slot(second));
        file
    }

    const fn mark(acknowledged: u64) -> Mark {
        Mark { acknowledged, base: 1 }
    }

    #[test]
    fn a_damaged_slot_leaves_the_other_readable() {
        for second_at in [SLOTS[1], EARLIER_SLOT] {
            let mut file = file(mark(8), mark(9), second_at);
            assert_eq!(read_mark(&file).unwrap().acknowledged, 9);
            for at in 0..SLOT_BYTES {
                let mut bad = file.clone();
                bad[second_at as usize + at] ^= 1;
                assert_eq!(read_mark(&bad).unwrap().acknowledged, 8);
                bad[at] ^= 1;
                assert_eq!(read_mark(&bad), None);
            }
            let mut torn = file.clone();
            torn[..512].fill(0);
            assert_eq!(read_mark(&torn).unwrap().acknowledged, 9);
            file.truncate(100);
            assert_eq!(read_mark(&file).unwrap().acknowledged, 8);
        }
        assert_eq!(read_mark(&[]), None);
    }

    #[test]
    fn an_open_moves_the_second_slot_of_earlier_versions() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(GUARDS_DIR).join(FILE);
        fs::create_dir(dir.path().join(GUARDS_DIR)).unwrap();
        for (first, second) in [(8, 9), (9, 8)] {
            fs::write(&path, file(mark(first), mark(second), EARLIER_SLOT)).unwrap();
            let journal = Journal::new(dir.path());
            assert_eq!(journal.stored(), Some(mark(9)));
            // The loss of the end of the log was reported: the mark gets smaller.
            let mut opened = MarkFile { mark: mark(7), ..MarkFile::default() };
            opened.reset(&path).unwrap();
            assert_eq!(journal.stored(), Some(mark(7)));
            assert_eq!(fs::metadata(&path).unwrap().len(), FILE_BYTES);
            for acknowledged in [10, 11, 12] {
                opened.mark = mark(acknowledged);
                opened.write_in_turn().unwrap();
                assert_eq!(journal.stored(), Some(mark(acknowledged)));
            }
            assert_eq!(fs::metadata(&path).unwrap().len(), FILE_BYTES);
        }
    }
}
