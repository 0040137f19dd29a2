//! A distribution of values: count, exact sum, extremes and quantiles, mergeable without loss of accuracy.
//!
//! Up to [`EXACT_VALUES_MAX`] values are kept as they are. With the next one all of them move into two HDR
//! histograms, one of each sign (see [`super::histogram`]); zero counts as positive. Which form it is
//! depends on the count alone and what the histogram holds does not depend on the order, so merging
//! distributions and building one of all their values give the same state and the same bytes.
//!
//! A bucket is named by a signed index, so that ascending indices are ascending values:
//!
//! ```text
//! value    ... −u(2)  −u(1)  −u(0) │ u(0)  u(1)  u(2) ...      u(i): magnitudes of bucket i
//! index    ...   −3     −2     −1  │   0     1     2  ...
//! ```

use std::borrow::Cow;

use super::histogram::{self, Half};
use super::sum::ExactSum;
use super::{SketchError, SketchResult};
use crate::limits::EXACT_VALUES_MAX;

/// Parts of one that a quantile is rounded to, so that 0.55 of 100 values is the 55th in spite of binary
/// fractions.
const QUANTILE_PARTS: u64 = 1_000_000_000;

/// The summary of a multiset of finite values.
#[derive(Clone, Debug)]
pub(crate) struct Distribution {
    count: u64,
    sum: ExactSum,
    /// Positive infinity while there are no values.
    min: f64,
    /// Negative infinity while there are no values.
    max: f64,
    body: Body,
}

#[derive(Clone, Debug)]
enum Body {
    /// In the order of arrival.
    Exact(Vec<f64>),
    Histogram(Box<Halves>),
}

#[derive(Clone, Debug, Default)]
struct Halves {
    negative: Half,
    positive: Half,
}

/// A distribution taken apart into what a block stores in columns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parts<'a> {
    pub(crate) count: u64,
    pub(crate) sum: ExactSum,
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

impl Default for Distribution {
    fn default() -> Self {
        Self {
            count: 0,
            sum: ExactSum::default(),
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            body: Body::Exact(Vec::new()),
        }
    }
}

impl Distribution {
    /// Adds one value, which must be finite.
    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        self.add_n(value, 1);
    }

    /// Adds one value `n` times. The count stops at `u64::MAX`.
    #[inline]
    pub(crate) fn add_n(&mut self, value: f64, n: u64) {
        if n == 0 {
            return;
        }
        // Makes zero of minus zero and nothing of the rest.
        let value = value + 0.0;
        self.count = self.count.saturating_add(n);
        if n == 1 {
            self.sum.add(value);
        } else {
            self.sum.add_n(value, n);
        }
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        match &mut self.body {
            Body::Exact(values) if self.count <= EXACT_VALUES_MAX as u64 => {
                values.extend(std::iter::repeat_n(value, n as usize));
            }
            Body::Exact(_) => self.histogram().record_n(value, n),
            Body::Histogram(halves) => halves.record_n(value, n),
        }
    }

    /// Adds all values of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.merge_moments(other.count, &other.sum, other.min, other.max);
        match &other.body {
            Body::Exact(values) => self.append(values),
            Body::Histogram(theirs) => {
                let halves = self.histogram();
                halves.negative.merge(&theirs.negative);
                halves.positive.merge(&theirs.positive);
            }
        }
    }

    /// Adds a distribution straight from its columns. `self` is unchanged when they are refused.
    pub(crate) fn merge_parts(&mut self, parts: &Parts<'_>) -> SketchResult<()> {
        match &parts.entries {
            Entries::Exact(values) => {
                check_values(values)?;
                check_moments(parts, values)?;
                if let (Some(&min), Some(&max)) = (values.first(), values.last()) {
                    self.merge_moments(parts.count, &parts.sum, min, max);
                    self.append(values);
                }
            }
            Entries::Buckets { indices, counts } => {
                let negatives = check_buckets(parts, indices, counts)?;
                self.merge_moments(parts.count, &parts.sum, parts.min, parts.max);
                let (below, from_zero) = indices.split_at(negatives);
                let (counts_below, counts_from_zero) = counts.split_at(negatives);
                let halves = self.histogram();
                halves.negative.merge_entries(
                    below.iter().zip(counts_below).rev().map(|(&i, &n)| (magnitude_index(i), n)),
                );
                halves.positive.merge_entries(
                    from_zero.iter().zip(counts_from_zero).map(|(&i, &n)| (magnitude_index(i), n)),
                );
            }
        }
        Ok(())
    }

    /// The distribution with these parts. Refuses parts that [`Self::parts`] does not give.
    pub(crate) fn from_parts(parts: &Parts<'_>) -> SketchResult<Self> {
        let mut distribution = Self::default();
        distribution.merge_parts(parts)?;
        Ok(distribution)
    }

    /// The distribution taken apart.
    pub(crate) fn parts(&self) -> Parts<'static> {
        let (min, max) = if self.count == 0 { (0.0, 0.0) } else { (self.min, self.max) };
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
        Parts { count: self.count, sum: self.sum.clone(), min, max, entries }
    }

    /// How many values there are.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The sum of the values.
    pub(crate) fn sum(&self) -> &ExactSum {
        &self.sum
    }

    /// The smallest value, if there is one.
    pub(crate) fn min(&self) -> Option<f64> {
        (self.count > 0).then_some(self.min)
    }

    /// The largest value, if there is one.
    pub(crate) fn max(&self) -> Option<f64> {
        (self.count > 0).then_some(self.max)
    }

    /// The sum divided by the count. Rounding, or a sum beyond `f64::MAX`, never takes it out of the range
    /// of the values.
    pub(crate) fn avg(&self) -> Option<f64> {
        (self.count > 0).then(|| (self.sum.value() / self.count as f64).clamp(self.min, self.max))
    }

    /// The ⌈q·count⌉-th smallest value, `q` from 0 to 1 and rounded to nine decimals. Exact while the values
    /// are kept and at both ends; otherwise the middle of its bucket.
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
                let (_, value, _) =
                    values.select_nth_unstable_by(rank as usize - 1, f64::total_cmp);
                Some(*value)
            }
            Body::Histogram(halves) => Some(halves.at_rank(rank).clamp(self.min, self.max)),
        }
    }

    fn merge_moments(&mut self, count: u64, sum: &ExactSum, min: f64, max: f64) {
        self.count = self.count.saturating_add(count);
        self.sum.merge(sum);
        self.min = self.min.min(min);
        self.max = self.max.max(max);
    }

    /// Takes in values that the moments already tell of.
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

    /// The histograms; values that are still kept move into them first.
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
            Body::Exact(_) => unreachable!("the values have just moved"),
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

    /// What stands for the value of this rank, from 1 to the count.
    fn at_rank(&self, rank: u64) -> f64 {
        let negatives = self.negative.count();
        let bucket = if rank <= negatives {
            self.negative.at_rank(negatives - rank + 1).map(|i| -histogram::representative(i))
        } else {
            self.positive.at_rank(rank - negatives).map(histogram::representative)
        };
        // Counts that stopped at their limit may add up to less than the rank: then it is a last value.
        bucket.unwrap_or(f64::INFINITY) + 0.0
    }
}

/// ⌈q·count⌉, at least 1.
fn rank_of(q: f64, count: u64) -> u64 {
    let parts = (q.clamp(0.0, 1.0) * QUANTILE_PARTS as f64).round() as u64;
    let rank = (u128::from(parts) * u128::from(count)).div_ceil(u128::from(QUANTILE_PARTS));
    (rank as u64).max(1)
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// The signed index of the bucket of a value.
fn signed_index(value: f64) -> i32 {
    let index = i32::from(histogram::index_of(value.abs()));
    if value < 0.0 { -index - 1 } else { index }
}

/// The index in its half of a signed index in range.
fn magnitude_index(signed: i32) -> u16 {
    (if signed < 0 { -(signed + 1) } else { signed }) as u16
}

fn is_value(v: f64) -> bool {
    v.is_finite() && (v != 0.0 || v.is_sign_positive())
}

/// Checks that `values` can be the exact ones of a distribution.
fn check_values(values: &[f64]) -> SketchResult<()> {
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

/// Checks that the moments are those of the exact values.
fn check_moments(parts: &Parts<'_>, values: &[f64]) -> SketchResult<()> {
    let mut sum = ExactSum::default();
    values.iter().for_each(|&value| sum.add(value));
    let min = values.first().copied().unwrap_or_default();
    let max = values.last().copied().unwrap_or_default();
    let agree = (parts.count, parts.min, parts.max) == (values.len() as u64, min, max);
    if !agree || parts.sum != sum {
        return Err(SketchError::Inconsistent("values and moments do not agree"));
    }
    Ok(())
}

/// Checks that bucket columns are what [`Distribution::parts`] gives. Returns how many are negative.
fn check_buckets(parts: &Parts<'_>, indices: &[i32], counts: &[u64]) -> SketchResult<usize> {
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
    let total = counts.iter().try_fold(0u64, |sum, &n| sum.checked_add(n));
    if total != Some(parts.count) || parts.count <= EXACT_VALUES_MAX as u64 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[f64]) -> Distribution {
        let mut distribution = Distribution::default();
        for &value in values {
            distribution.add(value);
        }
        distribution
    }

    fn encoded(distribution: &Distribution) -> Vec<u8> {
        let mut out = Vec::new();
        distribution.encode(&mut out);
        out
    }

    fn merged(parts: &[&[f64]]) -> Distribution {
        let mut whole = Distribution::default();
        for part in parts {
            whole.merge(&of(part));
        }
        whole
    }

    fn any_value() -> impl Strategy<Value = f64> {
        prop_oneof![
            4 => -1_000.0..1_000.0f64,
            4 => (0..10_000i32).prop_map(|v| f64::from(v) / 100.0),
            2 => (-5.0..12.0f64, any::<bool>())
                .prop_map(|(e, negative)| if negative { -10f64.powf(e) } else { 10f64.powf(e) }),
            1 => any::<f64>().prop_filter("finite", |v| v.is_finite()),
            1 => Just(0.0),
            1 => Just(-0.0),
            1 => Just(1e12),
        ]
    }

    fn any_values() -> impl Strategy<Value = Vec<f64>> {
        prop_oneof![
            proptest::collection::vec(any_value(), 0..70),
            proptest::collection::vec(any_value(), 60..70),
            proptest::collection::vec(any_value(), 0..800),
        ]
    }

    #[test]
    fn moments_are_exact() {
        let mut distribution = Distribution::default();
        assert_eq!(distribution.min(), None);
        assert_eq!(distribution.avg(), None);
        assert_eq!(distribution.quantile(0.5), None);
        for _ in 0..1_000 {
            distribution.add(0.1);
            distribution.add(-0.3);
        }
        assert_eq!(distribution.count(), 2_000);
        assert_eq!(distribution.sum().value(), -200.0);
        assert_eq!(distribution.avg(), Some(-0.1));
        assert_eq!((distribution.min(), distribution.max()), (Some(-0.3), Some(0.1)));
    }

    #[test]
    fn the_average_stays_in_the_range_of_the_values() {
        assert_eq!(of(&[0.1; 3]).avg(), Some(0.1));
        assert_eq!(of(&[1.7e308; 5]).avg(), Some(1.7e308));
    }

    #[test]
    fn quantiles_are_nearest_rank() {
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        let check = |values: &[f64], q: f64, expected: f64| {
            assert_eq!(of(values).quantile(q), Some(expected), "q {q} of {values:?}");
        };
        check(&[5.0], 0.5, 5.0);
        check(&[2.0, 1.0], 0.5, 1.0);
        check(&[2.0, 1.0], 0.51, 2.0);
        check(&[3.0, 1.0, 2.0], 0.0, 1.0);
        check(&[3.0, 1.0, 2.0], 1.0, 3.0);
        check(&[-0.0, 0.0], 0.5, 0.0);
        check(&hundred[..64], 0.5, 32.0);
        check(&hundred[..64], 0.99, 64.0);
        check(&hundred[..20], 0.95, 19.0);
        // In binary, 0.55 · 20 is a little more than 11.
        check(&hundred[..20], 0.55, 11.0);
        check(&hundred, 0.0, 1.0);
        check(&hundred, 1.0, 100.0);
        check(&hundred[..20], f64::NAN, 1.0);
        check(&hundred[..20], -3.0, 1.0);
        check(&hundred[..20], 3.0, 20.0);
    }

    #[test]
    fn no_quantile_is_outside_the_values() {
        let distribution = of(&[1e15; 100]);
        assert_eq!(distribution.quantile(0.5), Some(1e15));
        let zero = of(&[-1e-12; 100]).quantile(0.5).unwrap();
        assert_eq!(zero.to_bits(), (-1e-12f64).to_bits());
    }

    #[test]
    fn the_stored_form_does_not_change() {
        let exact = encoded(&of(&[1.5, -0.0, -2.0]));
        let mut expected = vec![1, 0, 3];
        for value in [-2.0f64, 0.0, 1.5] {
            expected.extend_from_slice(&value.to_le_bytes());
        }
        assert_eq!(exact, expected);
        assert_eq!(encoded(&Distribution::default()), [1, 0, 0]);

        let mut values = vec![1.0; 60];
        values.extend([1.0 / 3.0, -1.0, -1.0, -2.0, 0.0, 1e-7]);
        let mut expected = vec![1, 1];
        expected.extend_from_slice(&(-2.0f64).to_le_bytes());
        expected.extend_from_slice(&1.0f64.to_le_bytes());
        expected.extend_from_slice(&56_000_000_100i128.to_le_bytes());
        expected.push(1);
        expected.extend_from_slice(&(1.0f64 / 3.0).to_le_bytes());
        // 1.0 is 2^24 units: bucket 128·17 + 128 = 2304 = 0x12 · 128; 2.0 lies 128 buckets further.
        expected.extend_from_slice(&[2, 0x80, 0x12, 2, 0x7f, 1]);
        // 0; 1e-7 is 2 units; a third is 43690 · 2^7 units and a bit: 128·15 + 170 = 2090, 2087 after bucket 2.
        expected.extend_from_slice(&[4, 0, 1, 1, 1, 0xa7, 0x10, 1, 0xd5, 0x01, 60]);
        assert_eq!(encoded(&of(&values)), expected);
    }

    #[test]
    fn stored_content_that_contradicts_itself_is_refused() {
        let refused = |bytes: &[u8]| assert!(Distribution::decode(bytes).is_err(), "{bytes:?}");
        let exact = |values: &[f64]| {
            let mut bytes = vec![1, 0, values.len() as u8];
            bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
            bytes
        };
        refused(&[]);
        refused(&[2, 0, 0]);
        refused(&[1, 2, 0]);
        refused(&[1, 0, 0, 0]);
        refused(&exact(&[2.0, 1.0]));
        refused(&exact(&[-0.0]));
        refused(&exact(&[f64::NAN]));
        refused(&exact(&[f64::INFINITY]));
        refused(&exact(&[1.0; 65]));

        let good = of(&[-3.0; 100]).parts();
        assert!(Distribution::from_parts(&good).is_ok());
        let refused = |change: &dyn Fn(&mut Parts<'static>)| {
            let mut parts = good.clone();
            change(&mut parts);
            assert!(Distribution::from_parts(&parts).is_err(), "{parts:?}");
        };
        let bucket = signed_index(-3.0);
        let buckets = |indices: &[i32], counts: &[u64]| Entries::Buckets {
            indices: Cow::Owned(indices.to_vec()),
            counts: Cow::Owned(counts.to_vec()),
        };
        refused(&|p| p.count = 99);
        refused(&|p| p.min = f64::NAN);
        refused(&|p| p.min = -4.0);
        refused(&|p| p.max = f64::INFINITY);
        refused(&|p| (p.min, p.max) = (-3.0, -3.001));
        refused(&|p| p.entries = buckets(&[], &[]));
        refused(&|p| p.entries = buckets(&[bucket], &[]));
        refused(&|p| p.entries = buckets(&[bucket, bucket], &[50, 50]));
        refused(&|p| p.entries = buckets(&[bucket, bucket + 1, bucket], &[50, 49, 1]));
        refused(&|p| p.entries = buckets(&[bucket, bucket + 1], &[100, 0]));
        refused(&|p| p.entries = buckets(&[bucket, bucket + 1], &[u64::MAX, 101]));
        refused(&|p| p.entries = buckets(&[i32::MIN], &[100]));
        refused(&|p| p.entries = buckets(&[i32::MAX], &[100]));
        refused(&|p| p.entries = Entries::Exact(Cow::Owned(vec![-3.0])));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn merging_parts_is_building_of_all(
            values in any_values(), cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..4),
        ) {
            let whole = of(&values);
            let mut bounds: Vec<usize> = cuts.iter().map(|c| c.index(values.len() + 1)).collect();
            bounds.extend([0, values.len()]);
            bounds.sort_unstable();
            let parts: Vec<&[f64]> = bounds.windows(2).rev().map(|w| &values[w[0]..w[1]]).collect();
            prop_assert_eq!(encoded(&merged(&parts)), encoded(&whole));

            let mut from_columns = Distribution::default();
            for part in parts {
                from_columns.merge_parts(&of(part).parts()).unwrap();
            }
            prop_assert_eq!(encoded(&from_columns), encoded(&whole));
            prop_assert_eq!(from_columns.parts(), whole.parts());

            let mut descending = values;
            descending.sort_by(|a, b| b.total_cmp(a));
            prop_assert_eq!(encoded(&of(&descending)), encoded(&whole));
        }

        #[test]
        fn n_times_a_value_is_the_value_added_n_times(
            values in proptest::collection::vec((any_value(), 0..40u64), 0..10),
        ) {
            let mut at_once = Distribution::default();
            let mut singly = Distribution::default();
            for &(value, n) in &values {
                at_once.add_n(value, n);
                (0..n).for_each(|_| singly.add(value));
            }
            prop_assert_eq!(encoded(&at_once), encoded(&singly));
        }

        #[test]
        fn stored_forms_come_back(values in any_values()) {
            let distribution = of(&values);
            let bytes = encoded(&distribution);
            prop_assert_eq!(encoded(&Distribution::decode(&bytes).unwrap()), bytes);
            let parts = distribution.parts();
            prop_assert_eq!(Distribution::from_parts(&parts).unwrap().parts(), parts);
        }

        #[test]
        fn quantiles_are_exact_or_within_one_percent(values in any_values(), q in 0.0..=1.0f64) {
            let distribution = of(&values);
            let mut sorted = values;
            sorted.sort_by(f64::total_cmp);
            for q in [q, 0.5, 0.9, 0.95, 0.99] {
                let Some(quantile) = distribution.quantile(q) else {
                    prop_assert!(sorted.is_empty());
                    continue;
                };
                let expected = sorted[rank_of(q, sorted.len() as u64) as usize - 1];
                if sorted.len() <= EXACT_VALUES_MAX {
                    prop_assert_eq!(quantile, expected);
                } else if expected.abs() < 1e-5 {
                    prop_assert!((quantile - expected).abs() <= 6e-8);
                } else if expected.abs() <= 1e12 {
                    prop_assert!((quantile - expected).abs() <= 0.01 * expected.abs(), "{} for {}", quantile, expected);
                }
            }
        }

        #[test]
        fn damaged_bytes_never_panic(
            values in any_values(),
            damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut bytes = encoded(&of(&values));
            let len = cut.index(bytes.len() + 1);
            if len < bytes.len() {
                prop_assert!(Distribution::decode(&bytes[..len]).is_err());
            }
            for (at, byte) in damage {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if let Ok(read) = Distribution::decode(&bytes) {
                let again = encoded(&read);
                prop_assert_eq!(encoded(&Distribution::decode(&again).unwrap()), again);
                prop_assert!(read.quantile(0.5).is_none_or(f64::is_finite));
            }
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            for start in [&[][..], &[1, 0], &[1, 1]] {
                if let Ok(read) = Distribution::decode(&[start, &bytes].concat()) {
                    prop_assert_eq!(read.parts().count, read.count());
                }
            }
        }
    }
}
