//! The segment files of the log: their format, and the rules by which a file is read after a crash.
//!
//! ```text
//! DIR/log/<first lsn, 20 digits>.log
//!   header, 48 bytes: magic "TELLTALE" │ version: u32 = 3 │ 0: u32 │ first lsn: u64 │
//!                     acknowledged: u64 │ salt: u64 │ xxh3-64 of all before
//!   zeros to byte 4096, and the header again: no disk loses both with one of its sectors
//!   frames, each:     marker: u32 │ length of the payload: u32 │ lsn: u64 │ acknowledged: u64 │
//!                     salted xxh3-64 of the payload │ zero sectors: u32 │
//!                     low half of the salted xxh3-64 of all before: u32 │ payload
//! ```
//!
//! `record.rs` describes the contents of records, `definition_copies.rs` the positions of second
//! copies of definitions.
//!
//! *salt*: a random number that no client knows, the seed of the checksums of frames. It prevents
//! clients from sending data that passes for a frame when a reader searches for the next one after
//! damage. No frame can be read without it, so it is stored twice.
//!
//! Records of a segment are valid below the first record of the next segment. Records of an
//! abandoned segment from there on were reported as failed and do not exist (see `writer.rs`).
//!
//! *acknowledged*: the last record whose write had been acknowledged when these bytes were written:
//! it was synced before, or passed to the operating system where [`crate::Durability`] requires no
//! more. In a frame it covers its own segment; earlier segments are only covered as far as by the
//! header. For the newest segment the file `ANSWERED` has the number too, see
//! `acknowledged_mark.rs`.
//!
//! *zero sectors*: the number of sectors of [`SECTOR_BYTES`] containing a part of the payload in
//! which that part is all zeros. A write that was not synced loses whole sectors, in any order, and
//! a lost sector reads as zeros or lies beyond the end of the file.
//!
//! If neither the segment, the header of the next one nor the mark says that a record was
//! acknowledged, bytes that are not an intact frame are interpreted as follows:
//!
//! ```text
//! contents                                                        meaning
//! zeros up to the end of the file                                 not written yet
//! less than a frame's header                                      torn
//! a header whose part in one sector is all zeros                  torn
//! a header or payload with a zero at its end, and only zeros      torn
//!   from there to the end of the file, some of them written ahead
//! an intact header, and a payload cut by the end of the file      torn
//! an intact header, and a payload with more zero sectors          torn
//!   than the header says
//! any other header (wrong marker, length or checksum)             damage up to the next frame
//! an intact header, and a payload with that many zero sectors     damage of this record
//! ```
//!
//! *Torn* bytes were being written when the machine crashed and were not acknowledged. They end the
//! segment, with everything after them, which belongs to the same write. Zeros are written ahead of
//! frames (see `segment_file.rs`), or left by a write of which nothing reached the disk. The
//! headers may be torn if only zeros follow them. *Damage* is reported, its record is lost, and
//! reading continues after it. An acknowledged record is never torn, only damaged, even if the file
//! ends before it.
//!
//! Segments of version 2 have one header, of 40 bytes, without salt: that of their frames is 0.
//!
//! Segments of version 1 have headers of 32 bytes without *acknowledged* and salt, and frame
//! headers of 24 bytes: marker, length, lsn, and one xxh3-64 of length, lsn and payload. Bytes that
//! are not an intact frame of that version are damage when a frame follows, and torn when they
//! start with zeros or are cut by the end of the file.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_64_with_seed};

use super::acknowledged_mark::StoredMark;
use super::newest_segment::NewestSegment;
use super::torn::{is_cut_within, zero_sectors};
use crate::codec::bytes::Reader;
use crate::error::{Error, Result};
use crate::model::Lsn;

/// Bytes of the header, the zeros and the second header.
pub(super) const HEADER_BYTES: usize = SECOND_HEADER_AT + HEADER_3_BYTES;
/// Size of the largest sectors of disks and of pages of memory: one damage is assumed to hit one of
/// them, aligned.
pub(super) const LARGE_SECTOR_BYTES: usize = 4_096;
/// Offset of the second header.
pub(super) const SECOND_HEADER_AT: usize = LARGE_SECTOR_BYTES;
/// Its offset in segments written before the first release.
const EARLY_SECOND_HEADER_AT: usize = 512;
pub(super) const FRAME_HEADER_BYTES: usize = 40;
/// Maximum length of a payload. A larger batch is refused before it gets here.
pub(super) const PAYLOAD_BYTES_MAX: usize = 1 << 30;
/// The unit that a disk writes atomically. Disks with larger sectors lose several of these at once.
pub(super) const SECTOR_BYTES: usize = 512;
/// The largest record number: at a billion records per second it lasts for a century.
pub(super) const LSN_MAX: Lsn = Lsn(1 << 62);
const MAGIC: [u8; 8] = *b"TELLTALE";
const VERSION: u32 = 3;
const HEADER_3_BYTES: usize = 48;
const MARKER: [u8; 4] = 0x7e11_7a2e_u32.to_le_bytes();

const VERSION_2: u32 = 2;
const HEADER_2_BYTES: usize = 40;

const HEADER_1_BYTES: usize = 32;
const FRAME_HEADER_1_BYTES: usize = 24;
/// Minimum frame length over all versions.
pub(super) const FRAME_BYTES_MIN: usize = FRAME_HEADER_1_BYTES;
const VERSION_1: u32 = 1;
const MARKER_1: [u8; 4] = 0x7e11_7a1e_u32.to_le_bytes();
/// The last three bytes of the markers of both versions: a search for the next frame looks for
/// them.
const MARKER_END: [u8; 3] = [0x7a, 0x11, 0x7e];

/// The seed of the checksums of a segment's frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Salt(pub(super) u64);

impl Salt {
    /// The salt of segments of the versions without salt.
    const NONE: Self = Self(0);

    /// Returns a salt that nobody can guess: the standard library seeds its hashes from the
    /// operating system.
    pub(super) fn random() -> Self {
        Self(RandomState::new().hash_one(MAGIC))
    }

    fn sum(self, bytes: &[u8]) -> u64 {
        xxh3_64_with_seed(bytes, self.0)
    }
}

/// The frame format of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Version1,
    Salted(Salt),
    /// The header cannot be read: frames without salt, of any version.
    Unknown,
}

/// The header of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SegmentHeader {
    pub(super) first: Lsn,
    /// The last acknowledged record of the earlier segments; `None` in version 1.
    pub(super) acknowledged: Option<Lsn>,
    pub(super) format: Format,
    /// Offset of the first frame.
    pub(super) length: usize,
}

impl SegmentHeader {
    /// Returns whether `file` starts with this header in all places where it is stored.
    pub(super) fn is_stored_in(&self, file: &[u8]) -> bool {
        match (self.length, self.acknowledged, self.format) {
            (HEADER_BYTES, Some(acknowledged), Format::Salted(salt)) => {
                file.starts_with(&header(self.first, acknowledged, salt))
            }
            _ => true,
        }
    }
}

/// Returns the header area of a segment whose first record is `first`, created when the records
/// through `acknowledged` were acknowledged.
pub(super) fn header(first: Lsn, acknowledged: Lsn, salt: Salt) -> [u8; HEADER_BYTES] {
    let mut out = [0; HEADER_BYTES];
    let (first_copy, second_copy) = out.split_at_mut(SECOND_HEADER_AT);
    let (body, sum) = second_copy.split_at_mut(HEADER_3_BYTES - 8);
    let (magic, rest) = body.split_at_mut(8);
    magic.copy_from_slice(&MAGIC);
    rest[..4].copy_from_slice(&VERSION.to_le_bytes());
    rest[8..16].copy_from_slice(&first.0.to_le_bytes());
    rest[16..24].copy_from_slice(&acknowledged.0.to_le_bytes());
    rest[24..].copy_from_slice(&salt.0.to_le_bytes());
    sum.copy_from_slice(&xxh3_64(body).to_le_bytes());
    first_copy[..HEADER_3_BYTES].copy_from_slice(second_copy);
    out
}

/// Returns the header of the segment that starts with `bytes`, if one of its copies is intact.
pub(super) fn read_header(bytes: &[u8]) -> Option<SegmentHeader> {
    let second = |at| header_at(bytes, at).filter(|header| header.length == HEADER_BYTES);
    let second_header = second(SECOND_HEADER_AT);
    // Zeros in all other segments.
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
    let (acknowledged, format, header_bytes, length) = match version {
        VERSION_1 => (None, Format::Version1, HEADER_1_BYTES, HEADER_1_BYTES),
        VERSION_2 => {
            (Some(Lsn(next()?)), Format::Salted(Salt::NONE), HEADER_2_BYTES, HEADER_2_BYTES)
        }
        VERSION => {
            let acknowledged = Some(Lsn(next()?));
            (acknowledged, Format::Salted(Salt(next()?)), HEADER_3_BYTES, HEADER_BYTES)
        }
        _ => return None,
    };
    let intact = magic == MAGIC
        && next()? == xxh3_64(bytes.get(..header_bytes - 8)?)
        && acknowledged.is_none_or(|acknowledged| acknowledged < first);
    intact.then_some(SegmentHeader { first, acknowledged, format, length })
}

/// Returns the length of the frame around a payload.
pub(super) fn frame_bytes(payload: &[u8]) -> usize {
    FRAME_HEADER_BYTES + payload.len()
}

/// Appends a frame around `payload` to `out`, which will be written to the file at `offset`.
/// `acknowledged` is the last record acknowledged so far.
pub(super) fn put_frame(
    out: &mut Vec<u8>,
    offset: u64,
    salt: Salt,
    (lsn, acknowledged): (Lsn, Lsn),
    payload: &[u8],
) {
    let start = out.len();
    let payload_offset = (offset % SECTOR_BYTES as u64) as usize + start + FRAME_HEADER_BYTES;
    out.extend_from_slice(&MARKER);
    out.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    out.extend_from_slice(&lsn.0.to_le_bytes());
    out.extend_from_slice(&acknowledged.0.to_le_bytes());
    out.extend_from_slice(&salt.sum(payload).to_le_bytes());
    out.extend_from_slice(&zero_sectors(payload, payload_offset).to_le_bytes());
    let sum = salt.sum(&out[start..]) as u32;
    out.extend_from_slice(&sum.to_le_bytes());
    out.extend_from_slice(payload);
}

/// A frame with an intact header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    pub(super) lsn: Lsn,
    /// The last record of its segment acknowledged before the frame was written; `None` in version
    /// 1.
    pub(super) acknowledged: Option<Lsn>,
    pub(super) payload: Payload<'a>,
    /// The length of the frame, including bytes beyond the end of the file.
    pub(super) length: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Payload<'a> {
    Intact(&'a [u8]),
    /// The file ends before its end, the write ended before it, or it lacks sectors.
    Torn,
    Damaged,
}

/// Returns the frame at `at`, if its header is intact.
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
    let (lsn, acknowledged) = (Lsn(u64_of(&mut reader)?), Lsn(u64_of(&mut reader)?));
    let (payload_sum, zeros) = (u64_of(&mut reader)?, u32_of(&mut reader)?);
    let sum = salt.sum(header.get(..FRAME_HEADER_BYTES - 4)?) as u32;
    if u32_of(&mut reader)? != sum || acknowledged >= lsn || lsn > LSN_MAX {
        return None;
    }
    let payload = match rest.get(..length) {
        None => Payload::Torn,
        Some(payload) if salt.sum(payload) == payload_sum => Payload::Intact(payload),
        Some(payload) if zero_sectors(payload, at + FRAME_HEADER_BYTES) > zeros => Payload::Torn,
        Some(_) if is_cut_within(bytes, at, FRAME_HEADER_BYTES + length) => Payload::Torn,
        Some(_) => Payload::Damaged,
    };
    Some(Frame {
        lsn,
        acknowledged: Some(acknowledged),
        payload,
        length: FRAME_HEADER_BYTES + length,
    })
}

/// Decodes a frame of version 1, whose single checksum covers header and payload: it does not show
/// which of the two is damaged.
fn frame_1(bytes: &[u8]) -> Option<Frame<'_>> {
    let (header, rest) = bytes.split_at_checked(FRAME_HEADER_1_BYTES)?;
    let mut reader = Reader::new(header);
    let _marker = u32_of(&mut reader)?;
    let length = u32_of(&mut reader)?;
    let lsn = Lsn(u64_of(&mut reader)?);
    let payload = rest.get(..length as usize)?;
    let intact = checksum_1(length, lsn, payload) == u64_of(&mut reader)? && lsn <= LSN_MAX;
    let length = FRAME_HEADER_1_BYTES + payload.len();
    intact.then_some(Frame { lsn, acknowledged: None, payload: Payload::Intact(payload), length })
}

fn checksum_1(length: u32, lsn: Lsn, payload: &[u8]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&length.to_le_bytes());
    hash.update(&lsn.0.to_le_bytes());
    hash.update(payload);
    hash.digest()
}

/// Returns whether the bytes at `at`, which are no intact frame header, are what a write leaves
/// that lost sectors or was cut off. `header` is that of the segment, if it can be read.
pub(super) fn is_torn_header(file: &[u8], at: usize, header: Option<SegmentHeader>) -> bool {
    let bytes = file.get(at..).unwrap_or_default();
    let version_1 = header.is_some_and(|header| header.format == Format::Version1);
    let length = if version_1 { FRAME_HEADER_1_BYTES } else { FRAME_HEADER_BYTES };
    match bytes.get(..length) {
        None => true,
        Some(header) if version_1 && header.starts_with(&MARKER_1) => is_cut_1(bytes),
        Some(header) => zero_sectors(header, at) > 0 || is_cut_within(bytes, at, length),
    }
}

/// Returns whether a frame of version 1 extends beyond the end of the file. It does not if only its
/// length is wrong.
fn is_cut_1(bytes: &[u8]) -> bool {
    let mut reader = Reader::new(bytes.get(MARKER_1.len()..).unwrap_or_default());
    let fields = (u32_of(&mut reader), u64_of(&mut reader), u64_of(&mut reader));
    let (Some(length), Some(lsn), Some(sum)) = fields else { return true };
    let rest = bytes.get(FRAME_HEADER_1_BYTES..).unwrap_or_default();
    length as usize > rest.len() && checksum_1(rest.len() as u32, Lsn(lsn), rest) != sum
}

/// Returns the position of the next frame with an intact header at or after `from`.
pub(super) fn next_frame(file: &[u8], from: usize, format: Format) -> Option<usize> {
    let mut at = from;
    loop {
        // The markers differ in their first byte only.
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

/// Returns the first record of a segment, according to its file name.
pub(super) fn first_lsn(path: &Path) -> Option<Lsn> {
    path.file_stem()?.to_str()?.parse().ok().map(Lsn).filter(|lsn| *lsn <= LSN_MAX)
}

/// The segments of a log, and how far it is acknowledged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing {
    /// The first record and the path of each segment, oldest first.
    pub(crate) segments: Vec<(Lsn, PathBuf)>,
    /// The last acknowledged record, or an earlier one.
    pub(super) acknowledged: Lsn,
    /// Why the number of the last acknowledged record is unknown, if it should be known.
    pub(super) damaged: Option<String>,
}

/// The directory of segments. Clones share what they know of the newest segment.
#[derive(Clone, Debug)]
pub(crate) struct Segments {
    dir: PathBuf,
    newest: NewestSegment,
}

impl Segments {
    /// Returns the segments in an existing directory.
    pub(crate) fn new(dir: PathBuf) -> Self {
        Self { dir, newest: NewestSegment::default() }
    }

    /// Returns what a writer has written to the newest segment.
    pub(crate) fn newest(&self) -> &NewestSegment {
        &self.newest
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(super) fn path(&self, first: Lsn) -> PathBuf {
        self.dir.join(format!("{:020}.log", first.0))
    }

    /// Returns the segments that exist now, and how far the log is acknowledged.
    pub(crate) fn look(&self) -> Result<Listing> {
        // Read before the segments are listed, so that they contain every record it covers.
        let StoredMark { acknowledged, damaged } = super::acknowledged_mark::read(&self.dir);
        Ok(Listing { segments: self.list()?, acknowledged, damaged })
    }

    /// Returns all segments with their first records, oldest first.
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

    /// Deletes the segments without records after `sealed`: those followed by a segment that starts
    /// at or before the record after it.
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

    /// Syncs everything that can be read: what is read now must not be lost in a later power loss.
    pub(crate) fn settle(&self) -> Result<()> {
        let all = self.list()?;
        for (_, path) in &all {
            let synced = File::open(path).and_then(|file| file.sync_data());
            synced.map_err(|source| failed("syncing", path, source))?;
        }
        // After the last acknowledged record, the newest segment may contain data that an earlier
        // process failed to sync: the system caches it, assumes that it is on disk, and only writes
        // it if it is written again.
        let Some((first, path)) = all.last() else { return Ok(()) };
        let file = fs::read(path).map_err(|source| failed("reading", path, source))?;
        let at = super::scan::acknowledged_end(&file, *first).min(file.len());
        let (_, unacknowledged) = file.split_at(at);
        if unacknowledged.is_empty() {
            return Ok(());
        }
        let written = OpenOptions::new().write(true).open(path).and_then(|file| {
            file.write_all_at(unacknowledged, at as u64)?;
            file.sync_data()
        });
        written.map_err(|source| failed("writing", path, source))
    }

    /// Returns the total bytes of all segments. One that a seal deletes meanwhile counts as zero.
    pub(crate) fn bytes(&self) -> Result<u64> {
        let mut bytes = 0;
        for (_, path) in self.list()? {
            match fs::metadata(&path) {
                Ok(metadata) => bytes += metadata.len(),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(source) => return Err(failed("reading the size of", &path, source)),
            }
        }
        Ok(bytes)
    }
}

fn failed(doing: &str, path: &Path, source: std::io::Error) -> Error {
    Error::Io { context: format!("{doing} {}", path.display()), source }
}
