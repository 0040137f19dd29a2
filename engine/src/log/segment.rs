//! The files of the log, and how they are read after a crash.
//!
//! ```text
//! DIR/log/<first lsn, 20 digits>.log
//!   header, 32 bytes: magic "TELLTALE" │ version: u32 │ 0: u32 │ first lsn: u64 │ xxh3-64 of the 24 bytes before
//!   frames: marker: u32 │ length of the payload: u32 │ lsn: u64 │ xxh3-64 of length, lsn, payload │ payload
//! ```
//!
//! A frame that the end of the file cuts short was being written when the machine died, and nobody had an
//! answer for it: it ends the segment. Anything else that is not a whole frame was acknowledged once and then
//! damaged: the gap is reported as [`Damage`] and reading goes on behind it.
//!
//! Records of a segment are valid below the first record of the next segment. What an abandoned segment holds from there
//! on was answered with an error and does not exist (see `writer.rs`).

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use crate::error::{Error, Result};
use crate::model::Lsn;

pub(super) const HEADER_BYTES: usize = 32;
pub(super) const FRAME_HEADER_BYTES: usize = 24;
/// A payload is at most this long; a batch that needs more is refused before it gets here.
pub(super) const PAYLOAD_BYTES_MAX: usize = 1 << 30;
const MAGIC: [u8; 8] = *b"TELLTALE";
const VERSION: u32 = 1;
const MARKER: [u8; 4] = 0x7e11_7a1e_u32.to_le_bytes();

/// A stretch of a segment that could not be read although more of the log follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Damage {
    pub(crate) segment: PathBuf,
    /// Where in the file it begins and ends.
    pub(crate) bytes: std::ops::Range<usize>,
    /// The records that lay there: from this one up to the one that was read next.
    pub(crate) records: std::ops::Range<u64>,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "log {}: bytes {}..{} are damaged, records {}..{} are lost",
            self.segment.display(),
            self.bytes.start,
            self.bytes.end,
            self.records.start,
            self.records.end
        )
    }
}

/// The header of a segment whose first record is `first`.
pub(super) fn header(first: Lsn) -> [u8; HEADER_BYTES] {
    let mut out = [0; HEADER_BYTES];
    let (body, sum) = out.split_at_mut(HEADER_BYTES - 8);
    let (magic, rest) = body.split_at_mut(8);
    magic.copy_from_slice(&MAGIC);
    rest[..4].copy_from_slice(&VERSION.to_le_bytes());
    rest[8..].copy_from_slice(&first.0.to_le_bytes());
    let mut hash = Xxh3::new();
    hash.update(body);
    sum.copy_from_slice(&hash.digest().to_le_bytes());
    out
}

/// Appends a frame around `payload`.
pub(super) fn put_frame(out: &mut Vec<u8>, lsn: Lsn, payload: &[u8]) {
    let length = payload.len() as u32;
    out.extend_from_slice(&MARKER);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&lsn.0.to_le_bytes());
    out.extend_from_slice(&checksum(length, lsn, payload).to_le_bytes());
    out.extend_from_slice(payload);
}

fn checksum(length: u32, lsn: Lsn, payload: &[u8]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&length.to_le_bytes());
    hash.update(&lsn.0.to_le_bytes());
    hash.update(payload);
    hash.digest()
}

/// The frame at the beginning of `bytes`, if a whole one is there, and how long it is.
fn frame(bytes: &[u8]) -> Option<(Lsn, &[u8], usize)> {
    let (marker, rest) = bytes.split_first_chunk::<4>()?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let (lsn, rest) = rest.split_first_chunk::<8>()?;
    let (sum, rest) = rest.split_first_chunk::<8>()?;
    let length = u32::from_le_bytes(*length);
    let lsn = Lsn(u64::from_le_bytes(*lsn));
    let payload = rest.get(..length as usize)?;
    let whole = *marker == MARKER && checksum(length, lsn, payload) == u64::from_le_bytes(*sum);
    whole.then_some((lsn, payload, FRAME_HEADER_BYTES + payload.len()))
}

/// Whether `bytes` begin with a frame that goes on beyond their end, as a write that was cut off leaves it.
fn is_torn(bytes: &[u8]) -> bool {
    let claimed = bytes.get(4..8).and_then(|l| l.first_chunk().copied()).map(u32::from_le_bytes);
    match claimed {
        Some(length) if bytes.len() >= FRAME_HEADER_BYTES => {
            bytes.starts_with(&MARKER) && length as usize > bytes.len() - FRAME_HEADER_BYTES
        }
        _ => true,
    }
}

/// The next whole frame at or after `from`.
fn next_frame(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(rest) = bytes.get(at..) {
        at += rest.windows(MARKER.len()).position(|w| w == MARKER)?;
        if bytes.get(at..).and_then(frame).is_some() {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// What reading one segment came to.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    /// The record before which the next segment has to begin.
    pub(crate) next: Lsn,
    pub(crate) records: u64,
    pub(crate) damage: Vec<Damage>,
}

/// Hands every whole record of a segment to `sink`, in order.
pub(crate) fn scan(path: &Path, mut sink: impl FnMut(Lsn, &[u8]) -> Result<()>) -> Result<Scanned> {
    let bytes = fs::read(path)
        .map_err(|source| Error::Io { context: format!("reading {}", path.display()), source })?;
    let first = first_lsn(path).unwrap_or_default();
    let mut scanned = Scanned { next: first, ..Scanned::default() };
    let whole_header = bytes.get(..HEADER_BYTES).is_some_and(|h| h == header(first).as_slice());
    // Frames carry all that is needed; a damaged header is told like any other damage.
    let mut at = if whole_header { HEADER_BYTES } else { 0 };
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        match frame(rest) {
            Some((lsn, payload, length)) => {
                sink(lsn, payload)?;
                scanned.records += 1;
                scanned.next = lsn.next();
                at += length;
            }
            None => {
                let resumed = next_frame(&bytes, at + 1);
                if resumed.is_none() && is_torn(rest) {
                    break;
                }
                let found = resumed.and_then(|at| bytes.get(at..)).and_then(frame).map(|f| f.0);
                let next = found.unwrap_or(scanned.next.next());
                let end = resumed.unwrap_or(bytes.len());
                scanned.damage.push(Damage {
                    segment: path.to_owned(),
                    bytes: at..end,
                    records: scanned.next.0..next.0,
                });
                scanned.next = next;
                at = end;
            }
        }
    }
    Ok(scanned)
}

/// [`scan`], of the records below `end` only: see [`Segments::bounded`].
pub(crate) fn scan_below(
    path: &Path,
    end: Lsn,
    mut sink: impl FnMut(Lsn, &[u8]) -> Result<()>,
) -> Result<Scanned> {
    let mut records = 0;
    let mut scanned = scan(path, |lsn, payload| {
        if lsn >= end {
            return Ok(());
        }
        records += 1;
        sink(lsn, payload)
    })?;
    scanned.records = records;
    scanned.next = scanned.next.min(end);
    scanned.damage.retain(|damage| damage.records.start < end.0);
    for damage in &mut scanned.damage {
        damage.records.end = damage.records.end.min(end.0);
    }
    Ok(scanned)
}

fn first_lsn(path: &Path) -> Option<Lsn> {
    path.file_stem()?.to_str()?.parse().ok().map(Lsn)
}

/// The folder of segments.
#[derive(Clone, Debug)]
pub(crate) struct Segments {
    dir: PathBuf,
}

impl Segments {
    /// The folder, made if it is not there.
    pub(crate) fn open(dir: PathBuf) -> Result<Self> {
        fs::create_dir_all(&dir).map_err(|source| Error::Io {
            context: format!("creating {}", dir.display()),
            source,
        })?;
        Ok(Self { dir })
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(super) fn path(&self, first: Lsn) -> PathBuf {
        self.dir.join(format!("{:020}.log", first.0))
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

    /// All segments with their first record and the one that their records are below, oldest first. The number of a
    /// segment's first record bounds the segment before it.
    pub(crate) fn bounded(&self) -> Result<Vec<(Range<Lsn>, PathBuf)>> {
        let all = self.list()?;
        let ends = all.iter().skip(1).map(|(next, _)| *next).chain([Lsn(u64::MAX)]);
        let ends: Vec<Lsn> = ends.collect();
        Ok(all.into_iter().zip(ends).map(|((first, path), end)| (first..end, path)).collect())
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

    /// The bytes of all segments.
    pub(crate) fn bytes(&self) -> Result<u64> {
        let all = self.list()?;
        Ok(all.iter().filter_map(|(_, path)| fs::metadata(path).ok()).map(|m| m.len()).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(dir: &Path, records: &[&[u8]]) -> PathBuf {
        let mut bytes = header(Lsn(1)).to_vec();
        for (i, payload) in records.iter().enumerate() {
            put_frame(&mut bytes, Lsn(i as u64 + 1), payload);
        }
        let path = dir.join(format!("{:020}.log", 1));
        fs::write(&path, bytes).unwrap();
        path
    }

    fn read(path: &Path) -> (Vec<Vec<u8>>, Scanned) {
        let mut all = Vec::new();
        let scanned = scan(path, |_, payload| {
            all.push(payload.to_vec());
            Ok(())
        });
        (all, scanned.unwrap())
    }

    #[test]
    fn a_torn_end_is_no_damage() {
        let dir = tempfile::tempdir().unwrap();
        let path = segment(dir.path(), &[b"first", b"second", b"third"]);
        let whole = fs::read(&path).unwrap();
        let two = HEADER_BYTES + 2 * FRAME_HEADER_BYTES + 11;
        for cut in two..whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let (records, scanned) = read(&path);
            assert_eq!(records, [&b"first"[..], b"second"], "cut at {cut}");
            assert_eq!((scanned.next, scanned.damage), (Lsn(3), vec![]));
        }
    }

    #[test]
    fn a_flipped_byte_loses_one_record_and_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = segment(dir.path(), &[b"first", b"second", b"third"]);
        let whole = fs::read(&path).unwrap();
        let second = HEADER_BYTES + FRAME_HEADER_BYTES + 5;
        for at in second..second + FRAME_HEADER_BYTES + 6 {
            let mut bad = whole.clone();
            bad[at] ^= 0x10;
            fs::write(&path, &bad).unwrap();
            let (records, scanned) = read(&path);
            assert_eq!(records, [&b"first"[..], b"third"], "flipped at {at}");
            assert_eq!(scanned.damage.len(), 1);
            assert_eq!(scanned.damage[0].records, 2..3);
        }
    }

    #[test]
    fn a_damaged_last_record_is_told_too() {
        let dir = tempfile::tempdir().unwrap();
        let path = segment(dir.path(), &[b"first", b"second"]);
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, &bytes).unwrap();
        let (records, scanned) = read(&path);
        assert_eq!(records, [b"first"]);
        assert_eq!(scanned.damage[0].records, 2..3);
        assert_eq!(scanned.next, Lsn(3));
    }

    #[test]
    fn only_what_is_wholly_sealed_is_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let segments = Segments::open(dir.path().to_owned()).unwrap();
        for first in [1, 10, 20] {
            fs::write(segments.path(Lsn(first)), header(Lsn(first))).unwrap();
        }
        segments.delete_through(Lsn(18)).unwrap();
        let firsts = || segments.list().unwrap().iter().map(|(l, _)| l.0).collect::<Vec<_>>();
        assert_eq!(firsts(), [10, 20]);
        segments.delete_through(Lsn(19)).unwrap();
        assert_eq!(firsts(), [20]);
    }
}
