//! Blocks: immutable, each with the rows of many series of one metric within one time window.
//!
//! A block is a frame (kind, version, checksum) that contains its [`BlockInfo`], its [`rows::Rows`]
//! and its columns: values for samples, [`cells`] for rollups of gauges and counters, [`sketches`]
//! for [`distributions`] and [`sets`]. The info is also stored as the catalog entry, so that a
//! query selects blocks without reading them, and the catalog can be rebuilt from the blocks.

// A number that loses bits on its way to or from disk is silent corruption. Tests may cast.
#![cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

mod builder;
mod cell_columns;
mod cell_page;
mod cell_rows;
mod cells;
mod check;
mod distributions;
mod envelope;
mod info;
mod opened;
mod points;
mod predicted;
mod rows;
mod sets;
mod sketches;
#[cfg(test)]
mod stops_tests;
mod wanted;

pub(crate) use builder::BlockBuilder;
pub(crate) use cell_page::DecimalColumns;
pub(crate) use cell_rows::DecimalCells;
pub(crate) use cells::{CellBlock, CellBlockBuilder, CellColumn};
#[cfg(fuzzing)]
pub(crate) use check::read_all;
pub(crate) use check::{check, describe, expect_info, verify};
#[cfg(test)]
pub(crate) use info::sample_info;
pub(crate) use info::{BlockDay, BlockInfo, BlockKey, CompactedSetId, Coverage, Tier, WriteOrder};
pub(crate) use opened::{DecodedFrom, OpenedBlock};
pub(crate) use points::{PointBlock, PointBlockBuilder, Samples, time_page_refs};
pub(crate) use rows::FEW_SERIES;
pub(crate) use sketches::{CellCursor, CellSketch, SketchBlockBuilder, SketchRows};
