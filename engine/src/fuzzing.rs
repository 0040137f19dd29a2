//! What the fuzz targets call: decoders, fed with any bytes. They must answer or refuse, never panic. Compiled with
//! `--cfg fuzzing` only.

use crate::codec::frame;
use crate::log::Record;
use crate::metrics::block;
use crate::sketch::{Cardinality, Distribution};

/// One record of the log.
pub fn log_record(bytes: &[u8]) {
    let _outcome = Record::decode(bytes);
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
