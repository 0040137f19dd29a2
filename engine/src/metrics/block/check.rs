//! Identifying a block without decoding its rows, and verifying a whole block.

use std::sync::Arc;

use super::envelope::version_of;
use super::info::{BlockInfo, BlockKey, Coverage, Tier};
use super::{CellBlock, PointBlock, SketchRows};
#[cfg(fuzzing)]
use super::{CellCursor, CellSketch};
use crate::cast::to_u32;
use crate::codec::bytes::Reader;
use crate::codec::frame::{self, FrameKind};
use crate::codec::{CodecError, CodecResult};
use crate::error::Result;
use crate::metrics::times::{PageNumber, TimePage, TimePageGroup};
use crate::model::MetricType;
use crate::sketch::{Cardinality, Distribution};

/// Returns the format of the block that `info` describes.
fn kind_of(info: &BlockInfo) -> FrameKind {
    match (info.kind, info.key.tier) {
        (MetricType::Distribution, _) => FrameKind::Distributions,
        (MetricType::Set, _) => FrameKind::Sets,
        (_, Tier::Raw) => FrameKind::Points,
        _ => FrameKind::Cells,
    }
}

/// Checks that `bytes` are the block described by `info`, its catalog entry, without decoding the
/// rows.
pub(crate) fn check(info: &BlockInfo, bytes: &[u8]) -> CodecResult<()> {
    if bytes.first() != Some(&(kind_of(info) as u8)) {
        return Err(CodecError::new("the block does not have the format of its catalog entry"));
    }
    expect_info(info, describe(info.key, bytes)?, bytes)
}

/// Checks that `found`, the info in the block `bytes`, is that of its catalog entry `info`.
pub(crate) fn expect_info(info: &BlockInfo, found: BlockInfo, bytes: &[u8]) -> CodecResult<()> {
    // The coverage is only in the catalog entry, and the length of a block is not in the block.
    let found = BlockInfo { coverage: info.coverage, bytes: to_u32(bytes.len()), ..found };
    if found != *info {
        return Err(CodecError::new("the block does not match its catalog entry"));
    }
    Ok(())
}

/// Checks that `bytes` are the block described by `info`, and decodes all of it. `find` returns
/// time pages.
pub(crate) fn verify(
    info: &BlockInfo,
    bytes: &[u8],
    find: impl FnMut(TimePageGroup, PageNumber) -> Result<Arc<TimePage>>,
) -> Result<()> {
    check(info, bytes)?;
    match kind_of(info) {
        FrameKind::Distributions => {
            SketchRows::<Distribution>::open(info.key, bytes)?.1.verify(info)?;
        }
        FrameKind::Sets => SketchRows::<Cardinality>::open(info.key, bytes)?.1.verify(info)?,
        FrameKind::Points => PointBlock::open(info.key, bytes, find)?.1.verify(info)?,
        _ => CellBlock::open(info.key, bytes)?.1.verify(info)?,
    }
    Ok(())
}

/// Returns the info stored in a block.
pub(crate) fn describe(key: BlockKey, bytes: &[u8]) -> CodecResult<BlockInfo> {
    let Some(kind) = bytes.first().and_then(|code| FrameKind::of_block(*code)) else {
        return Err(CodecError::new("the bytes are not a block"));
    };
    let (_, payload) = frame::open(bytes, kind, version_of(kind))?;
    let mut info = BlockInfo::decode(key, &mut Reader::new(payload))?;
    info.bytes = to_u32(bytes.len());
    info.coverage = Coverage::Unknown;
    Ok(info)
}

/// Decodes all of a block, for the fuzz target.
#[cfg(fuzzing)]
pub(crate) fn read_all(bytes: &[u8]) {
    use super::CellColumn;
    use super::cell_rows::CellRows;
    use crate::model::MetricId;
    let key = BlockKey { tier: Tier::Raw, day: 0, metric: MetricId(0), sequence: 0 };
    let (start, end) = (i64::MIN, i64::MAX);
    if let Ok((_, mut block)) = PointBlock::open(key, bytes, |_, _| Ok(Default::default())) {
        let append = |block: &mut PointBlock<'_>, index, range| {
            let _outcome = block.append(index, range, &mut Vec::new(), &mut Vec::new());
        };
        (0..block.series().len()).for_each(|index| append(&mut block, index, (start, end)));
        let all = block.series().len();
        for range in [(start, 0), (0, end)] {
            let _outcome = block.read_each((0..all).zip(0..), range, |_, _| Ok(()));
        }
        // Again in parts, the later first: from stops where there are any.
        block.expect_few();
        for index in (0..block.series().len()).rev() {
            append(&mut block, index, (0, end));
            append(&mut block, index, (start, 0));
        }
    }
    if let Ok((_, mut block)) = CellBlock::open(key, bytes) {
        let none = CellColumn::default();
        let (sum, max) = (CellColumn { sum: true, ..none }, CellColumn { max: true, ..none });
        for wanted in [max, sum, CellColumn::ALL] {
            for index in 0..block.series().len() {
                let _outcome = block.read(index, start, end, wanted, |_, _| {});
            }
        }
        // Again in parts, the later first: from stops where there are any.
        block.expect_few();
        for wanted in [sum, max, CellColumn::ALL] {
            for index in (0..block.series().len()).rev() {
                let _outcome = block.read(index, 0, end, wanted, |_, _| {});
                let _outcome = block.read(index, start, 0, wanted, |_, _| {});
                let decimals = |rows: CellRows<'_>| rows.decimals().map(drop);
                let _outcome = block.read_rows(index, (start, end), wanted, decimals);
            }
        }
    }
    merge_all::<Distribution>(key, bytes, (start, end));
    merge_all::<Cardinality>(key, bytes, (start, end));
}

#[cfg(fuzzing)]
fn merge_all<S: CellSketch>(key: BlockKey, bytes: &[u8], range: (i64, i64)) {
    let Ok((_, rows)) = SketchRows::<S>::open(key, bytes) else { return };
    let (mut checked, mut cells, mut merged) = (rows.cursor(), rows.cursor(), S::default());
    for index in 0..rows.series().len() {
        if checked.read(index, range, |_, cell| cell.check()).is_err() {
            return;
        }
        let _outcome = cells.read(index, range, |_, cell| cell.merge_checked(&mut merged));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::MetricId;

    /// Opens a seed of the fuzz target: the kind of the block, then the payload of its frame.
    fn open_seed(seed: &[u8]) -> (BlockInfo, Result<()>) {
        let kinds =
            [FrameKind::Points, FrameKind::Cells, FrameKind::Distributions, FrameKind::Sets];
        let (kind, payload) = seed.split_first().unwrap();
        let mut bytes = Vec::new();
        let mark = frame::begin(&mut bytes, kinds[usize::from(*kind)], 1);
        bytes.extend_from_slice(payload);
        frame::close(&mut bytes, mark);
        let tier = if *kind == 0 { Tier::Raw } else { Tier::Minute };
        let key = BlockKey { tier, day: 0, metric: MetricId(0), sequence: 0 };
        let info = describe(key, &bytes).unwrap();
        (info, verify(&info, &bytes, |_, _| unreachable!("the seeds refer to no time pages")))
    }

    #[test]
    fn the_fuzz_seeds_are_valid_blocks_and_cells() {
        for seed in [
            &include_bytes!("../../../../fuzz/seeds/block/points")[..],
            include_bytes!("../../../../fuzz/seeds/block/cells"),
            include_bytes!("../../../../fuzz/seeds/block/distributions"),
            include_bytes!("../../../../fuzz/seeds/block/sets"),
        ] {
            let (info, verified) = open_seed(seed);
            assert_eq!((info.rows, verified.map_err(|error| error.to_string())), (3, Ok(())));
        }
        for seed in [
            &include_bytes!("../../../../fuzz/seeds/sketch/values")[..],
            include_bytes!("../../../../fuzz/seeds/sketch/reported"),
            include_bytes!("../../../../fuzz/seeds/sketch/buckets"),
        ] {
            let mut again = Vec::new();
            Distribution::decode(seed).unwrap().encode(&mut again);
            assert_eq!(again, seed);
        }
        for seed in [
            &include_bytes!("../../../../fuzz/seeds/sketch/members")[..],
            include_bytes!("../../../../fuzz/seeds/sketch/registers"),
        ] {
            assert!(Cardinality::decode(seed).is_ok());
        }
    }
}
