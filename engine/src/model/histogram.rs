//! Histograms as agents send them: counts of values per bucket.
//!
//! ```text
//! explicit     (−∞, b0] (b0, b1] ... (bn, ∞)
//! exponential  ... [−base^(i+1), −base^i) ... [−threshold, threshold] ... (base^i, base^(i+1)] ...
//!              base = 2^(2^−scale)
//! ```
//!
//! All rules are checked once, in the constructor: a [`Histogram`] can be added, compared and
//! stored without further checks.

use crate::limits::{HISTOGRAM_BUCKETS_MAX, HISTOGRAM_SPAN_MAX};

/// Valid scales of exponential buckets: from one bucket for all values above one, to far finer than
/// cells store.
const SCALES: std::ops::RangeInclusive<i32> = -11..=20;

/// A histogram of values that were counted by the sender.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    count: u64,
    sum: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    buckets: Buckets,
}

/// The counts per bucket.
#[derive(Clone, Debug, PartialEq)]
pub enum Buckets {
    /// Buckets with explicit bounds, as in OTLP histograms.
    Explicit {
        /// The inclusive upper bounds of all buckets but the last, ascending.
        bounds: Vec<f64>,
        /// The counts: one more than there are bounds.
        counts: Vec<u64>,
    },
    /// Buckets whose bounds are powers of a base, as in OTLP exponential histograms and Prometheus
    /// native histograms.
    Exponential {
        /// The scale: the base is 2^(2^−scale).
        scale: i32,
        /// Values up to this magnitude are in the zero bucket.
        zero_threshold: f64,
        /// The count of the zero bucket.
        zero: u64,
        /// The buckets of values above zero.
        positive: Span,
        /// The buckets of values below zero, by magnitude.
        negative: Span,
    },
}

/// Consecutive exponential buckets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The index of the first bucket, which contains magnitudes in (base^offset, base^(offset +
    /// 1)]. Prometheus identifies a bucket by its upper bound instead, so its index is greater by
    /// one.
    pub offset: i32,
    /// The counts.
    pub counts: Vec<u64>,
}

/// Why a histogram is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidHistogram {
    /// A bound is not finite, or not greater than the previous one.
    #[error("the bounds of a histogram must be finite and in ascending order")]
    Bounds,
    /// The number of counts is not the number of bounds plus one.
    #[error("a histogram must have one bucket more than it has bounds")]
    Counts,
    /// Too many buckets have values, or a span is too long.
    #[error(
        "a histogram may have at most {HISTOGRAM_BUCKETS_MAX} buckets with values, in spans of at most {HISTOGRAM_SPAN_MAX}"
    )]
    TooManyBuckets,
    /// The scale is out of range.
    #[error("the scale of a histogram must be from {} to {}", SCALES.start(), SCALES.end())]
    Scale,
    /// The index of a bucket exceeds 32 bits.
    #[error("the bounds of every bucket of a histogram must be finite numbers")]
    Offset,
    /// The zero threshold is negative or not finite.
    #[error("the zero threshold of a histogram must be a finite number of at least 0")]
    ZeroThreshold,
    /// The count is not the sum of the bucket counts.
    #[error("the count of a histogram must be the sum of the counts of its buckets")]
    Count,
    /// The minimum is greater than the maximum.
    #[error("the minimum of a histogram must not be above its maximum")]
    Extremes,
}

impl Histogram {
    /// Creates a histogram after checking all rules. A sum, minimum or maximum that is not finite
    /// is dropped; so are the minimum and maximum of an empty histogram.
    pub fn new(
        count: u64,
        sum: Option<f64>,
        min: Option<f64>,
        max: Option<f64>,
        buckets: Buckets,
    ) -> Result<Self, InvalidHistogram> {
        if buckets.checked_count()? != count {
            return Err(InvalidHistogram::Count);
        }
        // Adding 0.0 turns −0.0 into 0.0.
        let finite = |v: Option<f64>| v.filter(|v| v.is_finite()).map(|v| v + 0.0);
        let extreme = |v: Option<f64>| finite(v).filter(|_| count > 0);
        let (sum, min, max) = (finite(sum), extreme(min), extreme(max));
        if let (Some(min), Some(max)) = (min, max)
            && min > max
        {
            return Err(InvalidHistogram::Extremes);
        }
        Ok(Self { count, sum, min, max, buckets })
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the sum of the values, if known.
    pub fn sum(&self) -> Option<f64> {
        self.sum
    }

    /// Returns the smallest value, if known.
    pub fn min(&self) -> Option<f64> {
        self.min
    }

    /// Returns the largest value, if known.
    pub fn max(&self) -> Option<f64> {
        self.max
    }

    /// Returns the buckets.
    pub fn buckets(&self) -> &Buckets {
        &self.buckets
    }

    /// Converts the histogram to its buckets.
    pub fn into_buckets(self) -> Buckets {
        self.buckets
    }
}

impl Buckets {
    /// Returns the number of buckets in memory: all but the zero bucket, including empty ones.
    pub fn buckets_in_memory(&self) -> usize {
        match self {
            Self::Explicit { counts, .. } => counts.len(),
            Self::Exponential { positive, negative, .. } => {
                positive.counts.len() + negative.counts.len()
            }
        }
    }

    /// Iterates over all counts, in an unspecified order.
    pub(crate) fn counts(&self) -> impl Iterator<Item = u64> {
        let (zero, first, second): (u64, &[u64], &[u64]) = match self {
            Self::Explicit { counts, .. } => (0, counts, &[]),
            Self::Exponential { zero, positive, negative, .. } => {
                (*zero, &positive.counts, &negative.counts)
            }
        };
        std::iter::once(zero).chain(first.iter().chain(second).copied())
    }

    /// Returns the bytes of heap memory.
    pub(crate) fn bytes(&self) -> usize {
        let numbers = match self {
            Self::Explicit { bounds, counts } => bounds.len() + counts.len(),
            Self::Exponential { positive, negative, .. } => {
                positive.counts.len() + negative.counts.len()
            }
        };
        numbers * size_of::<u64>()
    }

    /// Checks all rules and returns the sum of the counts.
    fn checked_count(&self) -> Result<u64, InvalidHistogram> {
        match self {
            Self::Explicit { bounds, counts } => {
                if !bounds.iter().all(|b| b.is_finite()) || !bounds.is_sorted_by(|a, b| a < b) {
                    return Err(InvalidHistogram::Bounds);
                }
                if counts.len() != bounds.len() + 1 {
                    return Err(InvalidHistogram::Counts);
                }
                if counts.len() > HISTOGRAM_BUCKETS_MAX {
                    return Err(InvalidHistogram::TooManyBuckets);
                }
            }
            Self::Exponential { scale, zero_threshold, positive, negative, .. } => {
                if !SCALES.contains(scale) {
                    return Err(InvalidHistogram::Scale);
                }
                if !zero_threshold.is_finite() || *zero_threshold < 0.0 {
                    return Err(InvalidHistogram::ZeroThreshold);
                }
                positive.check()?;
                negative.check()?;
                if self.counts().filter(|n| *n > 0).count() > HISTOGRAM_BUCKETS_MAX {
                    return Err(InvalidHistogram::TooManyBuckets);
                }
            }
        }
        let total = self.counts().try_fold(0, u64::checked_add);
        total.ok_or(InvalidHistogram::Count)
    }
}

impl Span {
    fn check(&self) -> Result<(), InvalidHistogram> {
        if self.counts.len() > HISTOGRAM_SPAN_MAX {
            return Err(InvalidHistogram::TooManyBuckets);
        }
        let length = i32::try_from(self.counts.len()).map_err(|_| InvalidHistogram::Offset)?;
        self.offset.checked_add(length).map(|_| ()).ok_or(InvalidHistogram::Offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explicit(bounds: &[f64], counts: &[u64]) -> Buckets {
        Buckets::Explicit { bounds: bounds.to_vec(), counts: counts.to_vec() }
    }

    fn exponential(scale: i32, zero_threshold: f64, positive: Span) -> Buckets {
        Buckets::Exponential { scale, zero_threshold, zero: 0, positive, negative: Span::default() }
    }

    fn span(offset: i32, counts: &[u64]) -> Span {
        Span { offset, counts: counts.to_vec() }
    }

    #[test]
    fn invalid_histograms_are_refused() {
        use InvalidHistogram::*;
        let many = vec![1; HISTOGRAM_BUCKETS_MAX + 1];
        let bounds: Vec<f64> = (0..HISTOGRAM_BUCKETS_MAX).map(|b| b as f64).collect();
        for (count, buckets, refusal) in [
            (0, explicit(&[1.0, 1.0], &[0, 0, 0]), Bounds),
            (0, explicit(&[1.0, f64::INFINITY], &[0, 0, 0]), Bounds),
            (0, explicit(&[f64::NAN], &[0, 0]), Bounds),
            (0, explicit(&[1.0], &[0]), Counts),
            (0, explicit(&[], &[]), Counts),
            (4, explicit(&[1.0], &[1, 2]), Count),
            (0, explicit(&[1.0], &[u64::MAX, 1]), Count),
            (many.len() as u64, explicit(&bounds, &many), TooManyBuckets),
            (many.len() as u64, exponential(0, 0.0, span(0, &many)), TooManyBuckets),
            (0, exponential(0, 0.0, span(0, &vec![0; HISTOGRAM_SPAN_MAX + 1])), TooManyBuckets),
            (0, exponential(21, 0.0, Span::default()), Scale),
            (0, exponential(-12, 0.0, Span::default()), Scale),
            (0, exponential(0, -1.0, Span::default()), ZeroThreshold),
            (0, exponential(0, f64::NAN, Span::default()), ZeroThreshold),
            (1, exponential(0, 0.0, span(i32::MAX, &[1])), Offset),
            (2, exponential(0, 0.0, span(0, &[1])), Count),
        ] {
            assert_eq!(
                Histogram::new(count, None, None, None, buckets.clone()),
                Err(refusal),
                "{buckets:?}"
            );
        }
        let crossed = Histogram::new(1, None, Some(2.0), Some(1.0), explicit(&[], &[1]));
        assert_eq!(crossed, Err(Extremes));
    }

    #[test]
    fn sums_and_extremes_without_meaning_are_dropped() {
        let buckets = explicit(&[1.0], &[1, 2]);
        let of = |sum, min, max| {
            let histogram = Histogram::new(3, Some(sum), Some(min), Some(max), buckets.clone());
            histogram.map(|h| (h.sum(), h.min(), h.max())).unwrap()
        };
        assert_eq!(of(2.5, 0.5, 1.5), (Some(2.5), Some(0.5), Some(1.5)));
        assert_eq!(of(f64::NAN, f64::NEG_INFINITY, f64::INFINITY), (None, None, None));
        let empty = Histogram::new(0, Some(0.0), Some(0.0), Some(0.0), explicit(&[], &[0]));
        assert_eq!(empty.map(|h| (h.sum(), h.min())), Ok((Some(0.0), None)));
    }
}
