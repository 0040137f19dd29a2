//! Reads one segment: every intact record, the damage, and where the file ends for its readers. The
//! rules are those of [`super::segment`].

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::segment::{
    FRAME_BYTES_MIN, Format, Frame, HEADER_BYTES, Payload, SegmentHeader, first_lsn, frame_at,
    is_torn_header, next_frame, read_header,
};
use crate::error::Result;
use crate::model::Lsn;

/// A part of a segment that could not be read although records there were acknowledged, or may have
/// been.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Damage {
    pub(crate) segment: PathBuf,
    /// Its bytes in the file.
    pub(crate) bytes: Range<usize>,
    /// The lost records: from this one up to, but excluding, the next one that was read.
    pub(crate) records: Range<u64>,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { segment, bytes, records } = self;
        write!(f, "log {}: bytes {}..{} are damaged, ", segment.display(), bytes.start, bytes.end)?;
        match records.end.saturating_sub(records.start) {
            0 => write!(f, "no record is lost"),
            _ => write!(f, "records {}..{} are lost", records.start, records.end),
        }
    }
}

/// The end of a segment that was being written when the machine crashed. It was never acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TornEnd {
    pub(crate) segment: PathBuf,
    pub(crate) bytes: Range<usize>,
}

/// The result of reading one segment.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    /// The record at or before which the next segment has to start.
    pub(crate) next: Lsn,
    pub(crate) records: u64,
    pub(crate) damage: Vec<Damage>,
    pub(crate) torn: Option<TornEnd>,
}

/// What is known about a segment from the next one or from the mark.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SegmentBounds {
    /// The first record of the next segment: records of this segment from there on are ignored.
    /// `None` for the newest segment.
    pub(crate) next_first: Option<Lsn>,
    /// The last record that was acknowledged when the next segment was started or, for the newest
    /// segment, according to the mark. `None` if the header cannot be read or does not say.
    pub(crate) acknowledged: Option<Lsn>,
}

/// Passes every intact record of a segment to `sink`, in order. `file` is all of it, `path` gives
/// its first record, and `bounds` is what is known about it from elsewhere.
pub(crate) fn scan(
    path: &Path,
    file: &[u8],
    bounds: SegmentBounds,
    mut sink: impl FnMut(Lsn, &[u8]) -> Result<()>,
) -> Result<Scanned> {
    let Some(first) = first_lsn(path) else {
        unreachable!("segments are found by their names, {} is none", path.display())
    };
    let header = header_of(file, first);
    let mut segment = SegmentReader {
        path,
        file,
        header,
        end: bounds.next_first,
        acknowledged: known_acknowledged(file, first, bounds),
        scanned: Scanned { next: first, ..Scanned::default() },
        expected_at: 0,
    };
    let mut at = match header {
        Some(header) => {
            segment.check_both_headers(header);
            header.length
        }
        // Frames without salt contain all that is needed.
        None => segment.skip_damaged_header(),
    };
    segment.expected_at = at;
    while at < file.len() && !segment.is_finished() {
        at = match frame_at(file, at, format_of(header))
            .filter(|frame| segment.may_follow(frame, at))
        {
            Some(frame) => segment.frame(at, frame, &mut sink)?,
            None if segment.is_unwritten(at) => file.len(),
            None => segment.skip_damage(at),
        };
    }
    segment.check_end();
    Ok(segment.scanned)
}

/// Returns the header of a segment that starts with the record `first`. A header with another
/// number is damaged, or of another file.
fn header_of(file: &[u8], first: Lsn) -> Option<SegmentHeader> {
    read_header(file).filter(|header| header.first == first)
}

fn format_of(header: Option<SegmentHeader>) -> Format {
    header.map_or(Format::Unknown, |header| header.format)
}

/// Returns the last record of a segment that is known to be acknowledged, from its own frames or
/// from elsewhere.
fn known_acknowledged(file: &[u8], first: Lsn, bounds: SegmentBounds) -> Lsn {
    let known = acknowledged_in(file, first).max(bounds.acknowledged.unwrap_or_default());
    bounds.next_first.map_or(known, |first| known.min(Lsn(first.0.saturating_sub(1))))
}

/// Returns the last record that is acknowledged according to any frame.
fn acknowledged_in(file: &[u8], first: Lsn) -> Lsn {
    frames(file, first).filter_map(|(_, frame)| frame.acknowledged).max().unwrap_or_default()
}

/// Returns the end of the last record that is acknowledged according to a frame of the segment,
/// which starts with the record `first`.
pub(super) fn acknowledged_end(file: &[u8], first: Lsn) -> usize {
    let acknowledged = acknowledged_in(file, first);
    let acknowledged_frames = frames(file, first).filter(|(_, frame)| frame.lsn <= acknowledged);
    let end = acknowledged_frames.map(|(at, frame)| at.saturating_add(frame.length)).last();
    end.unwrap_or(0)
}

/// Returns all frames with intact headers and plausible numbers, with their offsets. The name of
/// the segment gives its `first` record, even if its header is damaged.
fn frames(file: &[u8], first: Lsn) -> impl Iterator<Item = (usize, Frame<'_>)> {
    let header = header_of(file, first);
    let format = format_of(header);
    let mut at = header.map_or(0, |header| header.length);
    let mut expected = (at, first);
    std::iter::from_fn(move || {
        let mut here = at;
        loop {
            match frame_at(file, here, format) {
                Some(frame) if is_plausible(&frame, here - expected.0, expected.1) => {
                    at = here.checked_add(frame.length)?;
                    expected = (at, frame.lsn.next());
                    return Some((here, frame));
                }
                _ => here = next_frame(file, here + 1, format)?,
            }
        }
    })
}

/// Returns whether a frame is plausible at this distance after the position where the record `next`
/// was expected. Numbers have no gaps within a segment, so damage hides at most as many records as
/// fit into it. Anything else that looks like a frame may be data that a client sent in a record.
fn is_plausible(frame: &Frame<'_>, distance: usize, next: Lsn) -> bool {
    let hidden = frame.lsn.0.checked_sub(next.0);
    hidden.is_some_and(|hidden| hidden <= (distance / FRAME_BYTES_MIN) as u64)
}

struct SegmentReader<'a> {
    path: &'a Path,
    file: &'a [u8],
    header: Option<SegmentHeader>,
    /// The first record of the next segment.
    end: Option<Lsn>,
    /// The last record that is known to be acknowledged.
    acknowledged: Lsn,
    scanned: Scanned,
    /// The position where the record after the last one read was expected.
    expected_at: usize,
}

impl SegmentReader<'_> {
    /// Returns whether nothing in the rest of the file belongs to the log.
    fn is_finished(&self) -> bool {
        self.scanned.torn.is_some() || self.end.is_some_and(|end| self.scanned.next >= end)
    }

    /// Returns whether the file ends in zeros that were written ahead, or lost with a write of
    /// which nothing is left.
    fn is_unwritten(&self, at: usize) -> bool {
        self.scanned.next > self.acknowledged
            && self.file.get(at..).is_some_and(|rest| rest.iter().all(|byte| *byte == 0))
    }

    fn may_follow(&self, frame: &Frame<'_>, at: usize) -> bool {
        is_plausible(frame, at.saturating_sub(self.expected_at), self.scanned.next)
            && self.end.is_none_or(|end| frame.lsn < end)
    }

    /// Reads a frame with an intact header. Returns the position after it.
    fn frame(
        &mut self,
        at: usize,
        frame: Frame<'_>,
        sink: &mut impl FnMut(Lsn, &[u8]) -> Result<()>,
    ) -> Result<usize> {
        let end = at.saturating_add(frame.length).min(self.file.len());
        let before = self.scanned.next;
        if let Payload::Torn = frame.payload
            && before > self.acknowledged
        {
            self.mark_torn(at);
            return Ok(end);
        }
        if frame.lsn > before {
            self.add_damage(at..at, frame.lsn);
        }
        match frame.payload {
            Payload::Intact(payload) => {
                sink(frame.lsn, payload)?;
                self.scanned.records += 1;
                self.scanned.next = frame.lsn.next();
                self.expected_at = end;
            }
            Payload::Torn | Payload::Damaged => self.add_damage(at..end, frame.lsn.next()),
        }
        Ok(end)
    }

    /// Skips bytes that are no frame header. Returns where to continue.
    fn skip_damage(&mut self, at: usize) -> usize {
        let next = self.next_frame(at + 1);
        let end = next.map_or(self.file.len(), |(at, _)| at);
        // Version 1 does not store what was acknowledged; there a later frame shows it.
        let frame_follows = next.is_some_and(|(_, frame)| frame.acknowledged.is_none());
        if self.scanned.next > self.acknowledged
            && !frame_follows
            && is_torn_header(self.file, at, self.header)
        {
            self.mark_torn(at);
        } else {
            let after = self.scanned.next.next();
            self.add_damage(at..end, next.map_or(after, |(_, frame)| frame.lsn));
        }
        end
    }

    /// Reports damage to either header, which loses no records. The headers of a segment to which
    /// nothing was written after them may be torn.
    fn check_both_headers(&mut self, header: SegmentHeader) {
        let SegmentHeader { length, first, .. } = header;
        let written = self.file.get(length..).unwrap_or_default();
        if written.iter().any(|byte| *byte != 0) && !header.is_stored_in(self.file) {
            self.add_damage(0..length, first);
        }
    }

    /// Returns the position of the first frame of a segment whose header is damaged or was never
    /// written.
    fn skip_damaged_header(&mut self) -> usize {
        match self.next_frame(0) {
            Some((at, frame)) => {
                self.add_damage(0..at, frame.lsn);
                at
            }
            None if self.scanned.next > self.acknowledged
                && (is_torn_header(self.file, 0, None) || self.file.len() <= HEADER_BYTES) =>
            {
                self.mark_torn(0);
                0
            }
            None => 0,
        }
    }

    /// Returns the next frame whose record may follow the last one.
    fn next_frame(&self, from: usize) -> Option<(usize, Frame<'_>)> {
        let mut from = from;
        loop {
            let at = next_frame(self.file, from, format_of(self.header))?;
            match frame_at(self.file, at, format_of(self.header)) {
                Some(frame) if self.may_follow(&frame, at) => return Some((at, frame)),
                _ => from = at + 1,
            }
        }
    }

    fn add_damage(&mut self, bytes: Range<usize>, next: Lsn) {
        let records = self.scanned.next.0..next.0;
        self.scanned.damage.push(Damage { segment: self.path.to_owned(), bytes, records });
        self.scanned.next = next;
    }

    fn mark_torn(&mut self, at: usize) {
        let bytes = at..self.file.len();
        self.scanned.torn = Some(TornEnd { segment: self.path.to_owned(), bytes });
    }

    /// Reports acknowledged records that are missing at the end of the file.
    fn check_end(&mut self) {
        if self.scanned.next <= self.acknowledged && self.scanned.torn.is_none() {
            self.add_damage(self.file.len()..self.file.len(), self.acknowledged.next());
        }
    }
}
