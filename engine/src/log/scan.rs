//! Reading one segment: every whole record, what is damaged, and where the file ends for its readers. The rules are those of
//! [`super::segment`].

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::segment::{
    FRAME_BYTES_MIN, Format, Frame, HEADER_BYTES, Payload, SegmentHeader, first_lsn, frame_at,
    is_torn_header, next_frame, read_header,
};
use crate::error::{Error, Result};
use crate::model::Lsn;

/// A stretch of a segment that could not be read although records were answered there, or may have been.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Damage {
    pub(crate) segment: PathBuf,
    /// Where in the file it begins and ends.
    pub(crate) bytes: Range<usize>,
    /// The records that lay there: from this one up to the one that was read next.
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

/// The end of a segment that was being written when the machine died. Nobody had an answer for what it held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TornEnd {
    pub(crate) segment: PathBuf,
    pub(crate) bytes: Range<usize>,
}

/// What reading one segment came to.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    /// The record before which the next segment has to begin.
    pub(crate) next: Lsn,
    pub(crate) records: u64,
    pub(crate) damage: Vec<Damage>,
    pub(crate) torn: Option<TornEnd>,
}

/// What is known of a segment by what is beside it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Behind {
    /// The first record of the next segment: what the segment has from there on was left behind. None for the newest.
    pub(crate) first: Option<Lsn>,
    /// The last record that was answered before the next segment was begun, or, of the newest, the last that is marked as
    /// answered. None when the header cannot be read or does not say.
    pub(crate) answered: Option<Lsn>,
}

/// Hands every whole record of a segment to `sink`, in order. `behind` is what is known of it otherwise.
pub(crate) fn scan(
    path: &Path,
    behind: Behind,
    sink: impl FnMut(Lsn, &[u8]) -> Result<()>,
) -> Result<Scanned> {
    let file = fs::read(path)
        .map_err(|source| Error::Io { context: format!("reading {}", path.display()), source })?;
    scan_bytes(path, &file, behind, sink)
}

/// [`scan`], of a file that has been read.
pub(crate) fn scan_bytes(
    path: &Path,
    file: &[u8],
    behind: Behind,
    mut sink: impl FnMut(Lsn, &[u8]) -> Result<()>,
) -> Result<Scanned> {
    let first = first_lsn(path).unwrap_or_default();
    let header = header_of(file, first);
    let mut reading = Reading {
        path,
        file,
        header,
        end: behind.first,
        answered: known_answered(file, first, behind),
        scanned: Scanned { next: first, ..Scanned::default() },
        followed: 0,
    };
    let mut at = match header {
        Some(header) => {
            reading.check_both_headers(header);
            header.length
        }
        // Frames without salt carry all that is needed.
        None => reading.go_around_header(),
    };
    reading.followed = at;
    while at < file.len() && !reading.is_over() {
        at = match frame_at(file, at, format_of(header))
            .filter(|frame| reading.may_follow(frame, at))
        {
            Some(frame) => reading.frame(at, frame, &mut sink)?,
            None => reading.go_around(at),
        };
    }
    reading.miss_the_end();
    Ok(reading.scanned)
}

/// The header of a segment that begins with the record `first`. One that says otherwise is damaged, or of another file.
fn header_of(file: &[u8], first: Lsn) -> Option<SegmentHeader> {
    read_header(file).filter(|header| header.first == first)
}

fn format_of(header: Option<SegmentHeader>) -> Format {
    header.map_or(Format::Unknown, |header| header.format)
}

/// The last record of a segment that is known to be answered, by its own frames or otherwise.
fn known_answered(file: &[u8], first: Lsn, behind: Behind) -> Lsn {
    let told = answered_in(file, first).max(behind.answered.unwrap_or_default());
    behind.first.map_or(told, |first| told.min(Lsn(first.0.saturating_sub(1))))
}

/// The last record that any frame knows to be answered.
fn answered_in(file: &[u8], first: Lsn) -> Lsn {
    frames(file, first).filter_map(|(_, frame)| frame.answered).max().unwrap_or_default()
}

/// Where the last record ends that a frame of the segment, which begins with the record `first`, knows to be answered.
pub(super) fn answered_end(file: &[u8], first: Lsn) -> usize {
    let answered = answered_in(file, first);
    let of_answered = frames(file, first).filter(|(_, frame)| frame.lsn <= answered);
    let end = of_answered.map(|(at, frame)| at.saturating_add(frame.length)).last();
    end.unwrap_or(0)
}

/// All frames whose headers are whole and whose numbers may be, with where they begin. The name of the segment says its `first`
/// record, whatever became of its header.
fn frames(file: &[u8], first: Lsn) -> impl Iterator<Item = (usize, Frame<'_>)> {
    let header = header_of(file, first);
    let format = format_of(header);
    let mut at = header.map_or(0, |header| header.length);
    let mut place = (at, first);
    std::iter::from_fn(move || {
        let mut here = at;
        loop {
            match frame_at(file, here, format) {
                Some(frame) if may_be(&frame, here - place.0, place.1) => {
                    at = here.checked_add(frame.length)?;
                    place = (at, frame.lsn.next());
                    return Some((here, frame));
                }
                _ => here = next_frame(file, here + 1, format)?,
            }
        }
    })
}

/// Whether a frame may be so many bytes behind the place where the record `next` was to begin. Numbers have no gaps within a
/// segment, so damage hides as many as fit into it. What looks like a frame may be what somebody sent in a record.
fn may_be(frame: &Frame<'_>, behind: usize, next: Lsn) -> bool {
    let hidden = frame.lsn.0.checked_sub(next.0);
    hidden.is_some_and(|hidden| hidden <= (behind / FRAME_BYTES_MIN) as u64)
}

struct Reading<'a> {
    path: &'a Path,
    file: &'a [u8],
    header: Option<SegmentHeader>,
    /// The first record of the next segment.
    end: Option<Lsn>,
    /// The last record that is known to be answered.
    answered: Lsn,
    scanned: Scanned,
    /// Where the record after the last one that was read was to begin.
    followed: usize,
}

impl Reading<'_> {
    /// Whether nothing that the file has from here on is of the log.
    fn is_over(&self) -> bool {
        self.scanned.torn.is_some() || self.end.is_some_and(|end| self.scanned.next >= end)
    }

    fn may_follow(&self, frame: &Frame<'_>, at: usize) -> bool {
        may_be(frame, at.saturating_sub(self.followed), self.scanned.next)
            && self.end.is_none_or(|end| frame.lsn < end)
    }

    /// Reads a frame whose header is whole; answers where the next one begins.
    fn frame(
        &mut self,
        at: usize,
        frame: Frame<'_>,
        sink: &mut impl FnMut(Lsn, &[u8]) -> Result<()>,
    ) -> Result<usize> {
        let end = at.saturating_add(frame.length).min(self.file.len());
        let before = self.scanned.next;
        if let Payload::Torn = frame.payload
            && before > self.answered
        {
            self.tear(at);
            return Ok(end);
        }
        if frame.lsn > before {
            self.lose(at..at, frame.lsn);
        }
        match frame.payload {
            Payload::Whole(payload) => {
                sink(frame.lsn, payload)?;
                self.scanned.records += 1;
                self.scanned.next = frame.lsn.next();
                self.followed = end;
            }
            Payload::Torn | Payload::Damaged => self.lose(at..end, frame.lsn.next()),
        }
        Ok(end)
    }

    /// Goes on behind what is no header of a frame; answers where.
    fn go_around(&mut self, at: usize) -> usize {
        let next = self.next_frame(at + 1);
        let end = next.map_or(self.file.len(), |(at, _)| at);
        // In version 1, which does not tell what was answered, a frame behind it does.
        let behind_it = next.is_some_and(|(_, frame)| frame.answered.is_none());
        if self.scanned.next > self.answered
            && !behind_it
            && is_torn_header(self.file, at, self.header)
        {
            self.tear(at);
        } else {
            let after = self.scanned.next.next();
            self.lose(at..end, next.map_or(after, |(_, frame)| frame.lsn));
        }
        end
    }

    /// Tells of damage to either header, which costs nothing. Those of a segment without records may be torn.
    fn check_both_headers(&mut self, header: SegmentHeader) {
        let (SegmentHeader { length, first, .. }, file) = (header, self.file);
        if file.len() > length && !header.begins(file) {
            self.lose(0..length, first);
        }
    }

    /// Finds the first frame of a segment whose header is damaged, or was never written.
    fn go_around_header(&mut self) -> usize {
        match self.next_frame(0) {
            Some((at, frame)) => {
                self.lose(0..at, frame.lsn);
                at
            }
            None if self.scanned.next > self.answered
                && (is_torn_header(self.file, 0, None) || self.file.len() <= HEADER_BYTES) =>
            {
                self.tear(0);
                0
            }
            None => 0,
        }
    }

    /// The next frame whose record may follow the last one.
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

    fn lose(&mut self, bytes: Range<usize>, next: Lsn) {
        let records = self.scanned.next.0..next.0;
        self.scanned.damage.push(Damage { segment: self.path.to_owned(), bytes, records });
        self.scanned.next = next;
    }

    fn tear(&mut self, at: usize) {
        let bytes = at..self.file.len();
        self.scanned.torn = Some(TornEnd { segment: self.path.to_owned(), bytes });
    }

    /// Records that were answered and that the file ends before.
    fn miss_the_end(&mut self) {
        if self.scanned.next <= self.answered && self.scanned.torn.is_none() {
            self.lose(self.file.len()..self.file.len(), self.answered.next());
        }
    }
}
