//! Appends to the newest segment. Knows files and frames, not what is in them.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::Arc;

use super::segment::{HEADER_BYTES, Segments, header, put_frame};
use crate::error::{Error, Result};
use crate::model::Lsn;

/// A segment is left for a new one beyond this size, so that replay reads no file larger.
const SEGMENT_BYTES_MAX: u64 = 64 << 20;

/// The end of the log.
#[derive(Debug)]
pub(super) struct LogWriter {
    segments: Segments,
    file: Arc<File>,
    /// Bytes of the file that hold whole frames.
    length: u64,
    next: Lsn,
    /// Set when the end of the file could not be brought back to whole frames: the next write begins a
    /// new segment and leaves the torn end behind.
    torn: bool,
}

impl LogWriter {
    /// Begins a new segment for records from `next` on.
    pub(super) fn create(segments: Segments, next: Lsn) -> Result<Self> {
        let file = create_segment(&segments, next)?;
        Ok(Self { segments, file, length: HEADER_BYTES as u64, next, torn: false })
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
        if self.torn || self.length > SEGMENT_BYTES_MAX {
            self.rotate()?;
        }
        let mut frames = Vec::with_capacity(payloads.iter().map(|p| p.len() + 32).sum());
        let mut lsn = self.next;
        for payload in payloads {
            put_frame(&mut frames, lsn, payload);
            lsn = lsn.next();
        }
        let mut file: &File = &self.file;
        let written =
            file.write_all(&frames).and_then(|()| if sync { file.sync_data() } else { Ok(()) });
        if let Err(source) = written {
            self.undo(lsn);
            return Err(io("writing the log", source));
        }
        self.length += frames.len() as u64;
        self.next = lsn;
        Ok(())
    }

    /// Takes back a failed write. When that fails too, its record numbers are not used again, since the torn
    /// end may still hold them.
    fn undo(&mut self, after: Lsn) {
        let cut = self.file.set_len(self.length).and_then(|()| self.file.sync_data());
        if cut.is_err() {
            self.torn = true;
            self.next = after;
        }
    }

    /// Leaves the segment as it is: the next write begins a new one.
    pub(super) fn abandon(&mut self) {
        self.torn = true;
    }

    /// Begins a new segment unless the newest is still empty.
    pub(super) fn rotate(&mut self) -> Result<()> {
        if self.length == HEADER_BYTES as u64 && !self.torn {
            return Ok(());
        }
        if !self.torn {
            self.file.sync_data().map_err(|e| io("syncing the log", e))?;
        }
        self.file = create_segment(&self.segments, self.next)?;
        self.length = HEADER_BYTES as u64;
        self.torn = false;
        Ok(())
    }
}

fn create_segment(segments: &Segments, first: Lsn) -> Result<Arc<File>> {
    let path = segments.path(first);
    let created = || {
        // An empty or torn file of this name holds no record that was ever answered.
        let mut file = OpenOptions::new().create(true).write(true).truncate(true).open(&path)?;
        file.write_all(&header(first))?;
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
