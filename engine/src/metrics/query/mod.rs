//! Queries of one metric.
//!
//! ```text
//! registry ──▶ series and groups
//! catalog ───▶ [grain]: parts with only cells wider than the interval; the range, widened to them
//! catalog, head ─▶ [plan]: blocks, tiers and parts of the range to read; the estimated cost
//!        └─▶ [run]: tasks on the thread pool, one accumulator per worker, merged ─▶ [answer]
//! ```
//!
//! Whole buckets are read from the coarsest tier that fits, partial ones from finer tiers, and data
//! without rollups from samples. The result is the same for each: a cell is the aggregate of its
//! samples, and sums do not depend on the order.

mod execute;
mod numbers;
mod plan;
mod read_range;
mod result;
mod run;
mod sketches;
mod slots;

pub(crate) use execute::{query, query_all};
