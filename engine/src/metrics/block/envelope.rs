//! The start of every block: the frame, the info and the rows.

use super::info::{BlockInfo, BlockKey};
use super::rows::{Rows, RowsBuilder};
use crate::codec::CodecResult;
use crate::codec::bytes::Reader;
use crate::codec::frame::{self, FrameKind};
use crate::codec::integers::Effort;
use crate::codec::verified::expect_same;
use crate::metrics::times::TimePageWriter;

/// Returns the current version of a block format.
pub(super) fn version_of(kind: FrameKind) -> u8 {
    match kind {
        // 2: cells with few values and a reported sum.
        FrameKind::Distributions => 2,
        // 2: sums of values of at least 2^900.
        FrameKind::Cells => 2,
        _ => 1,
    }
}

/// Encodes a block; `columns` appends its columns after the rows. Times of samples that other
/// blocks may share go to `times`.
pub(super) fn build(
    kind: FrameKind,
    info: &BlockInfo,
    (rows, times): (&RowsBuilder, &TimePageWriter<'_>),
    effort: Effort,
    columns: impl FnOnce(&mut Vec<u8>) -> CodecResult<()>,
) -> CodecResult<Vec<u8>> {
    let mut out = Vec::new();
    let mark = frame::begin(&mut out, kind, version_of(kind));
    info.encode(&mut out);
    // Cells have regular times except for gaps, so sharing them saves little. Uncompressed blocks
    // are self-contained.
    let shares = kind == FrameKind::Points && effort != Effort::Plain;
    let share = |vector: &[i64]| shares.then(|| times.place(info.page_group(), vector));
    rows.encode(effort, share, &mut out)?;
    columns(&mut out)?;
    frame::close(&mut out, mark);
    Ok(out)
}

/// Opens a block; `columns` reads its columns, which must end with the block.
pub(super) fn open<'a, C>(
    kind: FrameKind,
    key: BlockKey,
    bytes: &'a [u8],
    columns: impl FnOnce(&BlockInfo, &Rows<'a>, &mut Reader<'a>) -> CodecResult<C>,
) -> CodecResult<(BlockInfo, Rows<'a>, C)> {
    let (_, payload) = frame::open(bytes, kind, version_of(kind))?;
    let mut reader = Reader::new(payload);
    let info = BlockInfo::decode(key, &mut reader)?;
    let rows = Rows::read(&mut reader)?;
    let columns = columns(&info, &rows, &mut reader)?;
    reader.finish()?;
    Ok((info, rows, columns))
}

/// Compares the info and the rows of a newly encoded block, as decoded, with those it was built
/// from.
pub(super) fn check(
    info: &BlockInfo,
    (rows, times): (&RowsBuilder, &TimePageWriter<'_>),
    (read_info, read_rows): (&BlockInfo, &Rows<'_>),
) -> CodecResult<()> {
    expect_same(read_info == info, "block infos")?;
    read_rows.check(rows, |place, vector| times.holds(info.page_group(), place, vector))
}
