//! Blocks: immutable, self-contained pieces of one metric, one window of time, many series.
//!
//! A block is a frame (kind, version, checksum) around its [`BlockInfo`], its [`rows::Rows`] and its columns:
//! values for points, [`cells`] for rollups of numbers, [`sketches`] for distributions and sets. The info is
//! also an entry of the catalog, so that a query chooses blocks without reading them, and the catalog can
//! be made anew from the blocks.

mod cells;
mod check;
mod info;
mod points;
mod rows;
mod sketches;

pub(crate) use cells::{CellBlock, CellBlockBuilder, CellColumn};
use check::BLOCK_VERSION;
#[cfg(fuzzing)]
pub(crate) use check::read_all;
pub(crate) use check::{check, describe};
pub(crate) use info::{BlockInfo, BlockKey, Tier, UnitId, WriteOrder};
pub(crate) use points::{Piece, PointBlock, PointBlockBuilder};
pub(crate) use rows::{RowsBuilder, Times};
pub(crate) use sketches::{CellSketch, SketchBlock, SketchBlockBuilder};
