//! Appends to the newest segment. Knows files and frames, but not the contents of records.
//!
//! # Failed writes
//!
//! After a failed write or sync it is unknown which of its bytes are on disk. Its writers get an
//! error and may send their data again, so none of its records may count later.
//!
//! ```text
//!           appended (and synced)
//!            ┌──────┐
//!            ▼      │    write or sync failed            truncated to intact frames, and synced
//!         ┌────────────┐ ─────────────────────▶ undo ─────────────────────────────────▶ intact
//!         │   intact   │                         │
//!         └────────────┘                         │ the truncation, or its sync, failed
//!            │   ▲                               ▼
//!            │   │ next write: new segment   ┌───────────┐  the new segment could not be
//!            │   └────────────────────────── │ abandoned │ ◀─ created: refused, still abandoned
//!            │                               └───────────┘
//!            └── a sync of acknowledged records failed, or     ▲
//!                the next segment could not be created ────────┘
//! ```
//!
//! - *Intact*: the file ends after the last acknowledged record, as far as this process knows.
//! - *Abandoned*: nothing is appended or truncated any more. Records at the end may be intact,
//!   torn, or reappear after a power loss although they were truncated.
//!
//! In both cases `next` remains the number of the first failed record. An abandoned segment is
//! followed by one named after that number, and the name of a segment bounds the previous one:
//! readers ignore all records of an abandoned segment from there on
//! ([`super::scan::SegmentBounds`]). So each number stands for one record, and a failed write is
//! never read in addition to its repetition, with or without a receipt and whatever it defined.
//! Such records can only be replayed if the process ends before the next segment is created;
//! nothing was acknowledged after them then, and a repetition gets the response in their receipts.
//!
//! A segment that only contains a failed write has the name of the next one, and is truncated.
//!
//! Records that were acknowledged before they were synced ([`crate::Durability::Interval`],
//! [`crate::Durability::Os`]) are below `next`, so they remain valid in an abandoned segment. After
//! a failed sync the system may drop them silently, so [`super::commit`] has them sealed, which
//! stores them in the database.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use super::acknowledged_mark::AcknowledgedMark;
use super::segment::{HEADER_BYTES, Salt, Segments, frame_bytes, header, put_frame};
use super::segment_file::{SegmentFile, Writes};
use crate::error::{Error, Result};
use crate::model::Lsn;

/// Size beyond which a new segment is started. It bounds the size of a file that replay reads.
const SEGMENT_BYTES_MAX: u64 = 64 << 20;

type WriteFile = dyn Fn(&File, &[u8], u64) -> io::Result<()> + Send + Sync;
type SyncFile = dyn Fn(&File) -> io::Result<()> + Send + Sync;
type CutFile = dyn Fn(&File, u64) -> io::Result<()> + Send + Sync;

/// The operations on a segment file that make data durable or undo a write. Tests make them fail.
#[derive(Clone)]
pub(crate) struct FileOps {
    write: Arc<WriteFile>,
    sync: Arc<SyncFile>,
    cut: Arc<CutFile>,
}

impl FileOps {
    /// Returns the operations of the operating system.
    pub(crate) fn system() -> Self {
        Self::new(File::write_all_at, File::sync_data, File::set_len)
    }

    pub(super) fn new(
        write: impl Fn(&File, &[u8], u64) -> io::Result<()> + Send + Sync + 'static,
        sync: impl Fn(&File) -> io::Result<()> + Send + Sync + 'static,
        cut: impl Fn(&File, u64) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self { write: Arc::new(write), sync: Arc::new(sync), cut: Arc::new(cut) }
    }

    /// Writes these bytes at an offset of a segment whose writes are durable.
    pub(super) fn write(&self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        (self.write)(file, bytes, offset)
    }

    /// Makes the bytes of a segment durable.
    pub(super) fn sync(&self, file: &File) -> io::Result<()> {
        (self.sync)(file)
    }

    /// Truncates a segment to this length.
    pub(super) fn cut(&self, file: &File, length: u64) -> io::Result<()> {
        (self.cut)(file, length)
    }
}

impl std::fmt::Debug for FileOps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileOps").finish_non_exhaustive()
    }
}

/// The position of a frame in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LogPosition {
    /// The number of segments that this process started before this one.
    pub(super) segment: u64,
    /// The offset in the segment.
    pub(super) offset: u64,
}

/// The end of the log.
#[derive(Debug)]
pub(super) struct LogWriter {
    segments: Segments,
    writes: Writes,
    ops: FileOps,
    file: SegmentFile,
    /// The salt of the file.
    salt: Salt,
    /// The first record of the file.
    first: Lsn,
    /// The number of segments started before this one.
    started: u64,
    next: Lsn,
    /// The last record that was written successfully: it has been acknowledged, or will be before
    /// the next write.
    acknowledged: Lsn,
    mark: AcknowledgedMark,
    /// Whether the file may contain more than intact frames of acknowledged records, or lack some:
    /// the next write starts a new segment.
    abandoned: bool,
}

impl LogWriter {
    /// Starts a new segment for records from `next` on. All earlier records must be on disk, or
    /// known to be lost.
    pub(super) fn create(
        segments: Segments,
        next: Lsn,
        writes: Writes,
        ops: FileOps,
    ) -> Result<Self> {
        let acknowledged = Lsn(next.0.saturating_sub(1));
        let salt = Salt::random();
        let file = create_segment(&segments, (next, acknowledged, salt), writes, &ops)?;
        let mark = AcknowledgedMark::open(segments.dir());
        let (started, abandoned) = (0, false);
        Ok(Self {
            segments,
            writes,
            ops,
            file,
            salt,
            first: next,
            started,
            next,
            acknowledged,
            mark,
            abandoned,
        })
    }

    /// Returns the position of the next write.
    pub(super) fn position(&self) -> LogPosition {
        if self.must_rotate() {
            LogPosition { segment: self.started + 1, offset: HEADER_BYTES as u64 }
        } else {
            LogPosition { segment: self.started, offset: self.file.length() }
        }
    }

    /// Returns whether the next write starts a new segment.
    fn must_rotate(&self) -> bool {
        self.abandoned || self.file.length() > SEGMENT_BYTES_MAX
    }

    /// Returns whether the newest segment takes so many bytes without growing.
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        !self.must_rotate() && self.file.has_room(bytes)
    }

    /// Returns the number of the next record.
    pub(super) fn next(&self) -> Lsn {
        self.next
    }

    /// Returns the file, to be synced by another thread.
    pub(super) fn file(&self) -> Arc<File> {
        self.file.file()
    }

    /// Writes the payloads as consecutive records, the first with the number [`Self::next`]. They
    /// are durable afterwards if `sync` is set, and with [`Writes::Durable`]. After an error none
    /// of them is in the log.
    pub(super) fn append(&mut self, payloads: &[&[u8]], sync: bool) -> Result<()> {
        if self.must_rotate() {
            self.rotate()?;
        }
        let mut group =
            self.file.start_group(payloads.iter().map(|payload| frame_bytes(payload)).sum());
        let mut lsn = self.next;
        for payload in payloads {
            let numbers = (lsn, self.acknowledged);
            put_frame(&mut group.bytes, group.origin, self.salt, numbers, payload);
            lsn = lsn.next();
        }
        if let Err(source) = self.file.append(group, sync) {
            self.undo();
            return Err(io("writing the log", source));
        }
        self.segments.newest().note(self.first, self.file.length());
        self.acknowledged = Lsn(lsn.0.saturating_sub(1));
        self.mark.set(self.acknowledged);
        self.next = lsn;
        Ok(())
    }

    /// Reverts a failed write. If that fails too, the segment is abandoned.
    fn undo(&mut self) {
        if let Err(error) = self.file.cut().and_then(|()| self.file.sync()) {
            tracing::warn!(%error, "a failed write to the log cannot be cut off; the next write starts a new segment");
            self.abandon();
        }
    }

    /// Abandons the segment: the next write starts a new one.
    pub(super) fn abandon(&mut self) {
        self.abandoned = true;
    }

    /// Returns whether the segment was abandoned and no new one has been started.
    pub(super) fn is_abandoned(&self) -> bool {
        self.abandoned
    }

    /// Starts a new segment unless the newest is still empty. If the old one cannot be synced it is
    /// abandoned: a second attempt could succeed without having written what the first one failed
    /// to write.
    pub(super) fn rotate(&mut self) -> Result<()> {
        if self.file.length() == HEADER_BYTES as u64 && !self.abandoned {
            return Ok(());
        }
        if !self.abandoned
            && let Err(source) = self.file.sync()
        {
            self.abandon();
            return Err(io("syncing the log", source));
        }
        self.return_zeros();
        // Even if this fails, a file with the name of the new segment may exist from now on, which
        // bounds the old one.
        self.abandon();
        let salt = Salt::random();
        let numbers = (self.next, self.acknowledged, salt);
        self.file = create_segment(&self.segments, numbers, self.writes, &self.ops)?;
        (self.salt, self.first) = (salt, self.next);
        self.started += 1;
        self.abandoned = false;
        Ok(())
    }

    /// Cuts off the zeros of a segment that gets no more records.
    fn return_zeros(&mut self) {
        if !self.abandoned
            && self.file.has_zeros()
            && let Err(error) = self.file.cut()
        {
            // Readers ignore them.
            tracing::debug!(%error, "the zeros at the end of a log segment stay");
        }
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        self.return_zeros();
    }
}

fn create_segment(
    segments: &Segments,
    (first, acknowledged, salt): (Lsn, Lsn, Salt),
    writes: Writes,
    ops: &FileOps,
) -> Result<SegmentFile> {
    let created = || {
        // A file of this name contains no acknowledged record.
        let header = header(first, acknowledged, salt);
        let file = SegmentFile::create(&segments.path(first), &header, writes, ops.clone())?;
        // The directory entry must be durable as well.
        File::open(segments.dir())?.sync_all()?;
        segments.newest().note(first, file.length());
        Ok(file)
    };
    created().map_err(|e| io("creating a log segment", e))
}

pub(super) fn io(context: &str, source: std::io::Error) -> Error {
    use std::io::ErrorKind::{QuotaExceeded, StorageFull};
    match source.kind() {
        StorageFull | QuotaExceeded => Error::Unavailable(format!("{context}: {source}")),
        _ => Error::Io { context: context.to_owned(), source },
    }
}

/// Test support: segments whose file operations fail on request.
#[cfg(test)]
pub(crate) mod testing {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::log::read::testing::{scan_file, with_bounds};

    /// The failures to come.
    #[derive(Debug, Default)]
    pub(crate) struct Faults {
        failing_syncs: AtomicU32,
        failing_cuts: AtomicU32,
        syncs: AtomicU32,
    }

    impl Faults {
        /// Makes the next `count` syncs fail.
        pub(crate) fn fail_syncs(&self, count: u32) {
            self.failing_syncs.store(count, Ordering::Relaxed);
        }

        /// Makes the next `count` truncations fail.
        pub(crate) fn fail_cuts(&self, count: u32) {
            self.failing_cuts.store(count, Ordering::Relaxed);
        }

        /// Returns the number of syncs requested.
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
        for (path, bounds) in with_bounds(segments) {
            let scanned = scan_file(&path, bounds, |_, payload| {
                copies.payloads.push(payload.to_vec());
                Ok(())
            });
            copies.next = scanned.unwrap().next;
        }
        copies
    }

    impl Copies {
        /// Appends the records to the log that they were read from.
        pub(crate) fn write(&self) {
            let ops = FileOps::system();
            let segments = self.segments.clone();
            let mut writer = LogWriter::create(segments, self.next, Writes::Durable, ops).unwrap();
            let payloads: Vec<&[u8]> = self.payloads.iter().map(Vec::as_slice).collect();
            writer.append(&payloads, true).unwrap();
        }
    }

    /// Returns the operations of the operating system, with failures on request.
    pub(crate) fn failing() -> (FileOps, Arc<Faults>) {
        let faults = Arc::new(Faults::default());
        let [write_faults, sync_faults, cut_faults] = [(); 3].map(|()| Arc::clone(&faults));
        let write = move |file: &File, bytes: &[u8], offset| {
            write_faults.syncs.fetch_add(1, Ordering::Relaxed);
            file.write_all_at(bytes, offset)?;
            fails(&write_faults.failing_syncs)
        };
        let sync = move |file: &File| {
            sync_faults.syncs.fetch_add(1, Ordering::Relaxed);
            fails(&sync_faults.failing_syncs)?;
            file.sync_data()
        };
        let cut = move |file: &File, length| {
            fails(&cut_faults.failing_cuts)?;
            file.set_len(length)
        };
        (FileOps::new(write, sync, cut), faults)
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
    use crate::log::read::testing::{scan_file, with_bounds};
    use crate::log::scan::SegmentBounds;

    /// Returns the records that readers see, and how many the files contain.
    fn records(segments: &Segments) -> (Vec<(u64, String)>, usize) {
        let (mut valid, mut stored) = (Vec::new(), 0);
        for (path, bounds) in with_bounds(segments) {
            let scanned = scan_file(&path, bounds, |lsn, payload| {
                valid.push((lsn.0, String::from_utf8_lossy(payload).into_owned()));
                Ok(())
            });
            let scanned = scanned.unwrap();
            assert_eq!(scanned.damage, []);
            assert!(bounds.next_first.is_none_or(|first| scanned.next <= first));
            stored +=
                scan_file(&path, SegmentBounds::default(), |_, _| Ok(())).unwrap().records as usize;
        }
        (valid, stored)
    }

    fn owned(records: &[(u64, &str)]) -> Vec<(u64, String)> {
        records.iter().map(|(lsn, payload)| (*lsn, (*payload).to_owned())).collect()
    }

    /// Writes records while this many syncs and truncations fail. Checks the records that readers
    /// see and how many the files contain.
    #[track_caller]
    fn check(syncs: u32, cuts: u32, stored: usize) {
        for writes in [Writes::Durable, Writes::Cached] {
            check_with(writes, (syncs, cuts), stored);
        }
    }

    #[track_caller]
    fn check_with(writes: Writes, (syncs, cuts): (u32, u32), stored: usize) {
        let dir = tempfile::tempdir().unwrap();
        let segments = Segments::new(dir.path().to_owned());
        let (ops, faults) = failing();
        let mut writer = LogWriter::create(segments.clone(), Lsn(1), writes, ops).unwrap();
        writer.append(&[b"one", b"two"], true).unwrap();
        faults.fail_syncs(syncs);
        faults.fail_cuts(cuts);
        assert!(writer.append(&[b"refused", b"refused too"], true).is_err());
        writer.append(&[b"three"], true).unwrap();
        writer.append(&[b"four"], true).unwrap();
        assert_eq!(writer.next(), Lsn(5));
        let expected = owned(&[(1, "one"), (2, "two"), (3, "three"), (4, "four")]);
        assert_eq!(records(&segments), (expected, stored), "{writes:?}");
    }

    #[test]
    fn zeros_that_find_no_space_do_not_refuse_records() {
        let dir = tempfile::tempdir().unwrap();
        let segments = Segments::new(dir.path().to_owned());
        let space = 8 * 4_096;
        let write = move |file: &File, bytes: &[u8], offset: u64| {
            let fits = offset + bytes.len() as u64 <= space;
            if !fits {
                return Err(io::ErrorKind::StorageFull.into());
            }
            file.write_all_at(bytes, offset)
        };
        let ops = FileOps::new(write, File::sync_data, File::set_len);
        let mut writer = LogWriter::create(segments.clone(), Lsn(1), Writes::Durable, ops).unwrap();
        let payload = [7; 3_000];
        let mut written = 0;
        while writer.append(&[&payload], true).is_ok() {
            written += 1;
        }
        let fit = (space as usize - HEADER_BYTES) / frame_bytes(&payload);
        assert_eq!(written, fit, "as many as fit into eight blocks");
        assert_eq!(records(&segments).0.len(), written);
    }

    #[test]
    fn a_failed_write_is_not_read_in_addition_to_later_writes() {
        check(1, 0, 4);
        // The truncation was done, but may not be durable.
        check(2, 0, 4);
        // The failed records are intact, in an abandoned segment.
        check(1, 1, 6);
    }

    #[test]
    fn a_segment_that_contains_only_a_failed_write_is_truncated() {
        let dir = tempfile::tempdir().unwrap();
        let segments = Segments::new(dir.path().to_owned());
        let (ops, faults) = failing();
        let mut writer = LogWriter::create(segments.clone(), Lsn(7), Writes::Durable, ops).unwrap();
        for _ in 0..3 {
            faults.fail_syncs(1);
            faults.fail_cuts(1);
            assert!(writer.append(&[b"refused"], true).is_err());
        }
        assert_eq!(records(&segments), (owned(&[(7, "refused")]), 1), "no later record exists");
        writer.append(&[b"seven"], true).unwrap();
        assert_eq!(records(&segments), (owned(&[(7, "seven")]), 1));
    }

    #[test]
    fn nothing_is_appended_to_a_segment_whose_successor_could_not_be_created() {
        let dir = tempfile::tempdir().unwrap();
        let segments = Segments::new(dir.path().to_owned());
        let mut writer =
            LogWriter::create(segments.clone(), Lsn(1), Writes::Durable, FileOps::system())
                .unwrap();
        writer.append(&[b"one"], true).unwrap();
        let next = segments.path(Lsn(2));
        std::fs::create_dir(&next).unwrap();
        assert!(writer.rotate().is_err());
        assert!(writer.append(&[b"refused"], true).is_err());
        std::fs::remove_dir(&next).unwrap();
        // A failed creation leaves this, once the file was opened.
        std::fs::write(&next, b"").unwrap();
        writer.append(&[b"two"], true).unwrap();
        assert_eq!(records(&segments), (owned(&[(1, "one"), (2, "two")]), 2));
    }

    #[test]
    fn damage_beyond_the_first_record_of_the_next_segment_is_not_reported() {
        let dir = tempfile::tempdir().unwrap();
        let segments = Segments::new(dir.path().to_owned());
        let (ops, faults) = failing();
        let mut writer = LogWriter::create(segments.clone(), Lsn(1), Writes::Cached, ops).unwrap();
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
