//! Blocks: immutable, self-contained pieces of one metric, one window of time, many series.
//!
//! A block is a frame (kind, version, checksum) around its [`BlockInfo`], its [`rows::Rows`] and its columns:
//! values for points, [`cells`] for rollups of numbers, [`sketches`] for distributions and sets. The info is
//! also an entry of the catalog, so that a query chooses blocks without reading them, and the catalog can
//! be made anew from the blocks.

mod cells;
mod info;
mod points;
mod rows;
mod sketches;

pub(crate) use cells::{CellBlock, CellBlockBuilder, CellColumn};
pub(crate) use info::{BlockInfo, BlockKey, Tier, UnitId, WriteOrder};
pub(crate) use points::{Piece, PointBlock, PointBlockBuilder};
pub(crate) use rows::{RowsBuilder, Times};
pub(crate) use sketches::{CellSketch, SketchBlock, SketchBlockBuilder};

use crate::codec::bytes::Reader;
use crate::codec::frame::{self, FrameKind};
use crate::codec::{CodecError, CodecResult};
use crate::model::MetricType;

/// The version of every block format written today.
const BLOCK_VERSION: u8 = 1;

/// Checks that bytes are the block that `info` describes, without decoding it.
pub(crate) fn check(info: &BlockInfo, bytes: &[u8]) -> CodecResult<()> {
    let kind = match (info.kind, info.key.tier) {
        (MetricType::Distribution, _) => FrameKind::Distributions,
        (MetricType::Set, _) => FrameKind::Sets,
        (_, Tier::Raw) => FrameKind::Points,
        _ => FrameKind::Cells,
    };
    frame::open(bytes, kind, BLOCK_VERSION).map(|_| ())
}

/// What a block says of itself.
pub(crate) fn describe(key: BlockKey, bytes: &[u8]) -> CodecResult<BlockInfo> {
    let Some(kind) = bytes.first().and_then(|code| FrameKind::of_block(*code)) else {
        return Err(CodecError::new("the bytes are no block"));
    };
    let (_, payload) = frame::open(bytes, kind, BLOCK_VERSION)?;
    let mut info = BlockInfo::decode(key, &mut Reader::new(payload))?;
    info.bytes = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    Ok(info)
}
