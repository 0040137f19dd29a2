//! Entry point of the fuzz target of segments.

use super::contents::Segment;
use super::encode::segment_row;
use crate::codec::frame::{self, FrameKind};

/// Decodes a segment of the registry. The series of one that is accepted must have valid tags, and
/// survive encoding.
pub(crate) fn read_segment(version: u8, payload: &[u8]) {
    let mut row = Vec::new();
    let mark = frame::begin(&mut row, FrameKind::SeriesSegment, version);
    row.extend_from_slice(payload);
    frame::close(&mut row, mark);
    let Ok(segment) = Segment::read(&row) else { return };
    let series = match segment.definitions() {
        Ok(series) => series,
        Err(error) => panic!("a segment was accepted whose series are invalid: {error}"),
    };
    let again = segment_row(&series);
    assert!(again.is_ok(), "a segment does not survive a round trip: {again:?}");
}
