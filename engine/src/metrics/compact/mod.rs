//! Compaction: blocks of a window become one compacted block set, the same rows once with their
//! rollups.
//!
//! [`compaction`] chooses windows and replaces blocks, [`consolidate`] makes the new ones in
//! bounded pieces ([`pieces`], [`sources`], [`output`], [`rollups`]), and [`mod@merge_scan`] brings
//! rows of several sources into one order, also for seals and queries.

mod compaction;
mod consolidate;
mod merge_scan;
mod output;
mod pieces;
mod rollups;
mod sources;

#[cfg(test)]
mod tests;

pub(crate) use merge_scan::{Source, each_wanted, merge_scan, scan_gauges};
