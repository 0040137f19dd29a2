//! The files of the log: their format, and the rules by which a file is read after a crash.
//!
//! ```text
//! DIR/log/<first lsn, 20 digits>.log
//!   header, 48 bytes: magic "TELLTALE" │ version: u32 = 3 │ 0: u32 │ first lsn: u64 │ answered: u64 │ salt: u64
//!                     │ xxh3-64 of all before
//!   zeros to byte 4096, and the header once more: no disk loses both with one of its sectors
//!   frames, each:     marker: u32 │ length of the payload: u32 │ lsn: u64 │ answered: u64 │ salted xxh3-64 of the payload
//!                     │ zero sectors: u32 │ low half of the salted xxh3-64 of all before: u32 │ payload
//! ```
//!
//! What records say, and where the second copies of definitions are among them: `record.rs`, `copies.rs`.
//!
//! *salt*: a random number that no client knows, the seed of the checksums of frames. So nobody can send, within a record, what
//! passes for a frame where a reader looks for the next one behind damage. Without it no frame can be read, so it is there twice.
//!
//! Records of a segment are valid below the first record of the next segment. What an abandoned segment holds from there
//! on was answered with an error and does not exist (see `writer.rs`).
//!
//! *answered*: the last record whose writer had its answer when these bytes were written: synced before, or handed to the
//! operating system where [`crate::Durability`] asks for no more. In a frame it speaks of its own segment and of those before it
//! only as far as the header does. Of the newest segment the file `ANSWERED` tells it too, see `answered.rs`.
//! *zero sectors*: of the sectors of [`SECTOR_BYTES`] that the payload lies in, those of which its part is all zeros. A write
//! that was not synced loses whole sectors, in any order, and a lost sector reads as zeros or lies beyond the end of the file.
//!
//! What is not a whole frame, while neither the segment, the header of the next one nor the mark says that its record was answered:
//!
//! | what is there                                              | it is                                                |
//! |------------------------------------------------------------|------------------------------------------------------|
//! | less than a frame's header                                 | torn                                                 |
//! | a header of which one sector's part is all zeros           | torn                                                 |
//! | a whole header, a payload that the end of the file cuts    | torn                                                 |
//! | a whole header, a payload with more zero sectors than told | torn                                                 |
//! | any other header: marker, length or checksum are wrong     | damage, up to the next frame                         |
//! | a whole header, a payload with as many zero sectors        | damage of this record                                |
//!
//! *Torn* was being written when the machine died, and nobody had an answer for it: it ends the segment, with everything
//! behind it, which belongs to the same write. *Damage* is reported, costs its record, and reading goes on behind it. A record
//! that was answered is never torn, only damaged, even if the file ends before it.
//!
//! Segments of version 2 have one header, of 40 bytes, without salt: that of their frames is 0.
//!
//! Segments of version 1 have headers of 32 bytes without *answered* and salt, and frames of 24: marker, length, lsn, one
//! xxh3-64 of length, lsn and payload. Anything that is not a whole frame of that version is damage when a frame follows, and
//! torn when it begins with zeros or the end of the file cuts it.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_64_with_seed};

use crate::codec::bytes::Reader;
use crate::error::{Error, Result};
use crate::model::Lsn;

/// The header, the zeros and the second header.
pub(super) const HEADER_BYTES: usize = SECOND_HEADER_AT + HEADER_3_BYTES;
/// The largest sectors of disks, and the pages of memory, have so many bytes: a damage takes one of them, aligned.
pub(super) const LARGE_SECTOR_BYTES: usize = 4_096;
/// Where the second header begins.
pub(super) const SECOND_HEADER_AT: usize = LARGE_SECTOR_BYTES;
/// Where it begins in segments that were written before the first release.
const EARLY_SECOND_HEADER_AT: usize = 512;
pub(super) const FRAME_HEADER_BYTES: usize = 40;
/// A payload is at most this long; a batch that needs more is refused before it gets here.
pub(super) const PAYLOAD_BYTES_MAX: usize = 1 << 30;
/// What a disk writes whole or not at all: those with larger sectors lose several of these at once.
pub(super) const SECTOR_BYTES: usize = 512;
/// No record has a greater number: at a billion a second they last for a century.
pub(super) const LSN_MAX: Lsn = Lsn(1 << 62);
const MAGIC: [u8; 8] = *b"TELLTALE";
const VERSION: u32 = 3;
const HEADER_3_BYTES: usize = 48;
const MARKER: [u8; 4] = 0x7e11_7a2e_u32.to_le_bytes();

const VERSION_2: u32 = 2;
const HEADER_2_BYTES: usize = 40;

const HEADER_1_BYTES: usize = 32;
const FRAME_HEADER_1_BYTES: usize = 24;
/// No frame of any version is shorter.
pub(super) const FRAME_BYTES_MIN: usize = FRAME_HEADER_1_BYTES;
const VERSION_1: u32 = 1;
const MARKER_1: [u8; 4] = 0x7e11_7a1e_u32.to_le_bytes();
/// What the markers of both versions begin with: a search for the next frame looks for it.
const MARKER_END: [u8; 3] = [0x7a, 0x11, 0x7e];

/// The seed of the checksums of a segment's frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Salt(pub(super) u64);

impl Salt {
    /// Of segments before there were any.
    const NONE: Self = Self(0);

    /// One that nobody can guess: the standard library seeds its hashes from the operating system.
    pub(super) fn random() -> Self {
        Self(RandomState::new().hash_one(MAGIC))
    }

    fn sum(self, bytes: &[u8]) -> u64 {
        xxh3_64_with_seed(bytes, self.0)
    }
}

/// How the frames of a segment are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Version1,
    Salted(Salt),
    /// The header cannot be read: frames without salt of any version.
    Unknown,
}

/// The header of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SegmentHeader {
    pub(super) first: Lsn,
    /// The last record of the segments before that was answered; none in version 1.
    pub(super) answered: Option<Lsn>,
    pub(super) format: Format,
    /// Where the first frame begins.
    pub(super) length: usize,
}

impl SegmentHeader {
    /// Whether a segment begins with this header, wherever it is written.
    pub(super) fn begins(&self, file: &[u8]) -> bool {
        match (self.length, self.answered, self.format) {
            (HEADER_BYTES, Some(answered), Format::Salted(salt)) => {
                file.starts_with(&header(self.first, answered, salt))
            }
            _ => true,
        }
    }
}

/// The beginning of a segment whose first record is `first`, begun when the records through `answered` were answered.
pub(super) fn header(first: Lsn, answered: Lsn, salt: Salt) -> [u8; HEADER_BYTES] {
    let mut out = [0; HEADER_BYTES];
    let (once, again) = out.split_at_mut(SECOND_HEADER_AT);
    let (body, sum) = again.split_at_mut(HEADER_3_BYTES - 8);
    let (magic, rest) = body.split_at_mut(8);
    magic.copy_from_slice(&MAGIC);
    rest[..4].copy_from_slice(&VERSION.to_le_bytes());
    rest[8..16].copy_from_slice(&first.0.to_le_bytes());
    rest[16..24].copy_from_slice(&answered.0.to_le_bytes());
    rest[24..].copy_from_slice(&salt.0.to_le_bytes());
    sum.copy_from_slice(&xxh3_64(body).to_le_bytes());
    once[..HEADER_3_BYTES].copy_from_slice(again);
    out
}

/// The header of the segment that begins with `bytes`, if a whole one is there.
pub(super) fn read_header(bytes: &[u8]) -> Option<SegmentHeader> {
    let second = |at| header_at(bytes, at).filter(|header| header.length == HEADER_BYTES);
    let second_header = second(SECOND_HEADER_AT);
    // Zeros in any other segment.
    if second_header.is_none()
        && let Some(header) = second(EARLY_SECOND_HEADER_AT)
    {
        let length = EARLY_SECOND_HEADER_AT + HEADER_3_BYTES;
        return Some(SegmentHeader { length, ..header });
    }
    header_at(bytes, 0).or(second_header)
}

fn header_at(file: &[u8], at: usize) -> Option<SegmentHeader> {
    let bytes = file.get(at..)?;
    let mut reader = Reader::new(bytes);
    let magic = reader.take(8).ok()?;
    let version = u32_of(&mut reader)?;
    let _unused = u32_of(&mut reader)?;
    let first = Lsn(u64_of(&mut reader)?);
    let mut next = || u64_of(&mut reader);
    let (answered, format, own_bytes, length) = match version {
        VERSION_1 => (None, Format::Version1, HEADER_1_BYTES, HEADER_1_BYTES),
        VERSION_2 => {
            (Some(Lsn(next()?)), Format::Salted(Salt::NONE), HEADER_2_BYTES, HEADER_2_BYTES)
        }
        VERSION => {
            let answered = Some(Lsn(next()?));
            (answered, Format::Salted(Salt(next()?)), HEADER_3_BYTES, HEADER_BYTES)
        }
        _ => return None,
    };
    let whole = magic == MAGIC
        && next()? == xxh3_64(bytes.get(..own_bytes - 8)?)
        && answered.is_none_or(|answered| answered < first);
    whole.then_some(SegmentHeader { first, answered, format, length })
}

/// Bytes of the frame around a payload.
pub(super) fn frame_bytes(payload: &[u8]) -> usize {
    FRAME_HEADER_BYTES + payload.len()
}

/// Appends a frame around `payload` to `out`, which goes to the file at `offset`. `answered` is what was answered before.
pub(super) fn put_frame(
    out: &mut Vec<u8>,
    offset: u64,
    salt: Salt,
    (lsn, answered): (Lsn, Lsn),
    payload: &[u8],
) {
    let begin = out.len();
    let place = (offset % SECTOR_BYTES as u64) as usize + begin + FRAME_HEADER_BYTES;
    out.extend_from_slice(&MARKER);
    out.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    out.extend_from_slice(&lsn.0.to_le_bytes());
    out.extend_from_slice(&answered.0.to_le_bytes());
    out.extend_from_slice(&salt.sum(payload).to_le_bytes());
    out.extend_from_slice(&zero_sectors(payload, place).to_le_bytes());
    let sum = salt.sum(out.get(begin..).unwrap_or_default()) as u32;
    out.extend_from_slice(&sum.to_le_bytes());
    out.extend_from_slice(payload);
}

/// The sectors that `bytes` lie in, when they begin at `offset` of the file, of which their part is all zeros.
pub(super) fn zero_sectors(bytes: &[u8], offset: usize) -> u32 {
    let (first, rest) = bytes.split_at((SECTOR_BYTES - offset % SECTOR_BYTES).min(bytes.len()));
    let parts =
        [first].into_iter().filter(|first| !first.is_empty()).chain(rest.chunks(SECTOR_BYTES));
    parts.filter(|part| part.iter().all(|byte| *byte == 0)).count() as u32
}

/// A frame whose header is whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    pub(super) lsn: Lsn,
    /// The last record of its segment that was answered before it was written; none in version 1.
    pub(super) answered: Option<Lsn>,
    pub(super) payload: Payload<'a>,
    /// Its bytes in the file, if all of them are there.
    pub(super) length: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Payload<'a> {
    Whole(&'a [u8]),
    /// The file ends before it, or it lacks sectors.
    Torn,
    Damaged,
}

/// The frame at `at`, if its header is whole.
pub(super) fn frame_at(file: &[u8], at: usize, format: Format) -> Option<Frame<'_>> {
    let bytes = file.get(at..)?;
    match (*bytes.first_chunk()?, format) {
        (MARKER, Format::Salted(salt)) => frame(bytes, at, salt),
        (MARKER, Format::Unknown) => frame(bytes, at, Salt::NONE),
        (MARKER_1, Format::Version1 | Format::Unknown) => frame_1(bytes),
        _ => None,
    }
}

fn frame(bytes: &[u8], at: usize, salt: Salt) -> Option<Frame<'_>> {
    let (header, rest) = bytes.split_at_checked(FRAME_HEADER_BYTES)?;
    let mut reader = Reader::new(header);
    let _marker = u32_of(&mut reader)?;
    let length = u32_of(&mut reader)? as usize;
    let (lsn, answered) = (Lsn(u64_of(&mut reader)?), Lsn(u64_of(&mut reader)?));
    let (of_payload, zeros) = (u64_of(&mut reader)?, u32_of(&mut reader)?);
    let sum = salt.sum(header.get(..FRAME_HEADER_BYTES - 4)?) as u32;
    if u32_of(&mut reader)? != sum || answered >= lsn || lsn > LSN_MAX {
        return None;
    }
    let payload = match rest.get(..length) {
        None => Payload::Torn,
        Some(payload) if salt.sum(payload) == of_payload => Payload::Whole(payload),
        Some(payload) if zero_sectors(payload, at + FRAME_HEADER_BYTES) > zeros => Payload::Torn,
        Some(_) => Payload::Damaged,
    };
    Some(Frame { lsn, answered: Some(answered), payload, length: FRAME_HEADER_BYTES + length })
}

/// Its one checksum covers header and payload: there is no telling which of the two is damaged.
fn frame_1(bytes: &[u8]) -> Option<Frame<'_>> {
    let (header, rest) = bytes.split_at_checked(FRAME_HEADER_1_BYTES)?;
    let mut reader = Reader::new(header);
    let _marker = u32_of(&mut reader)?;
    let length = u32_of(&mut reader)?;
    let lsn = Lsn(u64_of(&mut reader)?);
    let payload = rest.get(..length as usize)?;
    let whole = checksum_1(length, lsn, payload) == u64_of(&mut reader)? && lsn <= LSN_MAX;
    let length = FRAME_HEADER_1_BYTES + payload.len();
    whole.then_some(Frame { lsn, answered: None, payload: Payload::Whole(payload), length })
}

fn checksum_1(length: u32, lsn: Lsn, payload: &[u8]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&length.to_le_bytes());
    hash.update(&lsn.0.to_le_bytes());
    hash.update(payload);
    hash.digest()
}

/// Whether what begins at `at`, no whole header of a frame, is what a write leaves that lost sectors or was cut off. `header` is
/// that of the segment, if it can be read.
pub(super) fn is_torn_header(file: &[u8], at: usize, header: Option<SegmentHeader>) -> bool {
    let bytes = file.get(at..).unwrap_or_default();
    let version_1 = header.is_some_and(|header| header.format == Format::Version1);
    let length = if version_1 { FRAME_HEADER_1_BYTES } else { FRAME_HEADER_BYTES };
    match bytes.get(..length) {
        None => true,
        Some(header) if version_1 && header.starts_with(&MARKER_1) => is_cut_1(bytes),
        Some(header) => zero_sectors(header, at) > 0,
    }
}

/// Whether a frame of version 1 goes on beyond the end of the file. It does not when only its length is wrong.
fn is_cut_1(bytes: &[u8]) -> bool {
    let mut reader = Reader::new(bytes.get(MARKER_1.len()..).unwrap_or_default());
    let fields = (u32_of(&mut reader), u64_of(&mut reader), u64_of(&mut reader));
    let (Some(length), Some(lsn), Some(sum)) = fields else { return true };
    let rest = bytes.get(FRAME_HEADER_1_BYTES..).unwrap_or_default();
    length as usize > rest.len() && checksum_1(rest.len() as u32, Lsn(lsn), rest) != sum
}

/// The next frame at or after `from` whose header is whole.
pub(super) fn next_frame(file: &[u8], from: usize, format: Format) -> Option<usize> {
    let mut at = from;
    loop {
        // Both markers differ in their first byte only.
        let rest = file.get(at + 1..)?;
        at += rest.windows(MARKER_END.len()).position(|bytes| bytes == MARKER_END)?;
        if frame_at(file, at, format).is_some() {
            return Some(at);
        }
        at += 1;
    }
}

fn u32_of(reader: &mut Reader<'_>) -> Option<u32> {
    Some(u32::from_le_bytes(reader.take(4).ok()?.try_into().ok()?))
}

fn u64_of(reader: &mut Reader<'_>) -> Option<u64> {
    reader.u64().ok()
}

/// The record that the name of a segment begins with.
pub(super) fn first_lsn(path: &Path) -> Option<Lsn> {
    path.file_stem()?.to_str()?.parse().ok().map(Lsn).filter(|lsn| *lsn <= LSN_MAX)
}

/// The segments of a log, and what is known of its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing {
    /// With their first records, oldest first.
    pub(crate) segments: Vec<(Lsn, PathBuf)>,
    /// The last record that was answered, or one before it.
    pub(super) answered: Lsn,
}

/// The folder of segments.
#[derive(Clone, Debug)]
pub(crate) struct Segments {
    dir: PathBuf,
}

impl Segments {
    /// The segments in a folder that exists.
    pub(crate) fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(super) fn path(&self, first: Lsn) -> PathBuf {
        self.dir.join(format!("{:020}.log", first.0))
    }

    /// What the log is made of now.
    pub(crate) fn look(&self) -> Result<Listing> {
        // Read before the segments are listed: what was answered by then is in them.
        let answered = super::answered::read(&self.dir);
        Ok(Listing { segments: self.list()?, answered })
    }

    /// All segments with their first record, oldest first.
    pub(crate) fn list(&self) -> Result<Vec<(Lsn, PathBuf)>> {
        let context = || format!("listing {}", self.dir.display());
        let entries =
            fs::read_dir(&self.dir).map_err(|source| Error::Io { context: context(), source })?;
        let mut all = Vec::new();
        for entry in entries {
            let path = entry.map_err(|source| Error::Io { context: context(), source })?.path();
            let is_log = path.extension().is_some_and(|e| e == "log");
            if let Some(first) = first_lsn(&path).filter(|_| is_log) {
                all.push((first, path));
            }
        }
        all.sort_unstable();
        Ok(all)
    }

    /// Deletes the segments that hold nothing after `sealed`: those followed by one that begins at or before
    /// the record after it.
    pub(crate) fn delete_through(&self, sealed: Lsn) -> Result<()> {
        for pair in self.list()?.windows(2) {
            if let [(_, path), (next, _)] = pair
                && *next <= sealed.next()
            {
                fs::remove_file(path).map_err(|source| Error::Io {
                    context: format!("deleting {}", path.display()),
                    source,
                })?;
            }
        }
        Ok(())
    }

    /// Brings everything that can be read to the disk: what is read now must not be gone after a power loss later.
    pub(crate) fn settle(&self) -> Result<()> {
        let all = self.list()?;
        for (_, path) in &all {
            let synced = File::open(path).and_then(|file| file.sync_data());
            synced.map_err(|source| failed("syncing", path, source))?;
        }
        // Behind what was answered, the newest may hold what an earlier process failed to sync: the system has it in memory,
        // believes that it is on the disk, and writes it only when it is written again.
        let Some((first, path)) = all.last() else { return Ok(()) };
        let file = fs::read(path).map_err(|source| failed("reading", path, source))?;
        let at = super::scan::answered_end(&file, *first).min(file.len());
        let (_, unanswered) = file.split_at(at);
        if unanswered.is_empty() {
            return Ok(());
        }
        let written = OpenOptions::new().write(true).open(path).and_then(|file| {
            file.write_all_at(unanswered, at as u64)?;
            file.sync_data()
        });
        written.map_err(|source| failed("writing", path, source))
    }

    /// The bytes of all segments.
    pub(crate) fn bytes(&self) -> Result<u64> {
        let all = self.list()?;
        Ok(all.iter().filter_map(|(_, path)| fs::metadata(path).ok()).map(|m| m.len()).sum())
    }
}

fn failed(doing: &str, path: &Path, source: std::io::Error) -> Error {
    Error::Io { context: format!("{doing} {}", path.display()), source }
}
