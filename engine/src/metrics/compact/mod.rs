//! Compaction: blocks of a window become one compacted block set, the same rows once with their rollups.
//!
//! [`merge`] chooses windows and replaces blocks, [`consolidate`] makes the new ones in bounded pieces
//! ([`merge_pieces`], [`merge_sources`], [`merge_output`], [`rollups`]), and [`merge_scan`] brings rows of several
//! sources into one order, also for seals and queries.

mod consolidate;
mod merge;
mod merge_output;
mod merge_pieces;
mod merge_scan;
mod merge_sources;
mod rollups;

#[cfg(test)]
mod merge_tests;

pub(crate) use merge_scan::{Source, each_wanted, merge_scan};
