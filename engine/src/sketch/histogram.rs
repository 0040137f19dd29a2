//! Counts of magnitudes in the buckets of an HDR histogram, for values of one sign.
//!
//! The buckets are those of `hdrhistogram` with lowest value 1 and two significant digits, over the
//! magnitude in units of 2^-24:
//!
//! ```text
//! u = ⌊|v|·2^24 + ½⌋ as u64 (saturating)
//! u < 256:  index = u                             one bucket per unit
//! else:     index = 128·b + (u >> b)              128 buckets per power of two,
//!           b = bits of u − 8                     each 2^b units wide
//!
//! index     0 ...... 255 │ 256 ..... 383 │ 384 ..... 511 │ ... │ 7296 ........... 7423
//! u         0 ...... 255 │ 256 ..... 511 │ 512 .... 1023 │ ... │ 2^63 ....... 2^64 − 1
//! width           1      │       2       │       4       │ ... │         2^56
//! ```
//!
//! A bucket is represented by its middle, so the error is at most half its width: 1/256 of the
//! value where buckets are wider than one unit, and half a unit, 3e-8, elsewhere. From 1e-5 to 1e12
//! the error is below 0.4 %. All magnitudes over 2^40 (1.1e12) are in the last bucket.
//!
//! Up to [`SPARSE_BUCKETS_MAX`] buckets in use are stored as two sorted columns, 10 bytes per
//! bucket and at most 5 KB. Beyond that an array has a count for every bucket up to the largest in
//! use: 8 bytes each, 30 KB for values around one thousand, at most 59 KB. The form is not visible
//! outside: encoding and queries use [`MagnitudeHistogram::iter`] for both. `hdrhistogram` itself
//! computes the bucket of every value that is added, which takes longer than adding a count whose
//! bucket is known; the tests compare with it.

use std::iter::{Copied, Zip};
use std::slice;

use crate::cast::{low_quarter, natural_part};

/// The number of buckets.
pub(crate) const BUCKETS: u16 = 7_424;
/// The most buckets in use of a sparse histogram. With more, searching the columns costs more than
/// a dense array takes in memory.
pub(crate) const SPARSE_BUCKETS_MAX: usize = 512;

/// The number of units per 1.0: 2^24.
const UNITS_PER_ONE: f64 = 16_777_216.0;
/// The bits of a bucket's position within its power of two, plus one.
const POSITION_BITS: u32 = 8;
/// The array of a dense histogram grows by the buckets of whole powers of two.
const BUCKETS_PER_GROWTH: usize = 1 << (POSITION_BITS - 1);

/// Returns the bucket of a magnitude.
#[inline]
pub(crate) fn index_of(magnitude: f64) -> u16 {
    index_of_units(natural_part(magnitude * UNITS_PER_ONE + 0.5))
}

#[inline]
fn index_of_units(units: u64) -> u16 {
    let bits = u64::BITS - (units | 0xff).leading_zeros();
    let shift = bits - POSITION_BITS;
    // At most 56·128 + 255, so that nothing is lost.
    low_quarter(u64::from(shift << (POSITION_BITS - 1)) + (units >> shift))
}

/// Returns the smallest number of units in a bucket, and the bucket's width in units.
fn bounds_of(index: u16) -> (u64, u64) {
    let shift = (index >> (POSITION_BITS - 1)).saturating_sub(1);
    let position = index - (shift << (POSITION_BITS - 1));
    (u64::from(position) << shift, 1 << shift)
}

/// Returns the representative magnitude of a bucket: its middle.
pub(crate) fn representative(index: u16) -> f64 {
    let (lowest, width) = bounds_of(index);
    (lowest as f64 + (width - 1) as f64 / 2.0) / UNITS_PER_ONE
}

/// The number of values in each bucket, for one sign.
#[derive(Clone, Debug)]
pub(crate) struct MagnitudeHistogram(Counts);

#[derive(Clone, Debug)]
enum Counts {
    Sparse(Columns),
    Dense(DenseCounts),
}

impl Default for MagnitudeHistogram {
    fn default() -> Self {
        Self(Counts::Sparse(Columns::default()))
    }
}

impl MagnitudeHistogram {
    /// Counts a non-negative magnitude `n` times. Counts saturate at `u64::MAX`.
    #[inline]
    pub(crate) fn record_n(&mut self, magnitude: f64, n: u64) {
        let index = index_of(magnitude);
        match &mut self.0 {
            Counts::Sparse(columns) => {
                columns.record_n(index, n);
                self.convert_to_dense_if_large();
            }
            Counts::Dense(counts) => counts.record_n(index, n),
        }
    }

    /// Adds counts given by ascending bucket index, each index below [`BUCKETS`]. Takes linear time
    /// in the number of both.
    pub(crate) fn merge_entries(&mut self, entries: impl Iterator<Item = (u16, u64)>) {
        match &mut self.0 {
            Counts::Sparse(columns) => {
                columns.merge(entries);
                self.convert_to_dense_if_large();
            }
            Counts::Dense(counts) => {
                entries.for_each(|(index, n)| counts.record_n(index, n));
            }
        }
    }

    /// Adds the counts of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        match (&mut self.0, &other.0) {
            (Counts::Dense(ours), Counts::Dense(theirs)) => ours.merge(theirs),
            (Counts::Sparse(ours), Counts::Dense(theirs)) => {
                let ours = std::mem::take(ours);
                self.0 = Counts::Dense(theirs.clone());
                self.merge_entries(ours.iter());
            }
            (_, Counts::Sparse(theirs)) => self.merge_entries(theirs.iter()),
        }
    }

    /// Returns the buckets in use and their counts, by ascending index.
    pub(crate) fn iter(&self) -> Iter<'_> {
        match &self.0 {
            Counts::Sparse(columns) => Iter::Sparse(columns.iter()),
            Counts::Dense(counts) => Iter::Dense(counts.iter()),
        }
    }

    /// Returns the approximate size in memory without the struct itself, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match &self.0 {
            Counts::Sparse(columns) => {
                columns.indices.capacity() * 2 + columns.counts.capacity() * 8
            }
            Counts::Dense(DenseCounts(counts)) => counts.capacity() * 8,
        }
    }

    /// Returns the number of buckets in use.
    pub(crate) fn buckets(&self) -> usize {
        match &self.0 {
            Counts::Sparse(columns) => columns.indices.len(),
            Counts::Dense(_) => self.iter().count(),
        }
    }

    /// Returns the number of recorded values.
    pub(crate) fn count(&self) -> u64 {
        self.iter().fold(0, |sum, (_, n)| sum.saturating_add(n))
    }

    /// Returns the bucket of the value of this rank by ascending magnitude, the smallest having
    /// rank 1. `None` when there are fewer values.
    pub(crate) fn at_rank(&self, rank: u64) -> Option<u16> {
        let mut seen = 0u64;
        self.iter().find_map(|(index, n)| {
            seen = seen.saturating_add(n);
            (seen >= rank).then_some(index)
        })
    }

    fn convert_to_dense_if_large(&mut self) {
        let Counts::Sparse(columns) = &self.0 else {
            return;
        };
        if columns.indices.len() > SPARSE_BUCKETS_MAX {
            let mut counts = DenseCounts::default();
            columns.iter().for_each(|(index, n)| counts.record_n(index, n));
            self.0 = Counts::Dense(counts);
        }
    }
}

/// A count for every bucket, up to the largest in use.
#[derive(Clone, Debug, Default)]
struct DenseCounts(Vec<u64>);

impl DenseCounts {
    #[inline]
    fn record_n(&mut self, index: u16, n: u64) {
        let index = usize::from(index);
        if index >= self.0.len() {
            self.grow(index + 1);
        }
        if let Some(count) = self.0.get_mut(index) {
            *count = count.saturating_add(n);
        }
    }

    fn merge(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.grow(other.0.len());
        }
        for (count, n) in self.0.iter_mut().zip(&other.0) {
            *count = count.saturating_add(*n);
        }
    }

    #[cold]
    fn grow(&mut self, buckets: usize) {
        let buckets = buckets.next_multiple_of(BUCKETS_PER_GROWTH);
        self.0.reserve_exact(buckets - self.0.len());
        self.0.resize(buckets, 0);
    }

    fn iter(&self) -> DenseIter<'_> {
        DenseIter { counts: &self.0, next: 0 }
    }
}

/// Ascending bucket indices and their counts, none zero.
#[derive(Clone, Debug, Default)]
struct Columns {
    indices: Vec<u16>,
    counts: Vec<u64>,
}

impl Columns {
    fn iter(&self) -> ColumnsIter<'_> {
        self.indices.iter().copied().zip(self.counts.iter().copied())
    }

    fn record_n(&mut self, index: u16, n: u64) {
        if n == 0 {
            return;
        }
        match self.indices.binary_search(&index) {
            Ok(at) => self.counts[at] = self.counts[at].saturating_add(n),
            Err(at) => {
                self.indices.insert(at, index);
                self.counts.insert(at, n);
            }
        }
    }

    fn merge(&mut self, entries: impl Iterator<Item = (u16, u64)>) {
        let entries = entries.filter(|&(_, n)| n > 0);
        if self.indices.is_empty() {
            (self.indices, self.counts) = entries.unzip();
            return;
        }
        // Cells of one series mostly have the same buckets: first add to the existing ones.
        let mut new = Vec::new();
        let mut at = 0;
        for (index, n) in entries {
            while self.indices.get(at).is_some_and(|&ours| ours < index) {
                at += 1;
            }
            if self.indices.get(at) == Some(&index) {
                self.counts[at] = self.counts[at].saturating_add(n);
            } else {
                new.push((index, n));
            }
        }
        self.insert_new(&new);
    }

    /// Extends the columns and fills them from the back, so that every entry moves once.
    fn insert_new(&mut self, mut new: &[(u16, u64)]) {
        let mut from = self.indices.len();
        self.indices.resize(from + new.len(), 0);
        self.counts.resize(from + new.len(), 0);
        while let Some((&(index, n), before)) = new.split_last() {
            let to = from + new.len() - 1;
            if from > 0 && self.indices[from - 1] > index {
                from -= 1;
                self.indices[to] = self.indices[from];
                self.counts[to] = self.counts[from];
            } else {
                self.indices[to] = index;
                self.counts[to] = n;
                new = before;
            }
        }
    }
}

type ColumnsIter<'a> = Zip<Copied<slice::Iter<'a, u16>>, Copied<slice::Iter<'a, u64>>>;

/// The iterator of [`MagnitudeHistogram::iter`].
pub(crate) enum Iter<'a> {
    Sparse(ColumnsIter<'a>),
    Dense(DenseIter<'a>),
}

/// The buckets in use of a dense histogram.
pub(crate) struct DenseIter<'a> {
    counts: &'a [u64],
    next: usize,
}

impl Iterator for DenseIter<'_> {
    type Item = (u16, u64);

    fn next(&mut self) -> Option<(u16, u64)> {
        let left = self.counts.get(self.next..)?;
        let at = self.next + left.iter().position(|n| *n > 0)?;
        self.next = at + 1;
        Some((low_quarter(at as u64), *self.counts.get(at)?))
    }
}

impl Iterator for Iter<'_> {
    type Item = (u16, u64);

    fn next(&mut self) -> Option<(u16, u64)> {
        match self {
            Self::Sparse(columns) => columns.next(),
            Self::Dense(buckets) => buckets.next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram;
    use proptest::prelude::*;

    fn oracle() -> Histogram<u64> {
        Histogram::new_with_bounds(1, u64::MAX, 2).unwrap()
    }

    fn entries(half: &MagnitudeHistogram) -> Vec<(u16, u64)> {
        half.iter().collect()
    }

    fn is_dense(half: &MagnitudeHistogram) -> bool {
        matches!(half.0, Counts::Dense(_))
    }

    #[test]
    fn every_bucket_has_the_bounds_of_hdrhistogram() {
        let oracle = oracle();
        assert_eq!(oracle.distinct_values(), usize::from(BUCKETS));
        let mut value = 0;
        for index in 0..BUCKETS {
            let (lowest, width) = bounds_of(index);
            assert_eq!(lowest, value, "buckets are adjacent");
            assert_eq!(oracle.lowest_equivalent(value), lowest);
            assert_eq!(oracle.equivalent_range(value), width);
            let highest = lowest + (width - 1);
            assert!(oracle.equivalent(lowest, highest));
            assert!(index + 1 == BUCKETS || oracle.highest_equivalent(value) == highest);
            assert_eq!(index_of_units(lowest), index);
            assert_eq!(index_of_units(highest), index);
            value = highest.wrapping_add(1);
        }
        assert_eq!(value, 0, "the last bucket ends with u64::MAX");
    }

    #[test]
    fn magnitudes_out_of_range_are_in_the_outermost_buckets() {
        assert_eq!(index_of(0.0), 0);
        assert_eq!(index_of(2e-8), 0);
        assert_eq!(index_of(4e-8), 1);
        assert_eq!(index_of(1.2e12), BUCKETS - 1);
        assert_eq!(index_of(f64::MAX), BUCKETS - 1);
    }

    #[test]
    fn sparse_and_dense_forms_have_the_same_counts() {
        let mut grown = MagnitudeHistogram::default();
        let mut counts = vec![0u64; usize::from(BUCKETS)];
        for i in 0..20_000u64 {
            let magnitude = (i * 7_919 % 65_536) as f64 / 64.0;
            grown.record_n(magnitude, i % 3);
            counts[usize::from(index_of(magnitude))] += i % 3;
        }
        assert!(is_dense(&grown));
        let expected: Vec<(u16, u64)> = (0..BUCKETS).zip(counts).filter(|&(_, n)| n > 0).collect();
        assert_eq!(entries(&grown), expected);
        assert_eq!(grown.count(), expected.iter().map(|e| e.1).sum::<u64>());
    }

    #[test]
    fn counts_saturate() {
        for spread in [1, 600] {
            let mut half = MagnitudeHistogram::default();
            for i in 0..spread {
                half.record_n(f64::from(i) / 1_000.0, 1);
                half.record_n(1e300, u64::MAX);
            }
            let copy = half.clone();
            half.merge(&copy);
            assert_eq!(half.count(), u64::MAX);
            assert_eq!(half.at_rank(u64::MAX), Some(BUCKETS - 1));
        }
    }

    #[test]
    fn buckets_above_a_saturated_one_are_returned() {
        let mut half = MagnitudeHistogram::default();
        let all: Vec<(u16, u64)> = (0..600).map(|i| (i, 1 + u64::from(i) / 300)).collect();
        half.merge_entries(all.iter().copied());
        half.record_n(0.0, u64::MAX);
        assert!(is_dense(&half));
        assert_eq!(half.count(), u64::MAX);
        assert_eq!(entries(&half).first(), Some(&(0, u64::MAX)));
        assert_eq!(entries(&half)[1..], all[1..]);
        assert_eq!(half.buckets(), 600);
    }

    fn magnitudes(max: usize) -> impl Strategy<Value = Vec<(f64, u64)>> {
        let magnitude =
            prop_oneof![0.0..2e-5f64, 0.5..600.0f64, (-5.0..12.0f64).prop_map(|e| 10f64.powf(e))];
        proptest::collection::vec((magnitude, 0..5u64), 0..max)
    }

    fn recorded(values: &[(f64, u64)]) -> MagnitudeHistogram {
        let mut half = MagnitudeHistogram::default();
        for &(magnitude, n) in values {
            half.record_n(magnitude, n);
        }
        half
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn every_number_of_units_is_in_the_same_bucket_as_in_hdrhistogram(bits in any::<u64>(), narrow in 0..64) {
            let units = bits >> narrow;
            let (lowest, width) = bounds_of(index_of_units(units));
            prop_assert_eq!(lowest, oracle_lowest(units));
            prop_assert!(units - lowest < width);
        }

        #[test]
        fn a_representative_is_within_one_percent_of_the_values(exponent in -5.0..12.0f64) {
            let magnitude = 10f64.powf(exponent);
            let error = (representative(index_of(magnitude)) - magnitude).abs() / magnitude;
            prop_assert!(error < 0.004, "{} is off by {}", magnitude, error);
        }

        #[test]
        fn merged_histograms_equal_one_of_all_values(a in magnitudes(900), b in magnitudes(900)) {
            let (half_a, half_b) = (recorded(&a), recorded(&b));
            let whole = recorded(&[a, b].concat());
            let mut ab = half_a.clone();
            ab.merge(&half_b);
            let mut ba = half_b.clone();
            ba.merge(&half_a);
            let mut from_entries = half_a;
            from_entries.merge_entries(entries(&half_b).into_iter());
            prop_assert_eq!(entries(&ab), entries(&whole));
            prop_assert_eq!(entries(&ba), entries(&whole));
            prop_assert_eq!(entries(&from_entries), entries(&whole));
            prop_assert_eq!(ab.count(), whole.count());
            prop_assert_eq!(is_dense(&ab), is_dense(&whole));
        }

        #[test]
        fn ranks_follow_the_sorted_values(values in magnitudes(700), pick in any::<prop::sample::Index>()) {
            let half = recorded(&values);
            let mut sorted: Vec<u16> = values
                .iter()
                .flat_map(|&(magnitude, n)| std::iter::repeat_n(index_of(magnitude), n as usize))
                .collect();
            sorted.sort_unstable();
            if !sorted.is_empty() {
                let at = pick.index(sorted.len());
                prop_assert_eq!(half.at_rank(at as u64 + 1), Some(sorted[at]));
            }
            prop_assert_eq!(half.at_rank(sorted.len() as u64 + 1), None);
        }
    }

    fn oracle_lowest(units: u64) -> u64 {
        static ORACLE: std::sync::LazyLock<Histogram<u64>> = std::sync::LazyLock::new(oracle);
        ORACLE.lowest_equivalent(units)
    }
}
