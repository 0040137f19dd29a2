//! A frame: the header with kind, version and checksum of everything the engine stores.
//!
//! ```text
//! ┌──────────┬────────────┬───────────────────────────┬─────────┐
//! │ kind: u8 │ version:u8 │ xxh3-64 of kind, version, │ payload │
//! │          │            │ payload: u64 LE           │         │
//! └──────────┴────────────┴───────────────────────────┴─────────┘
//! ```
//!
//! The checksum is verified before any decoder reads the payload.

use xxhash_rust::xxh3::Xxh3;

use super::{CodecError, CodecResult};

/// The size of the header before the payload.
pub(crate) const HEADER_BYTES: usize = 10;

/// The content of a frame. The numbers are on disk and never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum FrameKind {
    /// A block of gauge or counter samples.
    Points = 1,
    /// A block of rollup cells of gauges or counters.
    Cells = 2,
    /// A block of distribution cells.
    Distributions = 3,
    /// A block of set cells.
    Sets = 4,
    /// The catalog entry of a block.
    CatalogEntry = 5,
    /// The series that one seal added to the registry.
    SeriesSegment = 6,
    /// A metric of the registry.
    Metric = 7,
    /// The number of samples of a metric, with the time of its first and last.
    MetricStats = 8,
    /// The header of a block of events.
    Events = 9,
    /// The catalog entry of a block of events.
    EventCatalogEntry = 10,
    /// The last cumulative values of a page of counters.
    CounterLastValues = 11,
    /// The last cumulative values of a page of histograms.
    HistogramLastValues = 12,
    /// A time page, shared by blocks.
    Times = 13,
    /// For a page of series, the last day each has data of.
    LastDays = 14,
    /// The trusted time and the wall clock when the engine last compared them.
    ClockMark = 32,
}

impl FrameKind {
    /// Returns the kind of block with this code, if there is one.
    pub(crate) fn of_block(code: u8) -> Option<Self> {
        [Self::Points, Self::Cells, Self::Distributions, Self::Sets]
            .into_iter()
            .find(|kind| *kind as u8 == code)
    }
}

/// Starts a frame in `out`. The caller appends the payload, then calls [`close`] with the returned
/// position.
pub(crate) fn begin(out: &mut Vec<u8>, kind: FrameKind, version: u8) -> usize {
    let mark = out.len();
    out.extend_from_slice(&[kind as u8, version]);
    out.extend_from_slice(&[0; 8]);
    mark
}

/// Fills in the checksum of the frame that starts at `mark`.
pub(crate) fn close(out: &mut [u8], mark: usize) {
    let Some((head, payload)) =
        out.get_mut(mark..).and_then(|f| f.split_at_mut_checked(HEADER_BYTES))
    else {
        unreachable!("close is called with the position that begin returned");
    };
    let (tags, sum) = head.split_at_mut(2);
    sum.copy_from_slice(&checksum(tags, payload).to_le_bytes());
}

/// Verifies the checksum of a frame; returns its version and payload. Fails unless it is of `kind`,
/// in a version from 1 to `newest`.
pub(crate) fn open(bytes: &[u8], kind: FrameKind, newest: u8) -> CodecResult<(u8, &[u8])> {
    let Some((head, payload)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
        return Err(CodecError::new(format!("a frame of {} bytes is too short", bytes.len())));
    };
    let [found, version, sum @ ..] = *head;
    if checksum(&[found, version], payload) != u64::from_le_bytes(sum) {
        return Err(CodecError::new("checksum does not match"));
    }
    if found != kind as u8 {
        return Err(CodecError::new(format!("expected a {kind:?} frame, found kind {found}")));
    }
    if version == 0 || version > newest {
        return Err(CodecError::new(format!(
            "{kind:?} frame has version {version}; the newest supported is {newest}"
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
    fn a_frame_round_trips() {
        assert_eq!(open(&framed(b"abc"), FrameKind::Cells, 3), Ok((3, &b"abc"[..])));
        assert_eq!(open(&framed(b""), FrameKind::Cells, 4), Ok((3, &b""[..])));
    }

    #[test]
    fn any_flipped_bit_is_detected() {
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
