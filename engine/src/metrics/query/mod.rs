//! Answering a question about one metric.
//!
//! ```text
//! registry ─▶ series and groups ─┐
//! catalog ─▶ [grain]: where only coarse cells are left, and the range widened to them
//! catalog, head ─▶ [plan]: which blocks, in which tier, for which part of the range; what it will cost
//!                                └▶ [run]: tasks on the pool ─▶ one accumulator a worker ─▶ merged ─▶ [answer]
//! ```
//!
//! Whole buckets come from the coarsest tier that fits, ragged edges from finer ones, what is not rolled up yet from points. All
//! of them are the same numbers: a tier is the sum of its points, and sums do not depend on the order.

mod answer;
mod ask;
mod grain;
mod numbers;
mod plan;
mod run;
mod sketches;
mod slots;

pub(crate) use ask::{query, query_all};
