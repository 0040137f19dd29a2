//! From totals to what was added: agents tell how far their counters and histograms have come, and what is kept is how much came
//! between one reading and the next.
//!
//! ```text
//! reading ─▶ [rule]: late, first, reset or next? ─▶ [counter], [buckets]: less the one before ─▶ point, or cell of the minute
//!                 ▲                                                                         └▶ the last reading of its series
//!                 └── [baselines]: the last readings ◀── [pages]: neighbours side by side, copied on write ──▶ [rows] of [stored] pages
//! ```
//!
//! The log holds readings as they came, and they are compared where records are applied, in the order of the log: a replay comes
//! to the same increases. The last readings at the position of a seal are written with its blocks, those of pages in which
//! anything changed; so every reading counts once, however often the process is killed.

mod baselines;
mod buckets;
mod counter;
#[cfg(fuzzing)]
mod fuzzing;
mod pages;
mod rows;
mod rule;
mod stored;
#[cfg(test)]
mod tests;
mod values;

pub(crate) use baselines::Baselines;
#[cfg(fuzzing)]
pub(crate) use fuzzing::{compare, read_page};
pub(crate) use pages::page_of;
pub(crate) use rows::{ChangedBaselines, check as check_rows, load};
