//! A distribution of values: count, exact sum, minimum, maximum and quantiles, mergeable without
//! loss of accuracy.
//!
//! Up to [`EXACT_VALUES_MAX`] values are stored exactly. With the next one, all of them move into
//! two HDR histograms, one per sign (see [`super::histogram`]); zero counts as positive. The form
//! depends only on the count, and the content of the histograms does not depend on the order, so
//! merging distributions and building one from all their values give the same state and the same
//! bytes.
//!
//! Values that a sender already counted into buckets are added as representative values, possibly
//! with the sum that the sender *reported*: the true one, which differs from that of the
//! representative values.

use std::borrow::Cow;

use super::SketchResult;
use super::histogram::{self, MagnitudeHistogram};
use super::parts::{Entries, HistogramMoments, Parts, magnitude_index};
use super::sum::ExactSum;
use crate::cast::{items, low_word, natural_part};
use crate::limits::EXACT_VALUES_MAX;

/// The resolution of quantiles: they are rounded to multiples of 1/10^9, so that 0.55 of 100 values
/// is the 55th despite binary fractions.
const QUANTILE_PARTS: u64 = 1_000_000_000;
/// The count saturates here, so that it fits the signed integers of columns.
pub(super) const COUNT_MAX: u64 = i64::MAX as u64;
/// An upper bound of the relative error from rounding a sum and dividing it.
const AVERAGE_ROUNDING: f64 = 4.0 * f64::EPSILON;

/// The summary of a multiset of finite values.
#[derive(Clone, Debug)]
pub(crate) struct Distribution {
    count: u64,
    sum: ExactSum,
    /// Infinity while there are no values.
    min: f64,
    /// Negative infinity while there are no values.
    max: f64,
    /// Whether any part of the sum was reported. Only relevant while the values are stored exactly.
    sum_is_reported: bool,
    body: Body,
}

#[derive(Clone, Debug)]
enum Body {
    /// In order of arrival.
    Exact(Vec<f64>),
    Histogram(Box<Halves>),
}

/// The histograms of the negative and of the non-negative values.
#[derive(Clone, Debug, Default)]
struct Halves {
    negative: MagnitudeHistogram,
    positive: MagnitudeHistogram,
}

impl Default for Distribution {
    fn default() -> Self {
        Self {
            count: 0,
            sum: ExactSum::default(),
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            sum_is_reported: false,
            body: Body::Exact(Vec::new()),
        }
    }
}

impl Distribution {
    /// The most buckets of a distribution, for both signs together.
    pub(crate) const BUCKETS_MAX: usize = 2 * histogram::BUCKETS as usize;

    /// Creates the distribution of these finite values, at most [`EXACT_VALUES_MAX`].
    pub(crate) fn of_exact(values: &[f64]) -> Self {
        let body = Body::Exact(Vec::with_capacity(values.len()));
        let mut distribution = Self { body, ..Self::default() };
        values.iter().for_each(|value| distribution.add(*value));
        distribution
    }

    /// Adds one value, which must be finite.
    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        self.add_n(value, 1);
    }

    /// Adds one finite value `n` times. The count saturates at [`COUNT_MAX`].
    #[inline]
    pub(crate) fn add_n(&mut self, value: f64, n: u64) {
        if n == 0 {
            return;
        }
        if n == 1 {
            self.sum.add(value);
        } else {
            self.sum.add_n(value, n);
        }
        self.count_n(value, n);
    }

    /// Adds finite values, each with its number of occurrences, and their reported sum. Does
    /// nothing when there are no values.
    pub(crate) fn add_with_sum(&mut self, values: &[(f64, u64)], sum: &ExactSum) {
        let values = values.iter().filter(|(_, n)| *n > 0);
        if values.clone().next().is_none() {
            return;
        }
        values.for_each(|(value, n)| self.count_n(*value, *n));
        self.sum.merge(sum);
        self.sum_is_reported = true;
    }

    /// Counts a value without adding it to the sum.
    #[inline]
    fn count_n(&mut self, value: f64, n: u64) {
        // Turns -0.0 into 0.0 and changes nothing else.
        let value = value + 0.0;
        self.count = self.count.saturating_add(n).min(COUNT_MAX);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        match &mut self.body {
            Body::Exact(values) if self.count <= EXACT_VALUES_MAX as u64 => {
                values.extend(std::iter::repeat_n(value, items(n)));
            }
            Body::Exact(_) => self.histogram().record_n(value, n),
            Body::Histogram(halves) => halves.record_n(value, n),
        }
    }

    /// Adds all values of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.merge_moments(other.count, &other.sum, other.min, other.max);
        self.sum_is_reported |= other.sum_is_reported;
        match &other.body {
            Body::Exact(values) => self.append(values),
            Body::Histogram(theirs) => {
                let halves = self.histogram();
                halves.negative.merge(&theirs.negative);
                halves.positive.merge(&theirs.positive);
            }
        }
    }

    /// Adds a distribution directly from its columns. Leaves `self` unchanged when they are
    /// invalid.
    pub(crate) fn merge_parts(&mut self, parts: &Parts<'_>) -> SketchResult<()> {
        parts.check()?;
        match &parts.entries {
            Entries::Exact(values) => {
                if let (Some(&min), Some(&max)) = (values.first(), values.last()) {
                    self.merge_moments(parts.count, &parts.sum, min, max);
                    self.sum_is_reported |= parts.sum_is_reported;
                    self.append(values);
                }
            }
            Entries::Buckets { indices, counts } => {
                let buckets = indices.iter().zip(&**counts).map(|(i, n)| (i64::from(*i), *n));
                self.merge_histogram(parts.moments(), &parts.sum, buckets);
            }
        }
        Ok(())
    }

    /// Adds a histogram that [`check_buckets`](super::check_buckets) accepts.
    pub(crate) fn merge_histogram(
        &mut self,
        moments: HistogramMoments,
        sum: &ExactSum,
        buckets: impl Iterator<Item = (i64, u64)> + Clone,
    ) {
        self.merge_moments(moments.count, sum, moments.min, moments.max);
        let halves = self.histogram();
        let of_magnitude = |(index, n)| (magnitude_index(index), n);
        if moments.min < 0.0 {
            let negative: Vec<(i64, u64)> =
                buckets.clone().take_while(|(index, _)| *index < 0).collect();
            halves.negative.merge_entries(negative.into_iter().rev().map(of_magnitude));
            let positive = buckets.skip_while(|(index, _)| *index < 0);
            halves.positive.merge_entries(positive.map(of_magnitude));
        } else {
            halves.positive.merge_entries(buckets.map(of_magnitude));
        }
    }

    /// Creates the distribution with these parts. Fails for parts that [`Self::parts`] cannot
    /// return.
    pub(crate) fn from_parts(parts: &Parts<'_>) -> SketchResult<Self> {
        let mut distribution = Self::default();
        distribution.merge_parts(parts)?;
        Ok(distribution)
    }

    /// Returns the content of the distribution as columns.
    pub(crate) fn parts(&self) -> Parts<'static> {
        let (min, max) = if self.count == 0 { (0.0, 0.0) } else { (self.min, self.max) };
        let sum_is_reported = self.sum_is_reported && matches!(self.body, Body::Exact(_));
        let entries = match &self.body {
            Body::Exact(values) => Entries::Exact(Cow::Owned(sorted(values))),
            Body::Histogram(halves) => {
                let (mut indices, mut counts): (Vec<i32>, Vec<u64>) =
                    halves.negative.iter().map(|(i, n)| (-i32::from(i) - 1, n)).unzip();
                indices.reverse();
                counts.reverse();
                for (index, n) in halves.positive.iter() {
                    indices.push(i32::from(index));
                    counts.push(n);
                }
                Entries::Buckets { indices: Cow::Owned(indices), counts: Cow::Owned(counts) }
            }
        };
        Parts { count: self.count, sum: self.sum.clone(), sum_is_reported, min, max, entries }
    }

    /// Returns a distribution with a value in every bucket, of both signs.
    #[cfg(test)]
    pub(crate) fn widest() -> Self {
        let mut distribution = Self::default();
        for index in 0..histogram::BUCKETS {
            let magnitude = histogram::representative(index);
            // Zero is positive; the value next to it is in the same bucket of the negative sign.
            distribution.add(-magnitude - f64::MIN_POSITIVE);
            distribution.add_n(magnitude, 1 + u64::from(index));
        }
        distribution
    }

    /// Returns the number of values or buckets that [`Self::parts`] returns.
    pub(crate) fn entries(&self) -> usize {
        match &self.body {
            Body::Exact(values) => values.len(),
            Body::Histogram(halves) => halves.negative.buckets() + halves.positive.buckets(),
        }
    }

    /// Returns the number of values.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the sum of the values.
    pub(crate) fn sum(&self) -> &ExactSum {
        &self.sum
    }

    /// Returns the smallest value; `None` when there are no values.
    pub(crate) fn min(&self) -> Option<f64> {
        (self.count > 0).then_some(self.min)
    }

    /// Returns the largest value; `None` when there are no values.
    pub(crate) fn max(&self) -> Option<f64> {
        (self.count > 0).then_some(self.max)
    }

    /// Returns the sum divided by the count, even when the sum exceeds `f64::MAX`; `None` when
    /// there are no values. Rounding never moves it out of the range of the values; a reported sum
    /// may.
    pub(crate) fn avg(&self) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let average = self.sum.mean(self.count);
        let inside = average.clamp(self.min, self.max);
        let rounded = (inside - average).abs() <= inside.abs() * AVERAGE_ROUNDING;
        Some(if rounded { inside } else { average })
    }

    /// Returns the ⌈q·count⌉-th smallest value, with `q` from 0 to 1 rounded to nine decimal
    /// places; `None` when there are no values. Exact while the values are stored exactly, and for
    /// the minimum and maximum; otherwise the middle of the value's bucket.
    pub(crate) fn quantile(&self, q: f64) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let rank = rank_of(q, self.count);
        if rank == 1 {
            return Some(self.min);
        }
        if rank == self.count {
            return Some(self.max);
        }
        match &self.body {
            Body::Exact(values) => {
                let mut values = values.clone();
                let (_, value, _) = values.select_nth_unstable_by(items(rank) - 1, f64::total_cmp);
                Some(*value)
            }
            Body::Histogram(halves) => Some(halves.at_rank(rank).clamp(self.min, self.max)),
        }
    }

    /// Returns the approximate size in memory without the struct itself, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match &self.body {
            Body::Exact(values) => values.capacity() * size_of::<f64>(),
            Body::Histogram(halves) => {
                size_of::<Halves>() + halves.negative.bytes() + halves.positive.bytes()
            }
        }
    }

    fn merge_moments(&mut self, count: u64, sum: &ExactSum, min: f64, max: f64) {
        self.count = self.count.saturating_add(count).min(COUNT_MAX);
        self.sum.merge(sum);
        self.min = self.min.min(min);
        self.max = self.max.max(max);
    }

    /// Appends values that count, sum, minimum and maximum already include.
    fn append(&mut self, values: &[f64]) {
        match &mut self.body {
            Body::Exact(ours) if self.count <= EXACT_VALUES_MAX as u64 => {
                ours.extend_from_slice(values);
            }
            _ => {
                let halves = self.histogram();
                values.iter().for_each(|&value| halves.record_n(value, 1));
            }
        }
    }

    /// Returns the histograms, moving exactly stored values into them first.
    fn histogram(&mut self) -> &mut Halves {
        if let Body::Exact(values) = &self.body {
            let mut halves = Halves::default();
            for &value in values {
                halves.record_n(value, 1);
            }
            self.body = Body::Histogram(Box::new(halves));
        }
        match &mut self.body {
            Body::Histogram(halves) => halves,
            Body::Exact(_) => unreachable!("the values were just moved into histograms"),
        }
    }
}

impl Halves {
    #[inline]
    fn record_n(&mut self, value: f64, n: u64) {
        if value < 0.0 {
            self.negative.record_n(-value, n);
        } else {
            self.positive.record_n(value, n);
        }
    }

    /// Returns the representative of the value of this rank, from 1 to the count.
    fn at_rank(&self, rank: u64) -> f64 {
        let negatives = self.negative.count();
        let bucket = if rank <= negatives {
            self.negative.at_rank(negatives - rank + 1).map(|i| -histogram::representative(i))
        } else {
            self.positive.at_rank(rank - negatives).map(histogram::representative)
        };
        // Saturated counts may add up to less than the rank; the result is then clamped to the
        // maximum.
        bucket.unwrap_or(f64::INFINITY) + 0.0
    }
}

/// Returns the rank of the `q`-quantile of `count` values: ⌈q·count⌉, at least 1.
pub(crate) fn rank_of(q: f64, count: u64) -> u64 {
    let parts = natural_part((q.clamp(0.0, 1.0) * QUANTILE_PARTS as f64).round());
    let rank = (u128::from(parts) * u128::from(count)).div_ceil(u128::from(QUANTILE_PARTS));
    low_word(rank).max(1)
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    values
}
