//! Mergeable summaries: what the engine keeps of values and members that it does not keep one by one.
//!
//! All of them keep the same three promises. Their state depends on the multiset of what was added, never
//! on the order or on how it was split into parts that were merged. Equal states are equal bytes, so cells
//! can be compared, checksummed and written twice. Damaged bytes are refused with a [`SketchError`].
//!
//! - [`sum`]: a sum of `f64` without rounding.
//! - [`histogram`]: counts of magnitudes in the buckets of an HDR histogram.
//! - [`distribution`]: count, sum, extremes and quantiles; built from the two above.
//! - [`registers`]: the registers of HyperLogLog and what they tell.
//! - `stored`: a distribution as bytes, for tests and the fuzzer.
//! - [`cardinality`]: how many distinct members; exact while few, HyperLogLog beyond.

mod cardinality;
mod distribution;
mod histogram;
mod registers;
#[cfg(any(test, fuzzing))]
mod stored;
mod sum;

pub(crate) use cardinality::{Cardinality, hash_member};
pub(crate) use distribution::{Distribution, Entries, Parts};
pub(crate) use sum::{ExactSum, decimal_units_of};

use crate::codec::CodecError;

/// Stored content is not what a sketch writes: the cell is damaged, read it from elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SketchError {
    /// The bytes end early, go on too long or hold a number out of range.
    #[error(transparent)]
    Bytes(#[from] CodecError),
    /// The bytes were written by a newer engine.
    #[error("a sketch of version {0} is not known here")]
    Version(u8),
    /// The parts contradict one another.
    #[error("inconsistent sketch: {0}")]
    Inconsistent(&'static str),
}

pub(crate) type SketchResult<T> = Result<T, SketchError>;
