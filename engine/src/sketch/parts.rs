//! The content of a distribution as the columns of a block, and the validation of such columns.
//!
//! A bucket is identified by a signed index, so that ascending indices are ascending values:
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
use crate::cast::low_quarter;
use crate::limits::EXACT_VALUES_MAX;

/// The content of a distribution in the form that blocks store.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parts<'a> {
    pub(crate) count: u64,
    pub(crate) sum: ExactSum,
    /// Whether the sum was reported by the sender, so that it may differ from that of the exact
    /// values. Never set for buckets, whose sum is always stored.
    pub(crate) sum_is_reported: bool,
    /// Zero when there are no values.
    pub(crate) min: f64,
    /// Zero when there are no values.
    pub(crate) max: f64,
    pub(crate) entries: Entries<'a>,
}

impl Parts<'_> {
    /// Checks that these can be the parts of a distribution.
    pub(crate) fn check(&self) -> SketchResult<()> {
        match &self.entries {
            Entries::Exact(values) => {
                check_values(values)?;
                check_moments(self, values)
            }
            Entries::Buckets { indices, counts } => self.check_buckets(indices, counts),
        }
    }

    /// Checks that bucket columns could have been returned by `Distribution::parts`.
    fn check_buckets(&self, indices: &[i32], counts: &[u64]) -> SketchResult<()> {
        if indices.len() != counts.len() {
            return Err(SketchError::Inconsistent("bucket indices and counts differ in number"));
        }
        if self.sum_is_reported {
            return Err(SketchError::Inconsistent("the sum of a histogram is said to be reported"));
        }
        let buckets = indices.iter().zip(counts).map(|(index, n)| (i64::from(*index), *n));
        check_buckets(self.moments(), buckets)
    }

    pub(super) fn moments(&self) -> HistogramMoments {
        HistogramMoments { count: self.count, min: self.min, max: self.max }
    }
}

/// The exact values, or the counts per bucket.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entries<'a> {
    /// Ascending; at most [`EXACT_VALUES_MAX`].
    Exact(Cow<'a, [f64]>),
    /// Columns of equal length: strictly ascending signed bucket indices and their counts, none
    /// zero.
    Buckets { indices: Cow<'a, [i32]>, counts: Cow<'a, [u64]> },
}

/// Returns the signed index of the bucket that contains a value.
pub(super) fn signed_index(value: f64) -> i32 {
    let index = i32::from(histogram::index_of(value.abs()));
    if value < 0.0 { -index - 1 } else { index }
}

/// Returns the index of a bucket within its sign; `signed` must be in range.
pub(super) fn magnitude_index(signed: i64) -> u16 {
    // Of a negative number, the complement is the number of those between it and zero.
    let index = if signed < 0 { !signed } else { signed };
    low_quarter(index.cast_unsigned())
}

fn is_storable(v: f64) -> bool {
    v.is_finite() && (v != 0.0 || v.is_sign_positive())
}

/// Checks that `values` can be the exact values of a distribution.
fn check_values(values: &[f64]) -> SketchResult<()> {
    if values.len() > EXACT_VALUES_MAX {
        return Err(SketchError::Inconsistent("too many exact values"));
    }
    if !values.iter().all(|&v| is_storable(v)) {
        return Err(SketchError::Inconsistent("a value is not finite or is negative zero"));
    }
    if !values.is_sorted() {
        return Err(SketchError::Inconsistent("values are not sorted"));
    }
    Ok(())
}

/// Checks that count, minimum, maximum and, unless it was reported, the sum are those of the exact
/// values.
fn check_moments(parts: &Parts<'_>, values: &[f64]) -> SketchResult<()> {
    let min = values.first().copied().unwrap_or_default();
    let max = values.last().copied().unwrap_or_default();
    let agree = (parts.count, parts.min, parts.max) == (values.len() as u64, min, max);
    let sums_agree = || {
        let mut sum = ExactSum::default();
        values.iter().for_each(|&value| sum.add(value));
        parts.sum == sum
    };
    let sum_is_valid = if parts.sum_is_reported { !values.is_empty() } else { sums_agree() };
    if !agree || !sum_is_valid {
        return Err(SketchError::Inconsistent(
            "count, sum, minimum or maximum do not match the values",
        ));
    }
    Ok(())
}

/// Count, minimum and maximum of a histogram.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HistogramMoments {
    pub(crate) count: u64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

/// Checks that a distribution can have these buckets: their signed indices and their counts.
pub(crate) fn check_buckets(
    moments: HistogramMoments,
    buckets: impl Iterator<Item = (i64, u64)>,
) -> SketchResult<()> {
    let HistogramMoments { count, min, max } = moments;
    let refuse = |reason| Err(SketchError::Inconsistent(reason));
    let (mut total, mut last, mut first) = (0u64, i64::MIN, None);
    let (mut are_ascending, mut are_used) = (true, true);
    for (index, n) in buckets {
        first.get_or_insert(index);
        are_ascending &= index > last;
        are_used &= n > 0;
        last = index;
        // Counts saturate, and each bucket does so by itself.
        total = total.saturating_add(n);
    }
    let Some(first) = first else { return refuse("a histogram has no buckets") };
    if !are_used {
        return refuse("the count of a bucket is zero");
    }
    let buckets = i64::from(histogram::BUCKETS);
    if first < -buckets || last >= buckets || !are_ascending {
        return refuse("bucket indices are out of range or not ascending");
    }
    if total.min(COUNT_MAX) != count || count <= EXACT_VALUES_MAX as u64 {
        return refuse("the bucket counts do not add up to the count");
    }
    if !is_storable(min) || !is_storable(max) || min > max {
        return refuse("the minimum or maximum is invalid");
    }
    if (i64::from(signed_index(min)), i64::from(signed_index(max))) != (first, last) {
        return refuse("the minimum or maximum is not in an outermost bucket");
    }
    Ok(())
}
