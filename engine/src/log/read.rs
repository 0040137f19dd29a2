//! Reads the whole log: its segments in order, and which records are missing between them.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use super::scan::{Scanned, SegmentBounds, TornEnd, scan};
use super::segment::{HEADER_BYTES, Listing, read_header};
use crate::error::{Error, Result};
use crate::model::Lsn;

/// The result of reading the log.
#[derive(Debug, Default)]
pub(crate) struct LogRead {
    /// The number of the next record to be written.
    pub(crate) next: Lsn,
    pub(crate) records: u64,
    /// Damaged and missing parts, one line each. Records up to the last sealed one are no longer
    /// needed; damage to them is reported too, unless their whole segment is about to be deleted.
    pub(crate) damaged: Vec<String>,
    /// Torn ends of segments, which were never acknowledged.
    pub(crate) torn: Vec<TornEnd>,
}

/// Passes every intact record of the log to `sink`, in order. `sealed` is the last record that is
/// in blocks. It must be read after the segments were listed, since they may be deleted meanwhile.
pub(crate) fn read_log(
    listing: &Listing,
    sealed: Lsn,
    mut sink: impl FnMut(Lsn, &[u8]) -> Result<()>,
) -> Result<LogRead> {
    let mut read = LogRead { next: sealed.next(), ..LogRead::default() };
    let (mut end, mut deleted) = (Lsn(1), false);
    let Listing { segments, acknowledged: marked, damaged } = listing;
    // All segments are read into the same memory: fresh pages take as long as the reads.
    let mut file = Vec::new();
    read.damaged.extend(damaged.clone());
    for (index, (first, path)) in segments.iter().enumerate() {
        let acknowledged = acknowledged_before(path)?;
        // Unacknowledged numbers between two segments belong to a failed write.
        if *first > read.next && !deleted && acknowledged.is_none_or(|last| last >= read.next) {
            let last = acknowledged.map_or(*first, Lsn::next);
            read.damaged.push(format!("the log lacks the records {}..{}", read.next.0, last.0));
        }
        let bounds = bounds_of(listing, index)?;
        match read_file(path, &mut file).and_then(|()| scan(path, &file, bounds, &mut sink)) {
            Ok(mut scanned) => {
                end = scanned.next;
                // The segment was about to be deleted, and segments that say which of its records
                // were acknowledged may have been deleted before it.
                let leftover = listing.segments.get(index + 1);
                if leftover.is_some_and(|(next, _)| *next <= sealed.next()) {
                    scanned.damage.clear();
                }
                read.add(scanned, sealed);
            }
            // A seal has deleted it meanwhile.
            Err(error) if is_missing(&error) => deleted = true,
            Err(error) => return Err(error),
        }
    }
    if read.next <= *marked && !deleted {
        read.damaged.push(format!(
            "the log lacks the records {}..{}",
            read.next.0,
            marked.next().0
        ));
        read.next = marked.next();
    }
    if end <= sealed && !deleted {
        read.damaged.push(format!(
            "the log ends before record {}, although records through {} had been written to it when they were sealed",
            end.0, sealed.0
        ));
    }
    Ok(read)
}

impl LogRead {
    fn add(&mut self, mut scanned: Scanned, sealed: Lsn) {
        // A segment whose records are in blocks may have been deleted before earlier ones.
        scanned.damage.retain(|it| !it.bytes.is_empty() || it.records.end > sealed.next().0);
        self.next = self.next.max(scanned.next);
        self.records += scanned.records;
        self.damaged.extend(scanned.damage.iter().map(ToString::to_string));
        self.torn.extend(scanned.torn);
    }
}

/// Returns what the next segment, or the mark, says about the segment at `index`.
fn bounds_of(listing: &Listing, index: usize) -> Result<SegmentBounds> {
    match listing.segments.get(index + 1) {
        Some((first, path)) => {
            Ok(SegmentBounds { next_first: Some(*first), acknowledged: acknowledged_before(path)? })
        }
        None => Ok(SegmentBounds { next_first: None, acknowledged: Some(listing.acknowledged) }),
    }
}

/// Returns the last record that is acknowledged according to the header of a segment, or `None` if
/// it cannot be read or does not say.
fn acknowledged_before(path: &Path) -> Result<Option<Lsn>> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES);
    let read = File::open(path)
        .and_then(|file| file.take(HEADER_BYTES as u64).read_to_end(&mut bytes))
        .map_err(|source| Error::Io { context: format!("reading {}", path.display()), source });
    match read {
        Ok(_) => Ok(read_header(&bytes).and_then(|header| header.acknowledged)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads a segment into `bytes` and replaces what is there.
fn read_file(path: &Path, bytes: &mut Vec<u8>) -> Result<()> {
    bytes.clear();
    let mut read = || {
        let mut file = File::open(path)?;
        let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
        if bytes.capacity() < length {
            // Growing it would copy what is no longer needed, and could double it.
            *bytes = Vec::new();
            bytes.try_reserve_exact(length)?;
        }
        file.read_to_end(bytes)
    };
    read()
        .map_err(|source| Error::Io { context: format!("reading {}", path.display()), source })?;
    Ok(())
}

fn is_missing(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if source.kind() == ErrorKind::NotFound)
}

#[cfg(test)]
pub(super) mod testing {
    use std::path::PathBuf;

    use super::*;
    use crate::log::segment::Segments;

    /// Reads one segment.
    pub(crate) fn scan_file(
        path: &Path,
        bounds: SegmentBounds,
        sink: impl FnMut(Lsn, &[u8]) -> Result<()>,
    ) -> Result<Scanned> {
        let mut file = Vec::new();
        read_file(path, &mut file)?;
        scan(path, &file, bounds, sink)
    }

    /// Returns all segments with their bounds.
    pub(crate) fn with_bounds(segments: &Segments) -> Vec<(PathBuf, SegmentBounds)> {
        let listing = segments.look().unwrap();
        let with_bounds = |(index, (_, path)): (usize, &(Lsn, PathBuf))| {
            (path.clone(), super::bounds_of(&listing, index).unwrap())
        };
        listing.segments.iter().enumerate().map(with_bounds).collect()
    }
}
