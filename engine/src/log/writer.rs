//! Appends to the newest segment. Knows files and frames, not what is in them.
//!
//! # What becomes of a write that fails
//!
//! After a failed write or sync nobody knows which of its bytes are on disk. Its writers are told that it failed and may
//! send it again, so none of its records may count later.
//!
//! ```text
//!           appended (and synced)
//!            ┌──────┐
//!            ▼      │        write or sync failed               cut back to whole frames, and synced
//!         ┌────────────┐ ─────────────────────────▶ undo ────────────────────────────────────────▶ whole
//!         │   whole    │                             │
//!         └────────────┘                             │ the cut, or its sync, failed
//!            │   ▲                                   ▼
//!            │   │ next write: a new segment     ┌───────────┐
//!            │   └────────────────────────────── │ abandoned │ ◀─ the new segment could not be made: refused, still abandoned
//!            │                                   └───────────┘
//!            └── a sync of acknowledged records failed, or the next segment could not be made ──▲
//! ```
//!
//! - *Whole*: the file ends behind the last acknowledged record, as far as this process can see.
//! - *Abandoned*: nothing is appended or cut any more. Records at the end may be whole, torn, or come back after a power
//!   loss although they were cut.
//!
//! In both ways out of a failure `next` stays the number of the first record that failed. An abandoned segment is followed
//! by one that is named by that number, and a segment's name bounds the one before it: what an abandoned segment holds
//! from there on does not exist for any reader ([`super::scan::Behind`]). So a number stands for one record, and a write that
//! was answered with an error is not found beside its repetition, whether it had a receipt or not, and whatever it
//! defined. Only when the process ends before the next segment is made may such records be replayed; nothing was
//! acknowledged after them then, and their receipts answer the repetition.
//!
//! A segment with nothing but a failed write has the very name that the next one gets, and is truncated.
//!
//! Records that were acknowledged before they were synced ([`crate::Durability::Interval`], [`crate::Durability::Os`]) are
//! below `next`, so they stay valid in an abandoned segment. After a failed sync the system may forget them without
//! another word, so [`super::commit`] has them sealed: then the database holds them.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::sync::Arc;

use super::answered::AnsweredMark;
use super::segment::{HEADER_BYTES, Salt, Segments, frame_bytes, header, put_frame};
use crate::error::{Error, Result};
use crate::model::Lsn;

/// A segment is left for a new one beyond this size, so that replay reads no file larger.
const SEGMENT_BYTES_MAX: u64 = 64 << 20;

type SyncFile = dyn Fn(&File) -> io::Result<()> + Send + Sync;
type CutFile = dyn Fn(&File, u64) -> io::Result<()> + Send + Sync;

/// What is done to the file of a segment besides writing. Tests let it fail.
#[derive(Clone)]
pub(crate) struct FileOps {
    sync: Arc<SyncFile>,
    cut: Arc<CutFile>,
}

impl FileOps {
    /// What the operating system offers.
    pub(crate) fn system() -> Self {
        Self::new(File::sync_data, File::set_len)
    }

    pub(super) fn new(
        sync: impl Fn(&File) -> io::Result<()> + Send + Sync + 'static,
        cut: impl Fn(&File, u64) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self { sync: Arc::new(sync), cut: Arc::new(cut) }
    }

    /// Makes the bytes of a segment durable.
    pub(super) fn sync(&self, file: &File) -> io::Result<()> {
        (self.sync)(file)
    }

    /// Cuts a segment to this length.
    fn cut(&self, file: &File, length: u64) -> io::Result<()> {
        (self.cut)(file, length)
    }
}

impl std::fmt::Debug for FileOps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileOps").finish_non_exhaustive()
    }
}

/// Where in the log a frame begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LogPlace {
    /// Segments that this process began before this one.
    pub(super) segment: u64,
    /// Bytes of the segment before it.
    pub(super) offset: u64,
}

/// The end of the log.
#[derive(Debug)]
pub(super) struct LogWriter {
    segments: Segments,
    ops: FileOps,
    file: Arc<File>,
    /// That of the file.
    salt: Salt,
    /// Segments that were begun before this one.
    begun: u64,
    /// Bytes of the file that hold whole frames.
    length: u64,
    next: Lsn,
    /// The last record that was written as it should be: its writer has an answer, or gets one before the next write.
    answered: Lsn,
    mark: AnsweredMark,
    /// Whether the end of the file may hold more than whole frames of acknowledged records, or lack some: the next
    /// write begins a new segment.
    abandoned: bool,
}

impl LogWriter {
    /// Starts a new segment for records from `next` on. All before must be on the disk, or known to be lost.
    pub(super) fn create(segments: Segments, next: Lsn, ops: FileOps) -> Result<Self> {
        let answered = Lsn(next.0.saturating_sub(1));
        let salt = Salt::random();
        let file = create_segment(&segments, next, answered, salt)?;
        let mark = AnsweredMark::open(segments.dir());
        let length = HEADER_BYTES as u64;
        let (begun, abandoned) = (0, false);
        Ok(Self { segments, ops, file, salt, begun, length, next, answered, mark, abandoned })
    }

    /// Where the next write goes.
    pub(super) fn place(&self) -> LogPlace {
        if self.is_over() {
            LogPlace { segment: self.begun + 1, offset: HEADER_BYTES as u64 }
        } else {
            LogPlace { segment: self.begun, offset: self.length }
        }
    }

    /// Whether the next write begins a new segment.
    fn is_over(&self) -> bool {
        self.abandoned || self.length > SEGMENT_BYTES_MAX
    }

    /// The record that will be written next.
    pub(super) fn next(&self) -> Lsn {
        self.next
    }

    /// The file, for whoever syncs it from another thread.
    pub(super) fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Writes the payloads as consecutive records, the first with the number that [`Self::next`] tells. After an
    /// error none of them is in the log.
    pub(super) fn append(&mut self, payloads: &[&[u8]], sync: bool) -> Result<()> {
        if self.is_over() {
            self.rotate()?;
        }
        let bytes = payloads.iter().map(|payload| frame_bytes(payload)).sum();
        let mut frames = Vec::with_capacity(bytes);
        let mut lsn = self.next;
        for payload in payloads {
            put_frame(&mut frames, self.length, self.salt, (lsn, self.answered), payload);
            lsn = lsn.next();
        }
        let mut file: &File = &self.file;
        let written =
            file.write_all(&frames).and_then(|()| if sync { self.ops.sync(file) } else { Ok(()) });
        if let Err(source) = written {
            self.undo();
            return Err(io("writing the log", source));
        }
        self.length += frames.len() as u64;
        self.answered = Lsn(lsn.0.saturating_sub(1));
        self.mark.set(self.answered);
        self.next = lsn;
        Ok(())
    }

    /// Takes back a failed write. When that fails too the segment is abandoned.
    fn undo(&mut self) {
        let cut = self.ops.cut(&self.file, self.length).and_then(|()| self.ops.sync(&self.file));
        if cut.is_err() {
            self.abandon();
        }
    }

    /// Leaves the segment as it is: the next write begins a new one.
    pub(super) fn abandon(&mut self) {
        self.abandoned = true;
    }

    /// Whether the segment was left as it is, and no new one has been begun.
    pub(super) fn is_abandoned(&self) -> bool {
        self.abandoned
    }

    /// Starts a new segment unless the newest is still empty. When the old one cannot be synced it is abandoned: a second
    /// attempt could succeed without having written what the first one failed to write.
    pub(super) fn rotate(&mut self) -> Result<()> {
        if self.length == HEADER_BYTES as u64 && !self.abandoned {
            return Ok(());
        }
        if !self.abandoned
            && let Err(source) = self.ops.sync(&self.file)
        {
            self.abandon();
            return Err(io("syncing the log", source));
        }
        // Whatever becomes of the new segment, its name may be there from now on and bounds the old one.
        self.abandon();
        let salt = Salt::random();
        self.file = create_segment(&self.segments, self.next, self.answered, salt)?;
        self.salt = salt;
        self.begun += 1;
        self.length = HEADER_BYTES as u64;
        self.abandoned = false;
        Ok(())
    }
}

fn create_segment(segments: &Segments, first: Lsn, answered: Lsn, salt: Salt) -> Result<Arc<File>> {
    let path = segments.path(first);
    let created = || {
        // A file of this name holds no record that was acknowledged.
        let mut file = OpenOptions::new().create(true).write(true).truncate(true).open(&path)?;
        file.write_all(&header(first, answered, salt))?;
        file.sync_data()?;
        drop(file);
        // The name must survive as well as the bytes.
        File::open(segments.dir())?.sync_all()?;
        OpenOptions::new().append(true).open(&path)
    };
    created().map(Arc::new).map_err(|e| io("creating a log segment", e))
}

pub(super) fn io(context: &str, source: std::io::Error) -> Error {
    use std::io::ErrorKind::{QuotaExceeded, StorageFull};
    match source.kind() {
        StorageFull | QuotaExceeded => Error::Unavailable(format!("{context}: {source}")),
        _ => Error::Io { context: context.to_owned(), source },
    }
}

/// Segments whose files fail when they are told to.
#[cfg(test)]
pub(crate) mod testing {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::log::read::testing::behind;
    use crate::log::scan::scan;

    /// What goes wrong next.
    #[derive(Debug, Default)]
    pub(crate) struct Faults {
        failing_syncs: AtomicU32,
        failing_cuts: AtomicU32,
        syncs: AtomicU32,
    }

    impl Faults {
        /// The next so many syncs fail.
        pub(crate) fn fail_syncs(&self, count: u32) {
            self.failing_syncs.store(count, Ordering::Relaxed);
        }

        /// The next so many cuts fail.
        pub(crate) fn fail_cuts(&self, count: u32) {
            self.failing_cuts.store(count, Ordering::Relaxed);
        }

        /// Syncs that were asked for.
        pub(crate) fn syncs(&self) -> u32 {
            self.syncs.load(Ordering::Relaxed)
        }
    }

    /// Records to be logged a second time.
    pub(crate) struct Copies {
        segments: Segments,
        next: Lsn,
        payloads: Vec<Vec<u8>>,
    }

    /// Reads all records of a log.
    pub(crate) fn copies_of(segments: &Segments) -> Copies {
        let mut copies =
            Copies { segments: segments.clone(), next: Lsn::default(), payloads: Vec::new() };
        for (path, behind) in behind(segments) {
            let scanned = scan(&path, behind, |_, payload| {
                copies.payloads.push(payload.to_vec());
                Ok(())
            });
            copies.next = scanned.unwrap().next;
        }
        copies
    }

    impl Copies {
        /// Appends the records behind those that there are.
        pub(crate) fn write(&self) {
            let ops = FileOps::system();
            let mut writer = LogWriter::create(self.segments.clone(), self.next, ops).unwrap();
            let payloads: Vec<&[u8]> = self.payloads.iter().map(Vec::as_slice).collect();
            writer.append(&payloads, true).unwrap();
        }
    }

    /// What the operating system offers, and its failures.
    pub(crate) fn failing() -> (FileOps, Arc<Faults>) {
        let faults = Arc::new(Faults::default());
        let (of_sync, of_cut) = (Arc::clone(&faults), Arc::clone(&faults));
        let sync = move |file: &File| {
            of_sync.syncs.fetch_add(1, Ordering::Relaxed);
            fails(&of_sync.failing_syncs)?;
            file.sync_data()
        };
        let cut = move |file: &File, length| {
            fails(&of_cut.failing_cuts)?;
            file.set_len(length)
        };
        (FileOps::new(sync, cut), faults)
    }

    fn fails(left: &AtomicU32) -> io::Result<()> {
        let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        if taken.is_ok() { Err(io::Error::other("the disk is gone")) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::segment::FRAME_HEADER_BYTES;
    use super::testing::failing;
    use super::*;
    use crate::log::read::testing::behind;
    use crate::log::scan::{Behind, scan};

    /// The records that readers see, and those that the files hold.
    fn records(segments: &Segments) -> (Vec<(u64, String)>, usize) {
        let (mut valid, mut stored) = (Vec::new(), 0);
        for (path, behind) in behind(segments) {
            let scanned = scan(&path, behind, |lsn, payload| {
                valid.push((lsn.0, String::from_utf8_lossy(payload).into_owned()));
                Ok(())
            });
            let scanned = scanned.unwrap();
            assert_eq!(scanned.damage, []);
            assert!(behind.first.is_none_or(|first| scanned.next <= first));
            stored += scan(&path, Behind::default(), |_, _| Ok(())).unwrap().records as usize;
        }
        (valid, stored)
    }

    fn owned(records: &[(u64, &str)]) -> Vec<(u64, String)> {
        records.iter().map(|(lsn, text)| (*lsn, (*text).to_owned())).collect()
    }

    /// Writes records while syncs and cuts fail as told; checks what readers see and how many records the files hold.
    #[track_caller]
    fn check(syncs: u32, cuts: u32, stored: usize) {
        let dir = tempfile::tempdir().unwrap();
        let segments = Segments::new(dir.path().to_owned());
        let (ops, faults) = failing();
        let mut writer = LogWriter::create(segments.clone(), Lsn(1), ops).unwrap();
        writer.append(&[b"one", b"two"], true).unwrap();
        faults.fail_syncs(syncs);
        faults.fail_cuts(cuts);
        assert!(writer.append(&[b"refused", b"refused too"], true).is_err());
        writer.append(&[b"three"], true).unwrap();
        writer.append(&[b"four"], true).unwrap();
        assert_eq!(writer.next(), Lsn(5));
        let expected = owned(&[(1, "one"), (2, "two"), (3, "three"), (4, "four")]);
        assert_eq!(records(&segments), (expected, stored));
    }

    #[test]
    fn what_was_answered_with_an_error_is_not_read_beside_what_came_after_it() {
        check(1, 0, 4);
        // The cut is there, but may not stay.
        check(2, 0, 4);
        // The records that failed are whole, in a segment that is left behind.
        check(1, 1, 6);
    }

    #[test]
    fn a_segment_with_nothing_but_a_failed_write_is_begun_anew() {
        let dir = tempfile::tempdir().unwrap();
        let segments = Segments::new(dir.path().to_owned());
        let (ops, faults) = failing();
        let mut writer = LogWriter::create(segments.clone(), Lsn(7), ops).unwrap();
        for _ in 0..3 {
            faults.fail_syncs(1);
            faults.fail_cuts(1);
            assert!(writer.append(&[b"refused"], true).is_err());
        }
        assert_eq!(records(&segments), (owned(&[(7, "refused")]), 1), "nothing came after it");
        writer.append(&[b"seven"], true).unwrap();
        assert_eq!(records(&segments), (owned(&[(7, "seven")]), 1));
    }

    #[test]
    fn nothing_goes_behind_a_segment_whose_successor_could_not_be_made() {
        let dir = tempfile::tempdir().unwrap();
        let segments = Segments::new(dir.path().to_owned());
        let mut writer = LogWriter::create(segments.clone(), Lsn(1), FileOps::system()).unwrap();
        writer.append(&[b"one"], true).unwrap();
        let next = segments.path(Lsn(2));
        std::fs::create_dir(&next).unwrap();
        assert!(writer.rotate().is_err());
        assert!(writer.append(&[b"refused"], true).is_err());
        std::fs::remove_dir(&next).unwrap();
        // What a creation leaves that failed behind the opening of the file.
        std::fs::write(&next, b"").unwrap();
        writer.append(&[b"two"], true).unwrap();
        assert_eq!(records(&segments), (owned(&[(1, "one"), (2, "two")]), 2));
    }

    #[test]
    fn what_is_torn_or_damaged_beyond_the_next_segment_is_not_told() {
        let dir = tempfile::tempdir().unwrap();
        let segments = Segments::new(dir.path().to_owned());
        let (ops, faults) = failing();
        let mut writer = LogWriter::create(segments.clone(), Lsn(1), ops).unwrap();
        writer.append(&[b"one"], true).unwrap();
        faults.fail_syncs(1);
        faults.fail_cuts(1);
        assert!(writer.append(&[b"refused", b"refused too"], true).is_err());
        writer.append(&[b"two"], true).unwrap();
        let first = segments.path(Lsn(1));
        let whole = std::fs::read(&first).unwrap();
        for at in HEADER_BYTES + FRAME_HEADER_BYTES + 3..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x40;
            std::fs::write(&first, &damaged).unwrap();
            assert_eq!(records(&segments).0, owned(&[(1, "one"), (2, "two")]), "flipped at {at}");
            std::fs::write(&first, &whole[..at]).unwrap();
            assert_eq!(records(&segments).0, owned(&[(1, "one"), (2, "two")]), "cut at {at}");
        }
    }
}
