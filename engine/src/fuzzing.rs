//! What the fuzz targets call: decoders, fed with any bytes. They must answer or refuse, never panic. Compiled with
//! `--cfg fuzzing` only.

use crate::codec::frame;
use crate::events;
use crate::log::{Record, encode_write};
use crate::metrics::{self, block};
use crate::model::{EventRows, Properties};
use crate::sketch::{Cardinality, Distribution};

/// One record of the log. What its points and readings are is written again as it was, and readings are compared with each
/// other.
pub fn log_record(bytes: &[u8]) {
    let Ok(record) = Record::decode(bytes) else { return };
    let mut points = record.points;
    let again = encode_write(&points, &EventRows::default(), None);
    let again = Record::decode(&again).ok().map(|record| record.points);
    assert_eq!(again.as_ref(), Some(&points), "points and readings come back");
    if let Some(readings) = points.take_readings() {
        metrics::compare_readings(readings);
    }
}

/// One segment of the log: written, then damaged as the bytes say. What is read of it is what was written.
pub fn log_segment(bytes: &[u8]) {
    crate::log::fuzz::read_damaged(bytes);
}

/// RocksDB's log: any bytes, and one that was written and then damaged as the bytes say. What is read of it is what was written.
pub fn db_log(bytes: &[u8]) {
    crate::storage::read_damaged_log(bytes);
}

/// Last readings of a page, of the kind that the first byte says. The frame around them is made here: a checksum would keep the
/// fuzzer out.
pub fn baselines(bytes: &[u8]) {
    let Some((kind, payload)) = bytes.split_first() else { return };
    metrics::read_baselines(kind % 2 == 0, payload);
}

/// One block, of the kind that the first byte says. The frame around it is made here: a checksum would keep the
/// fuzzer out.
pub fn block(bytes: &[u8]) {
    let Some((kind, payload)) = bytes.split_first() else { return };
    let kinds = [
        frame::FrameKind::Points,
        frame::FrameKind::Cells,
        frame::FrameKind::Distributions,
        frame::FrameKind::Sets,
    ];
    let Some(kind) = kinds.get(usize::from(*kind) % kinds.len()) else { return };
    let mut framed = Vec::new();
    let mark = frame::begin(&mut framed, *kind, 1);
    framed.extend_from_slice(payload);
    frame::close(&mut framed, mark);
    block::read_all(&framed);
}

/// A distribution or a set; what can be read is written again as it was.
pub fn sketch(bytes: &[u8]) {
    let mut again = Vec::new();
    if let Ok(distribution) = Distribution::decode(bytes) {
        distribution.encode(&mut again);
        assert_eq!(again, bytes, "a distribution has one stored form");
    }
    again.clear();
    if let Ok(set) = Cardinality::decode(bytes) {
        set.encode(&mut again);
        assert_eq!(again, bytes, "a set has one stored form");
    }
}

/// One block of events: the length of its header, the header, the sections. The frame around the header is made here, and
/// the checksums of sections are not looked at: they would keep the fuzzer out.
pub fn event_block(bytes: &[u8]) {
    let Some((length, rest)) = bytes.split_first_chunk::<2>() else { return };
    let Some((header, sections)) = rest.split_at_checked(u16::from_le_bytes(*length).into()) else {
        return;
    };
    let mut framed = Vec::new();
    let mark = frame::begin(&mut framed, frame::FrameKind::Events, 1);
    framed.extend_from_slice(header);
    frame::close(&mut framed, mark);
    let mut whole = (framed.len() as u32).to_le_bytes().to_vec();
    whole.extend_from_slice(&framed);
    whole.extend_from_slice(sections);
    events::read_block(&whole);
}

/// Properties of an event: what is taken is taken again as it is, and what is split into columns is joined to the same text.
pub fn properties(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Some(joined) = events::split_and_join(text) {
        assert_eq!(joined, text, "any text that is split comes back");
    }
    let Ok(properties) = Properties::parse(text) else { return };
    assert_eq!(Properties::parse(properties.as_str()).as_ref(), Ok(&properties));
    if let Some(joined) = events::split_and_join(properties.as_str()) {
        assert_eq!(joined, properties.as_str(), "properties come back");
    }
}
