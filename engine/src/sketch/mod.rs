//! Mergeable summaries of values and members, used where samples are not stored individually.
//!
//! All of them have three properties. The state depends only on the multiset of what was added, not
//! on the order or on how it was split into parts that were merged. Equal states have equal bytes,
//! so that encoded cells can be compared and checksummed. Corrupt bytes are refused with a
//! [`SketchError`].
//!
//! - [`sum`]: an exact sum of `f64`.
//! - [`histogram`]: counts of magnitudes in the buckets of an HDR histogram.
//! - [`distribution`]: count, sum, minimum, maximum and quantiles; built from the two above.
//! - [`parts`]: the content of a distribution as columns, and the validation of such columns.
//! - [`registers`]: the registers of HyperLogLog and the estimate from them.
//! - `stored`: a distribution as bytes, for tests and the fuzz targets.
//! - [`cardinality`]: the number of distinct members; exact for few, HyperLogLog beyond.
//! - [`distinct`]: the same for strings, as public API.

// A number that loses bits on its way to or from disk is silent corruption. Tests may cast.
#![cfg_attr(
    not(test),
    deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)
)]

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
pub(crate) use parts::{Entries, HistogramMoments, Parts, check_buckets};
pub(crate) use sum::{ExactSum, HIGH_MIN, HIGH_UNIT, decimal_units_of};
