//! Blocks: immutable, self-contained pieces of one metric, one window of time, many series.
//!
//! A block is a frame (kind, version, checksum) around its [`BlockInfo`], its [`rows::Rows`] and its columns:
//! values for points, [`cells`] for rollups of numbers, [`sketches`] for [`distributions`] and [`sets`]. The info is
//! also an entry of the catalog, so that a query chooses blocks without reading them, and the catalog can
//! be made anew from the blocks.

mod builder;
mod cells;
mod check;
mod distributions;
mod envelope;
mod info;
mod points;
mod rows;
mod sets;
mod sketches;

pub(crate) use builder::BlockBuilder;
pub(crate) use cells::{CellBlock, CellBlockBuilder, CellColumn};
#[cfg(fuzzing)]
pub(crate) use check::read_all;
pub(crate) use check::{check, describe, verify};
pub(crate) use info::{BlockInfo, BlockKey, Coverage, Tier, UnitId, WriteOrder};
pub(crate) use points::{Piece, PointBlock, PointBlockBuilder, shared_times};
pub(crate) use sketches::{CellSketch, SketchBlock, SketchBlockBuilder, SketchRows};
