//! Mergeable summaries: what the engine keeps of values and members that it does not keep one by one.
//!
//! All of them keep the same three promises. Their state depends on the multiset of what was added, never
//! on the order or on how it was split into parts that were merged. Equal states are equal bytes, so cells
//! can be compared, checksummed and written twice. Damaged bytes are refused with a [`SketchError`].
//!
//! - [`sum`]: a sum of `f64` without rounding.
//! - [`histogram`]: counts of magnitudes in the buckets of an HDR histogram.
//! - [`distribution`]: count, sum, extremes and quantiles; built from the two above.
//! - [`parts`]: a distribution as columns, and whether columns are one.
//! - [`registers`]: the registers of HyperLogLog and what they tell.
//! - `stored`: a distribution as bytes, for tests and the fuzzer.
//! - [`cardinality`]: how many distinct members; exact while few, HyperLogLog beyond.
//! - [`distinct`]: the same of texts, for those who use the engine.

mod cardinality;
mod distinct;
mod distribution;
mod error;
mod histogram;
mod parts;
mod registers;
#[cfg(any(test, fuzzing))]
mod stored;
mod sum;
#[cfg(test)]
mod tests;

pub(crate) use cardinality::{Cardinality, hash_member};
pub use distinct::Distinct;
pub(crate) use distribution::{Distribution, rank_of};
pub(crate) use error::{SketchError, SketchResult};
pub(crate) use parts::{Entries, Parts};
pub(crate) use sum::{ExactSum, HIGH_MIN, HIGH_UNIT, decimal_units_of};
