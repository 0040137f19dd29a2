//! Entry points of the fuzz targets: decoders that receive arbitrary bytes. They must succeed or
//! return an error, never panic. Compiled only with `--cfg fuzzing`.

use crate::codec::frame;
use crate::events;
use crate::log::{Record, encode_write};
use crate::metrics::{self, block};
use crate::model::{EventRows, Properties};
use crate::sketch::{Cardinality, Distribution};

/// Decodes one log record. Its samples must survive re-encoding unchanged; cumulative samples are
/// also compared with each other.
pub fn log_record(bytes: &[u8]) {
    let Ok(record) = Record::decode(bytes) else { return };
    let mut points = record.points;
    let again = encode_write(&points, &EventRows::default(), None);
    let again = Record::decode(&again).ok().map(|record| record.points);
    assert_eq!(again.as_ref(), Some(&points), "samples do not survive a round trip");
    if let Some(cumulative) = points.take_cumulative() {
        metrics::compare_cumulative(cumulative);
    }
}

/// Writes one log segment and damages it as directed by `bytes`. Everything read from it must be
/// what was written.
pub fn log_segment(bytes: &[u8]) {
    crate::log::fuzz::read_damaged(bytes);
}

/// Reads a RocksDB log of arbitrary bytes, and one that was written and then damaged as directed by
/// `bytes`. Everything read from it must be what was written.
pub fn db_log(bytes: &[u8]) {
    crate::storage::read_damaged_log(bytes);
}

/// Decodes the last cumulative values of a page; the first byte selects their kind. The frame is
/// added here, since a random checksum would never match.
pub fn last_values(bytes: &[u8]) {
    let Some((kind, payload)) = bytes.split_first() else { return };
    metrics::read_last_values(kind % 2 == 0, payload);
}

/// Decodes a segment of the registry; the first byte selects its version. The frame is added here,
/// since a random checksum would never match.
pub fn registry_segment(bytes: &[u8]) {
    let Some((version, payload)) = bytes.split_first() else { return };
    metrics::read_registry_segment(1 + version % 2, payload);
}

/// Decodes one block; the first byte selects its kind. The frame is added here, since a random
/// checksum would never match.
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

/// Decodes a distribution and a set; what can be decoded must re-encode to the same bytes.
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

/// Decodes one block of events, given as the length of its header, the header and the sections. The
/// frame of the header is added here and the checksums of sections are not checked, since random
/// checksums would never match.
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

/// Parses the properties of an event. Parsed properties must parse again to the same value, and a
/// string split into columns must be joined to the same string.
pub fn properties(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Some(joined) = events::split_and_join(text) {
        assert_eq!(joined, text, "a split string does not survive a round trip");
    }
    let Ok(properties) = Properties::parse(text) else { return };
    assert_eq!(Properties::parse(properties.as_str()).as_ref(), Ok(&properties));
    if let Some(joined) = events::split_and_join(properties.as_str()) {
        assert_eq!(joined, properties.as_str(), "properties do not survive a round trip");
    }
}
