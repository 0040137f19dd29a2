//! A frame: the envelope of everything the engine keeps that must be known to be whole.
//!
//! ```text
//! ┌──────────┬────────────┬───────────────────────────┬─────────┐
//! │ kind: u8 │ version:u8 │ xxh3-64 of kind, version, │ payload │
//! │          │            │ payload: u64 LE           │         │
//! └──────────┴────────────┴───────────────────────────┴─────────┘
//! ```
//!
//! The checksum is looked at before any decoder sees the payload.

use xxhash_rust::xxh3::Xxh3;

use super::{CodecError, CodecResult};

/// Bytes before the payload.
pub(crate) const HEADER_BYTES: usize = 10;

/// What a frame holds. The numbers are on disk and never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum FrameKind {
    /// A block of gauge or counter points.
    Points = 1,
    /// A block of rollup cells of gauges or counters.
    Cells = 2,
    /// A block of distribution cells.
    Distributions = 3,
    /// A block of set cells.
    Sets = 4,
    /// The description of a block in the catalog.
    CatalogEntry = 5,
    /// Series that one seal added to the registry.
    SeriesSegment = 6,
    /// A metric of the registry.
    Metric = 7,
    /// How much a metric was given, and when.
    MetricStats = 8,
    /// The header of a block of events.
    Events = 9,
    /// The description of a block of events in the catalog.
    EventCatalogEntry = 10,
    /// The last readings of a page of counters.
    CounterBaselines = 11,
    /// The last readings of a page of histograms.
    HistogramBaselines = 12,
    /// A page of times that blocks share.
    Times = 13,
    /// The last days that series of a page have data of.
    LastDays = 14,
    /// What an engine believed about the time when it last looked.
    ClockMark = 32,
}

impl FrameKind {
    /// The kind of block with this code, if there is one.
    pub(crate) fn of_block(code: u8) -> Option<Self> {
        [Self::Points, Self::Cells, Self::Distributions, Self::Sets]
            .into_iter()
            .find(|kind| *kind as u8 == code)
    }
}

/// StartTime a frame in `out`; the payload is to be appended, then [`close`] called with the returned mark.
pub(crate) fn begin(out: &mut Vec<u8>, kind: FrameKind, version: u8) -> usize {
    let mark = out.len();
    out.extend_from_slice(&[kind as u8, version]);
    out.extend_from_slice(&[0; 8]);
    mark
}

/// Fills in the checksum of the frame that began at `mark`.
pub(crate) fn close(out: &mut [u8], mark: usize) {
    let Some((head, payload)) =
        out.get_mut(mark..).and_then(|f| f.split_at_mut_checked(HEADER_BYTES))
    else {
        unreachable!("a frame is closed with the mark that begin returned");
    };
    let (tags, sum) = head.split_at_mut(2);
    sum.copy_from_slice(&checksum(tags, payload).to_le_bytes());
}

/// The payload of a frame of `kind` written by `version` of its format or an older one.
pub(crate) fn open(bytes: &[u8], kind: FrameKind, newest: u8) -> CodecResult<(u8, &[u8])> {
    let Some((head, payload)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
        return Err(CodecError::new(format!("a frame of {} bytes", bytes.len())));
    };
    let [found, version, sum @ ..] = *head;
    if checksum(&[found, version], payload) != u64::from_le_bytes(sum) {
        return Err(CodecError::new("checksum does not match"));
    }
    if found != kind as u8 {
        return Err(CodecError::new(format!("frame of kind {found}, {kind:?} wanted")));
    }
    if version == 0 || version > newest {
        return Err(CodecError::new(format!(
            "{kind:?} of version {version}, at most {newest} is known"
        )));
    }
    Ok((version, payload))
}

fn checksum(tags: &[u8], payload: &[u8]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(tags);
    hash.update(payload);
    hash.digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(payload: &[u8]) -> Vec<u8> {
        let mut out = b"before".to_vec();
        let mark = begin(&mut out, FrameKind::Cells, 3);
        out.extend_from_slice(payload);
        close(&mut out, mark);
        out.split_off(mark)
    }

    #[test]
    fn a_frame_opens_with_what_was_put_in() {
        assert_eq!(open(&framed(b"abc"), FrameKind::Cells, 3), Ok((3, &b"abc"[..])));
        assert_eq!(open(&framed(b""), FrameKind::Cells, 4), Ok((3, &b""[..])));
    }

    #[test]
    fn any_flipped_bit_is_noticed() {
        let frame = framed(b"some payload");
        for i in 0..frame.len() * 8 {
            let mut bad = frame.clone();
            bad[i / 8] ^= 1 << (i % 8);
            assert!(open(&bad, FrameKind::Cells, 255).is_err(), "bit {i}");
        }
    }

    #[test]
    fn another_kind_and_a_newer_version_are_refused() {
        assert!(open(&framed(b"x"), FrameKind::Points, 3).is_err());
        assert!(open(&framed(b"x"), FrameKind::Cells, 2).is_err());
        assert!(open(b"short", FrameKind::Cells, 2).is_err());
    }
}
