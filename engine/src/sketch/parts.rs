//! A distribution taken apart into the columns of a block, and which parts can be put together again.
//!
//! A bucket is named by a signed index, so that ascending indices are ascending values:
//!
//! ```text
//! value    ... −u(2)  −u(1)  −u(0) │ u(0)  u(1)  u(2) ...      u(i): magnitudes of bucket i
//! index    ...   −3     −2     −1  │   0     1     2  ...
//! ```

use std::borrow::Cow;

use super::distribution::COUNT_MAX;
use super::histogram;
use super::sum::ExactSum;
use super::{SketchError, SketchResult};
use crate::limits::EXACT_VALUES_MAX;

/// A distribution taken apart into what a block stores in columns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parts<'a> {
    pub(crate) count: u64,
    pub(crate) sum: ExactSum,
    /// Whether the sum need not be that of the exact values. Never set for buckets, whose sum stands by itself anyway.
    pub(crate) told: bool,
    /// Zero when there are no values.
    pub(crate) min: f64,
    /// Zero when there are no values.
    pub(crate) max: f64,
    pub(crate) entries: Entries<'a>,
}

/// The values themselves or how many there are in each bucket.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entries<'a> {
    /// Ascending; at most [`EXACT_VALUES_MAX`].
    Exact(Cow<'a, [f64]>),
    /// Columns of equal length: strictly ascending signed bucket indices and their counts, none zero.
    Buckets { indices: Cow<'a, [i32]>, counts: Cow<'a, [u64]> },
}

/// The signed index of the bucket of a value.
pub(super) fn signed_index(value: f64) -> i32 {
    let index = i32::from(histogram::index_of(value.abs()));
    if value < 0.0 { -index - 1 } else { index }
}

/// The index in its half of a signed index in range.
pub(super) fn magnitude_index(signed: i32) -> u16 {
    (if signed < 0 { -(signed + 1) } else { signed }) as u16
}

fn is_value(v: f64) -> bool {
    v.is_finite() && (v != 0.0 || v.is_sign_positive())
}

/// Checks that `values` can be the exact ones of a distribution.
pub(super) fn check_values(values: &[f64]) -> SketchResult<()> {
    if values.len() > EXACT_VALUES_MAX {
        return Err(SketchError::Inconsistent("too many values to be kept exactly"));
    }
    if !values.iter().all(|&v| is_value(v)) {
        return Err(SketchError::Inconsistent("a value is not finite or is minus zero"));
    }
    if !values.is_sorted() {
        return Err(SketchError::Inconsistent("values are not sorted"));
    }
    Ok(())
}

/// Checks that the moments are those of the exact values, but for a sum that was told.
pub(super) fn check_moments(parts: &Parts<'_>, values: &[f64]) -> SketchResult<()> {
    let min = values.first().copied().unwrap_or_default();
    let max = values.last().copied().unwrap_or_default();
    let agree = (parts.count, parts.min, parts.max) == (values.len() as u64, min, max);
    let sums_agree = || {
        let mut sum = ExactSum::default();
        values.iter().for_each(|&value| sum.add(value));
        parts.sum == sum
    };
    let fits = if parts.told { !values.is_empty() } else { sums_agree() };
    if !agree || !fits {
        return Err(SketchError::Inconsistent("values and moments do not agree"));
    }
    Ok(())
}

/// Checks that bucket columns are what [`Distribution::parts`] gives. Returns how many are negative.
pub(super) fn check_buckets(
    parts: &Parts<'_>,
    indices: &[i32],
    counts: &[u64],
) -> SketchResult<usize> {
    let refuse = |reason| Err(SketchError::Inconsistent(reason));
    let (Some(&first), Some(&last)) = (indices.first(), indices.last()) else {
        return refuse("a histogram without buckets");
    };
    if indices.len() != counts.len() || counts.contains(&0) {
        return refuse("buckets and counts do not pair up");
    }
    let buckets = i32::from(histogram::BUCKETS);
    if first < -buckets || last >= buckets || !indices.is_sorted_by(|a, b| a < b) {
        return refuse("bucket indices are out of range or not ascending");
    }
    // Counts stop at their limits, each bucket by itself.
    let total = counts.iter().fold(0u64, |sum, &n| sum.saturating_add(n)).min(COUNT_MAX);
    if total != parts.count || parts.count <= EXACT_VALUES_MAX as u64 || parts.told {
        return refuse("counts do not add up");
    }
    if !is_value(parts.min) || !is_value(parts.max) || parts.min > parts.max {
        return refuse("the extremes are not values");
    }
    if signed_index(parts.min) != first || signed_index(parts.max) != last {
        return refuse("the extremes are not in the outer buckets");
    }
    Ok(indices.partition_point(|&i| i < 0))
}
