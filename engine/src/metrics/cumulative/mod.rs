//! Cumulative samples: converts the samples of cumulative counters and histograms to deltas, the
//! increase between consecutive samples of a series.
//!
//! ```text
//! sample ─▶ [rule]: late, first, reset, next? ─▶ [counter], [buckets] ─▶ point or minute cell
//!              ▲                                          └▶ new last value of its series
//!              └── [baselines]: last values ◀── [pages]: copy on write ──▶ [rows], by [stored]
//! ```
//!
//! The log contains the samples as received; deltas are computed when records are applied, in log
//! order, so a replay yields the same deltas. A seal writes the last values as of its log position
//! in the same batch as its blocks (only the pages that changed), so every sample counts exactly
//! once even if the process is killed.

// A number that loses bits on its way to or from disk is silent corruption. Tests may cast.
#![cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

mod buckets;
mod counter;
#[cfg(fuzzing)]
mod fuzzing;
mod last_values;
mod pages;
mod rows;
mod rule;
mod stored;
#[cfg(test)]
mod tests;
mod values;

#[cfg(fuzzing)]
pub(crate) use fuzzing::{compare, read_page};
pub(crate) use last_values::LastValues;
pub(crate) use pages::page_of;
pub(crate) use rows::{ChangedLastValues, check as check_rows, load};
