//! Reading the whole log: the segments one after the other, and what is missing between them.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use super::scan::{Behind, Scanned, TornEnd, scan};
use super::segment::{HEADER_BYTES, Listing, read_header};
use crate::error::{Error, Result};
use crate::model::Lsn;

/// What reading the log came to.
#[derive(Debug, Default)]
pub(crate) struct LogRead {
    /// The record that would be written next.
    pub(crate) next: Lsn,
    pub(crate) records: u64,
    /// What is damaged or missing, one line each. Records up to the last sealed one are needed no more; their damage is told
    /// all the same, unless their whole segment is waiting to be deleted.
    pub(crate) damaged: Vec<String>,
    /// Ends of segments that nobody had an answer for.
    pub(crate) torn: Vec<TornEnd>,
}

/// Hands every whole record of the log to `sink`, in order. `sealed` is the last record that is in blocks; it has to be read
/// after the segments were listed, where they may be deleted meanwhile.
pub(crate) fn read_log(
    listing: &Listing,
    sealed: Lsn,
    mut sink: impl FnMut(Lsn, &[u8]) -> Result<()>,
) -> Result<LogRead> {
    let mut read = LogRead { next: sealed.next(), ..LogRead::default() };
    let (mut end, mut deleted) = (Lsn(1), false);
    let Listing { segments, answered: marked } = listing;
    for (place, (first, path)) in segments.iter().enumerate() {
        let answered = answered_before(path)?;
        // Numbers between two segments that were not answered belong to a write that failed.
        if *first > read.next && !deleted && answered.is_none_or(|last| last >= read.next) {
            let last = answered.map_or(*first, Lsn::next);
            read.damaged.push(format!("the log lacks the records {}..{}", read.next.0, last.0));
        }
        match scan(path, behind(listing, place)?, &mut sink) {
            Ok(mut scanned) => {
                end = scanned.next;
                // It was to be deleted, and those that said what of it was answered may be gone before it.
                let leftover = listing.segments.get(place + 1);
                if leftover.is_some_and(|(next, _)| *next <= sealed.next()) {
                    scanned.damage.clear();
                }
                read.add(scanned, sealed);
            }
            // A seal has deleted it meanwhile.
            Err(error) if is_gone(&error) => deleted = true,
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
            "the log ends before record {}, and records through {} were in it when they were sealed",
            end.0, sealed.0
        ));
    }
    Ok(read)
}

impl LogRead {
    fn add(&mut self, mut scanned: Scanned, sealed: Lsn) {
        // A segment whose records are in blocks may be gone, with those before it left.
        scanned.damage.retain(|it| !it.bytes.is_empty() || it.records.end > sealed.next().0);
        self.next = self.next.max(scanned.next);
        self.records += scanned.records;
        self.damaged.extend(scanned.damage.iter().map(ToString::to_string));
        self.torn.extend(scanned.torn);
    }
}

/// What is known of the segment at `place` by the one after it, or by the mark.
fn behind(listing: &Listing, place: usize) -> Result<Behind> {
    match listing.segments.get(place + 1) {
        Some((first, path)) => Ok(Behind { first: Some(*first), answered: answered_before(path)? }),
        None => Ok(Behind { first: None, answered: Some(listing.answered) }),
    }
}

/// What the header of a segment says of those before it; none when it cannot be read.
fn answered_before(path: &Path) -> Result<Option<Lsn>> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES);
    let read = File::open(path)
        .and_then(|file| file.take(HEADER_BYTES as u64).read_to_end(&mut bytes))
        .map_err(|source| Error::Io { context: format!("reading {}", path.display()), source });
    match read {
        Ok(_) => Ok(read_header(&bytes).and_then(|header| header.answered)),
        Err(error) if is_gone(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_gone(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if source.kind() == ErrorKind::NotFound)
}

#[cfg(test)]
pub(super) mod testing {
    use std::path::PathBuf;

    use super::*;
    use crate::log::segment::Segments;

    /// All segments, each with what the one after it says of it.
    pub(crate) fn behind(segments: &Segments) -> Vec<(PathBuf, Behind)> {
        let all = segments.look().unwrap();
        let with = |(place, (_, path)): (usize, &(Lsn, PathBuf))| {
            (path.clone(), super::behind(&all, place).unwrap())
        };
        all.segments.iter().enumerate().map(with).collect()
    }
}
