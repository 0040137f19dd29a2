//! Telling what a block is without decoding its rows.

use super::envelope::version_of;
use super::info::{BlockInfo, BlockKey, Tier};
use crate::codec::bytes::Reader;
use crate::codec::frame::{self, FrameKind};
use crate::codec::{CodecError, CodecResult};
use crate::model::MetricType;

/// Checks that bytes are the block that `info` describes, without decoding it.
pub(crate) fn check(info: &BlockInfo, bytes: &[u8]) -> CodecResult<()> {
    let kind = match (info.kind, info.key.tier) {
        (MetricType::Distribution, _) => FrameKind::Distributions,
        (MetricType::Set, _) => FrameKind::Sets,
        (_, Tier::Raw) => FrameKind::Points,
        _ => FrameKind::Cells,
    };
    frame::open(bytes, kind, version_of(kind)).map(|_| ())
}

/// What a block says of itself.
pub(crate) fn describe(key: BlockKey, bytes: &[u8]) -> CodecResult<BlockInfo> {
    let Some(kind) = bytes.first().and_then(|code| FrameKind::of_block(*code)) else {
        return Err(CodecError::new("the bytes are no block"));
    };
    let (_, payload) = frame::open(bytes, kind, version_of(kind))?;
    let mut info = BlockInfo::decode(key, &mut Reader::new(payload))?;
    info.bytes = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    Ok(info)
}

/// Decodes all of a block, for the fuzzer.
#[cfg(fuzzing)]
pub(crate) fn read_all(bytes: &[u8]) {
    use super::{CellBlock, CellColumn, PointBlock, SketchBlock};
    use crate::model::MetricId;
    use crate::sketch::{Cardinality, Distribution};
    let key = BlockKey { tier: Tier::Raw, day: 0, metric: MetricId(0), sequence: 0 };
    let (start, end) = (i64::MIN, i64::MAX);
    if let Ok((_, mut block)) = PointBlock::open(key, bytes, |_, _| Ok(Default::default())) {
        for index in 0..block.series().len() {
            let _outcome = block.append(index, (start, end), &mut Vec::new(), &mut Vec::new());
        }
    }
    if let Ok((_, mut block)) = CellBlock::open(key, bytes) {
        for index in 0..block.series().len() {
            let _outcome = block.read(index, start, end, CellColumn::ALL, |_, _| {});
        }
    }
    if let Ok((_, mut block)) = SketchBlock::<Distribution>::open(key, bytes) {
        for index in 0..block.series().len() {
            let _outcome = block.read(index, start, end, |_, _| {});
        }
    }
    if let Ok((_, mut block)) = SketchBlock::<Cardinality>::open(key, bytes) {
        for index in 0..block.series().len() {
            let _outcome = block.read(index, start, end, |_, _| {});
        }
    }
}
